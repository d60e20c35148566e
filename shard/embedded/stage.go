package embedded

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/placement"
	"github.com/reshelve/reshelve/routing"
	"github.com/reshelve/reshelve/segment"
	"github.com/reshelve/reshelve/shard"
)

// Stage writes states and manifests alone: rows lie where they will be looked for, and the
// files of segments are shared. The turn of each shard is held meanwhile, so its segments
// stay; writes go on, unless a fence stops them.
func (e *Engine) Stage(ctx context.Context, index uint32, from []uint32, to []shard.Incarnation) (staged *shard.Staged, err error) {
	sources, err := e.sources(index, from, to)
	if err != nil {
		return nil, fault.At(err, e.dir)
	}
	staged = &shard.Staged{}
	defer func() {
		for _, s := range sources {
			s.end()
		}
		if err != nil {
			err = errors.Join(fault.At(err, e.dir), staged.Close())
			staged = nil
		}
	}()
	if err := e.writable(ctx, 0); err != nil {
		return staged, err
	}
	var rows []placement.Shard
	for _, s := range sources {
		r, err := s.pin(ctx)
		if r != nil {
			staged.From = append(staged.From, r)
		}
		if err != nil {
			return staged, fault.At(failure(err), place(s.id))
		}
		if s.row.Epoch == 0 {
			return staged, over(s.id, 0)
		}
		rows = append(rows, s.row)
	}
	if err := shard.CheckStage(rows, to); err != nil {
		return staged, err
	}
	next := make([]*staging, len(to))
	defer func() {
		for _, n := range next {
			n.release()
		}
	}()
	for i := range to {
		if next[i], err = e.become(sources, to[i]); err != nil {
			return staged, failure(err)
		}
	}
	if err := e.storeStaged(index, next); err != nil {
		return staged, failure(err)
	}
	return staged, failure(e.show(index, next, staged))
}

// source is an open shard whose turn Stage holds, and what it shows.
type source struct {
	*local
	end   func()
	row   placement.Shard
	view  *view
	stack *stack // nil: no segments
}

// sources begin work on the shards of from, which are open.
func (e *Engine) sources(index uint32, from []uint32, to []shard.Incarnation) (sources []*source, err error) {
	defer func() {
		if err != nil {
			for _, s := range sources {
				s.end()
			}
		}
	}()
	e.mu.Lock()
	open := map[uint32]*local{}
	for id, s := range e.shards {
		if id.Index == index {
			open[id.Number] = s
		}
	}
	e.mu.Unlock()
	for i, number := range from {
		s := open[number]
		if slices.Contains(from[:i], number) {
			return sources, fault.New(fault.Bug, "shard %d is named twice", number)
		}
		if s == nil {
			return sources, fault.At(fault.New(fault.NotFound, "it is not open"), place(shard.ID{Index: index, Number: number}))
		}
		done, err := s.begin(0)
		if err != nil {
			return sources, err
		}
		sources = append(sources, &source{local: s, end: done})
	}
	for _, t := range to {
		if open[t.Number] != nil && !slices.Contains(from, t.Number) {
			return sources, fault.At(fault.New(fault.Conflict, "it is open, and nothing is staged from it"), place(open[t.Number].id))
		}
	}
	return sources, nil
}

// pin refreshes a source, sees to it that all its segments are files, and gives a reader of
// what it shows. Its turn is held from then on, until end.
func (s *source) pin(ctx context.Context) (*reader, error) {
	x := s.segments
	if x == nil {
		if _, err := s.Refresh(ctx); err != nil {
			return nil, err
		}
		return s.pinned(), nil
	}
	if x.inRAM.Load() > pinnedInTurn {
		if _, err := x.commit(ctx); err != nil {
			return nil, err
		}
	}
	ctx, cancel := x.untilClosed(ctx)
	defer cancel()
	if err := x.take(ctx); err != nil {
		return nil, err
	}
	done := s.end
	s.end = sync.OnceFunc(func() { x.give(); done() })
	if _, err := x.refreshInTurn(ctx); err != nil {
		return nil, err
	}
	if err := x.toFiles(ctx, s); err != nil {
		return nil, err
	}
	r := s.pinned()
	if s.stack.indexed != s.view.seqNo || len(s.stack.lost) > 0 {
		return r, fault.New(fault.Unavailable, "its segments were made again meanwhile")
	}
	return r, nil
}

// pinnedInTurn is how many bytes of segments in memory are written with the turn held; more
// is committed before.
const pinnedInTurn = 1 << 20

// pinned is a reader of what is published.
func (s *source) pinned() *reader {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.view, s.row = s.published, s.gate.now()
	s.view.users++
	return &reader{view: s.view}
}

// toFiles writes the segments of a source that are in memory alone. The turn is held.
func (x *segments) toFiles(ctx context.Context, s *source) error {
	st := x.retained()
	var inRAM []*entry
	for _, e := range st.entries {
		if e.name == "" {
			inRAM = append(inRAM, e)
		}
	}
	if len(inRAM) > 0 {
		r, err := x.rewrite(ctx, ordered(inRAM), true)
		if err == nil {
			x.moved++
			err = x.replace(r)
			r.file.release()
		}
		st.release()
		if err != nil {
			return err
		}
		st = x.retained()
	}
	defer st.release()
	s.stack = st.retain()
	end := s.end
	s.end = sync.OnceFunc(func() { s.stack.release(); end() })
	return nil
}

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

// become makes an incarnation of the sources that own a part of its range. The turns of the
// sources are held.
func (e *Engine) become(sources []*source, to shard.Incarnation) (n *staging, err error) {
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
		err := s.view.count(context.Background(), within, &counted)
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
		roots, err := inherited.roots()
		if err != nil {
			return err
		}
		docs += roots
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
	if both.shown == both.Docs() {
		both.hidden = nil
	} else {
		both.hidden = both.hidden.Clone()
		both.hidden.Keep(e.hidden)
	}
	n.entries[i] = &both
}

// roots is how many documents an entry shows.
func (e *entry) roots() (n int64, err error) {
	if e.Roots() == e.Docs() {
		return int64(e.shown), nil
	}
	err = segment.Guard(func() error {
		roots := e.RootSet()
		for doc := roots.Next(0); int(doc) < e.Docs(); doc = roots.Next(doc + 1) {
			if e.hidden == nil || !e.hidden.Has(doc) {
				n++
			}
		}
		return nil
	})
	return n, err
}

// show gives the views of what was stored, as they are read back.
func (e *Engine) show(index uint32, of []*staging, to *shard.Staged) error {
	db, done, err := e.use()
	if err != nil {
		return err
	}
	defer done()
	var files []*file
	to.Free = func() {
		for _, f := range files {
			f.release()
		}
	}
	for _, n := range of {
		id := shard.ID{Index: index, Number: n.Number}
		m, err := readManifestAt(db, stagedKey(id, n.Term, stagedManifest))
		if err != nil {
			return err
		}
		views := []segment.View{}
		for _, listed := range m.entries {
			entry, err := openListed(e.files, db, index, listed, stagedMaskKey(id, n.Term, listed.number))
			if err != nil {
				return err
			}
			files = append(files, entry.file)
			views = append(views, segment.View{Segment: entry.Segment, Hidden: entry.hidden})
		}
		to.To = append(to.To, views)
	}
	return nil
}
