package migrate_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/movement"
)

// tooMany are documents that only the target has: they fill a batch and more, and their scan takes many leases.
const tooMany = 40

// crowd is a library that documents are deleted from.
type crowd struct {
	*library
	read int // documents, by the scan that deletes them, until another scan begins
}

// crowded is a library whose target has documents too many; others change two of them when the scan begins that
// deletes them. Forgets tells for each request from then on whether the target has forgotten its points in time.
func crowded(t *testing.T, forgets func(r *http.Request) bool) *crowd {
	t.Helper()
	l := &crowd{library: newLibrary(t)}
	for n := range tooMany {
		write(t, l.copied.target, fmt.Sprintf("too-many-%02d", n), `{"by":"others"}`)
	}
	l.request(http.MethodPost, "_refresh", "")
	l.target.pages = false // while both sides are compared
	if _, _, err := l.driver.Apply(t.Context(), "m", movement.Event{Verb: movement.Verify, By: "ann"}); err != nil {
		t.Fatal(err)
	}
	l.runs(nil)
	whole, points := l.target.to, 0
	l.target.to = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/point_in_time") {
			if points++; points == 3 {
				l.read = l.target.count()
			}
		}
		if points == 2 && !l.target.pages {
			l.target.mu.Lock()
			l.target.pages = true
			l.target.mu.Unlock()
			for _, id := range []string{"too-many-07", "too-many-31"} {
				change := httptest.NewRequestWithContext(r.Context(), http.MethodPut, "/shelves/_doc/"+id+"?refresh=true", strings.NewReader(`{"by":"others","again":true}`))
				change.Header.Set("Content-Type", "application/json")
				whole.ServeHTTP(httptest.NewRecorder(), change)
			}
		}
		if points > 1 && forgets(r) {
			whole.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(r.Context(), http.MethodDelete, "/_search/point_in_time/_all", nil))
		}
		whole.ServeHTTP(w, r)
	})
	return l
}

// deletesExtra repairs the library so, and fails unless each document too many was deleted and counted once.
func (l *crowd) deletesExtra() {
	l.t.Helper()
	if _, _, err := l.driver.Apply(l.t.Context(), "m", movement.Event{Verb: movement.Repair, By: "ann", DeleteExtra: true}); err != nil {
		l.t.Fatal(err)
	}
	began := time.Now()
	l.runs(nil)
	if took := time.Since(began); took < 2*short.InitialLease {
		l.t.Errorf("it took %s only", took)
	}
	want := fmt.Sprintf(`0 documents sent again, %d deleted, 2 were changed on the target since, and are left so ("too-many-07", "too-many-31")`, tooMany-2)
	if said := l.outcome(movement.RepairPhase); said != want {
		l.t.Errorf("%q, want %q\n%s", said, want, l.log)
	}
	if v, _ := l.proved(); v.Result.Differences() != 2 {
		l.t.Errorf("%+v", v)
	}
}

// TestToDeleteMayTakeLongerThanALease of those that its attempts would reach without progress. Each document is
// read about once, and counted once.
func TestToDeleteMayTakeLongerThanALease(t *testing.T) {
	inTime(t, func(t *testing.T) {
		l := crowded(t, func(*http.Request) bool { return false })
		l.deletesExtra()
		goes := strings.Count(l.log.String(), "a comparison goes on")
		if all := 62 + tooMany; goes < 6 || l.read < all || l.read > all+goes*4 {
			t.Errorf("%d documents of %d were read, and it went on %d times", l.read, all, goes)
		}
	})
}

// TestToDeleteWithoutAPointInTime that lives as long as the scan begins again, and ends: where the target forgets it
// once, and where no other process can ever go on.
func TestToDeleteWithoutAPointInTime(t *testing.T) {
	for name, always := range map[string]bool{"once": false, "always": true} {
		t.Run(name, func(t *testing.T) {
			inTime(t, func(t *testing.T) {
				rows, forgot := 0, false
				var began time.Time
				l := crowded(t, func(r *http.Request) bool {
					if strings.HasSuffix(r.URL.Path, "/rows") {
						if rows++; rows == 1 {
							began = time.Now()
						}
					}
					if always && r.Method == http.MethodPost && r.URL.Path == "/_search" {
						return rows > 0 && time.Since(began) < 100*time.Second // and not the comparison that follows
					}
					if !always && rows == 80 && !forgot {
						forgot = true
						return true
					}
					return false
				})
				l.deletesExtra()
				if !strings.Contains(l.log.String(), "is read again") {
					t.Errorf("it was not forgotten\n%s", l.log)
				}
			})
		})
	}
}
