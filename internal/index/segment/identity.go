package segment

import (
	"math"

	"github.com/reshelve/reshelve/internal/store/routing"
)

// Doc is the number of a document, or of a nested child, in its segment.
type Doc = uint32

// End is what iterators give behind the last doc.
const End Doc = math.MaxUint32

// Identity is what a document is known by. Its bytes belong to the caller.
type Identity struct {
	Key   routing.Key
	ID    string
	SeqNo int64
}

// View is what one shard shows of a segment: all docs that are not Hidden. Nested
// children are hidden with their root.
type View struct {
	*Segment
	Hidden *Bits  // nil: none. It is not changed any more.
	File   string // that it lies in; "": in memory
}

// Shows reports whether a doc is not hidden.
func (v View) Shows(doc Doc) bool { return v.Hidden == nil || !v.Hidden.Has(doc) }
