package segment

import (
	"iter"

	"github.com/reshelve/reshelve/routing"
)

// Segment reads a file. Immutable, safe for concurrent use; so is all that it gives but
// iterators. What it gives is valid as long as the bytes that it was opened with are.
//
// A damaged page makes its methods, and those of what it gives, panic with *Damaged:
// call them within [Guard].
type Segment struct{}

// Open reads the table of contents. The error is *Damaged, or of fault.Refused for a
// version that is not known. Data may be a mapped file: it is read when it is needed.
func Open(data []byte) (*Segment, error) { panic("segment: not built yet") }

// Guard calls do, and gives the panic of a damaged page as the error *Damaged. Faults of
// a mapped file count as damage.
func Guard(do func() error) (err error) { panic("segment: not built yet") }

// Bytes is the length of the file.
func (s *Segment) Bytes() int { panic("segment: not built yet") }

// Docs is how many docs there are, children too.
func (s *Segment) Docs() int { panic("segment: not built yet") }

// Roots is how many of them are documents.
func (s *Segment) Roots() int { panic("segment: not built yet") }

// IsRoot reports whether a doc is a document, not a nested child.
func (s *Segment) IsRoot(doc Doc) bool { panic("segment: not built yet") }

// Root is the document of a doc: itself, or the first root after it.
func (s *Segment) Root(doc Doc) Doc { panic("segment: not built yet") }

// FirstChild is the first doc that has the same root: the root itself where it has no
// children.
func (s *Segment) FirstChild(root Doc) Doc { panic("segment: not built yet") }

// Key, SeqNo and ID are those of a doc's root.
func (s *Segment) Key(doc Doc) routing.Key { panic("segment: not built yet") }

// SeqNo is the sequence number of a doc's root.
func (s *Segment) SeqNo(doc Doc) int64 { panic("segment: not built yet") }

// ID is the id of a doc's root.
func (s *Segment) ID(doc Doc) string { panic("segment: not built yet") }

// Ascending reports whether sequence numbers ascend with the docs.
func (s *Segment) Ascending() bool { panic("segment: not built yet") }

// FindSeqNo is the root with a sequence number, when the numbers are Ascending.
func (s *Segment) FindSeqNo(n int64) (Doc, bool) { panic("segment: not built yet") }

// FindID yields the roots with an id, whatever their keys.
func (s *Segment) FindID(id string) iter.Seq[Doc] { panic("segment: not built yet") }

// OutOf is the set of docs whose keys are not in a range.
func (s *Segment) OutOf(within routing.Range) *Bits { panic("segment: not built yet") }

// Field is nil when there is none of that name.
func (s *Segment) Field(name string) *Field { panic("segment: not built yet") }

// Fields are all fields, by name.
func (s *Segment) Fields() iter.Seq[*Field] { panic("segment: not built yet") }
