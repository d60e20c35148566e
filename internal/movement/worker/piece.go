package worker

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/waits"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// Moved tells whether a piece was given up because its movement has been stopped, or may not
// go on now.
func Moved(err error) bool { return errors.Is(err, errMoved) }

// errMoved ends the work on a piece whose movement is not any more where it was when the
// piece was claimed: paused, aborted, in another phase.
var errMoved = errors.New("the movement has been stopped, or has gone on")

// Claim takes the lease of the piece at key for a slot, if the movement is still where it was
// when m was read: nil else, and when someone else has the piece or it has ended.
//
// The lease is stored before the movement is looked at again, and whoever ends a movement
// stores that before it looks for leases: so either the slot sees the end, or the end waits
// for the slot.
func Claim[T any, P drive.Piece[T]](ctx context.Context, s Slot, m *movement.Record, key string, p work.Policy) (*drive.Held[T, P], T, error) {
	held, piece, err := drive.Claim[T, P](ctx, s.Driver, key, s.Worker, p)
	if fault.Is(err, fault.Refused) { // of this machine alone, whose clock is wrong
		err = Unable(err)
	}
	if held == nil || err != nil {
		return nil, piece, err
	}
	s.board.hold(s.Worker, key)
	now, err := s.Driver.Movement(held.Context(), m.ID)
	if err == nil && same(m, &now) {
		return held, piece, nil
	}
	err = errors.Join(err, held.Return()) // nothing has been sent yet
	if err == nil && now.State.Ended() {  // its records are gone: this one was made too late
		err = s.Driver.Remove(ctx, key)
	}
	return nil, piece, err
}

// same tells whether what a movement owes is the same in both records.
func same(a, b *movement.Record) bool {
	if a.State != b.State || a.Settling != b.Settling {
		return false
	}
	at, now := a.Current(), b.Current()
	return at == nil && now == nil || at != nil && now != nil && at.Key() == now.Key()
}

// TakeBack removes a record that was made for a movement which is at its end: whoever ends it
// may have removed its records before. The piece of that end itself is needed until it has come:
// another slot may hold what this one has made.
func (s Slot) TakeBack(ctx context.Context, m *movement.Record, key string) error {
	now, err := s.Driver.Movement(ctx, m.ID)
	if err != nil {
		return err
	}
	if now.State.Ended() || ending(&now) && key != ClosingKey(m.ID) {
		return s.Driver.Remove(ctx, key)
	}
	return nil
}

// ending tells whether what a movement owes is its end.
func ending(m *movement.Record) bool {
	return m.Settling || m.State == movement.Aborting || m.State == movement.Reversing
}

// claimNew is Claim of a piece that is made when it is not there.
func claimNew[T any, P drive.Piece[T]](ctx context.Context, s Slot, m *movement.Record, key string, p work.Policy, piece T) (*drive.Held[T, P], T, error) {
	held, there, err := Claim[T, P](ctx, s, m, key, p)
	if !fault.Is(err, fault.NotFound) { // mostly it is there
		return held, there, err
	}
	made, err := s.Driver.MakeNew(ctx, key, piece)
	if err != nil {
		return nil, piece, err
	}
	held, there, err = Claim[T, P](ctx, s, m, key, p)
	if made && held == nil { // also when it could not be claimed: nobody else may come to see it
		return nil, piece, errors.Join(err, s.TakeBack(ctx, m, key))
	}
	return held, there, err
}

// single is the piece of what one worker at a time does, with what came of it for people: the
// phase is perhaps told to have ended by a slot that only finds it done.
type single struct {
	work.Lease
	Text string `json:"text,omitempty"`
}

// Single lets one worker at a time do the piece at key, which is made when it is not there.
// What do returns decides: nil completes the piece; an error gives it back as a failed
// attempt, or, when no other attempt can do better, fails it. The outcome is Done when the
// piece is done, by whomever.
func Single(ctx context.Context, s Slot, m *movement.Record, key string, p work.Policy, do func(ctx context.Context) error) (Outcome, error) {
	return SingleTold(ctx, s, m, key, p, func(ctx context.Context) (string, error) { return "", do(ctx) })
}

// SingleTold is Single with a text for people, which is the outcome's.
func SingleTold(ctx context.Context, s Slot, m *movement.Record, key string, p work.Policy, do func(ctx context.Context) (text string, err error)) (Outcome, error) {
	held, there, err := claimNew(ctx, s, m, key, p, single{Lease: work.Lease{CreatorID: s.Worker}})
	switch {
	case fault.Is(err, fault.NotFound): // whoever has ended the movement meanwhile has taken it away
		return Outcome{}, nil
	case err != nil:
		return Outcome{}, err
	case held == nil && there.State == work.Done:
		return Outcome{Done: true, Text: there.Text, Piece: key}, nil
	case held == nil:
		return Outcome{Failed: there.State == work.Failed, Text: there.Cause, Piece: key}, nil
	}
	outcome, err := Settle(ctx, held, Beating(s, m, held, p, held.Beat, func(ctx context.Context) error {
		text, err := do(ctx)
		if err != nil || text == "" {
			return err
		}
		return held.Update(func(piece single, _ time.Time) (single, error) {
			piece.Text = text
			return piece, nil
		})
	}))
	outcome.Piece = key
	if outcome.Done {
		outcome.Text = held.Piece().Text
	}
	return outcome, err
}

// Beating runs do, and each heartbeat calls beat, which stores that the worker is alive. The
// context of do ends with the lease, with the caller's, and when the movement is stopped.
func Beating[T any, P drive.Piece[T]](s Slot, m *movement.Record, held *drive.Held[T, P], p work.Policy, beat func() error, do func(ctx context.Context) error) error {
	ctx, stop := context.WithCancelCause(held.Context())
	ended, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(max(p.Heartbeat, time.Millisecond))
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				return
			case <-held.Context().Done():
				return
			case <-ticker.C:
				if over(ended) || held.Context().Err() != nil { // both were ready
					return
				}
				_ = beat() // a lost lease ends the context
				now, err := s.Driver.Movement(ctx, m.ID)
				switch {
				case fault.Is(err, fault.NotFound), drive.IsUnread(err), // no order can reach it any more
					err == nil && (!same(m, &now) || s.Sees != nil && !s.Sees(&now)):
					stop(errMoved)
				}
			}
		}
	}()
	err := do(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errMoved) {
		err = errMoved
	}
	close(ended)
	stop(nil)
	<-stopped
	return err
}

// over tells whether done is closed.
func over(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// Settle ends a held piece as the error of its work says.
func Settle[T any, P drive.Piece[T]](ctx context.Context, held *drive.Held[T, P], err error) (Outcome, error) {
	switch {
	case err == nil:
		return Outcome{Worked: true, Done: true}, held.Complete()
	case ctx.Err() != nil || errors.Is(err, errMoved): // told to stop
		return Outcome{}, held.Release("")
	case fault.Is(context.Cause(held.Context()), fault.LostLease) && held.Lost() == nil: // the store was away: that is no attempt of the piece
		return Outcome{}, held.Release("")
	case fault.Is(context.Cause(held.Context()), fault.LostLease):
		return Outcome{}, context.Cause(held.Context())
	case hopeless(err):
		return Outcome{Worked: true, Failed: true, Text: err.Error()}, held.Fail(err.Error())
	}
	waits.Note(ctx, err)
	return Outcome{Worked: true}, held.Release(err.Error())
}

// hopeless tells whether another attempt would meet the same error.
func hopeless(err error) bool {
	return fault.Is(err, fault.Refused) || fault.Is(err, fault.Usage) || fault.Is(err, fault.Bug)
}

// Busy tells whether someone may still be at work for a movement: it is asked after the
// movement's end was stored, and before anything is undone: a piece is at rest when its
// lease is over (who was not heard of may still wake up) and so is what its holder has sent.
// The ledger holds no leases, and is not looked at.
func Busy(ctx context.Context, d *drive.Driver, id string, p work.Policy) (bool, error) {
	ledger := movement.LedgerPrefix(id)
	pieces, err := drive.PiecesBut[work.Lease](ctx, d, work.Prefix(id), func(key string) bool { return strings.HasPrefix(key, ledger) })
	if err != nil {
		return false, err
	}
	for _, passed := range []func(context.Context) (time.Time, error){d.Passed, d.PassedNow} {
		now, err := passed(ctx)
		if err != nil {
			return false, err
		}
		for _, piece := range pieces {
			if !piece.Quiet(p, now) {
				return true, nil
			}
		}
	}
	return false, nil
}
