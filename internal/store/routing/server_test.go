package routing_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/reshelve/reshelve/internal/store/routing"
)

// TestServerShards: a document is in the shard in which the server that wrote it found it, for all repositories of testdata. Before 2.0 there was
// another hash. No index of theirs is partitioned.
func TestServerShards(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/repositories/*/expected/*/metadata.json")
	if err != nil {
		t.Fatal(err)
	}
	seen, routed := 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var told struct {
			Settings map[string]struct {
				Settings struct {
					Index map[string]any `json:"index"`
				} `json:"settings"`
			} `json:"_settings"`
		}
		if err := json.Unmarshal(text, &told); err != nil {
			t.Fatal(file, err)
		}
		for name, one := range told.Settings {
			of := func(key string, fallback int) int {
				if n, err := strconv.Atoi(stringOf(one.Settings.Index[key])); err == nil {
					return n
				}
				return fallback
			}
			created := stringOf(one.Settings.Index["version"].(map[string]any)["created"])
			shards := of("number_of_shards", 0)
			usual := routing.Spread(shards)
			version, _ := strconv.Atoi(created) // as 6082399; OpenSearch counts from 135217827
			if version < 7_00_00_00 {
				usual = shards
			}
			if version < 2_00_00_00 || one.Settings.Index["resize"] != nil || one.Settings.Index["shrink"] != nil || shards < 2 {
				continue
			}
			spread, partitions := of("number_of_routing_shards", usual), of("routing_partition_size", 1)
			lines, err := os.ReadFile(filepath.Join(filepath.Dir(file), name+".ndjson"))
			if err != nil {
				continue
			}
			for line := range bytes.Lines(lines) {
				var doc struct {
					ID      string `json:"_id"`
					Routing string `json:"_routing"`
					Parent  string `json:"_parent"`
					Shard   *int   `json:"_shard"`
				}
				if err := json.Unmarshal(line, &doc); err != nil || doc.Shard == nil || doc.Parent != "" {
					continue
				}
				if got := routing.ServerShard(doc.ID, doc.Routing, partitions, shards, spread); got != *doc.Shard {
					t.Errorf("%s %s %q routed by %q: shard %d, is in %d", file, name, doc.ID, doc.Routing, got, *doc.Shard)
				}
				seen++
				if doc.Routing != "" {
					routed++
				}
			}
		}
	}
	if seen < 500 || routed < 50 {
		t.Errorf("only %d documents were seen, %d with a routing", seen, routed)
	}
}

func stringOf(v any) string {
	text, _ := v.(string)
	return text
}
