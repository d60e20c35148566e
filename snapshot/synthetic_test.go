package snapshot

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
)

// indexOf makes an index by version, settings and mapping, as a snapshot's
// metadata hold them.
func indexOf(t *testing.T, created, settings, mapping string) *Index {
	t.Helper()
	var flat map[string]string
	if err := json.Unmarshal([]byte("{"+settings+"}"), &flat); err != nil {
		t.Fatal(err)
	}
	flat["index.version.created"], flat["index.number_of_shards"] = created, "1"
	text, err := json.Marshal(flat)
	if err != nil {
		t.Fatal(err)
	}
	i := &Index{Name: "x", snapshot: &Snapshot{}}
	if err := i.fill(&indexFile{State: "open", Settings: text, Mappings: json.RawMessage(`[{"_doc":` + mapping + `}]`)}, newExpander(text)); err != nil {
		t.Fatal(err)
	}
	return i
}

func TestWhatOfASourceIsStored(t *testing.T) {
	const stored, synthetic, disabled, filtered = "stored", "synthetic", "disabled", "filtered"
	vector := `{"properties":{"a":{"properties":{"v":{"type":"dense_vector","dims":2}}}}}`
	sparse := `{"properties":{"a":{"type":"nested","properties":{"v":{"type":"sparse_vector"}}}}}`
	rank := `{"properties":{"v":{"type":"rank_vectors","dims":2}}}`
	knn := `{"properties":{"v":{"type":"knn_vector","dimension":2}}}`
	for _, tc := range []struct {
		name, created, settings, mapping, want string
	}{
		{"plain", "8512000", ``, `{}`, stored},
		{"mapping", "8040099", ``, `{"_source":{"mode":"synthetic"}}`, synthetic},
		{"setting", "8521000", `"index.mapping.source.mode":"synthetic"`, `{}`, synthetic},
		{"setting in capitals", "8521000", `"index.mapping.source.mode":"SYNTHETIC"`, `{}`, synthetic},
		{"the setting wins over the mapping", "8521000", `"index.mapping.source.mode":"stored"`, `{"_source":{"mode":"synthetic"}}`, stored},
		{"logsdb", "8521000", `"index.mode":"logsdb"`, `{}`, synthetic},
		{"logsdb with the sources stored", "8521000", `"index.mode":"logsdb","index.mapping.source.mode":"stored"`, `{}`, stored},
		{"logsdb with a mapping that stores", "8521000", `"index.mode":"logsdb"`, `{"_source":{"mode":"stored"}}`, stored},
		{"time series", "8070099", `"index.mode":"time_series"`, `{}`, synthetic},
		{"time series before they were synthetic", "8060299", `"index.mode":"time_series"`, `{}`, stored},
		{"standard mode", "9039001", `"index.mode":"standard"`, `{}`, stored},
		{"disabled by the mapping", "7100299", ``, `{"_source":{"enabled":false}}`, disabled},
		{"disabled by text", "1070699", ``, `{"_source":{"enabled":"false"}}`, disabled},
		{"disabled by mode", "8521000", ``, `{"_source":{"mode":"disabled"}}`, disabled},
		{"disabled by setting", "8521000", `"index.mapping.source.mode":"disabled"`, `{}`, disabled},
		{"enabled", "7100299", ``, `{"_source":{"enabled":true}}`, stored},
		{"excludes", "7100299", ``, `{"_source":{"excludes":["a"]}}`, filtered},
		{"includes as text", "1070699", ``, `{"_source":{"includes":"a"}}`, filtered},
		{"nothing excluded", "7100299", ``, `{"_source":{"excludes":[],"includes":[]}}`, stored},
		{"vectors of 9.2", "9039001", ``, vector, filtered},
		{"vectors of 9.2, kept", "9039001", `"index.mapping.exclude_source_vectors":"false"`, vector, stored},
		{"sparse vectors of 9.2", "9039001", ``, sparse, filtered},
		{"sparse vectors of 9.2, kept", "9039001", `"index.mapping.exclude_source_vectors":"false"`, sparse, stored},
		{"sparse vectors before", "9009000", ``, sparse, stored},
		{"rank vectors of 9.2", "9039001", ``, rank, filtered},
		{"vectors before", "9009000", ``, vector, stored},
		{"vectors before, left out", "9009000", `"index.mapping.exclude_source_vectors":"true"`, vector, filtered},
		{"derived source of OpenSearch", "137247827", `"index.derived_source.enabled":"true"`, `{}`, synthetic},
		{"vectors of OpenSearch 3", "137217827", `"index.knn":"true"`, knn, filtered},
		{"vectors of OpenSearch 3, kept", "137217827", `"index.knn":"true","index.knn.derived_source.enabled":"false"`, knn, stored},
		{"vectors of OpenSearch 2", "136407827", `"index.knn":"true"`, knn, stored},
	} {
		i := indexOf(t, tc.created, tc.settings, tc.mapping)
		got := stored
		for state, ask := range map[string]func() (string, bool){synthetic: i.Synthetic, disabled: i.SourceDisabled, filtered: i.SourceFiltered} {
			why, is := ask()
			if !is {
				continue
			}
			if got != stored || why == "" {
				t.Errorf("%s: both %s and %s (%q)", tc.name, got, state, why)
			}
			got = state
		}
		if got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestRealIndicesWithSyntheticSource(t *testing.T) {
	want := map[string]bool{"synthetic": true, "synthetic-by-setting": true, "logs": true, "series": true}
	seen := 0
	eachSnapshot(t, func(t *testing.T, s *Snapshot, answers string) {
		for _, name := range s.Indices {
			i, err := s.Index(context.Background(), name)
			if err != nil {
				t.Fatal(err)
			}
			why, is := i.Synthetic()
			expected := want[name] && strings.Contains(answers, "-synthetic")
			if name == "synthetic" && strings.Contains(answers, "-9.") {
				expected = false // 9.x drops the mode from mappings, and stores the sources
			}
			if is != expected {
				t.Errorf("%s: synthetic %v: %s", name, is, why)
			}
			if is {
				seen++
			}
		}
	})
	if seen < 2 {
		t.Errorf("%d indices with synthetic source", seen)
	}
}

// TestSyntheticSourcesWithTheirVersions: whoever reads the versions too, as a migration does, gets the same refusal where the
// columns are in a format that is not known, and not one of that format.
func TestSyntheticSourcesWithTheirVersions(t *testing.T) {
	ctx := context.Background()
	r, err := Open(ctx, inMemory(t, "../testdata/repositories/elasticsearch-9.2.0-synthetic/repo"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Find(ctx, "only")
	if err != nil {
		t.Fatal(err)
	}
	i, err := s.Index(ctx, "logs")
	if err != nil {
		t.Fatal(err)
	}
	shard, err := i.Shard(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	docs, err := shard.Documents(ctx, ReadOptions{Versions: true})
	if err == nil {
		for docs.Next() {
		}
		err = docs.Err()
		docs.Close()
	}
	if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), SyntheticSource) || strings.Contains(err.Error(), "DocValues") {
		t.Errorf("read with versions: %v", err)
	}
}
