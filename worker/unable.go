package worker

import (
	"errors"
	"sync"
	"time"

	"github.com/reshelve/reshelve/movement"
)

// Unable marks an error that lies with this worker and not with the movement: it lacks a
// credential, a mount or the right time. It does not hold the movement: others go on, and
// this worker tries again after a while. Kind, place and next action stay.
func Unable(err error) error {
	if err == nil {
		return nil
	}
	return &unable{err}
}

type unable struct{ error }

// Unwrap lets package fault find the kind.
func (u *unable) Unwrap() error { return u.error }

// IsUnable tells whether err was marked by [Unable].
func IsUnable(err error) bool {
	var u *unable
	return errors.As(err, &u)
}

// barsFor is how long a process leaves a movement alone that it could not work for.
const barsFor = 30 * time.Second

// bars are the movements that this process cannot work for. Safe for concurrent use.
type bars struct {
	mu  sync.Mutex
	why map[string]barred
}

type barred struct {
	err   error
	until time.Time
}

// add tells whether the movement was not barred for the same reason before.
func (b *bars) add(id string, err error) (first bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.why == nil {
		b.why = map[string]barred{}
	}
	before, there := b.why[id]
	b.why[id] = barred{err, time.Now().Add(barsFor)}
	return !there || before.err.Error() != err.Error()
}

// without leaves out what is barred; why is told when nothing is left because of that.
func (b *bars) without(ready []*movement.Record) (left []*movement.Record, why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range ready {
		if bar, there := b.why[m.ID]; there && time.Now().Before(bar.until) {
			why = bar.err
			continue
		}
		left = append(left, m)
	}
	if len(left) > 0 {
		return left, nil
	}
	return nil, why
}
