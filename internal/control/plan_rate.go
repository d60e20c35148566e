package control

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
)

// copying is the copy of a movement, done or planned, as far as its rate depends on it.
type copying struct {
	id          string
	target      string
	transformed bool
	changes     bool // of a delta alone
	limited     bool
	documents   int64
	bytes       int64 // of sources
	took        time.Duration
}

// The conditions on which the rate of one copy is expected of another one.
const (
	longEnough  = 5 * time.Second
	muchSmaller = 100 // times fewer bytes is too few: they may have fitted into the target's memory
	otherShape  = 10  // times larger or smaller documents is too different
)

// likest is the newest copy whose rate can be expected of the wanted one; nil when there is none. before begins with the newest.
func likest(wanted copying, before []copying) *copying {
	shape := func(c *copying) float64 { return float64(c.bytes) / float64(max(c.documents, 1)) }
	for i := range before {
		c := &before[i]
		alike := shape(c) <= otherShape*shape(&wanted) && shape(&wanted) <= otherShape*shape(c)
		if c.target == wanted.target && c.transformed == wanted.transformed && !c.changes && !c.limited &&
			c.took >= longEnough && c.bytes > 0 && c.bytes >= wanted.bytes/muchSmaller && alike {
			return c
		}
	}
	return nil
}

// copiesOf are the copies of the migrations among movements, the newest first.
func copiesOf(all []movement.Record) (copies []copying) {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b movement.Record) int { return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.ID, a.ID)) })
	for i := range all {
		m := &all[i]
		var p migrate.Progress
		plan, err := migrate.ReadPlan(m)
		if m.Kind != movement.Migrate || err != nil || json.Unmarshal(m.Report, &p) != nil {
			continue
		}
		limits, err := migrate.ReadLimits(m.Rate)
		c := copying{id: m.ID, target: plan.Target, transformed: plan.Transform != "", limited: err != nil || limits != (migrate.Limits{}), documents: p.Read, bytes: p.Bytes,
			changes: slices.ContainsFunc(plan.Indices, func(index migrate.Index) bool { return index.Since != nil })}
		for _, phase := range m.Phases {
			if phase.Name == "documents" {
				c.took = phase.Ended.Sub(phase.Started)
				break
			}
		}
		copies = append(copies, c)
	}
	return copies
}
