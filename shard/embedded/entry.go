package embedded

import (
	"sync/atomic"

	"github.com/reshelve/reshelve/segment"
	"github.com/reshelve/reshelve/shard"
)

// file is a segment and the bytes that it lies in. It is shared by all who show
// something of it, and let go of by the last.
type file struct {
	*segment.Segment
	users atomic.Int64
	free  func() // lets go of the bytes
}

func (f *file) retain() { f.users.Add(1) }

func (f *file) release() {
	if f.users.Add(-1) == 0 {
		f.free()
	}
}

// entry is what a shard shows of one file. It is never changed.
type entry struct {
	*file
	first, last int64         // the least and the greatest sequence number of its documents
	hidden      *segment.Bits // nil: none
	shown       int           // docs that are not hidden
}

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

// inMemory is a segment whose bytes are in memory. It has one user.
func (e *Engine) inMemory(data []byte) (*file, error) {
	opened, err := segment.Open(data)
	if err != nil {
		return nil, err
	}
	f := &file{Segment: opened, free: func() { e.held.Add(-int64(len(data))) }}
	f.retain()
	e.held.Add(int64(len(data)))
	return f, nil
}
