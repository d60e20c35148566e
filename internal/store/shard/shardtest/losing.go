package shardtest

import (
	"context"
	"sync/atomic"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// Losing is an engine whose shards with number 0 can lose a document from what they show, until it is
// indexed again.
type Losing struct {
	shard.Engine
	Lost  atomic.Bool // the first document of the first segment is not shown
	Noted atomic.Bool // readers say that they lack something
}

// Open opens a shard that loses what the engine does.
func (e *Losing) Open(ctx context.Context, id shard.ID, p shard.Placements, s shard.Settings) (shard.Shard, error) {
	opened, err := e.Engine.Open(ctx, id, p, s)
	if err != nil || id.Number != 0 {
		return opened, err
	}
	return &loser{opened, e}, nil
}

type loser struct {
	shard.Shard
	engine *Losing
}

func (l *loser) Acquire(ctx context.Context, epoch int64) (shard.Reader, error) {
	r, err := l.Shard.Acquire(ctx, epoch)
	if err == nil {
		r = &lossy{r, l.engine.Lost.Load(), l.engine.Noted.Load()}
	}
	return r, err
}

func (l *loser) Reindex(ctx context.Context, told func(int64)) error {
	err := l.Shard.Reindex(ctx, told)
	l.engine.Lost.Store(false)
	l.engine.Noted.Store(false)
	return err
}

type lossy struct {
	shard.Reader
	lost, noted bool
}

func (r *lossy) Lacks() error {
	if !r.noted {
		return r.Reader.Lacks()
	}
	return fault.New(fault.Corrupt, "searches show %d documents, and there are %d", r.Docs()-1, r.Docs())
}

func (r *lossy) Views() []segment.View {
	views := append([]segment.View{}, r.Reader.Views()...)
	if !r.lost || len(views) == 0 {
		return views
	}
	v := &views[0]
	hidden, doc := segment.NewBits(v.Docs()), segment.Doc(0)
	if v.Hidden != nil {
		hidden = v.Hidden.Clone()
	}
	for !v.IsRoot(doc) || !v.Shows(doc) {
		doc++
	}
	hidden.Set(doc)
	v.Hidden = hidden
	return views
}
