package sim

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/blob/memory"
	"github.com/reshelve/reshelve/document"
	"github.com/reshelve/reshelve/migrate"
	"github.com/reshelve/reshelve/snapshot"
	"github.com/reshelve/reshelve/work"
)

// Truth is what a snapshot holds. It is read once and shared by runs.
type Truth struct {
	bucket  memory.Bucket
	plan    migrate.Plan
	indices map[string][][]held // index → shard → documents by position
}

// held is a document that the snapshot holds.
type held struct {
	position    int64
	name        name
	fingerprint string
	version     int64
}

// name tells a document from the others of its index.
type name struct{ routing, id string }

// Load reads the newest snapshot of a repository in a folder.
func Load(ctx context.Context, folder string) (*Truth, error) {
	t := &Truth{bucket: memory.Bucket{}, indices: map[string][][]held{}}
	files := os.DirFS(folder)
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		t.bucket[path], err = fs.ReadFile(files, path)
		return err
	})
	if err != nil {
		return nil, err
	}
	repository, err := snapshot.Open(ctx, t.bucket)
	if err != nil {
		return nil, err
	}
	from, err := repository.Find(ctx, "")
	if err != nil {
		return nil, err
	}
	t.plan = migrate.Plan{Repository: "repository", Target: "http://target", Snapshot: from.Name, SnapshotUUID: from.UUID, Version: from.Version, ItemBytes: 10 << 10, Digits: 1}
	for _, index := range from.Indices {
		if err := t.readIndex(ctx, from, index); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(t.plan.Indices, func(a, b migrate.Index) int { return strings.Compare(a.Source, b.Source) })
	return t, nil
}

func (t *Truth) readIndex(ctx context.Context, from *snapshot.Snapshot, index string) error {
	idx, err := from.Index(ctx, index)
	if err != nil {
		return err
	}
	planned := migrate.Index{Source: index, Target: index, Shards: idx.Shards}
	shards := make([][]held, idx.Shards)
	for n := range shards {
		shard, err := idx.Shard(ctx, n)
		if err != nil {
			return err
		}
		docs, err := shard.Documents(ctx, snapshot.ReadOptions{Versions: true})
		if err != nil {
			return err
		}
		var f document.Fingerprinter
		for docs.Next() {
			d := docs.Document()
			one := held{position: d.Position.Number, name: name{string(d.Routing), string(d.ID)}, fingerprint: f.Of(d.ID, d.Routing, d.Source).String()}
			if d.Versions != nil {
				one.version = d.Versions.Version
			}
			shards[n] = append(shards[n], one)
			planned.Documents++
			planned.Bytes += int64(len(d.Source))
		}
		if err := docs.Err(); err != nil {
			return err
		}
		if err := docs.Close(); err != nil {
			return err
		}
	}
	t.plan.Indices, t.indices[index] = append(t.plan.Indices, planned), shards
	return nil
}

// between are the documents of a shard whose positions are from start to before end.
func (t *Truth) between(index string, shard int, start, end int64) []held {
	all := t.indices[index]
	if shard >= len(all) {
		return nil
	}
	var found []held
	for _, h := range all[shard] {
		if h.position >= start && (h.position < end || end == work.ToEnd) {
			found = append(found, h)
		}
	}
	return found
}
