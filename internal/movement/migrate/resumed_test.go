package migrate_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/gateway"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/internal/store"
	shard "github.com/reshelve/reshelve/internal/store/shard/memory"
	"github.com/reshelve/reshelve/snapshot"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/folder"
)

// slow is a target within the process, in simulated time: pages of scans have one document, and
// each takes half a second. It counts what it gives.
type slow struct {
	to http.Handler

	mu    sync.Mutex
	pages bool // they are slow
	given int  // documents
}

var sized = regexp.MustCompile(`bytes=\d+`)

func (s *slow) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body) // of a buffer
	}
	s.mu.Lock()
	paged := s.pages && r.URL.Path == "/_reshelve/rows"
	s.mu.Unlock()
	at := *r.URL
	if paged {
		at.RawQuery = sized.ReplaceAllString(at.RawQuery, "bytes=1")
		select {
		case <-time.After(time.Second / 2):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	told := httptest.NewRecorder()
	inner := httptest.NewRequestWithContext(r.Context(), r.Method, at.String(), bytes.NewReader(body))
	inner.Header = r.Header.Clone()
	s.to.ServeHTTP(told, inner)
	answer := told.Result()
	answer.Request = r
	if paged {
		s.mu.Lock()
		if told.Body.Len() > len(document.EndRows(nil)) {
			s.given++
		}
		s.mu.Unlock()
	}
	return answer, nil
}

// count is how many documents were given since it was asked last.
func (s *slow) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.given
	s.given = 0
	return n
}

// mortal is the coordination store as one process reaches it, until that is killed: before or
// after its nth change.
type mortal struct {
	coord.Store
	changes atomic.Int64
	dies    int64 // at this change; 0: never
	after   bool
	dead    atomic.Bool
	kill    context.CancelFunc
}

var errDead = fault.New(fault.Unavailable, "the process is dead")

func (m *mortal) change(do func() (int64, error)) (int64, error) {
	if m.dead.Load() {
		return 0, errDead
	}
	if m.changes.Add(1) != m.dies {
		return do()
	}
	if m.after {
		_, _ = do() // nobody hears the answer
	}
	m.dead.Store(true)
	m.kill()
	return 0, errDead
}

func (m *mortal) Get(ctx context.Context, key string) (coord.Record, error) {
	if m.dead.Load() {
		return coord.Record{}, errDead
	}
	return m.Store.Get(ctx, key)
}

func (m *mortal) Create(ctx context.Context, key string, value []byte) (int64, error) {
	return m.change(func() (int64, error) { return m.Store.Create(ctx, key, value) })
}

func (m *mortal) Swap(ctx context.Context, key string, revision int64, value []byte) (int64, error) {
	return m.change(func() (int64, error) { return m.Store.Swap(ctx, key, revision, value) })
}

func (m *mortal) Delete(ctx context.Context, key string, revision int64) error {
	_, err := m.change(func() (int64, error) { return 0, m.Store.Delete(ctx, key, revision) })
	return err
}

// crawl is a bucket of which each stream takes a while to open.
type crawl struct {
	snapshot.Bucket
	takes time.Duration
}

func (c crawl) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	time.Sleep(c.takes)
	return c.Bucket.Open(ctx, key, offset, length)
}

// library is a migration in simulated time.
type library struct {
	*copied
	target *slow
	store  coord.Store
	log    *strings.Builder
	starts int
	crawls time.Duration // for each stream of the repository
}

// short are leases that end long before a comparison does.
var short = work.Policy{InitialLease: 4 * time.Second, Heartbeat: time.Second, MaxAttempts: 2, ClockTolerance: time.Second}

// newLibrary has brought the shelves of a snapshot to a target, and may go back.
func newLibrary(t *testing.T) *library {
	t.Helper()
	l := emptyLibrary(t)
	l.start("m", l.shelves())
	l.runs(nil)
	if m, _ := l.look("m"); m.State != movement.Switched {
		t.Fatalf("it is %s: %s", m.State, m.Cause)
	}
	l.target.pages = true
	return l
}

// shelves is the plan that brings them.
func (l *library) shelves() migrate.Plan {
	l.t.Helper()
	plan := l.plan("second")
	plan.Policy = short
	plan.Indices = slices.DeleteFunc(plan.Indices, func(i migrate.Index) bool { return i.Source != "shelves" })
	return plan
}

// emptyLibrary has an empty target.
func emptyLibrary(t *testing.T) *library {
	t.Helper()
	s, err := store.Open(t.Context(), memory.New(), shard.New(shard.Options{}), store.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	l := &library{target: &slow{to: gateway.New(s, gateway.Options{})}, store: memory.New(), log: &strings.Builder{}, crawls: 30 * time.Millisecond}
	l.copied = &copied{t: t, target: cluster.Via(l.target, "the target"), driver: drive.New(l.store, 0), repository: filepath.Join(t.TempDir(), "repo"), keep: true}
	if err := os.CopyFS(l.repository, os.DirFS("../../../testdata/repositories/opensearch-2.19.0-basic/repo")); err != nil {
		t.Fatal(err)
	}
	return l
}

// runs lets a process work until the movement has nothing left to do, or until it dies.
func (l *library) runs(m *mortal) {
	l.t.Helper()
	l.runsFor("m", m)
}

// runsFor is runs for a movement of another name.
func (l *library) runsFor(id string, m *mortal) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), time.Hour)
	defer cancel()
	if m == nil {
		m = &mortal{}
	}
	m.Store, m.kill = l.store, cancel
	l.starts++
	lane := &migrate.Lane{Reach: func(context.Context, string) (*cluster.Client, error) { return l.copied.target, nil }}
	lane.Open = func(ctx context.Context, location string) (*snapshot.Repository, error) {
		bucket, err := blob.Open(ctx, location, map[string]blob.Opener{"file": folder.Open})
		if err != nil {
			return nil, err
		}
		return snapshot.Open(ctx, crawl{bucket, l.crawls})
	}
	err := worker.Run(ctx, drive.New(m, 0), map[movement.Kind]worker.Lane{movement.Migrate: lane}, worker.Options{
		Name: fmt.Sprint("test-", l.starts), Slots: 1, Movement: id, Pause: 10 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(l.log, nil)),
	})
	if !m.dead.Load() && (err != nil || ctx.Err() != nil) {
		l.t.Fatal(err, ctx.Err())
	}
}

// proved tells whether the last comparison found both sides equal.
func (l *library) proved() (migrate.Verified, bool) {
	l.t.Helper()
	m, progress := l.look("m")
	if len(progress.Verified) == 0 {
		l.t.Fatalf("it is %s: %s\n%s", m.State, m.Cause, l.log)
	}
	v := verifiedOf(l.t, progress, "shelves")
	return v, m.State == movement.Switched && v.Expected == v.Found && v.Expected != "" && v.Result.Differences() == 0
}

// inTime runs a test in simulated time.
func inTime(t *testing.T, do func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, do)
}

// TestALongComparison takes several times as long as the longest lease that its attempts would
// reach without progress, and ends proved. Each document of the target is read about once.
func TestALongComparison(t *testing.T) {
	inTime(t, func(t *testing.T) {
		l := newLibrary(t)
		l.tell("m", movement.Verify)
		began := time.Now()
		l.runs(nil)
		v, proved := l.proved()
		again := strings.Count(l.log.String(), "a comparison goes on")
		if !proved || again < 2 || strings.Contains(l.log.String(), "forgotten") {
			t.Errorf("%+v: it went on %d times\n%s", v, again, l.log)
		}
		if !v.AsOf.After(began.Add(-time.Second)) || v.AsOf.After(began.Add(4*time.Second)) {
			t.Errorf("it compared what there was at %s, and began at %s", v.AsOf, began)
		}
		if took := time.Since(began); took < 2*short.InitialLease {
			t.Errorf("it took %s only", took)
		}
		if given := l.target.count(); given < 62 || given > 62+again*3*2*4 {
			t.Errorf("%d documents of 62 were read, and it went on %d times", given, again)
		}
		left, err := l.store.List(t.Context(), "movement/m/state/")
		if err != nil || len(left) > 0 {
			t.Errorf("%d records of how far it was are left: %v", len(left), err)
		}
	})
}

// TestWhatSearchesDoNotFindIsNotProved, though the target holds it.
func TestWhatSearchesDoNotFindIsNotProved(t *testing.T) {
	inTime(t, func(t *testing.T) {
		l := newLibrary(t)
		whole := l.target.to
		l.target.to = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			told := httptest.NewRecorder()
			whole.ServeHTTP(told, r)
			w.WriteHeader(told.Code)
			_, _ = w.Write(bytes.Replace(told.Body.Bytes(), []byte(`"total":{"value":62,`), []byte(`"total":{"value":61,`), 1))
		})
		l.tell("m", movement.Verify)
		l.runs(nil)
		m, _ := l.look("m")
		if m.State != movement.Held || !strings.Contains(m.Cause, "the target holds 62 documents in index shelves, and searches find 61") {
			t.Errorf("it is %s: %s", m.State, m.Cause)
		}
	})
}

// TestAComparisonThatIsKilled at each change that it stores goes on in another process, and
// reads again only what it had read since it was written down last.
func TestAComparisonThatIsKilled(t *testing.T) {
	inTime(t, func(t *testing.T) {
		l := newLibrary(t)
		worst, killed, went := 0, 0, 0
		for n := int64(1); ; n++ {
			l.tell("m", movement.Verify)
			l.target.count()
			l.log.Reset()
			m := &mortal{dies: n, after: n%2 == 0}
			l.runs(m)
			if !m.dead.Load() {
				if killed < 12 {
					t.Errorf("it stores only %d changes", killed)
				}
				break
			}
			killed++
			l.runs(nil)
			if v, proved := l.proved(); !proved {
				t.Fatalf("killed at change %d: %+v\n%s", n, v, l.log)
			}
			goes := strings.Count(l.log.String(), "a comparison goes on")
			went += goes
			// A page of each slice is on its way, and as much was read since the last change.
			if given := l.target.count(); given < 62 || given > 62+(goes+1)*3*2*4 {
				t.Errorf("killed at change %d: %d documents of 62 were read, and it went on %d times\n%s", n, given, goes, l.log)
			} else {
				worst = max(worst, given)
			}
		}
		t.Logf("killed %d times, went on %d times; of 62 documents at most %d were read", killed, went, worst)
	})
}

// TestADocumentThatChangesBetweenTwoLeases is not met where the target still knows the point in
// time that the statement names; where it has forgotten that, it is read again, and the change
// is found.
func TestADocumentThatChangesBetweenTwoLeases(t *testing.T) {
	for name, forget := range map[string]bool{"the point lives": false, "it is forgotten": true} {
		t.Run(name, func(t *testing.T) {
			inTime(t, func(t *testing.T) {
				l := newLibrary(t)
				var id string
				for of := range l.held("second", "shelves") {
					if strings.HasSuffix(of, "/") {
						id = strings.TrimSuffix(of, "/")
					}
				}
				l.tell("m", movement.Verify)
				m := &mortal{dies: 24}
				l.runs(m)
				changed := time.Now()
				if _, err := l.copied.target.Do(t.Context(), http.MethodDelete, []string{"shelves", "_doc", id}, nil, nil); err != nil {
					t.Fatal(err)
				}
				l.request(http.MethodPost, "_refresh", "")
				if forget {
					if _, err := l.copied.target.Do(t.Context(), http.MethodDelete, []string{"_search", "point_in_time", "_all"}, nil, nil); err != nil {
						t.Fatal(err)
					}
				}
				l.runs(nil)
				if !strings.Contains(l.log.String(), "a comparison goes on") {
					t.Fatalf("it was not killed in the midst of it\n%s", l.log)
				}
				v, proved := l.proved()
				switch {
				case forget && (proved || v.Result.Counts[reconcile.Missing] != 1 || !strings.Contains(l.log.String(), "forgotten")):
					t.Errorf("%+v\n%s", v, l.log)
				case forget && (v.Result.Examples[0].ID != id || !strings.HasPrefix(v.Found, "61:")):
					t.Errorf("%q is missing, and told is %+v", id, v.Result.Examples)
				case forget && !v.AsOf.After(changed.Add(-time.Millisecond)), !forget && (!proved || !v.AsOf.Before(changed)):
					t.Errorf("it changed at %s: %+v\n%s", changed, v, l.log)
				}
			})
		})
	}
}

// TestARepairThatIsKilled goes on; what was deleted on the target in a newer version is told by
// its own name, with what can be done.
func TestARepairThatIsKilled(t *testing.T) {
	inTime(t, func(t *testing.T) {
		l := newLibrary(t)
		for n := int64(4); n < 26; n += 3 {
			l.remove(62, 0) // in their own versions: they may come back
			l.tell("m", movement.Verify)
			l.runs(nil)
			if v, proved := l.proved(); proved || v.Result.Counts[reconcile.Missing] != 62 || len(v.Result.Examples) != 10 || v.Result.Examples[0].ID == "" {
				t.Fatalf("all is gone, and it says %+v", v)
			}
			l.tell("m", movement.Repair)
			m := &mortal{dies: n}
			l.runs(m)
			l.runs(nil)
			if v, proved := l.proved(); !proved {
				t.Fatalf("killed at change %d: %s; %+v\n%s", n, l.outcome(movement.RepairPhase), v, l.log)
			}
			if said := l.outcome(movement.RepairPhase); said != "62 documents sent again" {
				t.Errorf("killed at change %d: %s", n, said)
			}
		}
		l.remove(3, 1)
		l.tell("m", movement.Verify)
		l.runs(nil)
		l.tell("m", movement.Repair)
		l.runs(nil)
		said := l.outcome(movement.RepairPhase)
		if !strings.HasPrefix(said, "0 documents sent again, 3 were deleted on the target since, in a newer version, and stay deleted: accept that with") {
			t.Error(said)
		}
		if v, _ := l.proved(); v.Result.Counts[reconcile.Missing] != 3 {
			t.Errorf("%+v", v)
		}
	})
}

// remove deletes some documents of the target, each in a version so much newer than its own.
func (l *library) remove(some int, newer int64) {
	l.t.Helper()
	l.request(http.MethodPost, "_refresh", "")
	scan, err := l.copied.target.OpenScan(l.t.Context(), "shelves", cluster.ScanOptions{})
	if err != nil {
		l.t.Fatal(err)
	}
	slice := scan.Slice(0, "")
	for range some {
		doc, err := slice.Next(l.t.Context())
		if err != nil {
			l.t.Fatal(err)
		}
		about := url.Values{"version": {fmt.Sprint(doc.Versions.Version + newer)}, "version_type": {"external_gte"}}
		if len(doc.Routing) > 0 {
			about.Set("routing", string(doc.Routing))
		}
		if _, err := l.copied.target.Do(l.t.Context(), http.MethodDelete, []string{"shelves", "_doc", string(doc.ID)}, about, nil); err != nil {
			l.t.Fatal(err)
		}
	}
	l.request(http.MethodPost, "_refresh", "")
}

// outcome is that of the newest phase of a name.
func (l *library) outcome(phase string) (said string) {
	m, _ := l.look("m")
	for _, p := range m.Phases {
		if p.Name == phase {
			said = p.Outcome
		}
	}
	return said
}
