package embedded

import (
	"context"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// indexing is a builder with what puts rows into it.
type indexing struct {
	of      shard.Indexer
	builder *segment.Builder
	put     func(shard.Row) error
}

// makers are the segments that may be in the making at a time, of all shards: nil, or an empty
// builder that one has left, whose memory is used again.
type makers chan *indexing

func newMakers(n int) makers {
	m := make(makers, n)
	for range n {
		m <- nil
	}
	return m
}

// next waits until one more may be in the making, and gives a builder for it.
func (m makers) next(ctx context.Context, of shard.Indexer) (*indexing, error) {
	select {
	case i := <-m:
		if i == nil || i.of != of {
			b := segment.NewBuilder()
			i = &indexing{of, b, of.Into(b)}
		}
		return i, nil
	case <-ctx.Done():
		return nil, fault.Wrap(fault.Unavailable, context.Cause(ctx))
	}
}

// forget lets go of the builders that nobody uses.
func (m makers) forget() {
	for range cap(m) {
		select {
		case <-m:
			m <- nil
		default:
		}
	}
}
