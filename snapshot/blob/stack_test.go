package blob_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/blobtest"
	"github.com/reshelve/reshelve/snapshot/blob/memory"
)

// remote hides that a bucket is local.
type remote struct{ blob.Bucket }

func TestAStackCountsWhatLeavesTheProcess(t *testing.T) {
	data := blobtest.Noise(3 << 20)
	store := memory.Bucket{"blob": data}
	noWait := blob.RetryPolicy{Sleep: func(context.Context, time.Duration) error { return nil }}
	for _, tc := range []struct {
		name     string
		bucket   blob.Bucket
		requests int64
	}{
		{"local: as asked", store, 1},
		{"remote: in pieces", remote{store}, 6}, // 256 K twice, 512 K, 1 M, and what is left of the last; and the size
		{"flaky: failures count", blobtest.Flaky(remote{store}, 2, 0), 12},
	} {
		bucket, meter := blob.Stack(tc.bucket, blob.StackPolicy{Retry: noWait, KeepSpans: true})
		got, err := blobtest.Read(t.Context(), bucket, "blob", 0, -1)
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%s: %d bytes, %v", tc.name, len(got), err)
		}
		want := blob.Usage{Requests: tc.requests, Bytes: 3 << 20}
		if usage := meter.Usage(); usage != want || len(meter.Repeated()) > 0 {
			t.Errorf("%s: %+v, twice %v; want %+v", tc.name, usage, meter.Repeated(), want)
		}
	}
}

func TestTheMeterSeesAByteThatIsReadTwice(t *testing.T) {
	meter := blob.NewMeter(memory.Bucket{"a": blobtest.Noise(100), "b": blobtest.Noise(100)}, true)
	for _, read := range []struct {
		key            string
		offset, length int64
	}{{"a", 0, 50}, {"a", 50, -1}, {"b", 0, -1}, {"b", 30, 40}, {"b", 60, 10}, {"b", 5, 0}} {
		if _, err := blobtest.Read(t.Context(), meter, read.key, read.offset, read.length); err != nil {
			t.Fatal(err)
		}
	}
	repeated := meter.Repeated()
	if len(repeated) != 1 || len(repeated["b"]) != 2 || repeated["b"][0] != (blob.Span{Begin: 30, End: 70}) || repeated["b"][1] != (blob.Span{Begin: 60, End: 70}) {
		t.Errorf("read twice: %v", repeated)
	}
	if got := meter.Usage(); got != (blob.Usage{Requests: 6, Bytes: 250}) {
		t.Errorf("usage %+v", got)
	}
}

func TestAStackReachesWhatLiesAroundItsBucket(t *testing.T) {
	stores := map[string]memory.Bucket{
		"s3://bucket":      {"HASH/base/indices/x/0/__1": []byte("outside")},
		"s3://bucket/base": {"index-0": []byte("inside")},
	}
	openers := map[string]blob.Opener{"s3": func(_ context.Context, l blob.Location) (blob.Bucket, error) {
		return remote{stores[l.String()]}, nil
	}}
	bare, err := blob.Open(t.Context(), "s3://bucket/base?region=x", openers)
	if err != nil {
		t.Fatal(err)
	}
	bucket, meter := blob.Stack(bare, blob.StackPolicy{})
	outer, err := bucket.(snapshot.Outside).Outside(t.Context(), "base")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := blobtest.Read(t.Context(), outer, "HASH/base/indices/x/0/__1", 0, -1); err != nil || string(got) != "outside" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := blobtest.Read(t.Context(), bucket, "index-0", 0, -1); err != nil || string(got) != "inside" {
		t.Errorf("%q, %v", got, err)
	}
	if got := meter.Usage(); got != (blob.Usage{Requests: 2, Bytes: 13}) {
		t.Errorf("the meter counts %+v", got)
	}
	if _, err := bucket.(snapshot.Outside).Outside(t.Context(), "other"); !fault.Is(err, fault.Refused) {
		t.Errorf("another base path: %v", err)
	}
	alone, _ := blob.Stack(remote{stores["s3://bucket"]}, blob.StackPolicy{})
	if _, err := alone.(snapshot.Outside).Outside(t.Context(), "base"); !fault.Is(err, fault.Refused) {
		t.Errorf("a bucket without a location: %v", err)
	}
}
