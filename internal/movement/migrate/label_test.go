package migrate

import (
	"encoding/json"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
)

// TestTheLabelOfAnIndex is beside what the mapping of the source has in its _meta, and all else of
// the mapping is the source's.
func TestTheLabelOfAnIndex(t *testing.T) {
	for body, want := range map[string]string{
		`{"settings":{"index.number_of_shards":"1"}}`: `{"mappings":{"_meta":{"reshelve_movement":"m 1"}},"settings":{"index.number_of_shards":"1"}}`,
		`{"mappings":null}`:                           `{"mappings":{"_meta":{"reshelve_movement":"m 1"}}}`,
		`{"mappings":{"_meta":{"of":{"theirs":1e400},"reshelve_movement":"m 0"},"properties":{"b":{"type":"long"},"a":{"type":"long"}}}}`: `{"mappings":{"_meta":{"of":{"theirs":1e400},"reshelve_movement":"m 1"},"properties":{"b":{"type":"long"},"a":{"type":"long"}}}}`,
	} {
		got, err := labelled(json.RawMessage(body), "m 1")
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", body, got, err)
		}
	}
	if got, err := labelled(json.RawMessage(`{"mappings":[]}`), "m 1"); !fault.Is(err, fault.Corrupt) {
		t.Errorf("%s, %v", got, err)
	}
}
