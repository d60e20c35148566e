package document

// Operation is what a write does.
type Operation uint8

// The operations of the document API.
const (
	Index  Operation = iota // put, whatever is there
	Create                  // put, unless a document is there
	Update                  // change what is there; see Update
	Delete
)

// String is the name in bulk bodies: index, create, update, delete.
func (o Operation) String() string { return [...]string{"index", "create", "update", "delete"}[o] }

// VersionType says how a write's version is compared.
type VersionType uint8

// The version types.
const (
	Internal    VersionType = iota // the store counts
	External                       // the caller counts; must be higher than what is stored
	ExternalGTE                    // must be at least what is stored
)

// Unset is the value of a number of a Condition that asks for nothing.
const Unset int64 = -1

// Condition is what must hold for a write to be applied. Use [Always], or set
// Unset in the fields that ask for nothing.
type Condition struct {
	SeqNo       int64 // of the stored document; Unset: any
	PrimaryTerm int64 // with SeqNo
	Version     int64 // by VersionType; Unset: any
	VersionType VersionType
}

// Always is the condition that asks for nothing.
var Always = Condition{SeqNo: Unset, PrimaryTerm: Unset, Version: Unset}

// Write is one operation on one document, as a caller asks for it.
type Write struct {
	Operation Operation
	Target    string // index, alias or data stream, as the caller named it
	ID        string // "": made by the store, Index and Create only
	Routing   string // "": none
	Source    []byte // one JSON object, kept byte for byte; Index and Create
	Condition Condition
	Change    *Change // Update only

	RequireAlias bool // refuse when Target is no alias
	Active       Active
}

// Active is how many copies of a shard have to be there for a write. The zero value leaves it to what the
// index says.
type Active struct {
	Copies  string // "all", or a number
	Timeout string // how long the caller would wait for them, as a refusal shows it
}

// Change is what an update does to a document.
type Change struct {
	Doc         []byte // merged into the source; nil: none
	Upsert      []byte // the source when nothing is there; nil: none
	DocAsUpsert bool   // Doc is the source when nothing is there
	DetectNoop  bool   // write nothing when the merge changes nothing
	Retries     int    // tries again after a concurrent change
	WantSource  bool   // answer with the source after the change
}

// Outcome is what became of a write.
type Outcome uint8

// The outcomes; their names are the "result" of the document API.
const (
	Created Outcome = iota
	Updated
	Deleted
	Missing // a delete that met nothing
	Noop    // an update that changed nothing
)

// String is the name in answers.
func (o Outcome) String() string {
	return [...]string{"created", "updated", "deleted", "not_found", "noop"}[o]
}

// Written answers one Write. When Err is set only Index and ID hold something.
type Written struct {
	Index   string // the name of the index that took it
	ID      string
	Routing string
	Outcome Outcome
	Versions
	Refreshed bool   // visible to searches already, because the caller asked for it
	Unshown   bool   // not visible to searches, though the caller asked for it: that failed
	Source    []byte // with Change.WantSource
	Err       error
}

// Found answers a get. Without a document, only Index and ID hold something.
type Found struct {
	Exists  bool
	Index   string
	ID      string
	Routing string
	Versions
	Source  []byte
	Fields  []byte   // the JSON object of Read.Stored; nil: none has a value
	Ignored []string // fields of which a value was passed over (ignore_malformed)
}

// Visibility says when a write must be seen by searches.
type Visibility uint8

// The visibilities; in order refresh=false, true and wait_for.
const (
	Eventually Visibility = iota // with the next refresh
	AtOnce                       // a refresh is made
	Awaited                      // the answer waits for the next refresh
)

// Read asks for one document.
type Read struct {
	Target   string
	ID       string
	Routing  string
	Searched bool // what searches see, instead of real time (realtime=false)
	// Version and VersionType refuse another version than the stored one; Unset: any.
	Version     int64
	VersionType VersionType
	NoSource    bool
	Stored      []string // names of fields that are kept beside the source there; nil: not asked for
}
