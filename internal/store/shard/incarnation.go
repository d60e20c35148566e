package shard

import (
	"cmp"
	"errors"
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// Incarnation is what a shard is to become: a shard between two changes of its ownership.
type Incarnation struct {
	Number uint32        // of a new shard, or of one that goes on
	Range  routing.Range // that it will own
	Term   int64         // under which it will number, higher than those of all that it comes from
}

// GoesOn reports whether an incarnation is the shard of a row itself, with a part of what it
// owned, or all: it keeps its changes and holds.
func GoesOn(row placement.Shard, i Incarnation) bool {
	return row.Number == i.Number && row.Range.From <= i.Range.From && i.Range.To <= row.Range.To
}

// Staged tells what was staged. Close it: it keeps what its readers keep.
type Staged struct {
	From []Reader         // what the shards showed, in the order of from
	To   [][]segment.View // what each incarnation will show, as it was stored, in the order of to
	Free func()           // lets go of To
}

// Close may be called again, by one at a time.
func (s *Staged) Close() (err error) {
	for _, r := range s.From {
		err = errors.Join(err, r.Close())
	}
	if s.Free != nil {
		s.Free()
		s.Free = nil
	}
	return err
}

// CheckStage is what every engine refuses to stage: for fault.Bug what is not the ranges of
// from cut anew, or numbers below the terms of from. From are the rows of the placement.
func CheckStage(from []placement.Shard, to []Incarnation) error {
	if len(from) == 0 || len(to) == 0 {
		return fault.New(fault.Bug, "%d shards cannot become %d", len(from), len(to))
	}
	var had, have []routing.Range
	numbers, term := map[uint32]bool{}, int64(0)
	for _, row := range from {
		if numbers[row.Number] {
			return fault.New(fault.Bug, "shard %d is named twice", row.Number)
		}
		numbers[row.Number] = true
		had, term = append(had, row.Range), max(term, row.Term)
	}
	clear(numbers)
	for _, i := range to {
		if numbers[i.Number] {
			return fault.New(fault.Bug, "two incarnations of shard %d", i.Number)
		}
		if i.Term <= term {
			return fault.New(fault.Bug, "shard %d would number under term %d, and comes from term %d", i.Number, i.Term, term)
		}
		if i.Range.From > i.Range.To {
			return fault.New(fault.Bug, "shard %d would own nothing: %s", i.Number, i.Range)
		}
		numbers[i.Number] = true
		have = append(have, i.Range)
	}
	if before, after := joined(had), joined(have); !slices.Equal(before, after) {
		return fault.New(fault.Bug, "what owns %v cannot become what owns %v", before, after)
	}
	return nil
}

// joined are the intervals that ranges cover. Those that overlap stay apart, so that they
// are the same as no others.
func joined(ranges []routing.Range) (all []routing.Range) {
	slices.SortFunc(ranges, func(a, b routing.Range) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	for _, r := range ranges {
		if n := len(all); n > 0 && all[n-1].To+1 == r.From && r.From != 0 {
			all[n-1].To = r.To
			continue
		}
		all = append(all, r)
	}
	return all
}
