package snapshot

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
)

const longLived = "testdata/elasticsearch-1.7.6-to-5.6.16"

// checkLongLived reads both snapshots of the repository down to their files.
func checkLongLived(t *testing.T, b Bucket) {
	t.Helper()
	ctx := context.Background()
	r, err := Open(ctx, b)
	if err != nil {
		t.Fatal(err)
	}
	all, err := r.All(ctx)
	if err != nil || len(all) != 2 {
		t.Fatalf("%d snapshots, %v", len(all), err)
	}
	for i, version := range []string{"1.7.6", "2.4.6"} {
		s := all[i]
		if s.Name != "by-"+version || s.Version != version || s.State != Success || s.Complete() != nil {
			t.Errorf("%+v", s)
		}
		if _, err := s.Global(ctx); err != nil {
			t.Error(err)
		}
		index, err := s.Index(ctx, "book-"+version)
		if err != nil {
			t.Fatal(err)
		}
		if index.Created != version || strings.Join(index.Types, ",") != "leaf" {
			t.Errorf("%+v", index)
		}
		sh, err := index.Shard(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		if name, err := sh.CommitFile(); err != nil || len(sh.Files) != 4 {
			t.Errorf("%d files, commit %s, %v", len(sh.Files), name, err)
		}
	}
}

func TestARepositoryThatThreeMajorVersionsWrote(t *testing.T) {
	b := inMemory(t, longLived)
	checkLongLived(t, b)
	for key := range b.blobs { // as 2.4.6 left it
		if key == "index-0" || key == latestKey || key == incompatibleKey {
			delete(b.blobs, key)
		}
	}
	checkLongLived(t, b)
	b.unlisted = true
	checkLongLived(t, b)
}

// 6.x sets snapshots of 2.x and older aside as incompatible; here they are read.
func TestSnapshotsThatWereSetAside(t *testing.T) {
	b := inMemory(t, longLived)
	b.blobs["index-1"] = []byte(`{"snapshots":[],"indices":{}}`)
	b.blobs[incompatibleKey] = []byte(`{"incompatible-snapshots":[{"name":"by-1.7.6","uuid":"by-1.7.6"},{"name":"by-2.4.6","uuid":"by-2.4.6"}]}`)
	checkLongLived(t, b)

	delete(b.blobs, "snapshot-by-1.7.6")
	r, err := Open(context.Background(), b)
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Find(context.Background(), "by-1.7.6")
	if err != nil {
		t.Fatal(err)
	}
	if s.State != Incompatible || !fault.Is(s.Complete(), fault.Refused) {
		t.Errorf("%+v: %v", s, s.Complete())
	}
	if _, err := s.Index(context.Background(), "book-1.7.6"); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
}

// Three more repositories, made by others, may lie beside the shared ones.
func TestRepositoriesOfOthers(t *testing.T) {
	dirs, err := filepath.Glob(sharedFolder() + "/snapshots/ES_*")
	if err != nil || len(dirs) == 0 {
		t.Skip("RESHELVE_SHARED has no snapshots/ES_*")
	}
	for _, dir := range dirs {
		if err := readAllOf(folderBucket(dir)); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
