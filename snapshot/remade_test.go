package snapshot_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot"
	"github.com/reshelve/reshelve/snapshot/blob/memory"
)

// remadeShards are the shards that cmd/fixtures gave to the indices of its remade repositories.
var remadeShards = map[string]map[string]int{
	"one":   {"books": 1, "tomes": 3, "scrolls": 1},
	"two":   {"books": 3, "tomes": 1, "scrolls": 1},
	"three": {"books": 1, "scrolls": 1},
	"four":  {"tomes": 2},
}

// TestIndicesMadeAgain: an index that was deleted and made again under its name has, in each snapshot, the shards that it had
// then, and verify finds nothing wrong; the documents are compared by TestDocumentsAreTheServersAnswers.
func TestIndicesMadeAgain(t *testing.T) {
	dirs, err := filepath.Glob("../testdata/repositories/*-remade")
	if err != nil || len(dirs) < 5 {
		t.Fatalf("%d repositories: %v", len(dirs), err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			repo, err := snapshot.Open(t.Context(), repository{dir: dir}.bucket(t))
			if err != nil {
				t.Fatal(err)
			}
			for name, shards := range remadeShards {
				snap, err := repo.Find(t.Context(), name)
				if err != nil {
					t.Fatal(err)
				}
				for index, want := range shards {
					i, err := snap.Index(t.Context(), index)
					if err != nil {
						t.Errorf("%s: %v", name, err)
					} else if i.Shards != want {
						t.Errorf("%s: index %s has %d shards, want %d", name, index, i.Shards, want)
					}
				}
				done, err := snap.Verify(t.Context(), snapshot.VerifyOptions{})
				if err != nil || len(done.Problems) > 0 {
					t.Errorf("%s: verify: %v, %v", name, done.Problems, err)
				}
			}
		})
	}
}

// TestMetadataOfAnIndexMadeAgainSwapped: up to 7.8 nothing in an index's metadata says of which snapshot it is. Those with
// fewer shards, in place of those of the snapshot that is read, would leave out documents without a word.
func TestMetadataOfAnIndexMadeAgainSwapped(t *testing.T) {
	for _, version := range []string{"5.6.16", "6.8.23"} {
		blobs := repository{dir: "../testdata/repositories/elasticsearch-" + version + "-remade"}.blobs(t)
		find := func(name string) *snapshot.Snapshot {
			repo, err := snapshot.Open(t.Context(), memory.Bucket(blobs))
			if err != nil {
				t.Fatal(err)
			}
			snap, err := repo.Find(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			return snap
		}
		one, two := find("one"), find("two")
		index, err := one.Index(t.Context(), "tomes")
		if err != nil {
			t.Fatal(err)
		}
		key := func(s *snapshot.Snapshot) string { return fmt.Sprintf("indices/%s/meta-%s.dat", index.ID, s.UUID) }
		blobs[key(one)] = slices.Clone(blobs[key(two)])
		if i, err := find("one").Index(t.Context(), "tomes"); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%s: with %d shards, %v; want it refused as damaged", version, i.Shards, err)
		}
	}
}
