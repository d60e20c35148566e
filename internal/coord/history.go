package coord

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/reshelve/reshelve/internal/fault"
)

// Change is what a History remembers of one change.
type Change struct {
	Key      string
	Revision int64
	Deleted  bool
}

// History are the last changes of a store, without values: what the watches of an
// adapter read that has no server to ask. Safe for concurrent use.
type History struct {
	limit int

	mu      sync.Mutex
	forgot  int64         // changes up to this revision are not known
	last    int64         // the newest change
	changes []Change      // those between, ascending
	grown   chan struct{} // closed by the next change, and by End
	ended   error
}

// NewHistory remembers limit changes of a store whose last change so far, which is
// not known, has revision last.
func NewHistory(last int64, limit int) *History {
	return &History{limit: limit, forgot: last, last: last, grown: make(chan struct{})}
}

// Append adds changes with ascending revisions above Last and wakes who waits.
func (h *History) Append(changes ...Change) {
	if len(changes) == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.changes = append(h.changes, changes...)
	h.last = changes[len(changes)-1].Revision
	if over := len(h.changes) - h.limit; over > 0 {
		h.forgot = h.changes[over-1].Revision
		h.changes = h.changes[over:]
	}
	h.wake()
}

// End ends the waiting for changes that are not there yet, with err.
func (h *History) End(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended == nil {
		h.ended = err
		h.wake()
	}
}

func (h *History) wake() {
	close(h.grown)
	h.grown = make(chan struct{})
}

// Last is the revision of the newest change.
func (h *History) Last() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}

// Wait returns when there is a change above after: nil; or when ctx ends or End is
// called before.
func (h *History) Wait(ctx context.Context, after int64) error {
	for {
		h.mu.Lock()
		last, grown, ended := h.last, h.grown, h.ended
		h.mu.Unlock()
		if last > after {
			return nil
		}
		if ended != nil {
			return ended
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-grown:
		}
	}
}

// A step of a watch ends after so many events or bytes of values, so that a watcher
// that lags holds little.
const (
	stepEvents = 256
	stepBytes  = 4 << 20
)

// Step are the first events of a watch of prefix after a revision, and the revision
// up to which they tell everything. Upto is the revision of the adapter's snapshot,
// and get reads a record there. Changes that a later one of the same key covers are
// left out. It is fault.Stale when not all changes are known.
func (h *History) Step(prefix string, after, upTo int64, get func(key string) (Record, error)) ([]Event, int64, error) {
	changes, err := h.between(prefix, after, upTo)
	if err != nil {
		return nil, after, err
	}
	var events []Event
	size := 0
	for _, c := range changes {
		if len(events) == stepEvents || size >= stepBytes {
			return events, events[len(events)-1].Revision, nil
		}
		event := Event{Record: Record{Key: c.Key, Revision: c.Revision}, Deleted: c.Deleted}
		if !c.Deleted {
			if event.Record, err = get(c.Key); err != nil {
				return nil, after, err
			}
		}
		size += len(event.Value)
		events = append(events, event)
	}
	return events, upTo, nil
}

// between are the changes of keys with prefix, above after and up to upTo: of every
// key only the last, in the order of revisions.
func (h *History) between(prefix string, after, upTo int64) ([]Change, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.knows(after); err != nil {
		return nil, err
	}
	var found []Change
	seen := map[string]bool{}
	for _, c := range slices.Backward(h.changes) {
		if c.Revision <= after {
			break
		}
		if c.Revision > upTo || seen[c.Key] || !strings.HasPrefix(c.Key, prefix) {
			continue
		}
		seen[c.Key] = true
		found = append(found, c)
	}
	slices.Reverse(found)
	return found, nil
}

func (h *History) knows(after int64) error {
	var err error
	switch {
	case after < h.forgot:
		err = fault.New(fault.Stale, "the changes after revision %d are known only from %d on", after, h.forgot)
	case after > h.last:
		err = fault.New(fault.Stale, "revision %d is not reached; the store is at %d", after, h.last)
	default:
		return nil
	}
	return fault.WithNext(err, "ask for the revision, list again, and watch from that revision")
}

// Watch is the Watch of an adapter: read calls Step on a snapshot. Neither a lock nor
// the snapshot is held while the consumer has an event.
func (h *History) Watch(ctx context.Context, after int64, read func(after int64) ([]Event, int64, error)) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		h.mu.Lock()
		err := h.knows(after)
		h.mu.Unlock()
		for position := after; err == nil; {
			var events []Event
			if err = h.Wait(ctx, position); err == nil {
				err = ctx.Err()
			}
			if err == nil {
				events, position, err = read(position)
			}
			for _, event := range events {
				if !yield(event, nil) {
					return
				}
			}
		}
		yield(Event{}, err)
	}
}
