package waits

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
)

// Wait is why something has not worked yet.
type Wait struct {
	Cause string    `json:"cause"`
	Next  string    `json:"next,omitempty"`
	Since time.Time `json:"since"`
	// Again is when it is tried again; zero when that is not known.
	Again time.Time `json:"again,omitzero"`
}

// Lingers is for how long a wait is shown after its tries were given up.
const Lingers = 4 * time.Second

// Board gathers the waits of all work that is done with its contexts. The zero value is ready. Safe for
// concurrent use.
type Board struct {
	mu    sync.Mutex
	waits map[*Tries]Wait
	over  map[string]ended // by cause
}

// ended is the wait of tries that were given up.
type ended struct {
	Wait
	at time.Time
}

type key struct{}

// Watch is a context of the board.
func (b *Board) Watch(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, b) }

// of is the board of a context; nil when it has none.
func of(ctx context.Context) *Board {
	board, _ := ctx.Value(key{}).(*Board)
	return board
}

// Why is the cause of the oldest wait of the context's board; "" when there is none.
func Why(ctx context.Context) string {
	if board := of(ctx); board != nil {
		if all := board.Waits(0); len(all) > 0 {
			return all[0].Cause
		}
	}
	return ""
}

// Note says that work has failed which may be begun anew: it is shown as a wait whose tries were given up,
// unless tries below have said the same.
func Note(ctx context.Context, err error) {
	board := of(ctx)
	if board == nil {
		return
	}
	board.mu.Lock()
	defer board.mu.Unlock()
	text, now := err.Error(), time.Now()
	for cause, e := range board.over {
		if strings.Contains(text, cause) && now.Sub(e.at) < Lingers {
			e.at = now
			board.over[cause] = e
			return
		}
	}
	for _, w := range board.waits {
		if strings.Contains(text, w.Cause) {
			return
		}
	}
	board.put(ended{Wait{Cause: text, Next: fault.Next(err), Since: now}, now})
}

// put keeps a wait whose tries were given up. The mutex is held.
func (b *Board) put(e ended) {
	if b.over == nil {
		b.over = map[string]ended{}
	}
	b.over[e.Cause] = e
}

// Tries are the tries of one thing; nil without a board.
type Tries struct{ board *Board }

// Begin begins to try something. It must be ended by Over or GivenUp once it has failed.
func Begin(ctx context.Context) *Tries {
	if board := of(ctx); board != nil {
		return &Tries{board}
	}
	return nil
}

// Failed says that a try has failed, and how long it pauses before the next.
func (t *Tries) Failed(err error, pause time.Duration) {
	if t == nil {
		return
	}
	now := time.Now()
	w := Wait{Cause: err.Error(), Next: fault.Next(err), Since: now, Again: now.Add(pause)}
	b := t.board
	b.mu.Lock()
	defer b.mu.Unlock()
	if there, ok := b.waits[t]; ok {
		w.Since = there.Since
	} else if before, ok := b.over[w.Cause]; ok && now.Sub(before.at) < Lingers {
		w.Since = before.Since
	}
	if b.waits == nil {
		b.waits = map[*Tries]Wait{}
	}
	delete(b.over, w.Cause)
	b.waits[t] = w
}

// Over ends the tries: it works, or nothing waits for it any more.
func (t *Tries) Over() { t.end(false) }

// GivenUp ends the tries without success: others may follow.
func (t *Tries) GivenUp() { t.end(true) }

func (t *Tries) end(lingers bool) {
	if t == nil {
		return
	}
	b := t.board
	b.mu.Lock()
	defer b.mu.Unlock()
	w, ok := b.waits[t]
	delete(b.waits, t)
	if ok && lingers {
		w.Again = time.Time{}
		b.put(ended{w, time.Now()})
	}
}

// Waits are those that have lasted for at least so long, one for each cause, the oldest first.
func (b *Board) Waits(least time.Duration) (all []Wait) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	for cause, e := range b.over {
		if now.Sub(e.at) >= Lingers {
			delete(b.over, cause)
		} else {
			all = append(all, e.Wait)
		}
	}
	for _, w := range b.waits {
		all = append(all, w)
	}
	return slices.DeleteFunc(Merge(all), func(w Wait) bool { return now.Sub(w.Since) < least })
}

// Merge makes one wait of those that have the same cause: since the first of them, until the next try of any. The oldest
// comes first. It is pure.
func Merge(all []Wait) (merged []Wait) {
	by := map[string]Wait{}
	for _, w := range all {
		there, ok := by[w.Cause]
		if ok && there.Since.Before(w.Since) {
			w.Since = there.Since
		}
		if ok && (w.Again.IsZero() || !there.Again.IsZero() && there.Again.Before(w.Again)) {
			w.Again = there.Again
		}
		by[w.Cause] = w
	}
	for _, w := range by {
		merged = append(merged, w)
	}
	slices.SortFunc(merged, func(a, b Wait) int {
		if c := a.Since.Compare(b.Since); c != 0 {
			return c
		}
		return strings.Compare(a.Cause, b.Cause)
	})
	return merged
}
