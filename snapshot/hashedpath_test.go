package snapshot

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
)

// outsideBucket is a folder that reaches beyond itself.
type outsideBucket struct{ folderBucket }

func (b outsideBucket) Outside(_ context.Context, base string) (Bucket, error) {
	outer, ok := strings.CutSuffix(filepath.ToSlash(string(b.folderBucket)), "/"+base)
	if !ok {
		return nil, fault.New(fault.Refused, "%s does not end in %s", b.folderBucket, base)
	}
	return folderBucket(outer), nil
}

// The repository of the test was written with the base_path "deep/base".
const basePathRepository = "testdata/opensearch-3.6.0-base-path"

func TestShardsThatLieBesideTheBasePath(t *testing.T) {
	readShards(t, outsideBucket{basePathRepository + "/deep/base"})
}

// readShards looks for the first shard of each index of the newest snapshot beside the base path.
func readShards(t *testing.T, b Bucket) {
	t.Helper()
	ctx := context.Background()
	r, err := Open(ctx, b)
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Find(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range s.Indices {
		i, err := s.Index(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		sh, err := i.Shard(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(sh.Path, "/deep/base/indices/"+i.ID+"/0") {
			t.Errorf("path %s", sh.Path)
		}
		for _, f := range sh.Files {
			for _, part := range sh.parts(&f) {
				if size, err := r.bucket.Size(ctx, part.Key); err != nil || size != part.Size {
					t.Errorf("%s: %d, %v", part.Key, size, err)
				}
			}
		}
	}
}

func TestShardsOutOfReachAreRefused(t *testing.T) {
	ctx := context.Background()
	r, err := Open(ctx, folderBucket(basePathRepository+"/deep/base"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Find(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	i, err := s.Index(ctx, "shelf")
	if err != nil {
		t.Fatal(err)
	}
	_, err = i.Shard(ctx, 0)
	if !fault.Is(err, fault.Refused) || !strings.Contains(fault.Next(err), "ends in deep/base") {
		t.Errorf("%v; next: %s", err, fault.Next(err))
	}
}

// TestAMissingFileOfShardPaths: any other file of shard paths makes up for one that is missing, or that is named by another
// number of shards.
func TestAMissingFileOfShardPaths(t *testing.T) {
	for _, change := range []func(name string) string{
		func(name string) string { return strings.Replace(name, ".1.1.1", ".7.1.1", 1) },
		func(name string) string { return strings.Replace(name, ".shelf.", ".gone.", 1) },
	} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(basePathRepository)); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(dir + "/deep/base/snapshot_shard_paths/*")
		if err != nil || len(files) == 0 {
			t.Fatal(err)
		}
		changed := 0
		for _, file := range files {
			if to := change(file); to != file {
				changed++
				if err := os.Rename(file, to); err != nil {
					t.Fatal(err)
				}
			}
		}
		if changed == 0 {
			t.Fatalf("nothing is changed of %v", files)
		}
		readShards(t, outsideBucket{folderBucket(dir + "/deep/base")})
	}
}

func TestHashOfAShard(t *testing.T) { // from repositories of OpenSearch 3.6.0
	h := hashedPaths{algorithm: hashComposite}
	for _, tc := range []struct {
		id    string
		shard int
		want  string
	}{
		{"XPggnKGTTlaWsqkgRCrIZA", 0, "v10011000011001"},
		{"XPggnKGTTlaWsqkgRCrIZA", 1, "811111100111010"},
		{"XPggnKGTTlaWsqkgRCrIZA", 2, "b10110000101010"},
		{"L6XiVSnwSPeZG1c5iFuy7A", 0, "410011001001001"},
	} {
		if got := h.hash(tc.id, tc.shard); got != tc.want {
			t.Errorf("%s/%d: %s, want %s", tc.id, tc.shard, got, tc.want)
		}
	}
}
