package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
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

// Inability is why a process cannot work for a movement, on record for whoever looks at it.
type Inability struct {
	Worker string          `json:"worker"` // the process that met it last
	Owed   movement.Effect `json:"owed"`   // what it came to do: another thing it can do perhaps
	Cause  string          `json:"cause"`
	Next   string          `json:"next,omitempty"`
	At     time.Time       `json:"at"`
}

// An inability is on record for so long after it was met last.
const inabilityCounts = 3 * barsFor

// inabilities is the prefix of those of a movement. They are no pieces of it: they count while it is undone, too.
func inabilities(id string) string { return ClosingKey(id) + "/unable/" }

// Inabilities are those that count at now for what a movement owes, one for each cause. Those that are damaged are left out: they
// only tell people something.
func Inabilities(ctx context.Context, d *drive.Driver, m *movement.Record, now time.Time) (all []Inability, err error) {
	there, err := drive.Readable[Inability](ctx, d, inabilities(m.ID))
	for _, i := range there {
		if now.Sub(i.At) <= inabilityCounts && slices.Contains(m.Owed(), i.Owed) {
			all = append(all, i)
		}
	}
	slices.SortFunc(all, func(a, b Inability) int { return cmp.Compare(a.Cause, b.Cause) })
	return all, err
}

// record puts down why this process cannot work for a movement. There is one record for each cause: it is written again
// now and then, and removed when it counts no more, or the movement has ended.
func (s Slot) record(ctx context.Context, m *movement.Record, why error) error {
	now, err := s.Driver.Now(ctx)
	if err != nil {
		return err
	}
	there, err := drive.Readable[Inability](ctx, s.Driver, inabilities(m.ID))
	if err != nil {
		return err
	}
	process, owed := s.Worker[:max(strings.LastIndexByte(s.Worker, '-'), 0)], m.Owed()[0]
	digest := fnv.New32a()
	_, _ = digest.Write([]byte(string(owed) + why.Error()))
	name := fmt.Sprintf("%08x", digest.Sum32())
	for other, i := range there {
		switch age := now.Sub(i.At); {
		case other == name && age < barsFor:
			return nil
		case age > inabilityCounts:
			err = errors.Join(err, s.Driver.Remove(ctx, inabilities(m.ID)+other))
		}
	}
	i := Inability{Worker: process, Owed: owed, Cause: why.Error(), Next: fault.Next(why), At: now}
	if err := errors.Join(err, s.Driver.Put(ctx, inabilities(m.ID)+name, i)); err != nil {
		return err
	}
	if m, err := s.Driver.Movement(ctx, m.ID); fault.Is(err, fault.NotFound) || err == nil && m.State.Ended() { // it comes too late
		return Tidy(ctx, s.Driver)
	}
	return nil
}
