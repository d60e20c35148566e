package reshard

import (
	"context"
	"encoding/json"
	"time"

	"github.com/reshelve/reshelve/drive"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/movement"
	"github.com/reshelve/reshelve/placement"
	"github.com/reshelve/reshelve/transfer"
	"github.com/reshelve/reshelve/work"
)

// Progress is how far a movement of this lane is.
type Progress struct {
	Index string `json:"index"`
	// Reshaping is the record of package transfer as it stands, or stood at the end.
	Reshaping json.RawMessage `json:"reshaping,omitempty"`
	Pauses    []Pause         `json:"pauses"` // of the hand-offs, in no order
	Budget    time.Duration   `json:"pauseBudget"`
	Compared  Found           `json:"compared"` // at H
	Cloned    Found           `json:"cloned"`   // in CLONE
	// Owed is what is still to be done, in the words of package transfer.
	Owed []string `json:"owed,omitempty"`
}

// RateOf is what throttle has set last.
func RateOf(m *movement.Record) (r Rate) {
	_ = json.Unmarshal(m.Rate, &r) // what is no rate is none
	return r
}

// ProgressOf reads how far a movement is. Placement reads the newest of its index.
func ProgressOf(ctx context.Context, d *drive.Driver, m *movement.Record, read func(context.Context, uint32) (placement.Placement, error)) (*Progress, error) {
	plan, err := ReadPlan(m)
	if err != nil {
		return nil, err
	}
	p := &Progress{Index: plan.Index, Budget: plan.Budget, Pauses: []Pause{}}
	now, err := read(ctx, plan.Shards.Index)
	if err == nil {
		r, found, err := transfer.Of(now)
		if err != nil {
			return nil, err
		}
		if found && r.Movement == m.ID {
			p.Reshaping = now.Transfer
			for _, e := range r.Owed() {
				p.Owed = append(p.Owed, e.String())
			}
		}
	} else if !fault.Is(err, fault.NotFound) {
		return nil, err
	}
	pauses, err := drive.Pieces[Pause](ctx, d, work.Prefix(m.ID)+"pause/")
	for _, pause := range pauses {
		p.Pauses = append(p.Pauses, pause)
	}
	if err == nil {
		p.Cloned, err = foundIn(ctx, d, work.Prefix(m.ID)+"clone/")
	}
	if err == nil {
		p.Compared, err = foundIn(ctx, d, work.Prefix(m.ID)+"verify/")
	}
	return p, err
}

func foundIn(ctx context.Context, d *drive.Driver, under string) (all Found, err error) {
	found, err := drive.Pieces[Found](ctx, d, under)
	for _, one := range found {
		all.merge(one)
	}
	return all, err
}
