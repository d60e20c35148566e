package translate

import "encoding/json"

// Server is a kind of server with its version.
type Server struct {
	Product      string // "elasticsearch", "opensearch", "reshelve"
	Major, Minor int
}

// Route is where metadata comes from and where it goes to.
type Route struct {
	From, To Server
	// Types is what becomes of an index with several mapping types.
	Types Types
	// Shards, when set, overrides number_of_shards.
	Shards int
}

// Types is what becomes of an index of several mapping types (Elasticsearch up to 5) on a
// target that has none.
type Types string

// The ways. Without a choice several types are refused.
const (
	MergeTypes Types = "merge" // one index with the fields of all; ids may meet
	SplitTypes Types = "split" // one index for each type, NAME-TYPE
)

// Index is the metadata of an index, as package snapshot gives it.
type Index struct {
	Name     string            // on the target
	Settings map[string]string // flat, with the prefix "index."; lists are JSON
	Mappings json.RawMessage   // {"TYPE": {…}} as Elasticsearch up to 6 shows it, later the mapping itself
	Types    []string          // mapping types; nil where the version that made the index has none
	Aliases  json.RawMessage   // name → filter and routing
}

// Change is what a rule did at one place.
type Change struct {
	Rule  string `json:"rule"`
	Where string `json:"where"`           // "settings.index.merge.policy", "mappings.properties.title.type"
	What  string `json:"what"`            // in words
	Loses bool   `json:"loses,omitempty"` // meaning is lost: it needs consent
}

// Body is the body of a request that creates an index, a template or aliases.
type Body struct {
	Name    string // of the index: another one where types are split; of the template
	JSON    json.RawMessage
	Changes []Change // in the order of their places
}
