package snapshot_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/reshelve/reshelve/snapshot"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/folder"
)

// TestChangesAreAllThatDiffers: what both snapshots of a shard hold outside of the parts is the
// same, document by document, in the repositories of every version that have two.
func TestChangesAreAllThatDiffers(t *testing.T) {
	names, err := filepath.Glob("../testdata/repositories/*-basic")
	if err != nil || len(names) < 10 {
		t.Fatal(names, err)
	}
	skipped := int64(0)
	for _, name := range names {
		bucket, err := blob.Open(t.Context(), filepath.Join(name, "repo"), map[string]blob.Opener{"file": folder.Open})
		if err != nil {
			t.Fatal(err)
		}
		repository, err := snapshot.Open(t.Context(), bucket)
		if err != nil {
			t.Fatal(err)
		}
		first, err := repository.Find(t.Context(), "first")
		if err != nil {
			t.Fatal(err)
		}
		second, err := repository.Find(t.Context(), "second")
		if err != nil {
			t.Fatal(err)
		}
		for _, index := range second.Indices {
			was, err := first.Index(t.Context(), index)
			if err != nil {
				continue
			}
			is, err := second.Index(t.Context(), index)
			if err != nil {
				t.Fatal(err)
			}
			for n := range is.Shards {
				skipped += changesOf(t, was, is, n)
			}
		}
	}
	if skipped == 0 {
		t.Error("nothing was ever left out")
	}
}

func changesOf(t *testing.T, was, is *snapshot.Index, n int) int64 {
	t.Helper()
	older, err := was.Shard(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	newer, err := is.Shard(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	changes, err := newer.Since(t.Context(), older)
	if err != nil {
		t.Fatal(err)
	}
	where := fmt.Sprintf("%s: %s/%d", newer.Path, is.Name, n)
	left := func(sh *snapshot.Shard, parts map[string]snapshot.Part) map[string]int {
		all := map[string]int{}
		for _, d := range texts(t, sh, nil) {
			all[d]++
		}
		for _, d := range texts(t, sh, parts) {
			if all[d]--; all[d] < 0 {
				t.Errorf("%s: a part has %s, which does not live", where, d)
			}
		}
		for d, n := range all {
			if n == 0 {
				delete(all, d)
			}
		}
		return all
	}
	before := left(older, changes.Older)
	after := left(newer, changes.Newer)
	for d, n := range before {
		if after[d] != n {
			t.Errorf("%s: left out on the older side alone: %s", where, d)
		}
	}
	for d := range after {
		if before[d] == 0 {
			t.Errorf("%s: left out on the newer side alone: %s", where, d)
		}
	}
	if changes.Documents < int64(len(after)) || changes.Same > changes.Segments {
		t.Errorf("%s: %+v, and %d are left out", where, changes, len(after))
	}
	return changes.Documents
}

// texts are the documents of a pass with all that is stored of them.
func texts(t *testing.T, sh *snapshot.Shard, parts map[string]snapshot.Part) (all []string) {
	t.Helper()
	docs, err := sh.Documents(t.Context(), snapshot.ReadOptions{Versions: true, Parts: parts})
	if err != nil {
		t.Fatal(err)
	}
	defer docs.Close()
	for docs.Next() {
		d := docs.Document()
		version := int64(-1)
		if d.Versions != nil {
			version = d.Versions.Version
		}
		all = append(all, fmt.Sprintf("%s %s %d %s", d.ID, d.Routing, version, d.Source))
	}
	if err := docs.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
