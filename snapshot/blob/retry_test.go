package blob_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/blobtest"
	"github.com/reshelve/reshelve/snapshot/blob/memory"
)

// pauses is a clock that only writes down what it is asked to wait.
type pauses []time.Duration

func (p *pauses) policy() blob.RetryPolicy {
	return blob.RetryPolicy{
		Sleep: func(ctx context.Context, d time.Duration) error {
			*p = append(*p, d)
			return ctx.Err()
		},
		Random: func() float64 { return 0.5 },
	}
}

// failing answers every request with one error.
type failing struct {
	memory.Bucket
	err error
}

func (f failing) Size(context.Context, string) (int64, error) { return 0, f.err }

func TestRetryHidesTransientFailures(t *testing.T) {
	var slept pauses
	data := blobtest.Noise(100_000)
	store := memory.Bucket{"indices/blob": data}
	bucket := blob.Retry(blobtest.Flaky(store, 3, 0), slept.policy())

	if got, err := blobtest.Read(t.Context(), bucket, "indices/blob", 10, 50_000); err != nil || !bytes.Equal(got, data[10:50_010]) {
		t.Errorf("Open: %d bytes, %v", len(got), err)
	}
	if size, err := bucket.Size(t.Context(), "indices/blob"); err != nil || size != 100_000 {
		t.Errorf("Size: %d, %v", size, err)
	}
	if entries, err := bucket.List(t.Context(), "indices/"); err != nil || len(entries) != 1 {
		t.Errorf("List: %v, %v", entries, err)
	}
	// Three operations, two failures each: half of 100 ms and 200 ms, and half of the other half.
	want := strings.TrimSpace(strings.Repeat("75ms 150ms ", 3))
	if got := strings.Trim(fmt.Sprint(slept), "[]"); got != want {
		t.Errorf("pauses %s; want %s", got, want)
	}
}

func TestABrokenStreamGoesOnWhereItBroke(t *testing.T) {
	var slept pauses
	data := blobtest.Noise(100_000)
	for _, tc := range []struct{ offset, length int64 }{{0, -1}, {7, 99_000}, {7, 200_000}, {50_000, -1}, {0, 30_000}, {10, 9_999}} {
		meter := blob.NewMeter(memory.Bucket{"blob": data}, true)
		// The stream breaks each 10,000 bytes, and each second opening fails.
		bucket := blob.Retry(blobtest.Flaky(meter, 2, 10_000), slept.policy())
		want := data[tc.offset:]
		if tc.length >= 0 {
			want = want[:min(tc.length, int64(len(want)))]
		}
		got, err := blobtest.Read(t.Context(), bucket, "blob", tc.offset, tc.length)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v: %d bytes, %v; want %d", tc, len(got), err, len(want))
		}
		if repeated := meter.Repeated(); len(repeated) > 0 || meter.Usage().Bytes != int64(len(want)) {
			t.Errorf("%v: read %d bytes, twice %v", tc, meter.Usage().Bytes, repeated)
		}
	}
}

func TestRetryGivesUp(t *testing.T) {
	down := http.Header{"Retry-After": {"7"}}
	for _, tc := range []struct {
		name   string
		err    error
		kind   fault.Kind
		pauses string
	}{
		{"for ever failing", fault.At(fault.New(fault.Transient, "reset"), "s3://b/k"), fault.Unavailable, "[75ms 150ms 300ms 600ms 1.2s]"},
		{"the store says when", fault.At(blob.StatusFailure(503, down, ""), "s3://b/k"), fault.Unavailable, "[7s 7s 7s 7s 7s]"},
		{"the store wants too long", blob.StatusFailure(429, http.Header{"Retry-After": {"3600"}}, ""), fault.Unavailable, "[]"},
		{"missing", blob.StatusFailure(404, nil, ""), fault.NotFound, "[]"},
		{"refused", blob.StatusFailure(403, nil, "AccessDenied"), fault.Unauthorised, "[]"},
		{"nobody's", fmt.Errorf("a bug"), fault.Bug, "[]"},
	} {
		slept := pauses{}
		_, err := blob.Retry(failing{err: tc.err}, slept.policy()).Size(t.Context(), "k")
		if fault.KindOf(err) != tc.kind || fmt.Sprint(slept) != tc.pauses {
			t.Errorf("%s: %v %v after %v; want %v after %s", tc.name, fault.KindOf(err), err, slept, tc.kind, tc.pauses)
		}
		if tc.kind == fault.Unavailable && !strings.Contains(fault.Next(err), "try again later") {
			t.Errorf("%s: next action %q", tc.name, fault.Next(err))
		}
	}
}

func TestRetryStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	bucket := blob.Retry(failing{err: fault.New(fault.Transient, "reset")}, blob.RetryPolicy{First: time.Hour, Longest: time.Hour, Honoured: 2 * time.Hour})
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := bucket.Size(ctx, "k"); !fault.Is(err, fault.Interrupted) {
		t.Errorf("%v; want interrupted", err)
	}
}

func TestARetriedBucketKeepsTheContract(t *testing.T) {
	var slept pauses
	contents := blobtest.Contents()
	policy := slept.policy()
	policy.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	bucket := blob.Retry(blobtest.Flaky(memory.Bucket(contents), 2, 100_000), policy)
	blobtest.Run(t, blobtest.Case{Bucket: bucket, Contents: contents})
}
