package embedded

import (
	"context"
	"errors"
)

// untilClosed is a context that ends when the shard closes, too.
func (x *segments) untilClosed(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(x.ctx, func() { cancel(over(x.shard.id, 0)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// refresh publishes all that is applied once it is synced.
func (x *segments) refresh(ctx context.Context) (int64, error) {
	ctx, end := x.untilClosed(ctx)
	defer end()
	if err := x.take(ctx); err != nil {
		return x.shard.shown(), x.shard.failure(err)
	}
	defer x.give()
	return x.refreshInTurn(ctx)
}

// refreshInTurn is refresh with the turn held.
func (x *segments) refreshInTurn(ctx context.Context) (int64, error) {
	for {
		v, base, err := x.newer(false)
		if err != nil || v == nil {
			return x.shard.shown(), x.shard.failure(err)
		}
		if seqNo, done, err := x.advance(ctx, v, base, true); done || err != nil {
			x.wake()
			return seqNo, x.shard.failure(err)
		}
	}
}

// newer is a view that shows more than what is published, or than what is in the stack
// when it is not for publishing; nil when there is nothing more.
func (x *segments) newer(early bool) (*view, *stack, error) {
	s := x.shard
	s.mu.Lock()
	defer s.mu.Unlock()
	seqNo, within := s.published.seqNo, s.published.within
	if early {
		seqNo, within = x.stack.indexed, x.stack.covers
	}
	if seqNo == s.state.last && within == s.state.within && len(x.stack.lost) == 0 {
		return nil, nil, nil
	}
	return x.viewed()
}

// viewed is a view of all that is applied, and the stack of now. The shard's mutex is held.
func (x *segments) viewed() (*view, *stack, error) {
	s := x.shard
	db, done, err := s.use()
	if err != nil {
		return nil, nil, err
	}
	defer done()
	x.pending.Store(0)
	v := s.view(db)
	v.recent = x.takeRecent()
	return v, x.stack.retain(), nil
}

// advance makes the next stack of a view out of the last one.
func (x *segments) advance(ctx context.Context, v *view, base *stack, publish bool) (seqNo int64, done bool, err error) {
	return x.advanceFrom(ctx, v, base, base, publish)
}

// advanceFrom makes a view's stack out of one, waits until what it shows is synced, and makes it the
// shard's in the place of the base, and the view the one that readers get. It is not done when
// somebody else has changed the shard's stack meanwhile. It takes over the view, and the use of
// the base. The turn is held.
func (x *segments) advanceFrom(ctx context.Context, v *view, base, from *stack, publish bool) (seqNo int64, done bool, err error) {
	s := x.shard
	defer base.release()
	defer v.recent.drop()
	var st *stack
	if err = s.mark.await(ctx, v.seqNo); err == nil {
		st, err = x.next(ctx, v, from)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	over := x.stack != base || v.within != s.state.within || v.snapshot == nil
	if err != nil || over {
		st.release()
		dropped := v.drop()
		if over && ctx.Err() == nil { // what went wrong went wrong with what is gone
			err = nil
		}
		return s.published.seqNo, false, errors.Join(err, dropped)
	}
	x.set(st)
	x.arm(commitAfter)
	if !publish {
		return v.seqNo, true, v.drop()
	}
	v.stack = st.retain()
	s.ops.refresh.Add(1)
	return v.seqNo, true, s.publish(v)
}

// narrow gives the view of a smaller range, which is to be published in the place of the
// one that is, its stack. The shard's mutex is held.
func (x *segments) narrow(v *view) error {
	published := x.shard.published.stack
	st, err := x.next(x.ctx, v, published)
	if err != nil {
		return errors.Join(err, v.drop())
	}
	v.stack = st
	if x.stack == published {
		x.set(st.retain())
		return nil
	}
	ed := newEdit(x.stack)
	ed.narrow(v.within)
	narrowed := ed.rest().of(rowCount{}) // what is lost now is made again by the next refresh
	narrowed.covers = v.within
	x.set(narrowed)
	return nil
}
