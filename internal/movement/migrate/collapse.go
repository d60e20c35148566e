package migrate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/reshelve/reshelve/snapshot"
)

// Collapse is what becomes of the ids that several mapping types of an index have in common, when the types become one
// index: there, a shard holds one document of an id. Documents that the plan's transformation drops are not counted.
type Collapse struct {
	IDs         int64 `json:"ids"`         // that documents of more than one type have
	Documents   int64 `json:"documents"`   // which have them
	Overwritten int64 `json:"overwritten"` // of those: left out, because another one has both their id and their routing
	// AtRisk are those that are left out as well if the routing of another one leads to the same shard of the target.
	AtRisk int64        `json:"atRisk"`
	Listed []Collapsing `json:"listed,omitempty"` // at most 1,000 of the ids, ordered
}

// Collapsing is one of these ids.
type Collapsing struct {
	ID    string   `json:"id"`
	Types []string `json:"types"`
	// Overwritten and AtRisk are as in Collapse.
	Overwritten int64 `json:"overwritten,omitempty"`
	AtRisk      int64 `json:"atRisk,omitempty"`
}

// Bounds of what is kept of the ids to list. So many more are looked for that a second reading ends early where nearly all
// ids collapse.
const (
	collapsesListed = 1_000
	collapsesSought = 100_000
)

var errEnough = errors.New("enough ids are found")

// CollapseOf reads the ids of all documents of an index of the plan, once, and where some collapse a second time, to name them.
// Told is called with how many documents were read so far, one call at a time, and may be nil.
func CollapseOf(ctx context.Context, idx *snapshot.Index, plan *Plan, told func(documents int64)) (*Collapse, error) {
	shapes, err := shapesOf(plan)
	if err != nil {
		return nil, err
	}
	s := &spill{}
	defer s.close()
	read := &idReading{sides: &sides{shapes: shapes}, index: idx, partial: true, place: byRouting, told: told}
	err = read.all(ctx, func(r idRecord, _ []byte) error { return s.add(r) })
	if err != nil {
		return nil, err
	}
	c, sought := &Collapse{}, map[uint64]Collapsing{}
	err = s.groups(func(group []idRecord) {
		one := read.collapsing(group)
		if len(one.Types) < 2 {
			return
		}
		c.IDs, c.Documents = c.IDs+1, c.Documents+int64(len(group))
		c.Overwritten, c.AtRisk = c.Overwritten+one.Overwritten, c.AtRisk+one.AtRisk
		if len(sought) < collapsesSought {
			sought[group[0].id] = one
		}
	})
	if err != nil || c.IDs == 0 {
		return c, err
	}
	return c, read.list(ctx, c, sought)
}

// list names the ids that are sought, as many as are listed.
func (r *idReading) list(ctx context.Context, c *Collapse, sought map[uint64]Collapsing) error {
	r.read = 0
	err := r.all(ctx, func(record idRecord, id []byte) error {
		if one, is := sought[record.id]; is {
			one.ID = string(id)
			c.Listed = append(c.Listed, one)
			delete(sought, record.id)
		}
		if len(c.Listed) == collapsesListed || len(sought) == 0 {
			return errEnough
		}
		return nil
	})
	slices.SortFunc(c.Listed, func(a, b Collapsing) int { return cmp.Compare(a.ID, b.ID) })
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// byRouting tells documents of one id apart by their routing: of a target that has not got the index yet nothing more is known.
func byRouting(id, routing []byte) []byte {
	if bytes.Equal(routing, id) {
		return nil
	}
	return routing
}

// collapsing is what becomes of the documents of an id.
func (r *idReading) collapsing(group []idRecord) (c Collapsing) {
	var kinds, places []uint64
	for _, record := range group {
		kinds, places = append(kinds, record.kind()), append(places, record.place)
	}
	for _, kind := range distinct(kinds) {
		c.Types = append(c.Types, r.types[kind])
	}
	slices.Sort(c.Types)
	n := int64(len(distinct(places)))
	c.Overwritten, c.AtRisk = int64(len(group))-n, n-1
	return c
}

func distinct(all []uint64) []uint64 {
	slices.Sort(all)
	return slices.Compact(all)
}
