package sim

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
)

// records is the coordination store.
type records struct {
	world    *world
	all      map[string]coord.Record
	keys     []string // of all, in order; nil when that is not known
	revision int64
	ahead    time.Duration // of its clock
}

func newRecords(w *world) *records { return &records{world: w, all: map[string]coord.Record{}} }

// now is the time of the store's server, whose clock may be set back.
func (r *records) now() time.Time { return time.Now().Add(r.ahead) }

func (r *records) list(prefix string) []coord.Record {
	if r.keys == nil {
		for key := range r.all {
			r.keys = append(r.keys, key)
		}
		slices.Sort(r.keys)
	}
	at, _ := slices.BinarySearch(r.keys, prefix)
	var found []coord.Record
	for _, key := range r.keys[at:] {
		if !strings.HasPrefix(key, prefix) {
			break
		}
		found = append(found, r.all[key])
	}
	return found
}

// write carries out a change by a process, and looks whether it was allowed to make it.
func (r *records) write(p *process, change coord.Write) any {
	if err := change.Check(); err != nil {
		return err
	}
	old, there := r.all[change.Key]
	if err := change.Admit(old.Revision); err != nil {
		return err
	}
	r.revision++
	if change.Op == coord.OpDelete {
		delete(r.all, change.Key)
	} else {
		r.all[change.Key] = coord.Record{Key: change.Key, Value: change.Value, Revision: r.revision}
	}
	if !there || change.Op == coord.OpDelete {
		r.keys = nil
	}
	r.world.scene.changed(p, change, old.Value)
	return r.revision
}

// view is the coordination store as one process reaches it.
type view struct{ process *process }

var _ coord.Store = view{}

func (v view) ask(ctx context.Context, verb, key string, do func(*records) any) (any, error) {
	r := v.process.world.records
	return v.process.ask(ctx, &call{to: "store", verb: verb, text: key, do: func() any { return do(r) }})
}

// Get is coord.Store's.
func (v view) Get(ctx context.Context, key string) (coord.Record, error) {
	answer, err := v.ask(ctx, "get", key, func(r *records) any {
		record, there := r.all[key]
		if !there {
			return coord.Missing(key)
		}
		return record
	})
	if err != nil {
		return coord.Record{}, err
	}
	record := answer.(coord.Record)
	record.Value = slices.Clone(record.Value)
	return record, nil
}

// List is coord.Store's.
func (v view) List(ctx context.Context, prefix string) ([]coord.Record, error) {
	answer, err := v.ask(ctx, "list", prefix, func(r *records) any { return r.list(prefix) })
	if err != nil {
		return nil, err
	}
	return answer.([]coord.Record), nil
}

func (v view) change(ctx context.Context, verb string, change coord.Write) (int64, error) {
	change.Value = slices.Clone(change.Value)
	p := v.process
	answer, err := p.ask(ctx, &call{to: "store", verb: verb, text: fmt.Sprint(change.Key, " ", change.Revision), step: true,
		do: func() any { return p.world.records.write(p, change) }})
	if err != nil {
		return 0, err
	}
	return answer.(int64), nil
}

// Create is coord.Store's.
func (v view) Create(ctx context.Context, key string, value []byte) (int64, error) {
	return v.change(ctx, "create", coord.Write{Op: coord.OpCreate, Key: key, Value: value})
}

// Swap is coord.Store's.
func (v view) Swap(ctx context.Context, key string, revision int64, value []byte) (int64, error) {
	return v.change(ctx, "swap", coord.Write{Op: coord.OpSwap, Key: key, Revision: revision, Value: value})
}

// Delete is coord.Store's.
func (v view) Delete(ctx context.Context, key string, revision int64) error {
	_, err := v.change(ctx, "delete", coord.Write{Op: coord.OpDelete, Key: key, Revision: revision})
	return err
}

// Watch is coord.Store's; the lanes that are simulated watch nothing.
func (v view) Watch(context.Context, string, int64) iter.Seq2[coord.Event, error] {
	return func(yield func(coord.Event, error) bool) {
		yield(coord.Event{}, fault.New(fault.Refused, "nothing is watched here"))
	}
}

// Revision is coord.Store's.
func (v view) Revision(ctx context.Context) (int64, error) {
	answer, err := v.ask(ctx, "revision", "", func(r *records) any { return r.revision })
	if err != nil {
		return 0, err
	}
	return answer.(int64), nil
}

// Now is coord.Store's, as adapters of servers give it.
func (v view) Now(ctx context.Context) (coord.Time, error) {
	from := time.Now()
	answer, err := v.ask(ctx, "now", "", func(r *records) any { return coord.Time{At: r.now().Add(-v.process.skew())} })
	if err != nil {
		return coord.Time{}, err
	}
	return v.process.clock.Answered(answer.(coord.Time), from), nil
}

// Close is coord.Store's.
func (v view) Close() error { return nil }
