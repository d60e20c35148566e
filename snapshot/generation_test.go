package snapshot

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
)

const emptyRoot = `{"snapshots":[],"indices":{}}`

// rootsOnly is a bucket with the given generations and index.latest (−1: none).
func rootsOnly(latest int64, generations ...int64) *mapBucket {
	b := &mapBucket{blobs: map[string][]byte{}}
	for _, n := range generations {
		b.blobs[generationKey(n)] = []byte(emptyRoot)
	}
	if latest >= 0 {
		b.blobs[latestKey] = binary.BigEndian.AppendUint64(nil, uint64(latest))
	}
	return b
}

func TestTheGenerationThatCounts(t *testing.T) {
	const fails = -9
	for _, tc := range []struct {
		name             string
		latest           int64
		generations      []int64
		listed, unlisted int64
	}{
		{"one", 0, []int64{0}, 0, 0},
		{"two are kept (5.x, 6.x)", 7, []int64{6, 7}, 7, 7},
		{"ten comes after nine", 10, []int64{9, 10}, 10, 10},
		{"index.latest lags", 7, []int64{7, 8}, 8, 8},
		{"index.latest lags and its generation is gone", 7, []int64{8}, 8, 8},
		{"a number was left out", 7, []int64{9}, 9, 9},
		{"without index.latest", -1, []int64{3, 4}, 4, fails},
		{"its generation is lost", 8, []int64{6, 7}, fails, fails},
		{"nothing is left", 3, nil, fails, fails},
	} {
		for _, unlisted := range []bool{false, true} {
			b := rootsOnly(tc.latest, tc.generations...)
			b.unlisted = unlisted
			want := tc.listed
			if unlisted {
				want = tc.unlisted
			}
			r, err := Open(context.Background(), b)
			switch {
			case want == fails && err == nil:
				t.Errorf("%s (unlisted %v): generation %d, want an error", tc.name, unlisted, r.Generation)
			case want != fails && err != nil:
				t.Errorf("%s (unlisted %v): %v", tc.name, unlisted, err)
			case want != fails && r.Generation != want:
				t.Errorf("%s (unlisted %v): generation %d, want %d", tc.name, unlisted, r.Generation, want)
			}
		}
	}
}

func TestNamesThatAreNoGeneration(t *testing.T) {
	for _, key := range []string{"index-", "index-01", "index-+1", "index--1", "index-1.tmp", "index-99999999999999999999", "index_1", "pending-index-1"} {
		if n := generationOf(key); n != -1 {
			t.Errorf("%s: %d", key, n)
		}
	}
}

// A cluster that writes replaces the root file between listing and reading.
type movingBucket struct {
	*mapBucket
	moves int
}

func (b *movingBucket) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	n := generationOf(key)
	if n >= 0 && b.moves > 0 {
		b.moves--
		delete(b.blobs, key)
		b.blobs[generationKey(n+1)] = []byte(emptyRoot)
		b.blobs[latestKey] = binary.BigEndian.AppendUint64(nil, uint64(n+1))
	}
	return b.mapBucket.Open(ctx, key, offset, length)
}

func TestTheRootIsReplacedWhileItIsRead(t *testing.T) {
	b := &movingBucket{rootsOnly(4, 4), 1}
	r, err := Open(context.Background(), b)
	if err != nil || r.Generation != 5 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := Open(context.Background(), &movingBucket{rootsOnly(4, 4), 9}); !fault.Is(err, fault.Corrupt) {
		t.Errorf("a root that never stays: %v", err)
	}
}

func TestAPlaceThatIsNoRepository(t *testing.T) {
	for _, tc := range []struct {
		keys []string
		kind fault.Kind
		says string
	}{
		{nil, fault.NotFound, "no snapshot repository"},
		{[]string{"readme.txt", "a/b"}, fault.NotFound, "no snapshot repository"},
		{[]string{"snap-x.dat", "meta-x.dat"}, fault.Corrupt, "snap-x.dat is here, but the root file"},
	} {
		for _, unlisted := range []bool{false, true} {
			b := &mapBucket{blobs: map[string][]byte{}, unlisted: unlisted}
			for _, key := range tc.keys {
				b.blobs[key] = nil
			}
			kind, says := tc.kind, tc.says
			if unlisted {
				kind, says = fault.NotFound, "no snapshot repository"
			}
			_, err := Open(context.Background(), b)
			if !fault.Is(err, kind) || !strings.Contains(fmt.Sprint(err), says) || fault.Next(err) == "" {
				t.Errorf("%v (unlisted %v): %v: %v", tc.keys, unlisted, fault.KindOf(err), err)
			}
		}
	}
}

func TestRealRepositoriesReadTheSameWithoutListing(t *testing.T) {
	for name, dir := range repositories(t) {
		listed, err := Open(context.Background(), folderBucket(dir+"/repo"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		b := inMemory(t, dir+"/repo")
		b.unlisted = true
		r, err := Open(context.Background(), b)
		if err != nil || r.Generation != listed.Generation || len(r.root.Snapshots) != len(listed.root.Snapshots) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheNewestSuccessfulSnapshot(t *testing.T) {
	ctx := context.Background()
	for name, dir := range repositories(t) {
		r, err := Open(ctx, folderBucket(dir+"/repo"))
		if err != nil {
			t.Fatal(name, err)
		}
		all, err := r.All(ctx)
		if err != nil {
			t.Fatal(name, err)
		}
		want := ""
		for _, s := range all { // oldest first
			if s.State == Success {
				want = s.Name
			}
		}
		if s, err := r.Find(ctx, ""); err != nil || s.Name != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// The root file has no checksum: what it says of times and states must not
// choose another snapshot than the files themselves would.
func TestTheNewestIsWhatTheFilesSay(t *testing.T) {
	const older = `{"name":"o","uuid":"O","state":1,"start_time_millis":1600000000000},`
	repository := func(s string) miniature {
		m := newMiniature().edit(t, "index-3", `"snapshots":[`, `"snapshots":[`+older)
		m.edit(t, "index-3", `"uuid":"S","state":1`, `"uuid":"S",`+s)
		m.edit(t, "snap-S.dat", `"state":"SUCCESS"`, `"state":"SUCCESS","start_time":1700000000000`)
		m["snap-O.dat"] = `{"snapshot":{"name":"o","uuid":"O","state":"SUCCESS","indices":[],"start_time":1600000000000}}`
		return m
	}
	find := func(m miniature) (*Snapshot, error) {
		r, err := Open(context.Background(), m.build())
		if err != nil {
			t.Fatal(err)
		}
		return r.Find(context.Background(), "")
	}
	if s, err := find(repository(`"state":1,"start_time_millis":1700000000000`)); err != nil || s.Name != "s" {
		t.Errorf("%v %v", s, err)
	}
	for _, wrong := range []string{`"state":3,"start_time_millis":1700000000000`, `"state":1,"start_time_millis":1500000000000`} {
		if s, err := find(repository(wrong)); !fault.Is(err, fault.Corrupt) || fault.Next(err) == "" {
			t.Errorf("%s: %v %v", wrong, s, err)
		}
	}
}
