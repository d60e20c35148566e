package embedded

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// staging is an incarnation in the making.
type staging struct {
	shard.Incarnation
	state
	goesOn  bool           // the shard keeps its changes and holds
	indexed bool           // it has segments
	entries []*entry       // one use of the file of each
	numbers *atomic.Uint64 // for entries: of the shard, where one goes on, which may be making some
}

func (n *staging) release() {
	if n == nil {
		return
	}
	for _, e := range n.entries {
		e.release()
	}
}

// incarnate makes an incarnation of the sources that own a part of its range. The turns of the
// sources are held.
func (e *Engine) incarnate(sources []*source, to shard.Incarnation) (n *staging, err error) {
	n = &staging{Incarnation: to, state: state{last: -1, within: to.Range}, numbers: &atomic.Uint64{}}
	for _, s := range sources {
		if s.id.Number == to.Number && s.segments != nil {
			n.numbers = &s.segments.numbers
		}
		n.last = max(n.last, s.view.seqNo)
		n.term = max(n.term, s.view.shard.termNow())
	}
	n.pruned = n.last
	for _, s := range sources {
		if shard.GoesOn(s.row, to) {
			s.mu.Lock()
			n.goesOn, n.last, n.pruned = true, s.view.seqNo, s.state.pruned
			s.mu.Unlock()
		}
	}
	for _, s := range sources {
		within, any := to.Range.Meet(s.view.within)
		if !any {
			continue
		}
		if err := n.inherit(e, s, within); err != nil {
			n.release()
			return nil, err
		}
	}
	return n, nil
}

// termNow is the term under which the last number was given.
func (s *local) termNow() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.term
}

// inherit adds what a source shows of a range.
func (n *staging) inherit(e *Engine, s *source, within routing.Range) error {
	if s.stack == nil {
		var counted state
		err := s.view.count(context.Background(), within, 0, &counted)
		n.docs, n.tombstones, n.bytes = n.docs+counted.docs, n.tombstones+counted.tombstones, n.bytes+counted.bytes
		return err
	}
	n.indexed, n.estimated = true, true
	docs := int64(0)
	for _, of := range s.stack.entries {
		inherited, err := e.narrowed.entry(of, within)
		if err != nil {
			return err
		}
		docs += int64(inherited.docs)
		if inherited.shown > 0 {
			n.add(inherited)
		}
	}
	s.mu.Lock()
	share := float64(docs) / float64(max(s.state.docs, 1))
	n.tombstones += int64(share * float64(s.state.tombstones)) // until they have been counted
	n.bytes += int64(share * float64(s.state.bytes))
	s.mu.Unlock()
	n.docs += docs
	return nil
}

// add takes an entry in: into one that there is of the same file, which another source
// shows another part of.
func (n *staging) add(e *entry) {
	i := slices.IndexFunc(n.entries, func(other *entry) bool { return other.file == e.file })
	if i < 0 {
		e.retain()
		e.number = n.numbers.Add(1)
		n.entries = append(n.entries, e)
		return
	}
	both := *n.entries[i]
	both.shown += e.shown
	both.docs += e.docs
	if both.shown == both.Docs() {
		both.hidden = nil
	} else {
		both.hidden = both.hidden.Clone()
		both.hidden.Keep(e.hidden)
	}
	n.entries[i] = &both
}
