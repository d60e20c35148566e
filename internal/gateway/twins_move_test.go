package gateway

import (
	"context"
	"slices"
	"sync"
	"time"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// What becomes of the shards of the twin that moves.

// moving is how far it is.
type moving struct {
	from    []uint32 // of what is staged, and not handed over
	to      []shard.Incarnation
	retired []uint32            // shards that own nothing any more
	before  []placement.Shard   // of the last hand-off, to be led back; nil: nothing to
	after   []shard.Incarnation // of the last hand-off
}

func (w *twins) placed() placement.Placement {
	p, err := w.store.PlacementOf(w.Context(), w.names[1])
	if err != nil {
		w.Fatal(err)
	}
	return p
}

// draw is what some shards are to become: one is cut anywhere, or neighbours are joined.
func (w *twins) draw() (from []uint32, to []shard.Incarnation) {
	p := w.placed()
	first := rapid.IntRange(0, len(p.Shards)-1).Draw(w.T, "shard")
	if joined := rapid.IntRange(0, 2).Draw(w.T, "joined"); first+joined < len(p.Shards) && joined > 0 || len(p.Shards) > 6 {
		return joinedAs(p.Shards[min(first, len(p.Shards)-2) : min(first+max(joined, 1), len(p.Shards)-1)+1])
	}
	row, next := p.Shards[first], p.Next
	one := shard.Incarnation{Number: row.Number, Range: row.Range, Term: row.Term + 1}
	for range rapid.IntRange(1, 3).Draw(w.T, "cuts") {
		share := routing.Key(rapid.Uint64Range(1, 1<<16-1).Draw(w.T, "share"))
		cut := one.Range.From + (one.Range.To-one.Range.From)>>16*share
		if cut == one.Range.From {
			break
		}
		rest := one
		one.Range.To = cut - 1
		to = append(to, one)
		rest.Number, rest.Range.From = next, cut
		one, next = rest, next+1
	}
	return []uint32{row.Number}, append(to, one)
}

func joinedAs(rows []placement.Shard) (from []uint32, to []shard.Incarnation) {
	one := shard.Incarnation{Number: rows[0].Number, Range: routing.Range{From: rows[0].Range.From, To: rows[len(rows)-1].Range.To}}
	for _, row := range rows {
		from, one.Number, one.Term = append(from, row.Number), min(one.Number, row.Number), max(one.Term, row.Term+1)
	}
	return from, []shard.Incarnation{one}
}

// stage clones, and leaves it at that.
func (w *twins) stage(t *rapid.T) {
	w.T = t
	if w.from == nil {
		w.from, w.to = w.draw()
	}
	w.refresh()
	staged, err := w.store.Stage(t.Context(), w.index, w.from, w.to)
	if err == nil {
		err = staged.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// giveUp is an abort.
func (w *twins) giveUp(t *rapid.T) {
	w.T, w.from, w.to = t, nil, nil
	if err := w.store.Unstage(t.Context(), w.index); err != nil {
		t.Fatal(err)
	}
}

func (w *twins) handOver(t *rapid.T) {
	w.T = t
	if w.from == nil {
		w.from, w.to = w.draw()
	}
	w.refresh()
	w.changed = true
	if err := w.flip(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// handOverUnder lets requests come before the fence, behind it, and after it.
func (w *twins) handOverUnder(t *rapid.T) {
	w.T = t
	if w.from == nil {
		w.from, w.to = w.draw()
	}
	w.refresh()
	var err error
	var flipping sync.WaitGroup
	w.changed = true
	ctx := t.Context()
	flipping.Go(func() { err = w.flip(ctx) })
	defer flipping.Wait()
	id, routing := w.id(t)
	for range rapid.IntRange(1, 6).Draw(t, "requests") {
		w.both("GET", "/_doc/"+id+"?routing="+routing, "")
		w.write(t)
		w.both("GET", "/_doc/"+id+"?routing="+routing, "")
	}
	flipping.Wait()
	if err != nil {
		t.Fatal(err)
	}
	w.refresh()
}

// flip hands over what is to be.
func (w *twins) flip(ctx context.Context) error {
	from, to := w.from, w.to
	var before []placement.Shard
	h, err := w.store.HandOff(ctx, w.index, from, to, time.Minute, func(p placement.Placement, at map[uint32]int64) (placement.Placement, error) {
		before = slices.DeleteFunc(slices.Clone(p.Shards), func(row placement.Shard) bool { return !slices.Contains(from, row.Number) })
		return handedTo(from, to)(p, at)
	})
	if err != nil {
		return err
	}
	w.before, w.after, w.from, w.to = before, to, nil, nil
	for _, number := range from {
		if !slices.ContainsFunc(to, func(i shard.Incarnation) bool { return i.Number == number }) {
			w.retired = append(w.retired, number)
		}
	}
	return h.Staged.Close()
}

// leadBack is the opposite of the last hand-off.
func (w *twins) leadBack(t *rapid.T) {
	w.T = t
	if w.before == nil || w.from != nil {
		return
	}
	p, next, term := w.placed(), uint32(0), int64(0)
	next = p.Next
	for _, i := range w.after {
		w.from, term = append(w.from, i.Number), max(term, i.Term+1)
	}
	for i, row := range w.before {
		one := shard.Incarnation{Number: row.Number, Range: row.Range, Term: term}
		if !slices.Contains(w.from, row.Number) || i > 0 { // the number of one that is gone is not given again
			one.Number, next = next, next+1
		}
		w.to = append(w.to, one)
	}
	w.refresh()
	w.changed = true
	if err := w.flip(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.before = nil
}

// tidyUp sheds one segment of each shard, and forgets the shards that own nothing.
func (w *twins) tidyUp(t *rapid.T) {
	w.T, w.before = t, nil
	p, err := w.store.PlacementOf(t.Context(), w.names[1])
	if err != nil { // it is deleted
		return
	}
	for _, row := range p.Shards {
		if _, _, err := w.store.Shed(t.Context(), w.index, row.Number, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.store.ForgetShards(t.Context(), w.index, w.retired); err != nil {
		t.Fatal(err)
	}
	w.retired = nil
}
