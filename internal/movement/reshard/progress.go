package reshard

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/transfer"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/store/placement"
)

// Progress is how far a movement of this lane is.
type Progress struct {
	Index string `json:"index"`
	// Notes are those of the plan: parts that held nothing.
	Notes []string `json:"notes,omitempty"`
	// Reshaping is the record of package transfer as it stands, or stood at the end.
	Reshaping json.RawMessage `json:"reshaping,omitempty"`
	Budget    time.Duration   `json:"pauseBudget"`
	Way                       // there
	Back      *Way            `json:"back,omitempty"` // of a movement that was, or is, reversed
	// Owed is what is still to be done, for people: "shed shards 9,12-14".
	Owed []string `json:"owed,omitempty"`
	// Waiting is what it waits for, to go on by itself when that has passed, such as room on a full disk; known to the
	// process that works for it.
	Waiting string `json:"waiting,omitempty"`
	// Deleted says that the index is gone, and with it all that was to be done or undone.
	Deleted bool `json:"deleted,omitempty"`
}

// Way is what the hand-offs of all groups have come to, one way.
type Way struct {
	// Predicted is the pause of each hand-off as it was rehearsed right before it; Pauses are
	// those that came of it. Both are in the order of the groups.
	Predicted []placement.Pause `json:"predicted,omitempty"`
	Pauses    []Pause           `json:"pauses"`
	Cloned    Found             `json:"cloned"`           // in CLONE
	Compared  Found             `json:"compared"`         // at H
	Shared    []Shared          `json:"shared,omitempty"` // by each shard that was handed something off, as of the newest look
}

// RateOf is what throttle has set last.
func RateOf(m *movement.Record) (r Rate) {
	_ = json.Unmarshal(m.Rate, &r) // what is no rate is none
	return r
}

// ProgressOf reads how far a movement is. Read gives the newest placement of an index, and is
// fault.NotFound when that is gone; nil where placements are not known.
func ProgressOf(ctx context.Context, d *drive.Driver, m *movement.Record, read func(context.Context, uint32) (placement.Placement, error)) (*Progress, error) {
	plan, err := ReadPlan(m)
	if err != nil {
		return nil, err
	}
	p := &Progress{Index: plan.Index, Notes: plan.Shards.Notes, Budget: plan.Budget}
	if read != nil {
		now, err := read(ctx, plan.Shards.Index)
		if p.Deleted = fault.Is(err, fault.NotFound); err == nil {
			err = p.stands(now, m.ID)
		}
		if err != nil && !p.Deleted {
			return nil, err
		}
	}
	if p.Way, err = wayUnder(ctx, d, work.Prefix(m.ID)); err != nil {
		return nil, err
	}
	if m.State == movement.Reversing || m.State == movement.Reversed {
		back, err := wayUnder(ctx, d, work.Prefix(m.ID)+wayBack)
		p.Back = &back
		return p, err
	}
	return p, nil
}

// stands tells what the placement says of the movement.
func (p *Progress) stands(now placement.Placement, id string) error {
	r, found, err := transfer.Of(now)
	if err != nil || !found || r.Movement != id {
		return err
	}
	p.Reshaping = now.Transfer
	p.Owed = owedTexts(&r)
	return nil
}

// owedTexts are what is to be done, and to what: each deed once, with all of its shards.
func owedTexts(r *transfer.Record) (all []string) {
	var deeds []transfer.Deed
	shards := map[transfer.Deed][]uint32{}
	for _, e := range r.Owed() {
		if !slices.Contains(deeds, e.Do) {
			deeds = append(deeds, e.Do)
		}
		switch e.Do {
		case transfer.OpenTarget, transfer.Shed, transfer.Retire:
			shards[e.Do] = append(shards[e.Do], e.Shard)
		default:
			for _, source := range r.Groups[e.Group].Sources {
				shards[e.Do] = append(shards[e.Do], source.Shard)
			}
		}
	}
	for _, deed := range deeds {
		what := string(deed)
		if deed == transfer.CompareAtH {
			what = "verify at the hand-off"
		}
		all = append(all, what+" "+named(shards[deed]))
	}
	return all
}

// wayUnder reads what is kept of a way.
func wayUnder(ctx context.Context, d *drive.Driver, prefix string) (way Way, err error) {
	way.Pauses, err = byGroup[Pause](ctx, d, prefix+"pause/")
	if err == nil {
		way.Predicted, err = byGroup[placement.Pause](ctx, d, prefix+"predicted/")
	}
	if err == nil {
		way.Shared, err = byGroup[Shared](ctx, d, prefix+"shared/")
	}
	if err == nil {
		way.Cloned, err = foundIn(ctx, d, prefix+"clone/")
	}
	if err == nil {
		way.Compared, err = foundIn(ctx, d, prefix+"verify/")
	}
	return way, err
}

// byGroup are the pieces that are kept of groups, or shards, in their order.
func byGroup[T any](ctx context.Context, d *drive.Driver, under string) ([]T, error) {
	pieces, err := drive.Pieces[T](ctx, d, under)
	all := make([]T, 0, len(pieces))
	for _, group := range slices.SortedFunc(maps.Keys(pieces), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }) {
		all = append(all, pieces[group])
	}
	return all, err
}

func foundIn(ctx context.Context, d *drive.Driver, under string) (all Found, err error) {
	found, err := drive.Pieces[Found](ctx, d, under)
	for _, one := range found {
		all.merge(one)
	}
	return all, err
}
