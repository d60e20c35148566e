package control

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot"
)

// refuseElsewhere refuses indices whose documents are not in the repository, and
// names them all.
func refuseElsewhere(indices []*snapshot.Index) error {
	var refused, next []string
	for _, idx := range indices {
		err := idx.Elsewhere()
		if err == nil {
			continue
		}
		refused = append(refused, err.Error())
		if n := fault.Next(err); !slices.Contains(next, n) {
			next = append(next, n)
		}
	}
	if len(refused) == 0 {
		return nil
	}
	err := fault.New(fault.Refused, "%s", strings.Join(refused, "; "))
	return fault.WithNext(err, "%s, or choose other indices with --index", strings.Join(next, "; "))
}

// refuseSynthetic refuses indices whose sources are not stored, and names the
// fields that are.
func refuseSynthetic(indices []*snapshot.Index) error {
	var refused []string
	for _, idx := range indices {
		if why, is := idx.Synthetic(); is {
			refused = append(refused, fmt.Sprintf("%s (%s; stored fields: %s)", idx.Name, why, strings.Join(storedFields(idx.Mappings), ", ")))
		}
	}
	if len(refused) == 0 {
		return nil
	}
	err := fault.New(fault.Refused, "%s, in %s", snapshot.SyntheticSource, strings.Join(refused, ", "))
	return fault.WithNext(err, "restore it in a cluster that knows it and reindex there, or choose other indices with --index; "+
		"--use-recovery-source prints the originals that are still stored beside, --ids-only the ids")
}

// hasNested tells whether a mapping makes Lucene documents of parts of a
// document. Only a key "type" can hold the value "nested" in a mapping.
func hasNested(mappings json.RawMessage) bool {
	var compact bytes.Buffer
	return json.Compact(&compact, mappings) == nil && bytes.Contains(compact.Bytes(), []byte(`"type":"nested"`))
}

// storedFields names what a shard stores of a document without source: the
// fields that every index stores, and those that the mapping says to.
func storedFields(mappings json.RawMessage) []string {
	found := map[string]bool{}
	room := 32*len(mappings) + 1<<16
	collectStored(mappings, "", &room, found)
	return append([]string{"_id", "_routing"}, slices.Sorted(maps.Keys(found))...)
}

// collectStored adds the fields of a part of a mapping. A field is decoded once for
// each object that it lies in: room bounds how many bytes that, and the paths of
// fields, may be together.
func collectStored(mapping json.RawMessage, path string, room *int, found map[string]bool) {
	var field struct {
		Store      json.RawMessage            `json:"store"`
		Properties map[string]json.RawMessage `json:"properties"`
		Fields     map[string]json.RawMessage `json:"fields"`
	}
	*room -= len(mapping) + len(path)
	if *room < 0 || json.Unmarshal(mapping, &field) != nil {
		return
	}
	if string(field.Store) == "true" || string(field.Store) == `"true"` {
		found[path] = true
	}
	for _, below := range []map[string]json.RawMessage{field.Properties, field.Fields} {
		for name, sub := range below {
			if path != "" {
				name = path + "." + name
			}
			collectStored(sub, name, room, found)
		}
	}
}
