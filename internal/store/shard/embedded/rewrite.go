package embedded

import (
	"bytes"
	"context"
	"io"
	"math/bits"

	"github.com/reshelve/reshelve/internal/index/segment"
)

// rewritten is one entry that takes the place of several. These are as they were when it
// was begun.
type rewritten struct {
	sources []*entry
	file    *file // one use of it
	number  uint64
}

// rewrite merges what entries show, which somebody retains, into one segment: in a file,
// or in memory. The error is *segment.Damaged when one of them is.
func (x *segments) rewrite(ctx context.Context, sources []*entry, toDisk bool) (r rewritten, err error) {
	if toDisk {
		return x.rewriteTold(ctx, sources, nil)
	}
	size := 0
	for _, e := range sources {
		size += e.Bytes()
	}
	var data bytes.Buffer
	data.Grow(size) // what terms they share makes it smaller
	r.sources = sources
	if err = segment.Merge(ctx, &data, views(sources)); err == nil {
		r.file, err = inMemory(data.Bytes())
	}
	return r, err
}

// rewriteTold rewrites into a file. Wrote is told of what is written; nil: nobody is.
func (x *segments) rewriteTold(ctx context.Context, sources []*entry, wrote func(context.Context, int) error) (r rewritten, err error) {
	r.sources, r.number = sources, x.numbers.Add(1)
	r.file, err = x.shard.engine.files.create(x.shard.id.Index, func(to io.Writer) error {
		return segment.Merge(ctx, &counted{to: to, space: &x.shard.engine.space, ctx: ctx, wrote: wrote}, views(sources))
	})
	if err == nil {
		x.shard.engine.unwritten.Store(nil)
	}
	return r, err
}

// views are what entries show.
func views(entries []*entry) (all []segment.View) {
	for _, e := range entries {
		all = append(all, segment.View{Segment: e.Segment, Hidden: e.hidden})
	}
	return all
}

// entry shows all of what was rewritten.
func (r *rewritten) entry() *entry {
	e := &entry{file: r.file, number: r.number, shown: r.file.Docs(), docs: r.file.Roots(), first: r.sources[0].first, last: r.sources[0].last}
	for _, was := range r.sources {
		e.first, e.last = min(e.first, was.first), max(e.last, was.last)
		e.scanned = e.scanned || was.scanned
	}
	return e
}

// counted tells the watch over the free space what is written, and who wants to know.
type counted struct {
	to    io.Writer
	space *space
	ctx   context.Context
	wrote func(context.Context, int) error
}

func (c *counted) Write(data []byte) (int, error) {
	c.space.written.Add(int64(len(data)))
	n, err := c.to.Write(data)
	if err == nil && c.wrote != nil {
		err = c.wrote(c.ctx, n)
	}
	return n, err
}

// replace puts what was rewritten into the place of its sources, without what is hidden
// of them since; or drops it, where one of them shows more now. Readers get it at once where
// nothing else is new. The turn is held.
func (x *segments) replace(r rewritten) error {
	s := x.shard
	for {
		s.mu.Lock()
		base := x.stack.retain()
		s.mu.Unlock()
		st, ok := base.replaced(r)
		if !ok {
			base.release()
			return nil
		}
		s.mu.Lock()
		var err error
		is := x.stack == base
		if is {
			x.set(st)
			err = x.show()
		} else {
			st.release() // it was opened again, or narrowed
		}
		s.mu.Unlock()
		base.release()
		if is {
			return err
		}
	}
}

// show publishes the stack where it is of the number and the range that are published.
// The shard's mutex is held.
func (x *segments) show() error {
	s, st, p := x.shard, x.stack, x.shard.published
	if s.closed || p.snapshot == nil || p.stack == nil || st.indexed != p.seqNo || st.covers != p.within || len(st.lost) > 0 {
		return nil
	}
	v := s.newView(p.snapshot, p.seqNo, p.within, p.docs)
	if v.exact = p.exact; st.rows.known {
		v.docs, v.exact = st.rows.docs, st.rows.counted
	}
	v.stack = st.retain()
	return s.publish(v)
}

// replaced is the stack with what was rewritten, which has one use more then. It is not ok
// when a source shows now what was hidden when it was rewritten, since its shard has got
// a range back.
func (s *stack) replaced(r rewritten) (st *stack, ok bool) {
	merged := r.entry()
	now := map[*file]*entry{}
	for _, e := range s.entries {
		now[e.file] = e
	}
	offset := segment.Doc(0)
	for _, was := range r.sources {
		if !merged.hide(offset, was, now[was.file]) {
			return nil, false
		}
		offset += segment.Doc(was.shown)
	}
	gone := map[*file]bool{}
	for _, was := range r.sources {
		gone[was.file] = true
	}
	var entries []*entry
	placed := merged.shown == 0
	for _, e := range s.entries {
		switch {
		case !gone[e.file]:
			entries = append(entries, e)
		case !placed:
			entries, placed = append(entries, merged), true
		}
	}
	for _, e := range entries {
		e.retain()
	}
	return newStack(s.indexed, s.covers, s.lost, entries).of(s.rows), true
}

// hide takes away what a source showed when it was merged and does not show now. Its docs
// begin at an offset, in their order. Nil now shows nothing. It is false when the source
// shows more now.
func (e *entry) hide(offset segment.Doc, was, now *entry) bool {
	if now != nil && now.hidden == was.hidden {
		return true
	}
	e.docs -= was.docs
	if now != nil {
		e.docs += now.docs
	}
	shown := offset // the new doc of the first doc of the word that was shown
	for w := range (was.Docs() + 63) / 64 {
		before := ^uint64(0)
		if was.hidden != nil {
			before = ^was.hidden.Words()[w]
		}
		if left := was.Docs() - 64*w; left < 64 {
			before &= 1<<left - 1
		}
		hidden := before
		if now != nil {
			since := uint64(0)
			if now.hidden != nil {
				since = now.hidden.Words()[w]
			}
			if was.hidden != nil && was.hidden.Words()[w]&^since != 0 {
				return false
			}
			hidden &= since
		}
		for ; hidden != 0; hidden &= hidden - 1 {
			if e.hidden == nil {
				e.hidden = segment.NewBits(e.Docs())
			}
			lower := hidden&-hidden - 1
			e.hidden.Set(shown + segment.Doc(bits.OnesCount64(before&lower)))
			e.shown--
		}
		shown += segment.Doc(bits.OnesCount64(before))
	}
	return true
}
