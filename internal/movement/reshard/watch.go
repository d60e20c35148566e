package reshard

import (
	"context"
	"time"

	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// watch sets a pace by how long searches take.
type watch struct {
	pace        pace
	searches    func() shard.Waits // all so far
	before, now time.Duration      // 95th percentiles: before the movement, and lately; 0: not known
	usual       time.Duration      // as before, or what they have come to take without this work
	met         shard.Waits        // the searches that were there at a look
	looked      time.Time
	idle        bool // there have been none lately
}

func (t *turn) watch() watch { return watching(t.Store, t.plan.SearchesP95) }

// watching begins to watch the searches of a store, which took so long before.
func watching(s *store.Store, before time.Duration) watch {
	w := watch{pace: briskest, searches: s.Searches, before: before, usual: before, met: s.Searches(), looked: time.Now()}
	if recent := s.RecentSearches(); recent.Total() > 0 {
		w.pace = careful
	} else {
		w.idle = true
	}
	return w
}

// look sets the pace by the searches since a look before; false: it is not time for it yet.
func (w *watch) look() bool {
	if time.Since(w.looked) < looking {
		return false
	}
	all := w.searches()
	since := all.Since(w.met)
	n := since.Total()
	if n > 0 {
		w.now = since.Quantile(0.95)
	}
	if n > 0 && w.idle { // they met no rests, and tell nothing of any pace
		w.pace = max(w.pace, careful)
	} else {
		w.usual = w.pace.usual(w.usual, w.now, n)
		w.pace = w.pace.next(w.usual, w.now, n)
	}
	w.idle = n == 0
	if n == 0 || n >= telling { // fewer are counted on
		w.met = all
	}
	w.looked = time.Now()
	return true
}

// rests is for how long it rests, for each unit of time in which it works: not at all while
// nobody searches.
func (w *watch) rests() pace {
	if w.idle {
		return 0
	}
	return w.pace
}

// breaks are those of a comparison: it does nothing that has to be done soon, and takes a
// processor for itself where searches wait for one. Nil: there are none.
type breaks struct {
	watch
	n       int // calls since the time was asked
	resumed time.Time
}

func (t *turn) breaks() *breaks { return &breaks{watch: t.watch(), resumed: time.Now()} }

const (
	often = 128              // documents, for each look at the time
	stint = time.Millisecond // of work between breaks
)

// take rests, now and then, while there are searches. It is called for each document.
func (b *breaks) take(ctx context.Context) error {
	if b == nil {
		return nil
	}
	if b.n++; b.n < often {
		return nil
	}
	b.n = 0
	b.look()
	worked := time.Since(b.resumed)
	if worked < stint {
		return nil
	}
	if rest := b.rests().rest(worked, 0, 0); rest > 0 {
		if err := drive.Wait(ctx, rest); err != nil {
			return err
		}
	}
	b.resumed = time.Now()
	return nil
}
