package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// follower is a consumer of the changes of all shards. It asks the process that serves what has
// happened behind its cursors, and keeps them now and then: when it has heard nothing it begins
// again with those that it has kept.
type follower struct {
	of       *shelves
	chance   *rand.Rand
	asks     int
	at, kept []cursor             // by range, of one placement
	seen     map[string]delivered // the last of each document, by id
	given    map[place]string     // what was delivered under each identity
	idle     bool                 // it has seen all, and nobody writes any more
	ended    bool                 // the index is gone
}

// cursor is a position in the shard that owned a range.
type cursor struct {
	number uint32
	within routing.Range
	shard.Position
}

// delivered is a document as a consumer sees it: the identity (id, term, number), and what it is.
type delivered struct {
	place
	source string // "": it is deleted
	key    routing.Key
	named  int64 // number of the change that led here
	absent bool  // it is not there, nor the tombstone that would have its identity
}

// followed is an answer.
type followed struct {
	next []cursor
	all  []delivered
}

func newFollower(w *shelves) *follower {
	return &follower{of: w, chance: rand.New(rand.NewPCG(w.script.Seed, 999)), seen: map[string]delivered{}, given: map[place]string{}}
}

// atOnce is how many changes of a shard one answer has at most.
const atOnce = 7

// next asks what has happened.
func (f *follower) next() {
	w := f.of
	switch {
	case w.over || f.ended:
		return
	case w.server == nil || w.cut():
		f.later()
		return
	}
	f.asks++
	s, from, kept, was := w.server, f.at, f.kept, w.deletion
	resting := !slices.ContainsFunc(w.clients, func(c *client) bool { return !c.gone })
	lows, settled := make([]int, len(w.keys)), make([]int, len(w.keys))
	for i, k := range w.keys {
		lows[i], settled[i] = k.low, k.settled()
	}
	name := fmt.Sprintf("the follower asks %d", f.asks)
	s.request(name, patientClient, func(ctx context.Context) any {
		found, err := s.follow(ctx, from, kept, f.seen)
		if err != nil {
			return err
		}
		return found
	}, func(answer any, heard bool) {
		f.later()
		if !heard {
			f.at = f.kept
			return
		}
		w.answered(name, was, answer)
		found, fine := answer.(followed)
		if !fine {
			f.ended = w.deletion == gone
			w.understood(name, answer.(error))
			return
		}
		for _, d := range found.all {
			f.deliver(d, lows, settled)
		}
		f.at = found.next
		for _, k := range w.keys {
			f.passed(k)
		}
		f.idle = resting && len(found.all) == 0
		if f.idle || f.chance.IntN(3) == 0 {
			f.keep()
		}
	})
}

func (f *follower) later() {
	f.of.after(50*time.Millisecond+time.Duration(f.chance.Int64N(int64(time.Second)))|1, f.next)
}

// deliver is L10 for one document: it is what the change says or a later one, never an older one
// than was seen, and one identity is one content.
func (f *follower) deliver(d delivered, lows, settled []int) {
	w := f.of
	i := slices.IndexFunc(w.keys, func(k *key) bool { return k.id == d.id })
	if i < 0 {
		w.violate("L10", "the follower is told of %q, which nobody writes", d.id)
		return
	}
	k := w.keys[i]
	d.source = k.normal(d.source)
	before, is := f.seen[d.id]
	content, known := f.given[d.place]
	switch {
	case d.absent && is && d.seqNo <= before.seqNo:
		d.place = before.place
	case d.seqNo < d.named:
		w.violate("L10", "change %d of %s leads to its write %d", d.named, d.id, d.seqNo)
	case is && (d.seqNo < before.seqNo || d.term < before.term):
		w.violate("L10", "the follower sees %s go from %+v back to %+v", d.id, before, d)
	case is && d.seqNo == before.seqNo && d.term != before.term, known && content != d.source:
		w.violate("L10", "the identity %+v is that of %q and of %+v", d.place, content, before)
	}
	f.seen[d.id] = d
	if !d.absent {
		f.given[d.place] = d.source
	}
	w.saw("sees", "the follower", k, d.source, lows[i], settled[i])
}

// passed is L8: a cursor has passed no write that was acknowledged and not delivered. It is asked
// when a cursor has moved, and when a client hears that a document was written.
func (f *follower) passed(k *key) {
	at := slices.IndexFunc(f.at, func(c cursor) bool { return c.within.Contains(routing.KeyOf(k.id, k.routing, 0)) })
	wrote := k.tries[k.low].Versions
	if at < 0 || wrote.PrimaryTerm == 0 {
		return
	}
	last, is := f.seen[k.id]
	if !is && k.tries[k.low].source == "" { // it has missed nothing
		return
	}
	if c := f.at[at]; wrote.PrimaryTerm <= c.Incarnation && wrote.SeqNo <= c.SeqNo && (!is || last.seqNo < wrote.SeqNo) {
		f.of.violate("L8", "the cursor %+v has passed %s, written as %+v, of which the follower knows %+v", c, k.id, wrote, last)
	}
}

// keep is L8: what is kept moves forward only, over all hand-offs.
func (f *follower) keep() {
	for _, c := range f.at {
		if old, is := lowest(f.kept, c.within); is && (c.SeqNo < old.SeqNo || c.Incarnation < old.Incarnation) {
			f.of.violate("L8", "the cursor %+v follows %+v", c, old)
		}
	}
	f.kept = f.at
}

// lowest is the cursor that is the furthest behind of those whose ranges meet one.
func lowest(all []cursor, within routing.Range) (found cursor, is bool) {
	for _, c := range all {
		if _, meets := c.within.Meet(within); meets && (!is || c.SeqNo < found.SeqNo) {
			found, is = c, true
		}
	}
	return found, is
}

// compare is L10 at the end: what was seen last is what there is.
func (f *follower) compare(found []document.Found) {
	for i, k := range f.of.keys {
		source, last := k.normal(string(found[i].Source)), f.seen[k.id]
		if source != last.source || found[i].Exists && found[i].SeqNo != last.seqNo {
			f.of.violate("L10", "at last %s is %q, %+v, and the follower knows %+v", k.id, source, found[i].Versions, last)
		}
	}
}
