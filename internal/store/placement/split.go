package placement

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/reshelve/reshelve/internal/store/routing"
)

// SplitInto plans k equal parts of a shard. Cuts are between routing values.
func (p Placement) SplitInto(shard uint32, k int, w Weights) (Plan, error) {
	s, err := p.shard(shard)
	if err != nil {
		return Plan{}, err
	}
	if k > Most {
		return Plan{}, refuse("ask for fewer", "%d parts are more than the %d shards that an index may have", k, Most)
	}
	cuts, err := equal(s.Range, k)
	if err != nil {
		return Plan{}, err
	}
	return p.cut(w, []Shard{s}, [][]routing.Key{cuts})
}

// SplitBy plans m equal parts of every shard. Shards that are n equal ranges become those
// of routing.Equal(n·m).
func (p Placement) SplitBy(m int, w Weights) (Plan, error) {
	if m > Most {
		return Plan{}, refuse("ask for fewer", "%d parts are more than the %d shards that an index may have", m, Most)
	}
	all := make([][]routing.Key, len(p.Shards))
	for i, s := range p.Shards {
		cuts, err := equal(s.Range, m)
		if err != nil {
			return Plan{}, err
		}
		all[i] = cuts
	}
	return p.cut(w, p.Shards, all)
}

// SplitAt plans to cut a shard before each of the keys, given in any order. One that is
// inside of a routing value (its low half is not zero) spreads that value over shards.
func (p Placement) SplitAt(shard uint32, cuts []routing.Key, w Weights) (Plan, error) {
	s, err := p.shard(shard)
	if err != nil {
		return Plan{}, err
	}
	cuts = slices.Sorted(slices.Values(cuts))
	for i, c := range cuts {
		switch {
		case c <= s.Range.From || c > s.Range.To:
			return Plan{}, refuse("cut behind its first key and not behind its last", "the cut %s is not inside of shard %d, which owns %s", c, shard, s.Range)
		case i > 0 && c == cuts[i-1]:
			return Plan{}, refuse("name each cut once", "between the cuts at %s would be nothing", c)
		}
	}
	return p.cut(w, []Shard{s}, [][]routing.Key{cuts})
}

// SplitEvenly plans k parts of a shard that weigh alike, as far as cuts between routing
// values can: k = 2 is the median.
func (p Placement) SplitEvenly(shard uint32, k int, w Weights) (Plan, error) {
	s, err := p.shard(shard)
	if err != nil {
		return Plan{}, err
	}
	cuts, err := w.even(s.Range, k)
	if err != nil {
		return Plan{}, err
	}
	return p.cut(w, []Shard{s}, [][]routing.Key{cuts})
}

// HalveLargest plans two parts that weigh alike of the shard with the most bytes, the
// lowest range among equals. What cannot be halved is [*NotHalved].
func (p Placement) HalveLargest(w Weights) (Plan, error) {
	largest, most := p.Shards[0], int64(-1)
	for _, s := range p.Shards {
		if _, bytes := w.in(s.Range); bytes > most {
			largest, most = s, bytes
		}
	}
	if loads := w.loads(largest.Range); len(loads) < 2 {
		return Plan{}, w.notHalved(largest, loads)
	}
	return p.SplitEvenly(largest.Number, 2, w)
}

// NotHalved is the refusal to halve a shard whose documents no cut between routing hashes can part,
// with the cut that can be made.
type NotHalved struct {
	error
	Shard uint32
	Cut   routing.Key // inside of the one routing hash; 0: the shard can be cut into equal ranges
}

// Unwrap gives the kind, and what to do.
func (n *NotHalved) Unwrap() error { return n.error }

// notHalved says what there is in a shard instead of two routing hashes, and where it can be cut.
func (w Weights) notHalved(s Shard, loads []Load) error {
	n := &NotHalved{Shard: s.Number}
	within := w.within(s.Range)
	if len(loads) == 0 || len(within) < 2 {
		there := "no documents"
		if len(loads) == 1 {
			there = documents(loads[0].Documents)
		}
		n.error = refuse(fmt.Sprintf("cut the range instead: split shard %d into 2", s.Number), "there is nothing to halve: shard %d, the largest, holds %s", s.Number, there)
		if _, hashes := hashesOf(s.Range); hashes < 2 {
			n.Cut = s.Range.Middle()
		}
		return n
	}
	if n.Cut = within[len(within)/2].Key; n.Cut <= s.Range.From || within[0].Key == n.Cut {
		n.Cut = s.Range.Middle()
	}
	n.error = refuse(fmt.Sprintf("cut inside of it: split shard %d at %s, which spreads that routing value over two shards", s.Number, n.Cut),
		"all documents of shard %d, the largest, have the routing hash %08x: no cut between routing values halves it", s.Number, loads[0].Hash)
	return n
}

// cut plans each of the shards cut before its keys, which are in order and inside of it.
func (p Placement) cut(w Weights, shards []Shard, cuts [][]routing.Key) (Plan, error) {
	groups := make([]Group, len(shards))
	for i, s := range shards {
		if len(cuts[i]) == 0 {
			return Plan{}, refuse("ask for two parts or more", "one part of shard %d is what there is", s.Number)
		}
		groups[i].From = []Shard{s}
		from := s.Range.From
		for _, c := range cuts[i] {
			groups[i].To = append(groups[i].To, Part{Range: routing.Range{From: from, To: c - 1}})
			from = c
		}
		groups[i].To = append(groups[i].To, Part{Range: routing.Range{From: from, To: s.Range.To}})
	}
	return p.plan(w, groups)
}

// equal are the keys that cut r into k equal parts, between routing values.
func equal(r routing.Range, k int) ([]routing.Key, error) {
	first, hashes := hashesOf(r)
	switch {
	case k < 2:
		return nil, refuse("ask for two parts or more", "%d parts of a shard are no split", k)
	case hashes < uint64(k):
		return nil, refuse("cut inside of the routing value: name a key whose low half is not zero, as "+r.Middle().String(), "the range %s has %d whole routing values, and cannot be cut between them into %d parts", r, hashes, k)
	}
	if i, n, ok := fraction(r); ok && n*k <= 65536 {
		var cuts []routing.Key
		for _, part := range routing.Equal(n * k)[i*k+1 : (i+1)*k] {
			cuts = append(cuts, part.From)
		}
		return cuts, nil
	}
	cuts := make([]routing.Key, k-1)
	for j := range cuts {
		high, low := bits.Mul64(hashes, uint64(j+1))
		share, rest := bits.Div64(high, low, uint64(k))
		if rest > 0 {
			share++
		}
		cuts[j] = routing.Key((first + share) << 32)
	}
	return cuts, nil
}

// hashesOf are the routing hashes that r has whole: the first, and how many.
func hashesOf(r routing.Range) (first, n uint64) {
	first = (uint64(r.From) + 1<<32 - 1) >> 32
	if uint64(r.From) > 1<<64-1<<32 {
		first = 1 << 32
	}
	end := uint64(r.To) >> 32
	if uint32(r.To) == 1<<32-1 {
		end++
	}
	return first, max(end, first) - first
}

// fraction tells whether r is range i of n equal ones, for an n that an index may have.
func fraction(r routing.Range) (i, n int, ok bool) {
	first, hashes := hashesOf(r)
	if hashes == 0 {
		return 0, 0, false
	}
	for n := max(1, (1<<32)/(hashes+1)); n <= min(Most, (1<<32)/max(1, hashes-1)); n++ {
		i := int(first * n >> 32)
		if ranges := routing.Equal(int(n)); i < len(ranges) && ranges[i] == r {
			return i, int(n), true
		}
	}
	return 0, 0, false
}

// even are the keys between routing values that cut what is in r into k parts of the most
// equal weight.
func (w Weights) even(r routing.Range, k int) ([]routing.Key, error) {
	loads := w.loads(r)
	_, total := w.in(r)
	switch {
	case k < 2:
		return nil, refuse("ask for two parts or more", "%d parts of a shard are no split", k)
	case len(loads) == 1:
		return nil, refuse("cut inside of it: name a key whose low half is not zero", "all in %s has the routing hash %08x: it cannot be cut between routing values", r, loads[0].Hash)
	case len(loads) < k:
		return nil, refuse("ask for equal parts, or cut at given keys", "the %d routing hashes that are known in %s make no %d parts", len(loads), r, k)
	}
	var cuts []routing.Key
	sum := int64(0)
	for i := 1; i < len(loads) && len(cuts) < k-1; i++ {
		sum += loads[i-1].Bytes
		// A cut is here, before hash i, when the next would be further from the share.
		want := share(total, len(cuts)+1, k)
		after := sum + loads[i].Bytes
		left := len(loads) - i // hashes behind the cut, of which each part needs one
		if left == k-1-len(cuts) || 2*want <= sum+after {
			cuts = append(cuts, routing.Key(loads[i].Hash)<<32)
		}
	}
	return cuts, nil
}

// share is total·i/k.
func share(total int64, i, k int) int64 {
	high, low := bits.Mul64(uint64(total), uint64(i))
	n, _ := bits.Div64(high, low, uint64(k))
	return int64(n)
}
