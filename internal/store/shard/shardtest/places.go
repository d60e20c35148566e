package shardtest

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// Places is a shard.Placements that a test moves by hand. The zero Places knows no
// index. Safe for concurrent use.
type Places struct {
	mu     sync.Mutex
	known  map[uint32]placement.Placement
	broken error
}

var _ shard.Placements = (*Places)(nil)

// Placement is what Put was given, or the error that Break was given.
func (p *Places) Placement(ctx context.Context, index uint32) (placement.Placement, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return placement.Placement{}, err
	}
	if p.broken != nil {
		return placement.Placement{}, p.broken
	}
	found, known := p.known[index]
	if !known {
		return placement.Placement{}, fault.New(fault.NotFound, "index %d has no placement", index)
	}
	return found, nil
}

// Put makes a placement the newest of its index.
func (p *Places) Put(placed placement.Placement) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		p.known = map[uint32]placement.Placement{}
	}
	p.known[placed.Index] = placed
}

// Forget removes an index.
func (p *Places) Forget(index uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.known, index)
}

// Break makes every reading fail with err, until it is nil.
func (p *Places) Break(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken = err
}

// HandedOver is the next version of a placement, in which the shards from have become to.
func HandedOver(p placement.Placement, from []uint32, to []shard.Incarnation) placement.Placement {
	p.Version++
	p.Shards = slices.DeleteFunc(slices.Clone(p.Shards), func(row placement.Shard) bool { return slices.Contains(from, row.Number) })
	for _, i := range to {
		p.Shards = append(p.Shards, placement.Shard{Number: i.Number, Range: i.Range, Epoch: p.Version, Term: i.Term, Node: placement.Local})
		p.Next = max(p.Next, i.Number+1)
	}
	slices.SortFunc(p.Shards, func(a, b placement.Shard) int { return cmp.Compare(a.Range.From, b.Range.From) })
	return p
}
