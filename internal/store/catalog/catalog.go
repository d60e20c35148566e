package catalog

import (
	"encoding/json"
	"time"

	"github.com/reshelve/reshelve/internal/store/routing"
)

// Catalog holds every name of a store. Treat it as immutable.
type Catalog struct {
	Cluster    string                       `json:"cluster"` // UUID of the store, for clients
	NextIndex  uint32                       `json:"nextIndex"`
	Indices    map[string]Entry             `json:"indices"`
	Aliases    map[string]map[string]Alias  `json:"aliases"` // alias → index → its properties
	Streams    map[string]Stream            `json:"streams"`
	Legacy     map[string]json.RawMessage   `json:"legacy"`     // _template
	Composable map[string]json.RawMessage   `json:"composable"` // _index_template
	Components map[string]json.RawMessage   `json:"components"` // _component_template
	Settings   map[string]map[string]string `json:"settings"`   // cluster settings: persistent, transient
}

// Entry is what the catalog knows of an index; the rest is in its Index record.
type Entry struct {
	Number uint32 `json:"number"`
	UUID   string `json:"uuid"`
	Closed bool   `json:"closed,omitempty"`
	Hidden bool   `json:"hidden,omitempty"`
	Stream string `json:"stream,omitempty"` // the data stream that it backs
}

// Alias is one alias of one index.
type Alias struct {
	Filter        json.RawMessage `json:"filter,omitempty"`
	IndexRouting  string          `json:"index_routing,omitempty"`
	SearchRouting string          `json:"search_routing,omitempty"`
	WriteIndex    *bool           `json:"is_write_index,omitempty"`
	Hidden        *bool           `json:"is_hidden,omitempty"`
}

// Stream is a data stream: its backing indices, oldest first; the last is written to.
type Stream struct {
	Timestamp  string   `json:"timestamp"` // name of the time field
	Generation int64    `json:"generation"`
	Indices    []string `json:"indices"`
	Template   string   `json:"template"`
}

// Index is the record of one index.
type Index struct {
	Number   uint32            `json:"number"`
	Name     string            `json:"name"`
	UUID     string            `json:"uuid"`
	Created  time.Time         `json:"created"`
	Settings map[string]string `json:"settings"` // flat, "index." included, normalized
	Mapping  json.RawMessage   `json:"mapping"`  // as package mapping renders it
	// Versions count the changes of each part.
	MappingVersion  int64 `json:"mappingVersion"`
	SettingsVersion int64 `json:"settingsVersion"`
}

// Encode is the JSON of the record. The mapping, which may be large, is valid and is not gone through.
func (i Index) Encode() ([]byte, error) {
	type all Index
	rest, err := json.Marshal(struct {
		all
		Mapping *struct{} `json:"mapping,omitempty"` // instead of the one of all
	}{all: all(i)})
	if err != nil || len(i.Mapping) == 0 {
		return rest, err
	}
	encoded := make([]byte, 0, len(rest)+len(i.Mapping)+len(`,"mapping":`))
	encoded = append(append(encoded, rest[:len(rest)-1]...), `,"mapping":`...)
	return append(append(encoded, i.Mapping...), '}'), nil
}

// Creation is what a new index is asked to be.
type Creation struct {
	Settings map[string]string // flat, "index." included
	Mappings []json.RawMessage // merged in order, the last wins where it may
	Aliases  map[string]Alias
}

// Created answers the creation of an index.
type Created struct {
	Index              string
	ShardsAcknowledged bool
}

// Options say what an expression's absent, closed and hidden names mean.
type Options struct {
	IgnoreUnavailable bool // absent and closed names are left out
	NoIndicesIsError  bool // an expression that names nothing is refused (allow_no_indices=false)
	ExpandOpen        bool // patterns mean open indices
	ExpandClosed      bool // patterns mean closed ones
	ExpandHidden      bool // patterns mean hidden ones
	ForbidClosed      bool // a closed index that is named is index_closed_exception
	ForbidAliases     bool // deleting: an alias that is named is refused
	NoStreams         bool // data streams are nobody's names
}

// Expression names indices.
type Expression struct {
	Names   []string // as in a URL, split at commas; empty means all
	Options Options
}

// Status is what there is to say of an index: what it is, and how it is.
type Status struct {
	Index
	Entry   Entry
	Aliases map[string]Alias
	Shards  []ShardStatus // by range; without counts when the index is closed
}

// ShardStatus is one shard of a Status. Counts are of this moment.
type ShardStatus struct {
	Number     uint32
	Range      routing.Range
	Epoch      int64
	Term       int64
	Node       string
	Docs       int64 // documents in the truth
	Searchable int64 // documents that searches see
	Tombstones int64
	Bytes      int64 // on disk: its part of those of the index, by what its documents have; -1: unknown
	SeqNo      int64 // the last given out; -1: none
	Synced     int64 // the last that no crash takes back
	Refreshed  int64 // the last that searches see
	Indexed    int64 // operations since the shard was opened
	Deleted    int64
	Gets       int64
	Refreshes  int64
	Searches   int64
	Searching  time.Duration // an even part of what those took
	Flushes    int64
	Noops      int64 // updates that changed nothing
	Segments   int   // that a search looks into
}
