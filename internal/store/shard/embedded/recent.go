package embedded

import (
	"bytes"
	"strings"
	"sync/atomic"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// recent is what was written last and is not indexed yet, by sequence number and without
// holes, so that it need not be read and decompressed again. What finds no room is read.
// The shard's mutex guards it until it is taken.
type recent struct {
	room  *atomic.Int64 // bytes that all shards may still take
	took  int64         // of them
	first int64         // sequence number of the first one
	docs  []written
	full  bool // one found no room
}

// written is a document as a write left it.
type written struct {
	gone     bool // deleted, or written again since
	versions document.Versions
	routing  string
	source   []byte
}

// perWritten is about what one takes beside its texts, in bytes.
const perWritten = 128

// add notes a write, and that it replaced what another one wrote; -1: none.
func (r *recent) add(op *shard.Op, versions document.Versions, previous int64) {
	if old := r.get(previous); old != nil {
		*old = written{gone: true}
	}
	size := int64(perWritten)
	if !op.Delete {
		size += int64(len(op.Routing) + len(op.Source))
	}
	if r.full {
		return
	}
	if r.room.Add(-size) < 0 {
		r.room.Add(size)
		r.full = true
		return
	}
	r.took += size
	if len(r.docs) == 0 {
		r.first = versions.SeqNo
	}
	doc := written{gone: true}
	if !op.Delete { // the request that it came in goes
		doc = written{versions: versions, routing: strings.Clone(op.Routing), source: bytes.Clone(op.Source)}
	}
	r.docs = append(r.docs, doc)
}

// get is what was written with a sequence number; nil when it is not there.
func (r *recent) get(seqNo int64) *written {
	if r == nil {
		return nil
	}
	if i := seqNo - r.first; i >= 0 && i < int64(len(r.docs)) {
		return &r.docs[i]
	}
	return nil
}

// row is the row of a reference to what was written.
func (w *written) row(ref shard.Ref) shard.Row {
	return shard.Row{Ref: ref, Versions: w.versions, Routing: w.routing, Source: w.source}
}

// takeRecent gives what is noted away, and begins again. The shard's mutex is held.
func (x *segments) takeRecent() *recent {
	taken := x.recent
	x.recent = &recent{room: taken.room}
	return taken
}

// drop gives the room back.
func (r *recent) drop() {
	if r != nil {
		r.room.Add(r.took)
		r.docs, r.took, r.first = nil, 0, 0
	}
}
