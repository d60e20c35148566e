package sim

import (
	"bytes"
	"context"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/snapshot"
	"github.com/reshelve/reshelve/snapshot/blob/memory"
)

// Truth is what the snapshots of a repository hold. It is read once and shared by runs.
type Truth struct {
	bucket    memory.Bucket
	blobs     []string // the keys of those of shards, in order
	snapshots []*taken // the oldest first
}

// taken is what one snapshot holds.
type taken struct {
	plan    migrate.Plan
	indices map[string][][]held // index → shard → documents by position
}

// held is a document that the snapshot holds.
type held struct {
	position int64
	name     name
	version  int64
	// fingerprint is that of the document; shaped the one after the steps of a script that
	// transforms, which drop the document when it is "".
	fingerprint, shaped string
}

// name tells a document from the others of its index.
type name struct{ routing, id string }

// steps are the transformation of scripts that have one; [shape] says the same.
const steps = "steps:\n- when: id endsWith \"3\"\n  drop: true\n- set: {moved: '\"by hand\"'}\n"

// shape is what is to become of a document's source by [steps]; nil when it is dropped.
func shape(id, source []byte) []byte {
	if bytes.HasSuffix(id, []byte("3")) {
		return nil
	}
	members := bytes.TrimSpace(source[bytes.IndexByte(source, '{')+1 : bytes.LastIndexByte(source, '}')])
	if len(members) > 0 {
		members = append(bytes.Clone(members), ',')
	}
	return slices.Concat([]byte("{"), members, []byte(`"moved":"by hand"}`))
}

// print is the fingerprint that a document is to have on the target; "": it is not to be there.
func (h *held) print(s *Script) string {
	if s.Transform {
		return h.shaped
	}
	return h.fingerprint
}

// Load reads the snapshots of a repository in a folder.
func Load(ctx context.Context, folder string) (*Truth, error) {
	t := &Truth{bucket: memory.Bucket{}}
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
	for _, key := range slices.Sorted(maps.Keys(t.bucket)) {
		if strings.HasPrefix(key, "indices/") && strings.Count(key, "/") == 3 {
			t.blobs = append(t.blobs, key)
		}
	}
	repository, err := snapshot.Open(ctx, t.bucket)
	if err != nil {
		return nil, err
	}
	all, err := repository.All(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b *snapshot.Snapshot) int { return a.Start.Compare(b.Start) })
	for _, from := range all {
		one := &taken{indices: map[string][][]held{}}
		one.plan = migrate.Plan{Repository: "repository", Target: "http://target", Snapshot: from.Name, SnapshotUUID: from.UUID, Version: from.Version, ItemBytes: 10 << 10, Digits: 1}
		for _, index := range from.Indices {
			if err := one.readIndex(ctx, from, index); err != nil {
				return nil, err
			}
		}
		slices.SortFunc(one.plan.Indices, func(a, b migrate.Index) int { return strings.Compare(a.Source, b.Source) })
		t.snapshots = append(t.snapshots, one)
	}
	return t, nil
}

func (t *taken) readIndex(ctx context.Context, from *snapshot.Snapshot, index string) error {
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
		for docs.Next() {
			d := docs.Document()
			shards[n] = append(shards[n], holds(d))
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

func holds(d *document.Document) held {
	var f document.Fingerprinter
	one := held{position: d.Position.Number, name: name{string(d.Routing), string(d.ID)}, fingerprint: f.Of(d.ID, d.Routing, d.Source).String()}
	if d.Versions != nil {
		one.version = d.Versions.Version
	}
	if source := shape(d.ID, d.Source); source != nil {
		one.shaped = f.Of(d.ID, d.Routing, source).String()
	}
	return one
}

// between are the documents of a shard whose positions are from start to before end.
func (t *taken) between(index string, shard int, start, end int64) []held {
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

// names are the documents of an index.
func (t *taken) names(index string) map[name]held {
	all := map[name]held{}
	for _, shard := range t.indices[index] {
		for _, h := range shard {
			all[h.name] = h
		}
	}
	return all
}
