package control

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/reshelve/reshelve/coord"
	"github.com/reshelve/reshelve/door"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/worker"
)

// health answers whether a worker is alive.
type health struct {
	name, join string // join without credentials

	board   *worker.Board
	records coord.Store
}

// Health is the answer: status 200 when Alive, and else 503.
type Health struct {
	Alive  bool           `json:"alive"` // all slots work, and the place answers
	Worker string         `json:"worker"`
	Join   string         `json:"join"`
	Place  string         `json:"place"` // "answers", or why it does not
	Slots  []worker.Doing `json:"slots"`
}

// answersWithin is how long the place may take to answer.
const answersWithin = 5 * time.Second

func (h *health) look(ctx context.Context) Health {
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	told := Health{Worker: h.name, Join: h.join, Place: "answers", Slots: h.board.Slots()}
	_, err := h.records.Now(ctx)
	if err != nil {
		told.Place = err.Error()
	}
	told.Alive = err == nil && !slices.ContainsFunc(told.Slots, func(d worker.Doing) bool { return d.Ended })
	return told
}

func (h *health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	told := h.look(r.Context())
	w.Header().Set("Content-Type", "application/json")
	if !told.Alive {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(told)
}

const healthPath = "/health"

// door is that of the health endpoint. An address that other machines can reach asks for a token, except on
// /health, so that monitoring needs none.
func (req *WorkerRequest) door() (*door.Door, error) {
	host, _, err := splitListen(req.Listen, workerListen)
	if err != nil {
		return nil, err
	}
	if _, ok := loopbackOf(host); !ok && req.Token == "" {
		err := fault.New(fault.Refused, "%q is reachable from other machines, and no token is set", req.Listen)
		return nil, fault.WithNext(err, "set RESHELVE_TOKEN, or name a file that holds one with --token-file; or listen on 127.0.0.1")
	}
	policy := door.Policy{Hosts: req.AllowHosts, Token: req.Token, Public: []string{healthPath}, HostFlag: "--allow-host"}
	if _, err := netip.ParseAddr(host); err != nil && host != "" {
		policy.Hosts = append(slices.Clone(policy.Hosts), host)
	}
	return door.New(policy)
}

// listenHealth answers GET /health, and tells of the place's movements, until end is called. It
// takes no orders.
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
	mux := http.NewServeMux()
	mux.Handle("GET "+healthPath, h)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: answersWithin, WriteTimeout: 2 * answersWithin}
	if c.wiring.Steer != nil {
		c.wiring.Steer(server, c.newDesk(h.records))
	}
	guarded := guard(d, server)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = guarded.serve(listener) // ends with Close
	}()
	if req.Listening != nil {
		req.Listening("http://" + listener.Addr().String())
	}
	return func() {
		_ = server.Close()
		<-ended
	}, nil
}
