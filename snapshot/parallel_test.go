package snapshot_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot"
)

// readParts reads a shard in about n parts at the same time and confirms them.
func readParts(t *testing.T, shard *snapshot.Shard, n int) (positions []string, parts int, err error) {
	t.Helper()
	cuts, err := shard.Split(t.Context(), n)
	if err != nil {
		return nil, 0, err
	}
	parts = len(cuts) - 1
	passes := make([]*snapshot.Documents, parts)
	found := make([][]string, parts)
	done := make(chan error, parts)
	for i := range parts {
		go func() {
			var err error
			passes[i], err = shard.Documents(t.Context(), snapshot.ReadOptions{From: cuts[i], To: cuts[i+1]})
			if err == nil {
				for passes[i].Next() {
					d := passes[i].Document()
					found[i] = append(found[i], d.Position.String()+" "+string(d.ID)+" "+string(d.Source))
				}
				err = passes[i].Err()
				passes[i].Close()
			}
			done <- err
		}()
	}
	for range parts {
		if e := <-done; e != nil && err == nil {
			err = e
		}
	}
	if err == nil {
		err = snapshot.Confirm(passes...)
	}
	return slices.Concat(found...), parts, err
}

func TestPartsTogetherAreTheWhole(t *testing.T) {
	most := 0
	for _, r := range repositories(t) {
		for _, shard := range shardsOf(t, r.bucket(t)) {
			whole, _, err := readParts(t, shard, 1)
			if err != nil {
				t.Fatalf("%s: %s: %v", r.name, shard.Path, err)
			}
			for _, n := range []int{2, 3, 7} {
				got, parts, err := readParts(t, shard, n)
				if err != nil {
					t.Errorf("%s: %s in %d parts: %v", r.name, shard.Path, n, err)
				} else if !slices.Equal(got, whole) {
					t.Errorf("%s: %s in %d parts: %d documents, not %d, or others", r.name, shard.Path, n, len(got), len(whole))
				}
				most = max(most, parts)
			}
		}
	}
	if most < 5 {
		t.Errorf("no shard was cut into more than %d parts", most)
	}
}

// TestPartsConfirmTogether damages one byte of each stored-fields blob of a
// segment with several chunks: no part sees a footer that covers it, yet no
// reading in parts passes.
func TestPartsConfirmTogether(t *testing.T) {
	r := repository{"opensearch-2.11.0-zstd", "../testdata/repositories/opensearch-2.11.0-zstd"}
	sound := r.bucket(t)
	damaged, caught := 0, 0
	for _, shard := range shardsOf(t, sound) {
		_, parts, err := readParts(t, shard, 4)
		if err != nil || parts < 2 {
			continue
		}
		for _, f := range shard.Files {
			if !strings.HasSuffix(f.Name, ".fdt") && !strings.HasSuffix(f.Name, ".cfs") {
				continue
			}
			blobs := maps.Clone(sound)
			key := shard.Path + "/" + f.Blob
			data := slices.Clone(blobs[key])
			data[len(data)/3] ^= 0x10
			blobs[key] = data
			for _, s := range shardsOf(t, blobs) {
				if s.Path != shard.Path {
					continue
				}
				damaged++
				if _, _, err := readParts(t, s, 4); fault.Is(err, fault.Corrupt) {
					caught++
				} else if err != nil {
					t.Errorf("%s: %v", f.Name, err)
				}
			}
		}
	}
	if damaged == 0 {
		t.Fatal("nothing was damaged")
	}
	if caught == 0 {
		t.Errorf("%d damaged files, none was noticed", damaged)
	}
	t.Logf("%d files damaged, %d noticed (the others in a part of a compound file that nobody needs)", damaged, caught)
}

// shardsOf are the readable shards of the newest successful snapshot.
func shardsOf(t *testing.T, bucket snapshot.Bucket) (shards []*snapshot.Shard) {
	t.Helper()
	repo, err := snapshot.Open(t.Context(), bucket)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := repo.Find(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range snap.Indices {
		index, err := snap.Index(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		for n := range index.Shards {
			shard, err := index.Shard(t.Context(), n)
			if fault.Is(err, fault.Refused) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			shards = append(shards, shard)
		}
	}
	return shards
}
