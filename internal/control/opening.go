package control

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reshelve/reshelve/internal/door"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store"
)

// ServeHealth is the answer of the health of a served store: status 200 when it is ready, or for the liveness alive, and else 503.
type ServeHealth struct {
	Alive bool   `json:"alive"` // it answers
	Ready bool   `json:"ready"` // and the folder is open
	Data  string `json:"data"`
	State string `json:"state"` // opening, serving
	// Since is when that began.
	Since time.Time `json:"since"`
	// Writes are "taken", or why they are not: searches and gets are answered all the same.
	Writes string `json:"writes"`
	Next   string `json:"next,omitempty"` // what can be done about that
}

// serveHealth is how a served store is.
type serveHealth struct {
	data  string
	since time.Time
	store *store.Store // nil while the folder is opened
	disk  *pulse       // whether writes are taken
}

// answers tells whether a request is for health. An index of that name is the store's own matter.
func (h *serveHealth) answers(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	switch r.URL.Path {
	case livePath, readyPath:
		return true
	case healthPath:
		return h.store == nil || len(h.store.Catalog().Behind(strings.TrimPrefix(healthPath, "/"))) == 0
	}
	return false
}

// ServeHTTP answers on the paths of health.
func (h *serveHealth) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	told := ServeHealth{Alive: true, Data: h.data, State: "opening", Since: h.since, Writes: "the folder is being opened"}
	if h.store != nil {
		told.Ready, told.State, told.Writes = true, "serving", "taken"
		if _, err := h.disk.look(); err != nil {
			told.Writes, told.Next = err.Error(), fault.Next(err)
		}
	}
	tellHealth(w, told, r.URL.Path == livePath || told.Ready)
}

// before answers what is asked for health, and lets a server answer the rest.
func (h *serveHealth) before(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.answers(r) {
			h.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}

// whileOpening answers while the folder is opened: on the paths of health, and elsewhere that the store is not there yet.
func whileOpening(data string, compat Compat) http.Handler {
	h := &serveHealth{data: data, since: time.Now()}
	return h.before(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if compat == CompatElasticsearch {
			w.Header().Set("X-Elastic-Product", "Elasticsearch")
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(`{"error":{"root_cause":[{"type":"cluster_block_exception","reason":"` + notOpen + `"}],"type":"cluster_block_exception","reason":"` + notOpen + `"},"status":503}`))
	}))
}

const notOpen = "blocked by: [SERVICE_UNAVAILABLE/1/state not recovered / initialized]; the data folder is being opened: GET /health tells since when"

// swapped is a handler that another one takes the place of while it is served: requests that come after that go to the
// other one, on the connections that are open too. Safe for concurrent use.
type swapped struct{ now atomic.Pointer[http.Handler] }

func (s *swapped) answer(by http.Handler) { s.now.Store(&by) }

// ServeHTTP lets the newest handler answer.
func (s *swapped) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	(*s.now.Load()).ServeHTTP(w, r)
}

// front is the one server of a store. It serves from the first moment on, about the opening of the folder first, so that
// no connection has to go from one server to another.
type front struct {
	guarded
	swapped
	serving sync.WaitGroup
	ended   chan error // of which the first tells
}

func (c *Control) newFront(d *door.Door, req ServeRequest) *front {
	f := &front{ended: make(chan error, 3)} // one for each listener
	f.answer(whileOpening(req.Data, req.Compat))
	server := c.wiring.Front(FaceOptions{req.Limits, req.Compat})
	server.Handler = &f.swapped
	f.guarded = guard(d, server)
	return f
}

// on serves the connections of one more listener.
func (f *front) on(l net.Listener) {
	f.serving.Go(func() { f.ended <- f.serve(l) })
}

// leave goes on with the requests that were accepted for as long as ctx lasts, and ends.
func (f *front) leave(ctx context.Context) {
	if f.Shutdown(ctx) != nil {
		_ = f.Close() // what is still at work has had its time; it was not answered
	}
	f.serving.Wait()
}

// abandon ends at once.
func (f *front) abandon() {
	_ = f.Close()
	f.serving.Wait()
}
