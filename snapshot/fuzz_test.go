package snapshot

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// seedPayloads adds the payloads of the metadata files of all real repositories
// that match, at most a few hundred. The fuzzer changes payloads: the wrapper,
// whose checksum would hide them, is made anew.
func seedPayloads(f *testing.F, codec, pattern string) {
	const most = 150
	added := 0
	for _, dir := range repositories(f) {
		filepath.WalkDir(dir+"/repo", func(path string, d os.DirEntry, err error) error {
			if matched, _ := filepath.Match(pattern, filepath.Base(path)); err != nil || d.IsDir() || !matched || added == most {
				return err
			}
			data, err := os.ReadFile(path)
			if payload, wrapped := unwrap(data, codec); wrapped == nil {
				data = payload
			}
			added++
			f.Add(data)
			if text, notText := newExpander(data).json(data); notText == nil && len(text) < 2000 {
				f.Add(text) // which mutations break less often than SMILE
			}
			return err
		})
	}
	if added == 0 {
		f.Fatal("no seeds")
	}
}

func FuzzRoot(f *testing.F) {
	seedPayloads(f, "", "index-*")
	seedPayloads(f, "", "index")
	f.Fuzz(func(t *testing.T, data []byte) {
		parseOldRoot(data)
		r, err := parseRoot(data)
		if err != nil {
			return
		}
		for _, s := range r.Snapshots {
			if strings.ContainsAny(s.blob(), "/") || r.indicesOf[s.blob()] == nil {
				t.Errorf("snapshot %q was accepted", s.blob())
			}
		}
		for name, i := range r.Indices {
			if i.ID == "" || i.ID == ".." || strings.Contains(i.ID, "/") {
				t.Errorf("index %q was accepted with the id %q", name, i.ID)
			}
			(&Repository{}).takeHashedPaths(i, &shardPaths{Algorithm: hashComposite, Paths: []string{name}})
		}
	})
}

func FuzzSnapshotFile(f *testing.F) {
	seedPayloads(f, codecSnapshot, "snap-*.dat")
	f.Fuzz(func(t *testing.T, payload []byte) {
		var file struct {
			Snapshot *snapFile `json:"snapshot"`
		}
		if _, err := decodeMetadata(wrap(codecSnapshot, payload), codecSnapshot, &file); err != nil || file.Snapshot == nil {
			return
		}
		s := &Snapshot{repo: newRepository(&mapBucket{}, -1, &root{}), layout: layout{id: "x"}}
		if s.fill(file.Snapshot) != nil || s.compare(rootSnapshot{Name: s.Name}, file.Snapshot) != nil {
			return
		}
		s.Complete()
		for _, name := range s.Indices {
			if name == ".." || strings.Contains(name, "/") {
				t.Errorf("index %q was accepted as a folder", name)
			}
		}
	})
}

func FuzzManifest(f *testing.F) {
	seedPayloads(f, codecSnapshot, "snap-*.dat")
	seedPayloads(f, "", "snapshot-*")
	f.Fuzz(func(t *testing.T, payload []byte) {
		var m manifest
		if _, err := decodeMetadata(wrap(codecSnapshot, payload), codecSnapshot, &m); err != nil {
			return
		}
		sh := &Shard{Path: "p"}
		if sh.fill(&m) != nil {
			return
		}
		sh.CommitFile()
		for i := range sh.Files {
			checkAccepted(t, sh, &sh.Files[i])
		}
	})
}

// checkAccepted checks what the manifest promises of an accepted file.
func checkAccepted(t *testing.T, sh *Shard, f *File) {
	info, ok := sh.Stat(f.Name)
	if !ok || info.Length != f.Length || f.Length < 0 {
		t.Errorf("%q: %+v", f.Name, info)
	}
	if f.Content != nil && int64(len(f.Content)) != f.Length || f.Virtual && f.Content == nil {
		t.Errorf("%q of %d bytes was accepted with %d", f.Name, f.Length, len(f.Content))
	}
	n := f.partCount()
	if f.Virtual || n < 1 {
		return
	}
	first, last := sh.part(f, 0), sh.part(f, n-1)
	if first.Size+(n-2)*f.PartSize+last.Size != f.Length && n > 1 || n == 1 && first.Size != f.Length {
		t.Errorf("%q: %d parts of %d, the last %d, do not make %d", f.Name, n, f.PartSize, last.Size, f.Length)
	}
	if strings.Count(last.Key, "/") != 1 {
		t.Errorf("key %q was accepted", last.Key)
	}
}

func FuzzIndexMeta(f *testing.F) {
	seedPayloads(f, codecIndex, "meta-*.dat")
	f.Fuzz(func(t *testing.T, payload []byte) {
		var file map[string]indexFile
		e, err := decodeMetadata(wrap(codecIndex, payload), codecIndex, &file)
		if err != nil {
			return
		}
		for name, meta := range file {
			i := &Index{Name: name, snapshot: &Snapshot{}}
			if json.Unmarshal(meta.Mappings, new([]any)) == nil {
				i.snapshot.version = 6_08_23_99 // which knows types
			}
			if i.fill(&meta, e) != nil {
				continue
			}
			i.Synthetic()
			i.SourceDisabled()
			i.SourceFiltered()
			i.Elsewhere()
			if i.Shards < 1 || i.Shards > maxShards || !json.Valid(i.Mappings) || !json.Valid(i.Aliases) {
				t.Errorf("accepted: %d shards, mappings %s, aliases %s", i.Shards, i.Mappings, i.Aliases)
			}
		}
	})
}

func FuzzGlobal(f *testing.F) {
	seedPayloads(f, codecGlobal, "meta-*.dat")
	f.Fuzz(func(t *testing.T, payload []byte) {
		b := &mapBucket{blobs: map[string][]byte{"meta-x.dat": wrap(codecGlobal, payload)}}
		s := &Snapshot{repo: newRepository(b, -1, &root{}), layout: layout{id: "x"}, GlobalState: true}
		g, err := s.Global(context.Background())
		if err != nil {
			return
		}
		for _, part := range []json.RawMessage{g.Templates, g.ComposableTemplates, g.ComponentTemplates} {
			if part != nil && !json.Valid(part) {
				t.Errorf("accepted: %s", part)
			}
		}
	})
}

func FuzzWrapper(f *testing.F) {
	f.Add(wrap(codecSnapshot, []byte(`{}`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		payload, err := unwrap(data, codecSnapshot)
		if err == nil && len(payload) >= len(data) {
			t.Error("a payload as long as the file")
		}
		unwrap(withFooter(data), codecSnapshot)
	})
}
