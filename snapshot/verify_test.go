package snapshot_test

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot"
	"github.com/reshelve/reshelve/snapshot/blob/memory"
)

// newest is the newest successful snapshot.
func newest(t *testing.T, b snapshot.Bucket) *snapshot.Snapshot {
	t.Helper()
	repo, err := snapshot.Open(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := repo.Find(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// TestVerifyReadsEachBlobOnce: every blob of every shard to its end, and of the
// bytes of segments' own description, which say whether they fit together, some a
// second time.
func TestVerifyReadsEachBlobOnce(t *testing.T) {
	for _, r := range repositories(t) {
		t.Run(r.name, func(t *testing.T) {
			probe := newProbe(r.bucket(t))
			snap := newest(t, probe)
			shards := shardsOf(t, probe)
			probe.reset()
			var grown []snapshot.Verification
			done, err := snap.Verify(t.Context(), snapshot.VerifyOptions{Progress: func(v snapshot.Verification) { grown = append(grown, v) }})
			if err != nil {
				t.Fatal(err)
			}
			if len(done.Problems) > 0 {
				if !unreadable[r.name] {
					t.Fatal(done.Problems)
				}
				return
			}
			var files int
			var length int64
			for _, shard := range shards {
				files += len(shard.Files)
				length += shard.Bytes()
				for i := range shard.Files {
					checkRead(t, probe, r, shard, &shard.Files[i])
				}
			}
			if done.Files != files || done.Bytes != length || done.Shards != len(shards) || done.Indices != len(snap.Indices) {
				t.Errorf("%+v of %d files, %d bytes in %d shards of %d indices", done, files, length, len(shards), len(snap.Indices))
			}
			checkGrowth(t, grown, done)
			if probe.open != 0 {
				t.Errorf("%d streams stay open", probe.open)
			}
		})
	}
}

// checkRead checks how much of a file's blob was read, and how often.
func checkRead(t *testing.T, probe *probe, r repository, shard *snapshot.Shard, f *snapshot.File) {
	t.Helper()
	key := shard.Path + "/" + f.Blob
	twice, once := probe.twice(key)
	if f.Virtual || f.PartSize > 0 || strings.HasPrefix(r.name, "elasticsearch-1.") {
		return
	}
	if once != f.Length {
		t.Errorf("%s: %d bytes of %d of %s were read", shard.Path, once, f.Length, f.Name)
	}
	const description = 8 << 10 // fields, deletions, the head of the stored fields
	if twice > min(f.Length, description) || twice > 0 && !needed(f.Name) && path.Ext(f.Name) != ".cfs" {
		t.Errorf("%s: %d bytes of %d of %s were read twice: %v", shard.Path, twice, f.Length, f.Name, probe.read[key])
	}
}

// checkGrowth checks that progress is told for each file, and only grows.
func checkGrowth(t *testing.T, grown []snapshot.Verification, done snapshot.Verification) {
	t.Helper()
	if len(grown) != done.Files {
		t.Errorf("progress was told %d times, of %d files", len(grown), done.Files)
	}
	var last snapshot.Verification
	for _, v := range append(grown, done) {
		if v.Files < last.Files || v.Bytes < last.Bytes || v.Shards < last.Shards || v.Segments < last.Segments || v.Documents < last.Documents || v.Indices < last.Indices {
			t.Errorf("%+v after %+v", v, last)
		}
		last = v
	}
}

// TestVerifyListsEverythingThatIsWrong damages one file after the other of one
// repository, each in another way, and leaves it so: each time there is one problem
// more, and all are named.
func TestVerifyListsEverythingThatIsWrong(t *testing.T) {
	for _, name := range []string{"elasticsearch-6.8.23-basic", "elasticsearch-9.2.0-basic", "opensearch-2.11.0-zstd"} {
		r := repository{name, "../testdata/repositories/" + name}
		blobs := memory.Bucket(maps.Clone(r.blobs(t)))
		damage := []struct {
			says string
			do   func([]byte) []byte
		}{
			{"bytes, the manifest says", func(b []byte) []byte { return append(slices.Clone(b), 0) }},
			{"bytes, the manifest says", func(b []byte) []byte { return b[:len(b)-1] }},
			{"is missing", func([]byte) []byte { return nil }},
			{"checksum", func(b []byte) []byte { b = slices.Clone(b); b[len(b)/2] ^= 1; return b }},
			{"checksum", func(b []byte) []byte { b = slices.Clone(b); b[len(b)-1] ^= 1; return b }},
			{"bytes, the manifest says", func([]byte) []byte { return []byte{} }},
		}
		var places []string
		for _, shard := range shardsOf(t, blobs) {
			for i := range shard.Files {
				f := &shard.Files[i]
				key := shard.Path + "/" + f.Blob
				if f.Virtual || blobs[key] == nil {
					continue
				}
				d := damage[len(places)%len(damage)]
				if blobs[key] = d.do(blobs[key]); blobs[key] == nil {
					delete(blobs, key)
				}
				places = append(places, fmt.Sprintf("%s: file %s: ", shard.Path, f.Name))
				done, err := newest(t, blobs).Verify(t.Context(), snapshot.VerifyOptions{})
				if err != nil || len(done.Problems) != len(places) {
					t.Fatalf("%s: %d files are damaged, %d problems, %v", name, len(places), len(done.Problems), err)
				}
				at := slices.IndexFunc(done.Problems, func(err error) bool { return strings.HasPrefix(err.Error(), places[len(places)-1]) })
				if at < 0 || !fault.Is(done.Problems[at], fault.Corrupt) || !strings.Contains(done.Problems[at].Error(), d.says) || !strings.Contains(done.Problems[at].Error(), f.Blob) {
					t.Fatalf("%s: of %s, blob %s: want …%s…: %v", name, places[len(places)-1], f.Blob, d.says, done.Problems)
				}
			}
		}
		if len(places) < len(damage) {
			t.Errorf("%s: only %d files", name, len(places))
		}
		t.Logf("%s: %d files", name, len(places))
	}
}

// TestVerifyGoesOnWithoutMetadata: an index, a shard or the global state that cannot
// be read is a problem, and the rest is checked.
func TestVerifyGoesOnWithoutMetadata(t *testing.T) {
	r := repository{"elasticsearch-8.15.0-basic", "../testdata/repositories/elasticsearch-8.15.0-basic"}
	sound := memory.Bucket(r.blobs(t))
	whole, err := newest(t, sound).Verify(t.Context(), snapshot.VerifyOptions{})
	if err != nil || len(whole.Problems) > 0 {
		t.Fatal(err, whole.Problems)
	}
	snap := newest(t, sound)
	tried := 0
	for _, key := range slices.Sorted(maps.Keys(sound)) {
		if base := path.Base(key); !strings.HasSuffix(base, ".dat") || !strings.Contains(key, "/") && base == "snap-"+snap.UUID+".dat" {
			continue
		}
		blobs := maps.Clone(sound)
		blobs[key] = slices.Clone(blobs[key])
		blobs[key][len(blobs[key])-1] ^= 1
		done, err := named(t, blobs, snap.UUID).Verify(t.Context(), snapshot.VerifyOptions{})
		if err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		if len(done.Problems) == 0 {
			continue // of another snapshot
		}
		tried++
		if !strings.HasPrefix(done.Problems[0].Error(), key) || done.Indices < whole.Indices-1 || done.Shards < whole.Shards/2 {
			t.Errorf("%s: %+v, not %+v", key, done, whole)
		}
	}
	if tried < 5 {
		t.Errorf("only %d files", tried)
	}
}

func named(t *testing.T, b snapshot.Bucket, name string) *snapshot.Snapshot {
	t.Helper()
	repo, err := snapshot.Open(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := repo.Find(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// TestVerifyEndsWhereTheBucketFails: that is no problem of the snapshot's.
func TestVerifyEndsWhereTheBucketFails(t *testing.T) {
	for _, r := range journeys(t) {
		probe := newProbe(r.bucket(t))
		snap := newest(t, probe)
		probe.reset()
		if _, err := snap.Verify(t.Context(), snapshot.VerifyOptions{}); err != nil {
			t.Fatal(err)
		}
		calls := probe.calls
		for n := 1; n <= calls; n += 1 + calls/samples(60) {
			probe.reset()
			probe.at = func(call int) error {
				if call == n {
					return fault.New(fault.Transient, "call %d failed", call)
				}
				return nil
			}
			done, err := snap.Verify(t.Context(), snapshot.VerifyOptions{})
			if !fault.Is(err, fault.Transient) || len(done.Problems) > 0 {
				t.Fatalf("%s: call %d of %d: kind %v: %v; problems %v", r.name, n, calls, fault.KindOf(err), err, done.Problems)
			}
			if probe.open != 0 {
				t.Fatalf("%s: call %d: %d streams stay open", r.name, n, probe.open)
			}
			if _, err := snap.Estimate(t.Context(), nil); n < 20 && err != nil && !fault.Is(err, fault.Transient) {
				t.Fatalf("%s: estimate: %v", r.name, err)
			}
		}
	}
}

// TestALostShardIndexIsNamed: of a repository before shard generations, whose root file does not
// name the indices of shards. The documents are complete without.
func TestALostShardIndexIsNamed(t *testing.T) {
	for _, name := range []string{"elasticsearch-2.4.6-basic", "elasticsearch-5.6.16-basic", "elasticsearch-6.8.23-basic"} {
		r := repository{name, "../testdata/repositories/" + name}
		whole := r.blobs(t)
		sound, err := newest(t, memory.Bucket(whole)).Verify(t.Context(), snapshot.VerifyOptions{})
		if err != nil || len(sound.Problems) > 0 {
			t.Fatal(err, sound.Problems)
		}
		blobs, lost := memory.Bucket(maps.Clone(whole)), ""
		for key := range whole {
			if dir, file := path.Split(key); strings.HasPrefix(key, "indices/") && strings.HasPrefix(file, "index-") && (lost == "" || dir < lost) {
				lost = dir
			}
		}
		for key := range whole {
			if strings.HasPrefix(key, lost+"index-") {
				delete(blobs, key)
			}
		}
		snap := newest(t, blobs)
		done, err := snap.Verify(t.Context(), snapshot.VerifyOptions{})
		if err != nil || len(done.Problems) != 1 || !fault.Is(done.Problems[0], fault.Corrupt) || !strings.Contains(done.Problems[0].Error(), "a blob "+lost+"index-N") || fault.Next(done.Problems[0]) == "" {
			t.Errorf("%s: of %s: %v, %v", name, lost, done.Problems, err)
		}
		if done.Documents != sound.Documents || done.Shards != sound.Shards || done.Files != sound.Files {
			t.Errorf("%s: %+v of %+v", name, done, sound)
		}
		e, err := snap.Estimate(t.Context(), nil)
		if err != nil || len(e.Lost) != 1 {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
}
