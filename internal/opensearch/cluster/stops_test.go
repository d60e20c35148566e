package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// always answers bulk requests so; the rest as a server does.
func always(status int, body string) *fake {
	f := newFake()
	f.dead = func() (int, string) { return status, body }
	return f
}

// What stops a writer does so at once and says why, and tells how much is unknown.
func TestWhatStopsAWriter(t *testing.T) {
	for _, tc := range []struct {
		name     string
		status   int
		body     string
		kind     fault.Kind
		says     string
		next     string
		within   time.Duration // of patience that is used up
		requests int
	}{
		{"password", 401, exceptionBody(401, "security_exception", "unable to authenticate user [u]"), fault.Unauthorised, "unable to authenticate", "check the credentials", 0, 1},
		{"rights", 403, exceptionBody(403, "security_exception", "no permissions for [indices:data/write/bulk]"), fault.Unauthorised, "no permissions", "", 0, 1},
		{"service", 403, `{"Message":"User: anonymous is not authorized to perform: es:ESHttpPost"}`, fault.Unauthorised, "anonymous is not authorized", "give these credentials the rights", 0, 1},
		{"rights of an item", 200, `{"errors":true,"items":[{"index":{"status":403,"error":{"type":"security_exception","reason":"no permissions"}}}]}`, fault.Unauthorised, "no permissions", "", 0, 1},
		{"index gone", 200, `{"errors":true,"items":[{"index":{"status":404,"error":{"type":"index_not_found_exception","reason":"no such index [a]","index":"a"}}}]}`, fault.NotFound, "index a: index_not_found_exception", "somebody has deleted", 0, 1},
		{"index closed", 200, `{"errors":true,"items":[{"index":{"status":400,"error":{"type":"index_closed_exception","reason":"closed","index":"a"}}}]}`, fault.Unavailable, "closed", "open the index", time.Minute, 0},
		{"redirect", 301, "", fault.Refused, "status 301", "the address that it points to", 0, 1},
		{"media type", 406, exceptionBody(406, "media_type_header_exception", "Invalid media-type"), fault.Refused, "Invalid media-type", "", 0, 1},
		{"overload", 429, exceptionBody(429, "es_rejected_execution_exception", "rejected execution"), fault.Limit, "rejected execution", "cannot keep up", time.Minute, 0},
		{"proxy", 502, "<html><title>502 Bad\n Gateway</title></html>", fault.Unavailable, "502 Bad Gateway", "", time.Minute, 0},
		{"other host", 404, "<html><title>Welcome to nginx!</title></html>", fault.Unavailable, "something between us and the cluster answers: Welcome to nginx!", "", time.Minute, 0},
		{"no bulk answer", 200, `{"took":3}`, fault.Unavailable, "none to a bulk request", "between this program and the cluster", time.Minute, 0},
		{"no answer in JSON", 200, `Hello`, fault.Unavailable, `"Hello"`, "between this program and the cluster", time.Minute, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := always(tc.status, tc.body)
				w, err := clientOf(f).NewWriter(t.Context(), cluster.WriterOptions{Patience: time.Minute})
				must(t, err)
				batch := &cluster.Batch{}
				must(t, batch.Add(cluster.Op{Index: "a", ID: []byte("1"), Version: 1, Source: []byte(`{}`)}))
				began := time.Now()
				r, err := w.Write(t.Context(), batch)
				if !fault.Is(err, tc.kind) || !strings.Contains(err.Error(), tc.says) || !strings.Contains(fault.Next(err), tc.next) {
					t.Errorf("%v\nkind %v, next %q", err, fault.KindOf(err), fault.Next(err))
				}
				if !strings.HasPrefix(err.Error(), "the target: ") {
					t.Errorf("no place: %v", err)
				}
				if r.Unknown != 1 || r.Acknowledged != 0 {
					t.Errorf("%+v", r)
				}
				if took := time.Since(began); took < tc.within || took > tc.within+time.Minute {
					t.Errorf("it took %s", took)
				}
				if tc.requests > 0 && f.requests != tc.requests {
					t.Errorf("%d requests", f.requests)
				}
			})
		})
	}
}

// A cluster that refuses whatever comes is told apart from documents that are
// wrong: not all of a batch are tried one by one.
func TestARefusalOfEverythingIsNotBlamedOnDocuments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := always(400, exceptionBody(400, "illegal_argument_exception", "pipeline with id [_none] does not exist"))
		w, err := clientOf(f).NewWriter(t.Context(), cluster.WriterOptions{})
		must(t, err)
		batch := &cluster.Batch{}
		for i := range 1000 {
			must(t, batch.Add(cluster.Op{Index: "a", ID: fmt.Appendf(nil, "%d", i), Version: 1, Source: []byte(`{}`)}))
		}
		if _, err := w.Write(t.Context(), batch); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "_none") {
			t.Errorf("%v", err)
		}
		if f.requests > 60 {
			t.Errorf("%d requests", f.requests)
		}
	})
}

// One document that is too long is named; the rest of its batch arrives.
func TestTheOneDocumentThatIsTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.limit = 100_000
		w, err := clientOf(f).NewWriter(t.Context(), cluster.WriterOptions{})
		must(t, err)
		batch := &cluster.Batch{}
		for i := range 50 {
			length := 4000
			if i == 17 {
				length = 150_000
			}
			must(t, batch.Add(cluster.Op{Index: "a", ID: fmt.Appendf(nil, "%d", i), Version: 1, Source: []byte(`{"t":"` + strings.Repeat("x", length) + `"}`)}))
		}
		r, err := w.Write(t.Context(), batch)
		must(t, err)
		if r.Acknowledged != 49 || len(r.Failed) != 1 || r.Failed[0].ID != "17" || r.Failed[0].Type != cluster.TooLarge || r.Failed[0].Next == "" {
			t.Errorf("%+v", r)
		}
		if m := w.Stats().MaxBytes; m > 200_000 || m < 64<<10 {
			t.Errorf("requests are still of %d bytes", m)
		}
	})
}

// A writer that waits ends with its context, at once.
func TestAWaitingWriterEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		f := always(429, "")
		w, err := clientOf(f).NewWriter(ctx, cluster.WriterOptions{})
		must(t, err)
		batch := &cluster.Batch{}
		must(t, batch.Add(cluster.Op{Index: "a", ID: []byte("1"), Version: 1, Source: []byte(`{}`)}))
		lost := errors.New("the lease is lost")
		time.AfterFunc(10*time.Second, func() { cancel(lost) })
		began := time.Now()
		if r, err := w.Write(ctx, batch); !errors.Is(err, lost) || r.Unknown != 1 {
			t.Errorf("%+v %v", r, err)
		}
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

// The limits hold, and change while the writer waits.
func TestRatesHoldAndChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, err := clientOf(newFake()).NewWriter(t.Context(), cluster.WriterOptions{DocsPerSecond: 100})
		must(t, err)
		write := func(n int) time.Duration {
			batch := &cluster.Batch{}
			for i := range n {
				must(t, batch.Add(cluster.Op{Index: "a", ID: fmt.Appendf(nil, "%d", i), Version: 1, Source: []byte(`{"text":"0123456789"}`)}))
			}
			began := time.Now()
			_, err := w.Write(t.Context(), batch)
			must(t, err)
			return time.Since(began).Round(100 * time.Millisecond)
		}
		if took := write(1000); took < 9800*time.Millisecond || took > 10*time.Second {
			t.Errorf("1000 documents at 100 a second took %s", took)
		}
		time.AfterFunc(2*time.Second, func() { w.Throttle(0, 0, 1) })
		if took := write(1000); took < 1900*time.Millisecond || took > 2200*time.Millisecond {
			t.Errorf("the limit was lifted after 2 s, and it took %s", took)
		}
		w.Throttle(0, 9400, 1)
		if took := write(1000); took < 9*time.Second || took > 11*time.Second {
			t.Errorf("94 KB at 9.4 KB a second took %s", took)
		}
	})
}

// TestABatchGoesSoonUnderALimit: of several that wait for their turn the first is not sent as
// late as the last, and what was let through for one that is given up is not lost.
func TestABatchGoesSoonUnderALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, err := clientOf(newFake()).NewWriter(t.Context(), cluster.WriterOptions{DocsPerSecond: 20})
		must(t, err)
		batchOf := func(n int) *cluster.Batch {
			batch := &cluster.Batch{}
			for i := range n {
				must(t, batch.Add(cluster.Op{Index: "a", ID: fmt.Appendf(nil, "%d", i), Version: 1, Source: []byte(`{}`)}))
			}
			return batch
		}
		began := time.Now()
		var wait sync.WaitGroup
		for i := range 4 {
			wait.Add(1)
			must(t, w.Start(t.Context(), batchOf(10), func(_ cluster.Result, err error) {
				defer wait.Done()
				must(t, err)
				if took, most := time.Since(began), time.Duration(i+1)*500*time.Millisecond; took > most {
					t.Errorf("batch %d of 10 documents, at 20 a second, took %s", i+1, took)
				}
			}))
			synctest.Wait()
		}
		wait.Wait()
		began = time.Now()
		waiting, giveUp := context.WithCancelCause(t.Context())
		time.AfterFunc(410*time.Millisecond, func() { giveUp(errors.New("the lease is nearly over")) })
		ended := make(chan error)
		must(t, w.StartWaiting(waiting, t.Context(), batchOf(10), func(_ cluster.Result, err error) { ended <- err }))
		if err := <-ended; err == nil {
			t.Error("it was sent")
		}
		_, err = w.Write(t.Context(), batchOf(10))
		must(t, err)
		if took := time.Since(began); took > 600*time.Millisecond {
			t.Errorf("after one that was given up at %s, ten documents took until %s", 410*time.Millisecond, took)
		}
	})
}

// A loaded target is sent less at once, a relaxed one more.
func TestThePaceFollowsTheTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		var mu sync.Mutex
		flying, most, room := 0, 0, 4
		slow := tripper(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			flying++
			most = max(most, flying)
			full := flying > room
			mu.Unlock()
			time.Sleep(20 * time.Millisecond)
			defer func() { mu.Lock(); flying--; mu.Unlock() }()
			if full && strings.HasSuffix(r.URL.Path, "_bulk") {
				return answer(r, 429, ""), nil
			}
			return f.RoundTrip(r)
		})
		w, err := clientOf(slow).NewWriter(t.Context(), cluster.WriterOptions{Concurrency: 32})
		must(t, err)
		var done sync.WaitGroup
		run := func(n int) {
			for i := range n {
				batch := &cluster.Batch{}
				must(t, batch.Add(cluster.Op{Index: "a", ID: fmt.Appendf(nil, "%d", i), Version: 1, Source: []byte(`{}`)}))
				done.Add(1)
				must(t, w.Start(t.Context(), batch, func(r cluster.Result, err error) {
					defer done.Done()
					if err != nil || r.Acknowledged != 1 {
						t.Errorf("%+v %v", r, err)
					}
				}))
			}
			done.Wait()
		}
		run(1000)
		s := w.Stats()
		if s.Concurrency > 2*room || s.Rejected == 0 || s.Rejected > 500 {
			t.Errorf("a target with room for %d: %+v", room, s)
		}
		if most > 10 {
			t.Errorf("%d requests at once", most)
		}
		room = 100
		run(2000)
		if s := w.Stats(); s.Concurrency < 30 {
			t.Errorf("a target with room for all: %+v", s)
		}
	})
}

// A target whose answers take ten times as long is sent less at once, without rejecting
// anything; and more again when they are as quick as they were.
func TestASlowTargetIsSentLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		var takes atomic.Int64
		takes.Store(int64(200 * time.Millisecond))
		slow := tripper(func(r *http.Request) (*http.Response, error) {
			time.Sleep(time.Duration(takes.Load()))
			return f.RoundTrip(r)
		})
		w, err := clientOf(slow).NewWriter(t.Context(), cluster.WriterOptions{Concurrency: 16})
		must(t, err)
		run := func(n int) int {
			var done sync.WaitGroup
			for i := range n {
				batch := &cluster.Batch{}
				must(t, batch.Add(cluster.Op{Index: "a", ID: fmt.Appendf(nil, "%d", i), Version: 1, Source: []byte(`{}`)}))
				done.Add(1)
				must(t, w.Start(t.Context(), batch, func(r cluster.Result, err error) {
					defer done.Done()
					if err != nil || r.Acknowledged != 1 {
						t.Errorf("%+v %v", r, err)
					}
				}))
			}
			done.Wait()
			return w.Stats().Concurrency
		}
		quick := run(500)
		takes.Store(int64(3 * time.Second))
		loaded := run(100)
		takes.Store(int64(200 * time.Millisecond))
		relaxed := run(1000)
		if quick < 14 || loaded > quick/2 || relaxed < 14 {
			t.Errorf("%d requests at once, %d while answers take long, %d afterwards", quick, loaded, relaxed)
		}
		if s := w.Stats(); s.Rejected != 0 {
			t.Errorf("%+v", s)
		}
	})
}
