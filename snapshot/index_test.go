package snapshot

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
)

// served is what a server says of its indices right before a snapshot.
type served struct {
	Mapping  map[string]struct{ Mappings map[string]any } `json:"_mapping"`
	Settings map[string]struct{ Settings map[string]any } `json:"_settings"`
	Alias    map[string]struct{ Aliases map[string]any }  `json:"_alias"`
	Template map[string]any                               `json:"_template"`

	Composable struct {
		All []struct {
			Name     string
			Template any `json:"index_template"`
		} `json:"index_templates"`
	} `json:"_index_template"`
	Component struct {
		All []struct {
			Name     string
			Template any `json:"component_template"`
		} `json:"component_templates"`
	} `json:"_component_template"`
	DataStream struct {
		All []map[string]any `json:"data_streams"`
	} `json:"_data_stream"`
	Cluster struct{ Persistent any } `json:"_cluster_settings"`
}

// eachSnapshot calls f with every snapshot of every real repository, and the
// folder of the server's answers about it.
func eachSnapshot(t *testing.T, f func(t *testing.T, s *Snapshot, answers string)) {
	for name, dir := range repositories(t) {
		r, err := Open(context.Background(), folderBucket(dir+"/repo"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		all, err := r.All(context.Background())
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, s := range all {
			t.Run(name+"/"+s.Name, func(t *testing.T) { f(t, s, filepath.Join(dir, "expected", s.Name)) })
		}
	}
}

func TestIndexMetadataIsWhatTheServerShowed(t *testing.T) {
	compared := 0
	eachSnapshot(t, func(t *testing.T, s *Snapshot, answers string) {
		var want served
		if !readAnswer(t, answers+"/metadata.json", &want) {
			t.Skip("no metadata.json")
		}
		for _, name := range s.Indices {
			i, err := s.Index(context.Background(), name)
			if err != nil {
				t.Fatal(err)
			}
			if _, shown := want.Settings[name]; !shown && !i.Open {
				continue // of a closed index the server shows nothing
			}
			compared++
			compareIndex(t, i, want)
		}
	})
	if compared < 10 {
		t.Errorf("only %d indices were compared", compared)
	}
}

func compareIndex(t *testing.T, i *Index, want served) {
	t.Helper()
	got := map[string]string{}
	for key, value := range i.Setting {
		got[key] = value
	}
	text, err := json.Marshal(want.Settings[i.Name].Settings)
	if err != nil {
		t.Fatal(err)
	}
	wantSettings, err := flatten(text)
	if err != nil {
		t.Fatal(err)
	}
	if i.SourceOnly() { // which the repository adds
		delete(got, "index.source_only")
		delete(got, "index.blocks.write")
	}
	// A server of a later version adds this to what it shows; snapshots go on
	// sharing the metadata that has not changed.
	delete(got, "index.version.upgraded")
	delete(wantSettings, "index.version.upgraded")
	if !reflect.DeepEqual(got, wantSettings) {
		t.Errorf("%s: settings\n got %v\nwant %v", i.Name, got, wantSettings)
	}
	var mappings, aliases map[string]any
	if err := json.Unmarshal(i.Mappings, &mappings); err != nil {
		t.Errorf("%s: mappings: %v", i.Name, err)
	}
	if m := want.Mapping[i.Name].Mappings; !equalJSON(mappings, m) {
		t.Errorf("%s: mappings\n got %v\nwant %v", i.Name, mappings, m)
	}
	if err := json.Unmarshal(i.Aliases, &aliases); err != nil {
		t.Errorf("%s: aliases: %v", i.Name, err)
	}
	if a := want.Alias[i.Name].Aliases; !equalJSON(aliases, a) {
		t.Errorf("%s: aliases\n got %v\nwant %v", i.Name, aliases, a)
	}
}

// equalJSON compares JSON values; absent and empty objects are the same.
func equalJSON(a, b map[string]any) bool {
	return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b)
}

// status is what a server says of the files of a snapshot.
type status struct {
	Snapshots []struct {
		Indices map[string]struct {
			Shards map[string]struct {
				Stage string
				Stats struct {
					Total *struct {
						Files int   `json:"file_count"`
						Bytes int64 `json:"size_in_bytes"`
					}
				}
			}
		}
	}
}

func TestShardsHaveTheFilesThatTheServerCounted(t *testing.T) {
	compared := 0
	eachSnapshot(t, func(t *testing.T, s *Snapshot, answers string) {
		var want status
		if !readAnswer(t, answers+"/status.json", &want) || len(want.Snapshots) != 1 {
			t.Skip("no status.json")
		}
		for name, index := range want.Snapshots[0].Indices {
			i, err := s.Index(context.Background(), name)
			if err != nil {
				t.Fatal(err)
			}
			if i.Shards != len(index.Shards) {
				t.Errorf("%s: %d shards, want %d", name, i.Shards, len(index.Shards))
			}
			for number, shard := range index.Shards {
				total := shard.Stats.Total
				if total == nil {
					continue
				}
				var n int
				fmt.Sscan(number, &n)
				sh, err := i.Shard(context.Background(), n)
				if err != nil {
					t.Fatal(err)
				}
				compared++
				if len(sh.Files) != total.Files || sh.Bytes() != total.Bytes {
					t.Errorf("%s/%d: %d files of %d bytes, the server says %d of %d", name, n, len(sh.Files), sh.Bytes(), total.Files, total.Bytes)
				}
			}
		}
	})
	if compared == 0 {
		t.Errorf("no shard was compared")
	}
}

func TestEveryFileOfEveryShardIsThere(t *testing.T) {
	eachSnapshot(t, func(t *testing.T, s *Snapshot, answers string) {
		ctx := context.Background()
		for _, name := range s.Indices {
			i, err := s.Index(ctx, name)
			if err != nil {
				t.Fatal(err)
			}
			for n := range i.Shards {
				sh, err := i.Shard(ctx, n)
				switch {
				case fault.Is(err, fault.NotFound) && s.Complete() != nil:
					continue
				case fault.Is(err, fault.Refused) && refusedIndex(answers, name):
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if _, err := sh.CommitFile(); err != nil {
					t.Error(err)
				}
				for _, f := range sh.Files {
					for _, part := range sh.parts(&f) {
						if size, err := s.repo.bucket.Size(ctx, part.Key); err != nil || size != part.Size {
							t.Errorf("%s: %d bytes, %v; want %d", part.Key, size, err, part.Size)
						}
					}
				}
			}
		}
	})
}

// refusedIndex tells whether the repository holds the index to be refused.
func refusedIndex(answers, index string) bool {
	return strings.Contains(answers, "-shallow") || strings.Contains(answers, "-mount") && strings.HasPrefix(index, "mounted")
}

func TestGlobalStateIsWhatTheServerShowed(t *testing.T) {
	eachSnapshot(t, func(t *testing.T, s *Snapshot, answers string) {
		g, err := s.Global(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var want served
		if !s.GlobalState || !readAnswer(t, answers+"/metadata.json", &want) {
			return
		}
		compareObjects(t, "templates", g.Templates, want.Template)
		composable, components, streams := map[string]any{}, map[string]any{}, map[string]any{}
		for _, x := range want.Composable.All {
			composable[x.Name] = x.Template
		}
		for _, x := range want.Component.All {
			components[x.Name] = x.Template
		}
		for _, x := range want.DataStream.All {
			delete(x, "status")
			delete(x, "template")
			streams[x["name"].(string)] = x
		}
		compareObjects(t, "composable templates", g.ComposableTemplates, composable)
		compareObjects(t, "component templates", g.ComponentTemplates, components)
		compareObjects(t, "data streams", g.DataStreams, streams)
		compareObjects(t, "cluster settings", g.Settings, want.Cluster.Persistent)
	})
}

// compareObjects compares JSON objects; settings may be flat or nested, and
// absent is as good as empty.
func compareObjects(t *testing.T, what string, data json.RawMessage, want any) {
	t.Helper()
	flat := func(v any) map[string]string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		keys, err := flatten(text)
		if err != nil {
			t.Fatalf("%s: %v in %s", what, err, text)
		}
		return keys
	}
	var got any = map[string]any{}
	if data != nil {
		got = data
	}
	if g, w := flat(got), flat(want); !reflect.DeepEqual(g, w) {
		t.Errorf("%s\n got %v\nwant %v", what, g, w)
	}
}
