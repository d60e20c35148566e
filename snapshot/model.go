package snapshot

import (
	"encoding/json"
	"time"
)

// State is how a snapshot ended. The numbers are those of index-N.
type State int

const (
	InProgress State = iota
	Success
	Failed
	Partial
	Incompatible
)

// Snapshot is one snapshot of a repository. Read-only after it was made.
type Snapshot struct {
	Name    string
	UUID    string // equals Name where the repository has no UUIDs (1.x, 2.x)
	State   State
	Version string // version of the server that made it, as text, e.g. "7.10.2"
	Start   time.Time
	End     time.Time
	Indices []string // names, sorted
	// DataStreams of the snapshot, sorted; nil where the version has none.
	DataStreams  []string
	GlobalState  bool // whether the cluster's global state is included
	ShardsTotal  int
	ShardsOK     int
	Failures     []Failure
	FailedReason string

	repo    *Repository
	layout  layout
	version versionID
	lookup  map[string]string    // index id → identifier of its metadata
	indexOf map[string]rootIndex // by name
	pinned  bool                 // OpenSearch: the data lie in a remote segment store
	shallow bool                 // OpenSearch: those of indices in a remote store do
}

// Failure is one shard that a snapshot does not hold.
type Failure struct {
	Index  string
	Shard  int
	Reason string
}

// Index is one index of a snapshot: its metadata.
type Index struct {
	Name    string
	ID      string // folder of the index in the repository
	UUID    string
	Shards  int
	Open    bool
	Created string            // version that created the index, as text
	Setting map[string]string // flat, with the prefix "index."
	// Mappings is a JSON object as the server that made the snapshot shows it:
	// {"TYPE": {…}} up to 6.x, later the mapping itself.
	Mappings json.RawMessage
	Types    []string        // mapping types, sorted; nil where the version has none
	Aliases  json.RawMessage // JSON object, name → filter and routing

	snapshot *Snapshot
	folder   string // key of the index's folder, without a final slash
	pathType pathType
	created  versionID
	source   storedSource
}

// File is one file of a shard as its manifest names it.
type File struct {
	Name        string // in the Lucene directory
	Blob        string // below the shard's folder; parts have ".partN" appended
	Length      int64  // in bytes
	PartSize    int64  // bytes of each part but the last; 0 when unsplit
	Checksum    uint32 // CRC-32 that stands in the file's footer
	HasChecksum bool
	Content     []byte // the whole file where the manifest holds it, else nil
	Virtual     bool   // there is no blob: Content is the only copy

	old    bool // written by Lucene before 4.8, without a footer
	unsure bool // written by a Lucene that is not named: it may have a footer all the same
}

// Shard is one shard of an index in a snapshot. It is a lucene.Directory.
type Shard struct {
	Index  *Index
	Number int
	Path   string // the shard's folder in the repository, without a final slash
	Files  []File // sorted by name

	byName map[string]*File
}
