package control

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/reshelve/reshelve/coord"
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

// listenHealth answers GET /health, and tells of the place's movements, until end is called. It
// takes no orders: whoever reaches the address may ask.
func (c *Control) listenHealth(ctx context.Context, req WorkerRequest, h *health) (end func(), err error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", req.Listen)
	if err != nil {
		err = fault.At(fault.New(fault.Unavailable, "%w", err), "listening on "+req.Listen)
		return nil, fault.WithNext(err, "stop what listens there, or choose another address with --listen")
	}
	mux := http.NewServeMux()
	mux.Handle("GET /health", h)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: answersWithin, WriteTimeout: 2 * answersWithin}
	if c.wiring.Steer != nil {
		c.wiring.Steer(server, c.newDesk(h.records))
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener) // ends with Close
	}()
	if req.Listening != nil {
		req.Listening("http://" + listener.Addr().String())
	}
	return func() {
		_ = server.Close()
		<-ended
	}, nil
}
