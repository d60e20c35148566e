package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// Point is a point in time: readers that are kept open between searches. Its readers are
// closed when it has ended and nobody searches in it any more.
type Point struct {
	ID      string
	Created time.Time
	Shards  int

	parts  [][]part
	scroll *scroll // nil: a point that clients asked for

	points  *points
	keep    time.Duration
	expires time.Time // in the future of the last use
	users   int       // searches at work
	ended   bool
}

// points are the open points in time of a store.
type points struct {
	mu      sync.Mutex
	open    map[string]*Point
	leaving map[uint32]int // how often an index, by its number, is being closed or removed
}

func (p *points) init() { p.open, p.leaving = map[string]*Point{}, map[uint32]int{} }

// left reports the name of an index among parts that is being closed or removed. The mutex is held.
func (p *points) left(parts [][]part) (name string, is bool) {
	for _, of := range parts {
		if len(of) > 0 && p.leaving[of[0].index.entry.Number] > 0 {
			return of[0].index.record.Name, true
		}
	}
	return "", false
}

// OpenPoint pins readers of the shards that a search of e would visit, until keep has
// passed since the last search in it.
func (s *Store) OpenPoint(ctx context.Context, e catalog.Expression, routed string, keep time.Duration) (*Point, error) {
	parts, err := s.visitAgain(ctx, e, routed, nil)
	if err != nil {
		return nil, err
	}
	return s.pin(parts, keep, nil)
}

// pin makes a point of readers, which are then its.
func (s *Store) pin(parts [][]part, keep time.Duration, scroll *scroll) (*Point, error) {
	var random [33]byte
	_, _ = rand.Read(random[:]) // never fails
	now := s.options.Clock()
	p := &Point{ID: base64.RawURLEncoding.EncodeToString(random[:]), Created: now, parts: parts, scroll: scroll,
		points: &s.points, keep: keep, expires: now.Add(lasts(keep))}
	for _, of := range parts {
		p.Shards += len(of)
	}
	if err := s.open(p); err != nil {
		return nil, joined(err, closeParts(parts))
	}
	return p, nil
}

// lasts is how long a point is there that is to be kept for some time, of 0 and -1 too: the server looks once in a
// minute which are over, and lets them be used until then.
func lasts(keep time.Duration) time.Duration { return max(keep, time.Minute) }

// open adds a point to the open ones, of which there may be so many: each keeps what its
// readers saw.
func (s *Store) open(p *Point) error {
	rules := s.SearchRules()
	most, what, setting := rules.Points, "Point In Time contexts", "search.max_open_pit_context"
	if p.scroll != nil {
		most, what, setting = rules.Scrolls, "scroll contexts", "search.max_open_scroll_context"
	}
	s.points.mu.Lock()
	defer s.points.mu.Unlock()
	if name, left := s.points.left(p.parts); left { // its readers would be waited for until the point ends
		return exception.New(exception.IndexNotFound, "no such index [%s]", name)
	}
	alike := 0
	for _, other := range s.points.open {
		if (other.scroll != nil) == (p.scroll != nil) && (other.Shards > 0) == (p.Shards > 0) { // those of no shards keep little, and keep out none that have some
			alike++
		}
	}
	if alike < most {
		s.points.open[p.ID] = p
		return nil
	}
	full := exception.New(exception.Rejected,
		"Trying to create too many %s. Must be less than or equal to: [%d]. This limit can be set by changing the [%s] setting.", what, most, setting)
	if p.Shards == 0 {
		return full
	}
	failed := &PhaseError{}
	for _, of := range p.parts {
		failed.Failed = append(failed.Failed, failure(of, full))
	}
	return failed
}

// SearchRules are what the settings of the cluster say of searches.
func (s *Store) SearchRules() catalog.SearchRules { return s.view.Load().catalog.SearchRules() }

// enter begins a search in a point, which keeps it for another while: the longest that anybody
// has asked for so far. Nobody shortens what another one needs, as on the server.
func (s *Store) enter(id string, keep time.Duration, scrolling bool) (*Point, error) {
	s.points.mu.Lock()
	defer s.points.mu.Unlock()
	p := s.points.open[id]
	now := s.options.Clock()
	if p == nil || (p.scroll != nil) != scrolling || now.After(p.expires) {
		return nil, exception.New(exception.SearchContextMissing, "No search context found for id [%s]", id)
	}
	p.keep = max(p.keep, keep)
	p.expires = now.Add(lasts(p.keep))
	p.users++
	return p, nil
}

// release ends a search in the point.
func (p *Point) release() error {
	p.points.mu.Lock()
	p.users--
	last := p.ended && p.users == 0
	p.points.mu.Unlock()
	if last {
		return closeParts(p.parts)
	}
	return nil
}

// end takes points out of the open ones, and closes those that nobody uses.
func (p *points) end(which func(*Point) bool) (ended []string, err error) {
	p.mu.Lock()
	var idle []*Point
	for id, point := range p.open {
		if !which(point) {
			continue
		}
		delete(p.open, id)
		point.ended = true
		ended = append(ended, id)
		if point.users == 0 {
			idle = append(idle, point)
		}
	}
	p.mu.Unlock()
	for _, point := range idle {
		err = joined(err, closeParts(point.parts))
	}
	return ended, err
}

// ClosePoints ends points in time (or scrolls, when scrolling) by id, all of them when
// ids is nil, and tells which there were.
func (s *Store) ClosePoints(ids []string, scrolling bool) ([]string, error) {
	return s.points.end(func(p *Point) bool {
		return (p.scroll != nil) == scrolling && (ids == nil || slices.Contains(ids, p.ID))
	})
}

// PointInfo tells of an open point.
type PointInfo struct {
	ID      string
	Created time.Time
	Keep    time.Duration
}

// Points are the open points in time, the oldest first.
func (s *Store) Points() []PointInfo {
	s.points.mu.Lock()
	defer s.points.mu.Unlock()
	var all []PointInfo
	for _, p := range s.points.open {
		if p.scroll == nil {
			all = append(all, PointInfo{ID: p.ID, Created: p.Created, Keep: p.keep})
		}
	}
	slices.SortFunc(all, func(a, b PointInfo) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// leave ends the points that hold a reader of an index that goes away, and lets no new one be
// opened until gone is called: they would be waited for.
func (s *Store) leave(idx *index) (gone func()) {
	number := idx.entry.Number
	s.points.mu.Lock()
	s.points.leaving[number]++
	s.points.mu.Unlock()
	_, err := s.points.end(func(p *Point) bool {
		return slices.ContainsFunc(p.parts, func(of []part) bool {
			return len(of) > 0 && of[0].index.entry.Number == number
		})
	})
	if err != nil {
		s.options.Logger.Warn("a point in time was not closed", "index", idx.record.Name, "error", err)
	}
	return func() {
		s.points.mu.Lock()
		defer s.points.mu.Unlock()
		if s.points.leaving[number]--; s.points.leaving[number] == 0 {
			delete(s.points.leaving, number)
		}
	}
}

// expire ends points whose time is over, until ctx ends, and then all of them.
func (s *Store) expire(ctx context.Context) {
	timer := time.NewTicker(5 * time.Second)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			if _, err := s.points.end(func(*Point) bool { return true }); err != nil {
				s.options.Logger.Warn("points in time were not closed", "error", fault.At(err, "closing"))
			}
			return
		case <-timer.C:
		}
		now := s.options.Clock()
		err := s.guarded("points in time", func() error {
			_, err := s.points.end(func(p *Point) bool { return now.After(p.expires) })
			return err
		})
		var bug *panicked
		if err != nil && !errors.As(err, &bug) {
			s.options.Logger.Warn("points in time were not closed", "error", err)
		}
	}
}
