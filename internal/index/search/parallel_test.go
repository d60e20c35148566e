package search

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/internal/index/segment"
)

// withProcessors lets searches see so many processors.
func withProcessors(t testing.TB, n int) {
	before := processors
	t.Cleanup(func() { processors = before })
	processors = func() int { return n }
}

// withEagerHelpers lets helpers begin after the first piece.
func withEagerHelpers(t testing.TB) {
	alone, rest := aloneAtLeast, restAtLeast
	t.Cleanup(func() { aloneAtLeast, restAtLeast = alone, rest })
	aloneAtLeast, restAtLeast = 0, 0
}

// TestParallelSearchFindsTheSame: however many goroutines share the views of a search, it finds the same
// hits with the same scores in the same order, and counts as many.
func TestParallelSearchFindsTheSame(t *testing.T) {
	withProcessors(t, 1)
	withEagerHelpers(t)
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 2))
		sizes := make([]int, rapid.IntRange(manySegments, 30).Draw(rt, "views"))
		for i := range sizes {
			sizes[i] = 1 + r.IntN(rapid.SampledFrom([]int{5, 60, 300}).Draw(rt, "size"))
		}
		w := newWorld(rt, r, sizes, rapid.SampledFrom([]float64{0, 0.2}).Draw(rt, "hides"))
		for range 6 {
			p := (&drawn{r, ""}).plan(2)
			if r.IntN(4) == 0 {
				p = allPlan{1}
			}
			request := drawnRequest(r)
			processors = func() int { return 1 }
			want := w.run(rt, p, request)
			if len(want.Hits) > 0 && len(want.Hits[0].Sort) > 0 && r.IntN(2) == 0 { // the page behind one of them
				request.After = want.Hits[r.IntN(len(want.Hits))].Sort
				want = w.run(rt, p, request)
			}
			processors = func() int { return 2 + r.IntN(6) }
			got := w.run(rt, p, request)
			processors = func() int { return 1 }
			if got.Total != want.Total || got.AtLeast != want.AtLeast || !slices.EqualFunc(got.Hits, want.Hits, sameInAll) {
				rt.Fatalf("%#v %+v: %d of %d instead of %d of %d:\n%v\ninstead of\n%v", p, request, len(got.Hits), got.Total, len(want.Hits), want.Total, ids(got.Hits), ids(want.Hits))
			}
			if a, b := got.MaxScore, want.MaxScore; (a == nil) != (b == nil) || a != nil && *a != *b {
				rt.Fatalf("the greatest score is %v instead of %v", a, b)
			}
		}
	})
}

func sameInAll(a, b Hit) bool {
	return sameHit(a, b) && a.Score == b.Score && a.Source == b.Source && a.View == b.View && fmt.Sprint(a.Sort) == fmt.Sprint(b.Sort)
}

func drawnRequest(r *rand.Rand) Request {
	request := Request{Size: r.IntN(40), TrackTotal: []int64{-1, 0, 10, 1000}[r.IntN(4)]}
	for range r.IntN(3) {
		request.Sort = append(request.Sort, randomSort(r))
	}
	if len(request.Sort) > 0 {
		request.Sort = append(request.Sort, Sort{Field: "_doc"})
		request.TrackScore = r.IntN(2) == 0
	}
	if r.IntN(4) == 0 {
		least := r.Float32()
		request.MinScore = &least
	}
	if r.IntN(4) == 0 {
		request.Slice = &Slice{ID: r.IntN(3), Max: 3}
	}
	return request
}

// TestHelpersFail: the first piece that fails is the error, those before it are done, and no more
// than was begun is done behind it; the panic of a helper is the caller's.
func TestHelpersFail(t *testing.T) {
	withProcessors(t, 8)
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		const pieces = 50
		bad, later := r.IntN(pieces), r.IntN(pieces)
		var done [pieces]atomic.Int32
		err := inParallel(pieces, helping{pieces - 1, true}, func(int) func(int) error {
			return func(at int) error {
				runtime.Gosched()
				done[at].Add(1)
				if at == bad || at == later {
					return fmt.Errorf("piece %d", at)
				}
				return nil
			}
		})
		first := min(bad, later)
		if err == nil || err.Error() != fmt.Sprintf("piece %d", first) {
			t.Fatalf("seed %d: %v instead of piece %d", seed, err, first)
		}
		for i := range done {
			if n := done[i].Load(); n > 1 || i <= first && n == 0 {
				t.Fatalf("seed %d: piece %d was done %d times, %d is the first bad one", seed, i, n, first)
			}
		}
	}
	if n := working.Load(); n != 0 {
		t.Errorf("%d helpers still count as working", n)
	}
	defer func() {
		if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), "broken at") {
			t.Errorf("the panic of a helper became %v", p)
		}
	}()
	_ = inParallel(1000, helping{7, true}, func(number int) func(int) error {
		return func(at int) error {
			if number > 0 {
				panic(fmt.Sprint("broken at ", at))
			}
			time.Sleep(time.Millisecond) // so that a helper begins
			return nil
		}
	})
}

// TestNoHelperOutlivesItsSearch: also when the caller's own work panics, as what is read is closed then.
func TestNoHelperOutlivesItsSearch(t *testing.T) {
	withProcessors(t, 8)
	for range 50 {
		var reading atomic.Int64
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic of the caller is lost")
				}
			}()
			_ = inParallel(1000, helping{7, true}, func(number int) func(int) error {
				return func(int) error {
					reading.Add(1)
					defer reading.Add(-1)
					time.Sleep(50 * time.Microsecond)
					if number == 0 {
						panic("the caller's own")
					}
					return nil
				}
			})
		}()
		if n := reading.Load(); n > 0 {
			t.Fatalf("%d helpers still read", n)
		}
	}
	if n := working.Load(); n != 0 {
		t.Errorf("%d helpers still count as working", n)
	}
}

// TestHelpersMeetDamage: a damaged segment that a helper reads is the error of the search.
func TestHelpersMeetDamage(t *testing.T) {
	withProcessors(t, 4)
	err := inParallel(100, helping{3, true}, func(number int) func(int) error {
		return func(at int) error {
			if number > 0 {
				panic(&segment.Damaged{})
			}
			time.Sleep(time.Millisecond)
			return nil
		}
	})
	var damaged *segment.Damaged
	if !errors.As(err, &damaged) {
		t.Errorf("a damaged segment is told as %v", err)
	}
}

// TestASearchWaitsForNoHelper: when no processor has time for a helper, the search does all alone.
func TestASearchWaitsForNoHelper(t *testing.T) {
	withProcessors(t, 4)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // helpers begin when this goroutine waits, and it does not
	helped := 0
	err := inParallel(20, helping{3, true}, func(number int) func(int) error {
		return func(int) error {
			if number > 0 {
				helped++
			}
			return nil
		}
	})
	if err != nil || helped > 0 {
		t.Errorf("helpers did %d pieces, %v", helped, err)
	}
}

// TestNoMoreHelpersThanProcessors: searches at the same time take helpers only while processors are left.
func TestNoMoreHelpersThanProcessors(t *testing.T) {
	withProcessors(t, 3)
	working.Add(1)
	if n := reserveHelpers(10); n != 2 {
		t.Errorf("%d helpers beside one search on 3 processors", n)
	}
	if n := reserveHelpers(10); n != 0 {
		t.Errorf("%d helpers where all processors are taken", n)
	}
	working.Add(-3)
	w := newWorld(t, rand.New(rand.NewPCG(1, 1)), make([]int, 20), 0)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Run(stopped, []Index{w.index}, NewRequest()); err == nil {
		t.Error("a search that is not wanted any more tells something")
	}
	if n := working.Load(); n != 0 {
		t.Errorf("%d helpers still count as working", n)
	}
}

// TestShortWorkIsDoneAlone: helpers begin when the rest of the pieces takes long, at once where each is
// large.
func TestShortWorkIsDoneAlone(t *testing.T) {
	withProcessors(t, 3)
	for _, c := range []struct {
		name    string
		n, docs int
		each    time.Duration
		helpers int
	}{
		{"short", 100, 1000, 0, 0}, {"long", 100, 1000, time.Millisecond, 3}, {"few short ones", 7, 1000, 0, 0}, {"few long ones", 7, 1000, time.Millisecond, 3},
		{"two large pieces", 2, 2 * minDocs, 0, 1}, {"one", 1, 10 * minDocs, 0, 0},
	} {
		got := helpersFor(t, c.n, c.docs, c.each)
		for again := 0; got != c.helpers && again < 20; again++ { // the machine may have paused a short one
			got = helpersFor(t, c.n, c.docs, c.each)
		}
		if got != c.helpers {
			t.Errorf("%s: %d helpers instead of %d", c.name, got, c.helpers)
		}
	}
}

// helpersFor is how many helpers begin for n pieces that take so long each.
func helpersFor(t *testing.T, n, docs int, each time.Duration) (helpers int) {
	t.Helper()
	err := inParallel(n, usefulHelpers(n, docs), func(number int) func(int) error {
		helpers = max(helpers, number)
		return func(int) error {
			time.Sleep(each)
			return nil
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return helpers
}
