package blob_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/blobtest"
	"github.com/reshelve/reshelve/snapshot/blob/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// small makes pieces of a size that lets a small blob have many.
var small = blob.ReadAheadPolicy{First: 16, Largest: 128, Buffers: 3, Ahead: 1024}

func TestReadAheadKeepsTheContract(t *testing.T) {
	contents := blobtest.Contents()
	for _, policy := range []blob.ReadAheadPolicy{{}, {First: 4 << 10, Largest: 32 << 10, Buffers: 2, Ahead: 128 << 10}} {
		bucket := blob.ReadAhead(memory.Bucket(contents), policy)
		blobtest.Run(t, blobtest.Case{Bucket: bucket, Contents: contents})
	}
}

func TestReadAheadReadsEachByteOnceAndNoOther(t *testing.T) {
	data := blobtest.Noise(5000)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 2000 {
		offset, length := random.Int64N(5200), random.Int64N(5400)-200
		meter := blob.NewMeter(memory.Bucket{"blob": data}, true)
		got, err := blobtest.Read(t.Context(), blob.ReadAhead(meter, small), "blob", offset, length)

		want := data[min(offset, 5000):]
		if length >= 0 {
			want = want[:min(length, int64(len(want)))]
		}
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("run %d, [%d, +%d): %d bytes, %v; want %d", i, offset, length, len(got), err, len(want))
		}
		if repeated := meter.Repeated(); len(repeated) > 0 || meter.Usage().Bytes != int64(len(want)) {
			t.Fatalf("run %d, [%d, +%d): %d bytes read for %d, twice %v", i, offset, length, meter.Usage().Bytes, len(want), repeated)
		}
	}
}

func TestReadAheadOverRetryOverBreakingStreams(t *testing.T) {
	var slept pauses
	policy := slept.policy()
	policy.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	data := blobtest.Noise(100_000)
	meter := blob.NewMeter(memory.Bucket{"blob": data}, true)
	bucket := blob.ReadAhead(blob.Retry(blobtest.Flaky(meter, 2, 50), policy), small)
	got, err := blobtest.Read(t.Context(), bucket, "blob", 0, -1)
	if err != nil || !bytes.Equal(got, data) || len(meter.Repeated()) > 0 {
		t.Errorf("%d bytes, %v, twice %v", len(got), err, meter.Repeated())
	}
}

func TestAShortRangeIsOneRequest(t *testing.T) {
	meter := blob.NewMeter(memory.Bucket{"blob": blobtest.Noise(5000)}, false)
	bucket := blob.ReadAhead(meter, small)
	for _, tc := range []struct{ offset, length, requests int64 }{
		{0, 32, 1}, {4990, -1, 1}, {4984, -1, 2}, {0, 33, 3}, {0, 0, 1},
	} {
		before := meter.Usage().Requests
		if _, err := blobtest.Read(t.Context(), bucket, "blob", tc.offset, tc.length); err != nil {
			t.Error(err)
		}
		if got := meter.Usage().Requests - before; got != tc.requests {
			t.Errorf("[%d, +%d): %d requests, want %d", tc.offset, tc.length, got, tc.requests)
		}
	}
}

func TestAReaderThatStopsEarlyHasCostLittle(t *testing.T) {
	meter := blob.NewMeter(memory.Bucket{"blob": blobtest.Noise(16 << 20)}, false)
	bucket := blob.ReadAhead(blobtest.Slow(meter, time.Millisecond), blob.ReadAheadPolicy{})
	stream, err := bucket.Open(t.Context(), "blob", 0, 16<<20)
	if err != nil {
		t.Fatal(err)
	}
	const wanted = 1 << 20
	if _, err := io.ReadFull(stream, make([]byte, wanted)); err != nil {
		t.Fatal(err)
	}
	if err := stream.Close(); err != nil {
		t.Fatal(err)
	}
	// The reader's own bytes, seven times as many ahead, and the piece that had to be there.
	if got := meter.Usage().Bytes; got < wanted || got > 8*wanted+512<<10 {
		t.Errorf("%d bytes read for %d", got, wanted)
	}
	if _, err := stream.Read(make([]byte, 1)); err == nil {
		t.Error("a closed stream can be read")
	}
	if err := stream.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
}

func TestAReaderThatPausesFillsNoMoreThanTheBuffers(t *testing.T) {
	meter := blob.NewMeter(memory.Bucket{"blob": blobtest.Noise(1 << 20)}, false)
	bucket := blob.ReadAhead(blobtest.Slow(meter, time.Millisecond), blob.ReadAheadPolicy{First: 1 << 10, Largest: 8 << 10, Buffers: 4, Ahead: 512 << 10})
	stream, err := bucket.Open(t.Context(), "blob", 0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	const wanted = 500_000
	if _, err := io.ReadFull(stream, make([]byte, wanted)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond) // all requests have been answered
	if ahead := meter.Usage().Bytes - wanted; ahead < 8<<10 || ahead > 4*8<<10 {
		t.Errorf("%d bytes were read ahead of the reader; the buffers hold %d", ahead, 4*8<<10)
	}
}

// staggered answers each piece later than the one before, so that the reader
// waits for every one; it notes how far it was asked.
type staggered struct {
	blob.Bucket
	piece    int64
	farthest atomic.Int64
	inFlight atomic.Int64
}

func (s *staggered) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	s.inFlight.Add(1)
	defer s.inFlight.Add(-1)
	for far := s.farthest.Load(); offset+length > far && !s.farthest.CompareAndSwap(far, offset+length); {
		far = s.farthest.Load()
	}
	stream, err := blobtest.Slow(s.Bucket, time.Duration(offset/s.piece)*time.Millisecond).Open(ctx, key, offset, length)
	if err != nil { // a request takes a moment to end
		time.Sleep(5 * time.Millisecond)
	}
	return stream, err
}

func TestTheDistanceIsBoundedByWhatIsConsumedAndCloseEndsAllRequests(t *testing.T) {
	const piece, wanted = 1 << 10, 8 << 10
	store := &staggered{Bucket: memory.Bucket{"blob": blobtest.Noise(1 << 20)}, piece: piece}
	bucket := blob.ReadAhead(store, blob.ReadAheadPolicy{First: piece, Largest: piece})
	stream, err := bucket.Open(t.Context(), "blob", 0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(stream, make([]byte, wanted)); err != nil {
		t.Fatal(err)
	}
	if far := store.farthest.Load(); far < 2*wanted || far > 8*wanted {
		t.Errorf("asked up to byte %d for a reader at %d", far, wanted)
	}
	if err := stream.Close(); err != nil {
		t.Error(err)
	}
	if n := store.inFlight.Load(); n > 0 {
		t.Errorf("%d requests outlive Close", n)
	}
}

// failingAt fails every range that holds the byte at.
type failingAt struct {
	blob.Bucket
	at int64
}

func (f failingAt) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	if offset <= f.at && f.at < offset+length {
		return nil, fault.New(fault.Unavailable, "the disk under byte %d is gone", f.at)
	}
	return f.Bucket.Open(ctx, key, offset, length)
}

func TestAFailureComesAfterTheBytesBeforeIt(t *testing.T) {
	data := blobtest.Noise(5000)
	bucket := blob.ReadAhead(failingAt{memory.Bucket{"blob": data}, 3000}, small)
	got, err := blobtest.Read(t.Context(), bucket, "blob", 0, 5000)
	if !fault.Is(err, fault.Unavailable) || len(got) < 2700 || !bytes.Equal(got, data[:len(got)]) {
		t.Errorf("%d bytes, then %v", len(got), err)
	}
}

func TestCancelEndsAStreamThatWaits(t *testing.T) {
	bucket := blob.ReadAhead(memory.Bucket{"blob": blobtest.Noise(5000)}, small)
	stuck := blob.ReadAhead(stuckBehind{memory.Bucket{"blob": blobtest.Noise(5000)}}, small)
	for name, bucket := range map[string]blob.Bucket{"flowing": bucket, "stuck": stuck} {
		ctx, cancel := context.WithCancel(t.Context())
		stream, err := bucket.Open(ctx, "blob", 0, 5000)
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(10*time.Millisecond, cancel)
		begin := time.Now()
		_, err = io.Copy(io.Discard, stream)
		stream.Close()
		if name == "stuck" && !fault.Is(err, fault.Interrupted) {
			t.Errorf("%s: %v; want interrupted", name, err)
		}
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("%s: stopped after %v", name, took)
		}
		cancel()
	}
}

// stuckBehind never answers a request behind the first piece.
type stuckBehind struct{ blob.Bucket }

func (s stuckBehind) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	if offset > 0 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.Bucket.Open(ctx, key, offset, length)
}

// onlyReader hides a WriterTo from io.Copy.
type onlyReader struct{ io.Reader }

func BenchmarkReadAhead(b *testing.B) {
	const size = 64 << 20
	store := memory.Bucket{"blob": blobtest.Noise(size)}
	for _, latency := range []time.Duration{0, time.Millisecond, 10 * time.Millisecond, 50 * time.Millisecond} {
		b.Run(fmt.Sprint(latency), func(b *testing.B) {
			bucket := blob.ReadAhead(blobtest.Slow(store, latency), blob.ReadAheadPolicy{})
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				stream, err := bucket.Open(b.Context(), "blob", 0, size)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.CopyBuffer(io.Discard, onlyReader{stream}, make([]byte, 64<<10)); err != nil {
					b.Fatal(err)
				}
				stream.Close()
			}
		})
	}
}
