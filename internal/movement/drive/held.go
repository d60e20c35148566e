package drive

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// Piece is a record with a lease.
type Piece[T any] interface {
	*T
	Base() *work.Lease
	Unfinished() error // of what is not done and has no successor
}

// Held is a piece whose lease this process holds. Safe for concurrent use.
type Held[T any, P Piece[T]] struct {
	driver *Driver
	key    string
	worker string
	policy work.Policy
	claim  time.Time       // by the store's clock
	lease  context.Context // ends when the lease does, or some seconds after the caller's end
	end    context.CancelCauseFunc
	ctx    context.Context // ends when lease or the caller's context does, or when others may take the lease
	cancel context.CancelCauseFunc
	silent *time.Timer // ends ctx at the deadline of the heartbeat that was stored last

	turn     lock // to change what is stored
	revision int64
	mu       sync.Mutex
	piece    T // changed by whose turn it is
}

// Claim takes the lease of the piece at key for worker. It is nil without an error when
// someone else has it, when it is done, or when it has failed, also by this very claim.
// The piece must be ended by Complete, Fail or Release.
func Claim[T any, P Piece[T]](ctx context.Context, d *Driver, key, worker string, p work.Policy) (*Held[T, P], T, error) {
	var none T
	now, err := d.clock.check(ctx)
	if err != nil {
		return nil, none, err
	}
	record, err := d.store.Get(ctx, key)
	if err != nil {
		return nil, none, fault.At(err, key)
	}
	var piece T
	if err := decode(record.Value, &piece); err != nil {
		return nil, none, fault.At(err, key)
	}
	if l := P(&piece).Base(); l.State == work.Waiting && l.LeaseHolderID != "" && l.LeaseHolderID != worker && !l.Leased(p, now.passed()) {
		if now, err = d.clock.fresh(ctx); err != nil { // its holder has perhaps heard of a clock that was set back
			return nil, none, err
		}
	}
	lease, ours, err := claim(P(&piece).Base(), worker, p, now)
	if err != nil || !ours && lease.State == P(&piece).Base().State { // uncertain, or someone holds it, or it has ended: only a failure of now is stored
		return nil, piece, fault.At(err, key)
	}
	*P(&piece).Base() = lease
	h := &Held[T, P]{driver: d, key: key, worker: worker, policy: p, claim: now.at, piece: piece, turn: newLock()}
	value, err := json.Marshal(&piece)
	if err != nil {
		return nil, none, fault.Wrap(fault.Bug, err)
	}
	h.revision, err = d.store.Swap(ctx, key, record.Revision, value)
	switch {
	case fault.Is(err, fault.Conflict):
		return nil, piece, nil
	case err != nil:
		return nil, none, fault.At(err, key)
	case !ours:
		return nil, piece, nil
	}
	h.watch(ctx, now, lease)
	return h, piece, nil
}

// claim is a lease that worker takes, or that fails since nobody has got on; neither when someone
// else holds it, or it has ended. What is taken from others has surely ended, whatever the store's
// clock has done, and what is taken lasts by this machine's own clock for as long as it says. Where
// that cannot be known, time is waited for, and no attempt is spent.
func claim(l *work.Lease, worker string, p work.Policy, now reading) (next work.Lease, ours bool, err error) {
	if l.LeaseHolderID != worker && l.Leased(p, now.passed()) {
		return *l, false, nil
	}
	next, ours, err = l.Claim(p, worker, now.at)
	if err != nil { // it has ended, or is held
		return *l, false, nil
	}
	if left := time.Until(now.until(next.Deadline(p))); ours && left <= p.Heartbeat {
		err = fault.New(fault.Transient, "a lease would be over before its first heartbeat, within %s: the time of the coordination store is uncertain by %s, and it took %s to read the record",
			p.Heartbeat, now.wrong, time.Since(now.read).Round(time.Millisecond))
		return *l, false, fault.WithNext(err, "see why the store answers late, or how its clock is kept; or plan with longer heartbeats")
	}
	return next, ours, nil
}

// StopWithin is how long a worker that is told to stop tries to give its leases back.
const StopWithin = 8 * time.Second

// watch ends the contexts by the machine's monotonic clock: both when the lease ends, and that of
// the work at the deadline of the last heartbeat that was stored, from which on others may take the
// lease. When the caller's ends before, there is some time left in which to give the lease back.
func (h *Held[T, P]) watch(caller context.Context, now reading, claimed work.Lease) {
	h.lease, h.end = context.WithCancelCause(context.WithoutCancel(caller))
	h.ctx, h.cancel = context.WithCancelCause(h.lease)
	lost := fault.At(fault.New(fault.LostLease, "the lease has ended"), h.key)
	unheard := fault.At(fault.New(fault.LostLease, "no heartbeat could be stored in time, and another worker may take the lease"), h.key)
	timer := time.AfterFunc(time.Until(now.until(claimed.Expiration)), func() { h.end(lost) })
	h.silent = time.AfterFunc(time.Until(now.until(claimed.Deadline(h.policy))), func() { h.cancel(unheard) })
	stop := context.AfterFunc(caller, func() {
		h.cancel(nil)
		time.AfterFunc(StopWithin, func() { h.end(context.Cause(caller)) })
	})
	context.AfterFunc(h.lease, func() {
		timer.Stop()
		h.silent.Stop()
		stop()
		h.cancel(nil)
	})
}

// Context ends when the lease does, when the context of the claim does, and at the deadline of the
// last heartbeat that was stored: then others may take the lease, but as long as it is not [Held.Lost]
// it can be given back. Its cause says whether the lease was lost.
func (h *Held[T, P]) Context() context.Context { return h.ctx }

// Lost tells why the lease can no longer be used; nil while it can, also when the context
// of the claim has ended.
func (h *Held[T, P]) Lost() error { return context.Cause(h.lease) }

// Piece is what is stored.
func (h *Held[T, P]) Piece() T {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.piece
}

// Checkpoint is how long, from the claim on, the work may go on before what is left is to be
// handed over.
func (h *Held[T, P]) Checkpoint() time.Duration {
	piece := h.Piece()
	return work.Checkpoint(P(&piece).Base().Expiration.Sub(h.claim))
}

// Update stores what change makes of the piece, unless the lease has been lost: then the
// context ends with fault.LostLease, and so does Update. The coordination store may be away
// meanwhile for as long as the lease lasts.
func (h *Held[T, P]) Update(change func(piece T, now time.Time) (T, error)) error {
	h.turn.lock()
	defer h.turn.unlock()
	err := again(h.lease, func() error { return h.swap(change) })
	if fault.Is(err, fault.LostLease) {
		h.end(err)
	}
	return err
}

func (h *Held[T, P]) swap(change func(T, time.Time) (T, error)) error {
	now, err := h.driver.clock.now(h.lease)
	if err != nil {
		return err
	}
	for {
		next, err := change(h.piece, now.at)
		if err != nil {
			return fault.At(err, h.key)
		}
		value, err := json.Marshal(&next)
		if err != nil {
			return fault.Wrap(fault.Bug, err)
		}
		revision, err := h.driver.store.Swap(h.lease, h.key, h.revision, value)
		if err == nil {
			h.keep(next, revision, now)
			return nil
		}
		// Someone was faster, or nobody knows: what is stored tells.
		there, reading := h.driver.store.Get(h.lease, h.key)
		switch {
		case fault.Is(reading, fault.NotFound) && fault.Is(err, fault.Conflict):
			return fault.At(fault.New(fault.LostLease, "its record is gone"), h.key)
		case fault.Is(reading, fault.NotFound):
			return err
		case reading != nil:
			return reading
		case bytes.Equal(there.Value, value):
			h.keep(next, there.Revision, now)
			return nil
		case there.Revision <= h.revision && fault.Is(err, fault.Conflict): // the one answer or the other is of a copy that lags
			return fault.New(fault.Transient, "the store returns revision %d of the record, and refuses to change revision %d", there.Revision, h.revision)
		case there.Revision <= h.revision: // it did not happen, or is not shown yet
			return err
		}
		var piece T
		if err := decode(there.Value, &piece); err != nil {
			return err
		}
		if err := P(&piece).Base().Held(h.worker, now.at); err != nil {
			return fault.At(err, h.key)
		}
		h.keep(piece, there.Revision, now)
	}
}

// keep notes what is stored: its heartbeat moves the end of the context, unless that has come. It is
// for whose turn it is.
func (h *Held[T, P]) keep(piece T, revision int64, now reading) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if lease := P(&piece).Base(); lease.LeaseHolderID == h.worker && !lease.HeartbeatAt.Equal(P(&h.piece).Base().HeartbeatAt) {
		h.silent.Reset(time.Until(now.until(lease.Deadline(h.policy))))
	}
	h.piece, h.revision = piece, revision
}

// Beat says that this process is at work.
func (h *Held[T, P]) Beat() error {
	return h.decide(func(l work.Lease, now time.Time) (work.Lease, error) { return l.Beat(h.worker, now, false) })
}

// Complete says that the piece is done; fault.Bug when it is not.
func (h *Held[T, P]) Complete() error {
	defer h.end(context.Canceled)
	piece := h.Piece()
	if err := P(&piece).Unfinished(); err != nil {
		return fault.At(err, h.key)
	}
	return h.decide(func(l work.Lease, now time.Time) (work.Lease, error) { return l.Complete(h.worker, now) })
}

// Fail says that no attempt can do it.
func (h *Held[T, P]) Fail(cause string) error {
	defer h.end(context.Canceled)
	return h.decide(func(l work.Lease, now time.Time) (work.Lease, error) { return l.Fail(h.worker, now, cause) })
}

// Release gives the lease back, with the cause when the attempt failed.
func (h *Held[T, P]) Release(cause string) error {
	defer h.end(context.Canceled)
	return h.decide(func(l work.Lease, now time.Time) (work.Lease, error) { return l.Release(h.worker, now, cause) })
}

// Return gives the lease back, and says that nothing is on its way which its holder has sent.
func (h *Held[T, P]) Return() error {
	defer h.end(context.Canceled)
	return h.decide(func(l work.Lease, now time.Time) (work.Lease, error) { return l.Return(h.worker, now) })
}

func (h *Held[T, P]) decide(change func(work.Lease, time.Time) (work.Lease, error)) error {
	return h.Update(func(piece T, now time.Time) (T, error) {
		lease, err := change(*P(&piece).Base(), now)
		*P(&piece).Base() = lease
		return piece, err
	})
}
