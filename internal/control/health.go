package control

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/door"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/worker"
)

// The paths of health. Liveness is apart from readiness: a process that is alive and not ready waits for something that no restart
// would bring. The first is the same as the readiness.
const (
	healthPath = "/health"
	livePath   = "/health/live"
	readyPath  = "/health/ready"
)

// Health is the answer of a worker's health: status 200 when it is ready, or for the liveness alive, and else 503.
type Health struct {
	Alive  bool           `json:"alive"` // its slots work, or it waits for the place
	Ready  bool           `json:"ready"` // and the place answers
	Worker string         `json:"worker"`
	Join   string         `json:"join"`
	Place  string         `json:"place"`           // "answers", or why it does not
	Since  *time.Time     `json:"since,omitempty"` // since when it does not
	Next   string         `json:"next,omitempty"`  // what can be done about that
	Slots  []worker.Doing `json:"slots"`
}

// health is how a worker is. It answers from the first moment on, and whatever the place does. Safe for concurrent use.
type health struct {
	name, join string // join without credentials
	board      *worker.Board
	listening  func()                 // tells people the address, once something is known
	tell       func(*MovementService) // answers what is asked of movements; nil: nothing does

	mu      sync.Mutex
	began   time.Time // of the waiting for the place
	waiting error     // for what; nil: nothing is known yet
	place   *pulse    // of the records; nil until the place is open
}

// waits notes why the place cannot be opened yet.
func (h *health) waits(err error) {
	h.mu.Lock()
	h.waiting = err
	h.mu.Unlock()
	h.listening()
}

// joined notes that the place is open. It is asked from now on, until ctx ends.
func (h *health) joined(ctx context.Context, records coord.Store, d *MovementService) {
	if h.tell != nil {
		h.tell(d)
	}
	defer h.listening()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.place = &pulse{over: ctx.Done(), ask: func(ctx context.Context) error {
		_, err := records.Now(ctx)
		return err
	}}
	h.place.begin()
}

func (h *health) look() Health {
	h.mu.Lock()
	place, since, err := h.place, h.began, h.waiting
	h.mu.Unlock()
	told := Health{Worker: h.name, Join: h.join, Place: "answers", Slots: []worker.Doing{}}
	switch {
	case place != nil:
		told.Slots = append(told.Slots, h.board.Slots()...)
		if since, err = place.look(); err == nil && len(told.Slots) == 0 {
			since, err = h.began, fault.New(fault.Unavailable, "no slot works for it yet")
		}
	case err == nil:
		err = fault.New(fault.Unavailable, "it is being opened")
	}
	told.Alive = !slices.ContainsFunc(told.Slots, func(d worker.Doing) bool { return d.Ended })
	told.Ready = told.Alive && err == nil
	if err != nil {
		told.Place, told.Since, told.Next = err.Error(), &since, fault.Next(err)
	}
	return told
}

// ServeHTTP answers on the paths of health.
func (h *health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	told := h.look()
	tellHealth(w, told, r.URL.Path == livePath && told.Alive || told.Ready)
}

// tellHealth answers with 200 or 503.
func tellHealth(w http.ResponseWriter, told any, well bool) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if !well {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(told)
}

// door is that of the health endpoint. An address that other machines can reach asks for a token, except on
// the paths of health, so that monitoring needs none.
func (req *WorkerRequest) door() (*door.Door, error) {
	host, _, err := splitListen(req.Listen, workerListen)
	if err != nil {
		return nil, err
	}
	if _, ok := loopbackOf(host); !ok && req.Token == "" {
		err := fault.New(fault.Refused, "%q is reachable from other machines, and no token is set", req.Listen)
		return nil, fault.WithNext(err, "set RESHELVE_TOKEN, or name a file that holds one with --token-file; or listen on 127.0.0.1")
	}
	policy := door.Policy{Hosts: req.AllowHosts, Token: req.Token, Public: []string{healthPath, livePath, readyPath}, HostFlag: "--allow-host"}
	if _, err := netip.ParseAddr(host); err != nil && host != "" {
		policy.Hosts = append(slices.Clone(policy.Hosts), host)
	}
	return door.New(policy)
}

// listenHealth answers on the paths of health until end is called, and, once the place is open, tells of its movements. It takes
// no orders.
func (c *Control) listenHealth(ctx context.Context, req WorkerRequest, h *health) (end func(), err error) {
	d, err := req.door()
	if err != nil {
		return nil, err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", req.Listen)
	if err != nil {
		err = fault.At(fault.New(fault.Unavailable, "%w", err), "listening on "+req.Listen)
		return nil, fault.WithNext(err, "stop what listens there, or choose another address with --listen")
	}
	var rest swapped // what answers on other paths
	rest.answer(h)   // that the place is waited for
	mux := http.NewServeMux()
	for _, path := range []string{healthPath, livePath, readyPath} {
		mux.Handle("GET "+path, h)
	}
	mux.Handle("/", &rest)
	guarded := guard(d, &http.Server{Handler: mux, ReadHeaderTimeout: answersWithin, WriteTimeout: 2 * answersWithin})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = guarded.serve(listener) // ends with Close
	}()
	h.tell = func(service *MovementService) {
		steered := &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: answersWithin} // of which the handler is taken
		if c.wiring.Steer != nil {
			c.wiring.Steer(steered, service)
		}
		rest.answer(steered.Handler)
	}
	if req.Listening != nil {
		h.listening = sync.OnceFunc(func() { req.Listening("http://" + listener.Addr().String()) })
	}
	soon := time.AfterFunc(time.Second, h.listening)
	return func() {
		soon.Stop()
		_ = guarded.Close()
		<-ended
	}, nil
}
