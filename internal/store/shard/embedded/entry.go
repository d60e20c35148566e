package embedded

import (
	"math"
	"math/bits"

	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// entry is what a shard shows of one file. It is never changed.
type entry struct {
	*file
	first, last int64         // the least and the greatest sequence number of its documents
	hidden      *segment.Bits // nil: none
	number      uint64        // under which the manifest has it; 0: it has it not
	shown       int           // docs that are not hidden
	docs        int           // of these, documents: nested children are none
	scanned     bool          // some of its documents were read as rows, not as changes: no change brings them back
}

// shows is what an entry shows that hides some of a segment: how many docs, and of these how many
// are documents. It panics over a damaged page.
func shows(s *segment.Segment, hidden *segment.Bits) (shown, docs int) {
	if hidden == nil {
		return s.Docs(), s.Roots()
	}
	shown = s.Docs() - hidden.Count()
	if s.Roots() == s.Docs() {
		return shown, shown
	}
	for i, roots := range s.RootSet().Words() {
		docs += bits.OnesCount64(roots &^ hidden.Words()[i])
	}
	return shown, docs
}

// count makes shown and docs what the segment and hidden say. The error is *segment.Damaged.
func (e *entry) count() error {
	return segment.Guard(func() error { e.shown, e.docs = shows(e.Segment, e.hidden); return nil })
}

func (e *entry) numbers() numbers { return numbers{e.first, e.last} }

// find is the doc of a document as of a sequence number, hidden ones too. It panics over
// a damaged page.
func (e *entry) find(ref shard.Ref, seqNo int64) (segment.Doc, bool) {
	if seqNo < e.first || seqNo > e.last {
		return 0, false
	}
	if e.Ascending() {
		doc, is := e.FindSeqNo(seqNo)
		if !is {
			return 0, false
		}
		if e.Key(doc) == ref.Key && e.ID(doc) == ref.ID {
			return doc, true
		} // two shards may have given the number
	}
	for doc := range e.FindID(ref.ID) {
		if e.Key(doc) == ref.Key && e.SeqNo(doc) == seqNo {
			return doc, true
		}
	}
	return 0, false
}

// numbers are sequence numbers from first to last.
type numbers struct{ first, last int64 }

var allNumbers = numbers{0, math.MaxInt64}

func (n numbers) contains(seqNo int64) bool { return n.first <= seqNo && seqNo <= n.last }
