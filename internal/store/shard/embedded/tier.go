package embedded

import (
	"cmp"
	"math/bits"
	"runtime"
	"slices"
)

// fanIn is that of merges of segments that are not young, and youngFanIn that of those that are:
// every search looks into each, so that an index that is written to is searched about as fast as
// one that is not. It costs an eighth more of bytes written while an index is loaded, and nothing of
// the processor that can be told.
const (
	fanIn      = 16
	youngFanIn = 4
	young      = 1 << 16 // docs of a segment that is not young any more

	// restFanIn is that of young segments of a shard that has not been written to for a while. Many
	// small shards have two or three segments each, into which every search looks.
	restFanIn = 2

	// smallFile is how many docs a file has that is worth to be kept apart from smaller ones: a
	// hand-off and its rehearsals leave some of a few docs each.
	smallFile = 1 << 12
)

// together is how many segments are in the making at a time, of all shards: more would take
// more memory, and be no sooner ready.
func together() int { return max(runtime.GOMAXPROCS(0), 2) }

// tiersOf are those of an engine with so much memory: a quarter may be written before it
// is indexed, and be taken by segments in memory; half, by those in the making.
var tiersOf = func(o Options) tiers { // tests have little data
	least, share := int64(0), o.Share
	if share == 0 {
		least, share = 1<<20, max(o.Memory/4, 1<<20)
	}
	return tiers{fanIn: fanIn, early: share, builder: max(2*share/int64(together()), least), recent: share, held: share}
}

// tiers say when segments are made, written and merged.
type tiers struct {
	fanIn   int   // so many segments of one tier become one, at most
	rest    bool  // the shard is at rest: fewer are enough
	early   int64 // bytes that are written before they are indexed without a refresh
	builder int64 // bytes of memory that a segment in the making takes before it is ended
	recent  int64 // bytes of what was written, of all shards, that are kept until they are indexed
	held    int64 // bytes of segments in memory, of all shards, before some are written to files
}

// tier is that of a segment of so many docs: it has four times as many as the one before, or
// sixteen times when it is not young.
func tier(docs int) int {
	if docs < young {
		return (bits.Len(uint(docs)) - 1) / 2
	}
	return tier(young-1) + 1 + (bits.Len(uint(docs))-bits.Len(young))/4
}

// fan is how many segments of a tier become one.
func (t tiers) fan(n int) int {
	switch {
	case n >= tier(young):
		return t.fanIn
	case t.rest:
		return min(t.fanIn, restFanIn)
	}
	return min(t.fanIn, youngFanIn)
}

// ripe are the entries that become one, of those given: a tier that is full, the lowest
// first; nil when there is none. What has fewer docs than the smallest is of its tier.
func (t tiers) ripe(entries []*entry, smallest int) []*entry {
	of := map[int][]*entry{}
	lowest := -1
	for _, e := range entries {
		n := tier(max(e.shown, smallest))
		of[n] = append(of[n], e)
		if len(of[n]) >= t.fan(n) && (lowest < 0 || n < lowest) {
			lowest = n
		}
	}
	if lowest < 0 {
		return nil
	}
	return ordered(of[lowest])
}

// atRest are the tiers of a shard at rest.
func (t tiers) atRest() tiers {
	t.rest = true
	return t
}

// alike are those of some entries that are written again together, when all of them have to
// be: some of one tier, the lowest. What has fewer docs than the smallest is of its tier.
func (t tiers) alike(entries []*entry, smallest int) (some []*entry) {
	if len(entries) == 0 {
		return nil
	}
	of := func(e *entry) int { return tier(max(e.shown, smallest)) }
	lowest := slices.MinFunc(entries, func(a, b *entry) int { return cmp.Compare(of(a), of(b)) })
	for _, e := range entries {
		if of(e) == of(lowest) && len(some) < t.fanIn {
			some = append(some, e)
		}
	}
	return ordered(some)
}

// ordered are entries by their sequence numbers, so that these ascend when merged.
func ordered(entries []*entry) []*entry {
	slices.SortStableFunc(entries, func(a, b *entry) int { return cmp.Compare(a.first, b.first) })
	return entries
}

// wasted is the entry that hides most of its segment, more than half of it and worth a
// rewriting, and is not another's business; nil when none does.
func (t tiers) wasted(entries []*entry, others func(*entry) bool) (worst *entry) {
	const worthwhile = 4096 // docs
	for _, e := range entries {
		hidden := e.Docs() - e.shown
		if hidden < worthwhile || hidden <= e.shown {
			continue
		}
		if (worst == nil || e.Docs()*worst.shown > worst.Docs()*e.shown) && !others(e) {
			worst = e
		}
	}
	return worst
}
