package store_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	coordmemory "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/shard"
	shardmemory "github.com/reshelve/reshelve/internal/store/shard/memory"
)

// reading is a store of 30 documents in two shards, whose clock the test turns.
type reading struct {
	*store.Store
	t   *testing.T
	now time.Time
}

func newReading(t *testing.T) *reading {
	t.Helper()
	r := &reading{t: t, now: time.Unix(1000, 0)}
	var err error
	o := store.Options{Clock: func() time.Time { return r.now }}
	if r.Store, err = store.Open(t.Context(), coordmemory.New(), shardmemory.New(shardmemory.Options{}), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := r.CreateIndex(t.Context(), "books", []byte(`{"settings":{"number_of_shards":2}}`)); err != nil {
		t.Fatal(err)
	}
	var writes []document.Write
	for n := range 30 {
		writes = append(writes, document.Write{Target: "books", ID: fmt.Sprint(n), Source: []byte(`{}`), Condition: document.Always})
	}
	for _, w := range r.Write(t.Context(), writes, document.AtOnce) {
		if w.Err != nil {
			t.Fatal(w.Err)
		}
	}
	return r
}

func (r *reading) point() string {
	r.t.Helper()
	p, err := r.OpenPoint(r.t.Context(), expression([]string{"books"}, searched), "", time.Minute)
	if err != nil {
		r.t.Fatal(err)
	}
	return p.ID
}

// find searches in a point: true when it is there.
func (r *reading) find(id string, keep time.Duration) bool {
	r.t.Helper()
	f, err := r.Find(r.t.Context(), store.Where{Point: id, Keep: keep}, search.NewRequest())
	if exception.Is(err, exception.SearchContextMissing) {
		return false
	}
	if err != nil {
		r.t.Fatal(err)
	}
	if f.Total != 30 {
		r.t.Errorf("a search in a point finds %d documents", f.Total)
	}
	if err := f.Close(); err != nil {
		r.t.Fatal(err)
	}
	return true
}

// TestPointsEndWithTheirTime: each search lets a point live for its time again, or for the
// time that the search asks for when that is longer. One that asks for less shortens nothing, as on
// the server: another client may search in the same point.
func TestPointsEndWithTheirTime(t *testing.T) {
	r := newReading(t)
	id := r.point()
	for _, step := range []struct {
		pass  time.Duration
		keep  time.Duration
		there bool
	}{{50 * time.Second, 0, true}, {50 * time.Second, 0, true}, {59 * time.Second, 2 * time.Minute, true},
		{110 * time.Second, time.Second, true}, {119 * time.Second, 0, true}, {121 * time.Second, 0, false}} {
		r.now = r.now.Add(step.pass)
		if there := r.find(id, step.keep); there != step.there {
			t.Errorf("%s later: %t", step.pass, there)
		}
	}
}

// TestWhatIsKeptForNoTime: points in time and scrolls of 0 and -1 are there for the next page, as on the server, which
// looks each minute for those that are over.
func TestWhatIsKeptForNoTime(t *testing.T) {
	for _, keep := range []time.Duration{0, -1, -time.Millisecond, time.Millisecond, 1} {
		r := newReading(t)
		p, err := r.OpenPoint(t.Context(), expression([]string{"books"}, searched), "", keep)
		if err != nil {
			t.Fatal(err)
		}
		asked := search.NewRequest()
		asked.Size = 5
		page, err := r.Scroll(t.Context(), store.Where{Expression: expression([]string{"books"}, searched)}, asked, keep, nil)
		if err != nil {
			t.Fatalf("%s: the first page: %v", keep, err)
		}
		scroll := page.Scroll
		if err := page.Close(); err != nil {
			t.Fatal(err)
		}
		r.now = r.now.Add(time.Second)
		next, err := r.NextPage(t.Context(), scroll, keep)
		if err != nil || len(next.Hits) != 5 {
			t.Fatalf("%s: the next page: %v", keep, err)
		}
		if err := next.Close(); err != nil {
			t.Fatal(err)
		}
		if !r.find(p.ID, keep) {
			t.Errorf("%s: the point is gone", keep)
		}
		r.now = r.now.Add(61 * time.Second)
		if _, err := r.NextPage(t.Context(), scroll, keep); !exception.Is(err, exception.SearchContextMissing) || r.find(p.ID, keep) {
			t.Errorf("%s: they are there for ever: %v", keep, err)
		}
	}
}

// TestAnIndexDoesNotWaitForPoints: it is deleted at once, and they have ended.
func TestAnIndexDoesNotWaitForPoints(t *testing.T) {
	r := newReading(t)
	id := r.point()
	page, err := r.Scroll(t.Context(), store.Where{Expression: expression([]string{"books"}, searched)}, search.NewRequest(), time.Minute, nil)
	if err != nil {
		t.Fatal(err)
	}
	scroll := page.Scroll
	if err := page.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := r.DeleteIndices(ctx, expression([]string{"books"}, searched)); err != nil {
		t.Fatal(err)
	}
	if r.find(id, 0) {
		t.Error("the point of an index that is gone answers")
	}
	if _, err := r.NextPage(t.Context(), scroll, 0); !exception.Is(err, exception.SearchContextMissing) {
		t.Errorf("the scroll of an index that is gone: %v", err)
	}
}

// TestScrollsAndPointsAreTwoThings: neither is found by the id of the other.
func TestScrollsAndPointsAreTwoThings(t *testing.T) {
	r := newReading(t)
	page, err := r.Scroll(t.Context(), store.Where{Expression: expression([]string{"books"}, searched)}, search.NewRequest(), time.Minute, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = page.Close() }()
	if r.find(page.Scroll, 0) {
		t.Error("a scroll is a point in time")
	}
	if _, err := r.NextPage(t.Context(), r.point(), 0); !exception.Is(err, exception.SearchContextMissing) {
		t.Errorf("a point in time is a scroll: %v", err)
	}
}

// counting is a collector that counts how often it was prepared.
type counting struct{ prepared *int }

func (c counting) Prepare([]search.Index) error            { *c.prepared++; return nil }
func (c counting) Begin(search.Place) (search.Leaf, error) { return nil, nil }

// TestAggregationsComeWithTheFirstPage of a scroll alone.
func TestAggregationsComeWithTheFirstPage(t *testing.T) {
	r := newReading(t)
	request, prepared := search.NewRequest(), 0
	request.Collectors = []search.Collector{counting{&prepared}}
	page, err := r.Scroll(t.Context(), store.Where{Expression: expression([]string{"books"}, searched)}, request, time.Minute, nil)
	for range 2 {
		if err != nil {
			t.Fatal(err)
		}
		if err := page.Close(); err != nil {
			t.Fatal(err)
		}
		page, err = r.NextPage(t.Context(), page.Scroll, 0)
	}
	if err != nil || prepared != 1 {
		t.Errorf("prepared %d times, %v", prepared, err)
	}
	_ = page.Close()
}

// TestPointsAreBounded: each keeps what its readers saw. The server has the same bound.
func TestPointsAreBounded(t *testing.T) {
	r := newReading(t)
	for range 300 {
		r.point()
	}
	_, err := r.OpenPoint(t.Context(), expression([]string{"books"}, searched), "", time.Minute)
	if !exception.Is(err, exception.Rejected) {
		t.Errorf("the three hundred and first: %v", err)
	}
	if ended, err := r.ClosePoints(nil, false); err != nil || len(ended) != 300 {
		t.Errorf("%d ended, %v", len(ended), err)
	}
	r.point()
}

// TestPointsOfNoShardsAreBounded too, and keep out none that have some.
func TestPointsOfNoShardsAreBounded(t *testing.T) {
	r := newReading(t)
	open := func() error {
		p, err := r.OpenPoint(r.t.Context(), expression([]string{"none-*"}, searched), "", time.Minute)
		if err == nil && p.Shards > 0 {
			t.Fatalf("%d shards", p.Shards)
		}
		return err
	}
	for n := range 300 {
		if err := open(); err != nil {
			t.Fatal(n, err)
		}
	}
	if err := open(); !exception.Is(err, exception.Rejected) {
		t.Errorf("the three hundred and first: %v", err)
	}
	r.point()
}

// TestAScrollThatFailsKeepsNothing: nobody is told its id.
func TestAScrollThatFailsKeepsNothing(t *testing.T) {
	r := newReading(t)
	where := store.Where{Expression: expression([]string{"books"}, searched)}
	wrong := search.NewRequest()
	wrong.Slice = &search.Slice{Max: 2000}
	for range 500 {
		if _, err := r.Scroll(t.Context(), where, wrong, time.Minute, nil); !exception.Is(err, exception.IllegalArgument) {
			t.Fatalf("too many slices: %v", err)
		}
	}
	page, err := r.Scroll(t.Context(), where, search.NewRequest(), time.Minute, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := page.Close(); err != nil {
		t.Error(err)
	}
	if ended, err := r.ClosePoints(nil, true); err != nil || len(ended) != 1 {
		t.Errorf("%d scrolls were open: %v", len(ended), err)
	}
}

// TestAPointThatEndsIsUsedToItsEnd by the searches that are at work in it.
func TestAPointThatEndsIsUsedToItsEnd(t *testing.T) {
	r := newReading(t)
	id := r.point()
	var at []*store.Found
	for range 2 {
		f, err := r.Find(t.Context(), store.Where{Point: id}, search.NewRequest())
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, f)
	}
	if ended, err := r.ClosePoints([]string{id}, false); err != nil || len(ended) != 1 {
		t.Fatal(ended, err)
	}
	for _, f := range at {
		if _, err := f.Document(t.Context(), &f.Hits[0], false); err != nil {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// slow is an engine whose shards hand out a reader late, once.
type slow struct {
	*shardmemory.Engine
	acquired chan struct{} // closed when a reader is there
	closing  chan struct{} // closed when its shard is being closed
	once     sync.Once
}

func (e *slow) Open(ctx context.Context, id shard.ID, p shard.Placements, settings shard.Settings) (shard.Shard, error) {
	sh, err := e.Engine.Open(ctx, id, p, settings)
	return &slowly{Shard: sh, engine: e}, err
}

type slowly struct {
	shard.Shard
	engine *slow
	once   sync.Once
}

func (s *slowly) Acquire(ctx context.Context, epoch int64) (shard.Reader, error) {
	r, err := s.Shard.Acquire(ctx, epoch)
	s.engine.once.Do(func() {
		close(s.engine.acquired)
		<-s.engine.closing
	})
	return r, err
}

func (s *slowly) Close() error {
	s.once.Do(func() { close(s.engine.closing) })
	return s.Shard.Close()
}

// TestAPointOpenedWhileItsIndexIsDeleted is refused, and keeps nothing: its readers would be
// waited for as long as somebody searches in it.
func TestAPointOpenedWhileItsIndexIsDeleted(t *testing.T) {
	ctx := t.Context()
	e := &slow{Engine: shardmemory.New(shardmemory.Options{}), acquired: make(chan struct{}), closing: make(chan struct{})}
	s, err := store.Open(ctx, coordmemory.New(), e, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.CreateIndex(ctx, "i", nil); err != nil {
		t.Fatal(err)
	}
	opened := make(chan error, 1)
	go func() {
		_, err := s.OpenPoint(context.Background(), expression([]string{"i"}, searched), "", time.Hour)
		opened <- err
	}()
	<-e.acquired
	if err := s.DeleteIndices(ctx, expression([]string{"i"}, deleted)); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; !exception.Is(err, exception.IndexNotFound) {
		t.Errorf("the point: %v", err)
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		left, err := e.Indices(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the rows of %v stay", left)
		}
	}
}
