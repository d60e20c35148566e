package migrate

import (
	"encoding/json"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// Plan is what a migration does. It is stored with its movement.
type Plan struct {
	Repository   string      `json:"repository"` // a location; see package blob
	Snapshot     string      `json:"snapshot"`
	SnapshotUUID string      `json:"snapshotUuid"`
	Version      string      `json:"version"` // of the server that made the snapshot
	Target       string      `json:"target"`  // a URL without credentials, or a folder
	Indices      []Index     `json:"indices"`
	Policy       work.Policy `json:"policy"`
	// IntoExisting lets documents be written into indices of the target that hold some.
	IntoExisting  bool     `json:"intoExisting,omitempty"`
	NoVersions    bool     `json:"noVersions,omitempty"`
	AllowPartial  bool     `json:"allowPartial,omitempty"`
	AllowFailures int64    `json:"allowFailures,omitempty"` // documents that may fail
	ItemBytes     int64    `json:"itemBytes"`               // about, of sources as stored, in one item
	Metadata      Metadata `json:"metadata"`
	Digits        int      `json:"digits"` // of the buckets of items
	// Transform are the steps that documents go through, as they were written; see package
	// transform. "": they pass as they are.
	Transform string `json:"transform,omitempty"`
	// Gone are indices that movements have brought out of older snapshots, and that this one
	// does not hold any more: they are left as they are.
	Gone []string `json:"gone,omitempty"`
	// Lossless: the plan was not accepted with losses of meaning, so that a loss that comes up after it was made is
	// refused, too.
	Lossless bool `json:"lossless,omitempty"`
	// Templates are those that are made, unless the target has them, in this order.
	Templates []Template `json:"templates,omitempty"`
	// Strict lets a comparison of its own count what is newer on the target as a difference; of a migration that is what
	// others have written since. See movement.Comparison.
	Strict bool `json:"strict,omitempty"`
	// Of is the movement of which a comparison of its own is once more the comparison; "": of none.
	Of string `json:"of,omitempty"`
	// Take is the snapshot that is taken first; what it will hold is unknown until then, and
	// Snapshot, SnapshotUUID, Indices, Digits and Templates are not set, or only expected. Nil: it exists.
	Take *Take `json:"take,omitempty"`
}

// Index is one index of the plan.
type Index struct {
	Source string `json:"source"`
	Target string `json:"target"`
	// Places are the indices of the target by mapping type, where types are split; see Targets.
	Places map[string]string `json:"places,omitempty"`
	// Stream is the data stream, named as Target, that the documents are appended to.
	Stream *InStream `json:"stream,omitempty"`
	Shards int       `json:"shards"` // of the source
	// Documents and Bytes, of their sources, are what the snapshot holds, as estimated. Bytes are 0 while it is yet to be taken.
	Documents int64 `json:"documents"`
	Bytes     int64 `json:"bytes"`
	Stored    int64 `json:"stored"` // of its files in the snapshot, or on the source while that is yet to be taken: one copy of each shard
	// Since is what the target's index holds already; nil: everything is moved.
	Since *Since `json:"since,omitempty"`
	// Shared is of a comparison of its own: the index held documents of others before those of the
	// snapshot were brought, so that what else is there is no difference.
	Shared bool `json:"shared,omitempty"`
}

// The phases, in their order.
const (
	phaseSnapshot  = "snapshot" // only when the plan has one to take
	phaseMetadata  = "metadata"
	phaseIndices   = "indices"
	phaseTemplates = "templates"
	phaseItems     = "items"
	phaseDocuments = "documents"
	phaseRefresh   = "refresh"
	phaseVerify    = movement.VerifyPhase
	phaseAliases   = "aliases"
)

// ReadPlan is the plan of a migration; fault.Corrupt when it is not understood.
func ReadPlan(m *movement.Record) (p Plan, err error) {
	if err := json.Unmarshal(m.Plan, &p); err != nil {
		return p, fault.New(fault.Corrupt, "the plan of movement %s is not understood: %w", m.ID, err)
	}
	return p, nil
}

// Phases are those of every migration.
func Phases() []movement.Phase {
	var all []movement.Phase
	for _, name := range []string{phaseMetadata, phaseIndices, phaseTemplates, phaseItems, phaseDocuments, phaseRefresh, phaseVerify, phaseAliases} {
		all = append(all, movement.Phase{Name: name})
	}
	return all
}

// ComparisonPhases are those of a comparison of its own: it makes nothing, and sends nothing.
func ComparisonPhases() []movement.Phase { return []movement.Phase{{Name: phaseVerify}} }
