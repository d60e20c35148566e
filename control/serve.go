package control

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/reshelve/reshelve/coord"
	"github.com/reshelve/reshelve/door"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/reshard"
	"github.com/reshelve/reshelve/store"
)

// ServeRequest asks for a store to be served. The zero value of a field is its default.
type ServeRequest struct {
	Data   string // the data folder, made when it is not there; "data"
	Listen string // HOST:PORT, loopback only; "127.0.0.1:9200". Port 0: any free one
	Memory int64  // bytes that the process aims to stay below; 256 MiB
	Limits Limits // of requests
	Compat Compat // whose clients are accepted; those of OpenSearch
	// AllowHosts are names that a request may have in Host besides those of loopback, and
	// AllowOrigins other origins whose pages may send requests: scheme://host[:port].
	AllowHosts, AllowOrigins []string
	// Allow is what movements that are ordered by HTTP may open: nothing else, not even folders
	// of this machine.
	Allow  Allowed
	Logger *slog.Logger // slog.Default()
	// LeaveOut is the damaged end of a log of the folder, NAME:OFFSET, that is given up.
	LeaveOut string
}

// Compat says whose clients a served store accepts.
type Compat string

// The products. Clients of Elasticsearch before 7.14 need none of this: they accept any server.
const (
	CompatOpenSearch    Compat = "opensearch"
	CompatElasticsearch Compat = "elasticsearch" // and those of Elasticsearch 7.17, 8 and 9 too
)

// FaceOptions say how a store is served.
type FaceOptions struct {
	Limits
	Compat Compat // see ServeRequest
}

// Limits bound what one request may ask for. The zero value of a field is the
// face's default.
type Limits struct {
	BodyBytes     int64         `yaml:"max-body"`        // of a request's body, as sent and decompressed
	ItemBytes     int64         `yaml:"max-item"`        // of one source in a bulk request
	InFlightBytes int64         `yaml:"max-in-flight"`   // of all bodies at work; beyond: 429
	Depth         int           `yaml:"max-depth"`       // of nested objects and arrays in JSON
	HeaderBytes   int64         `yaml:"max-headers"`     // of a request's headers
	Timeout       time.Duration `yaml:"timeout"`         // to receive a request
	Connections   int           `yaml:"max-connections"` // that may be open at once
}

// Serving tells that a store is served.
type Serving struct {
	Address    string `json:"address"` // "http://127.0.0.1:9200"
	Data       string `json:"data"`
	Indices    int    `json:"indices"`
	Documents  int64  `json:"documents"`
	TookMillis int64  `json:"tookMillis"` // from the call to being ready
}

// StopWithin is how long a server that is told to stop goes on with the requests
// that it has accepted.
const StopWithin = 8 * time.Second

// minThreads is how many threads run at once at least. Where two cores are shared with
// others, requests wait for milliseconds behind a thread that the system has taken off its
// core: with four, of eight clients one in a hundred waited 1.5 to 3.3 ms for a get, in place
// of 3.0 to 5.4, in the same run.
const minThreads = 4

// Serve serves the data folder until ctx ends. It then refuses new requests,
// finishes those it has accepted within StopWithin, and returns nil when
// everything is closed. Ready is called once, when requests are answered.
func (c *Control) Serve(ctx context.Context, req ServeRequest, ready func(Serving)) error {
	began := time.Now()
	if req.Data == "" {
		req.Data = "data"
	}
	if req.Memory == 0 {
		req.Memory = 256 << 20
	}
	if req.Logger == nil {
		req.Logger = slog.Default()
	}
	if req.Limits.InFlightBytes == 0 {
		req.Limits.InFlightBytes = req.Memory / 2
	}
	if req.Compat != "" && req.Compat != CompatOpenSearch && req.Compat != CompatElasticsearch {
		err := fault.New(fault.Usage, "--compat is %q, which is no known product", req.Compat)
		return fault.WithNext(err, "write --compat %s, or leave it out for clients of OpenSearch", CompatElasticsearch)
	}
	keepBelow(req.Memory)
	if threads := runtime.GOMAXPROCS(0); threads < minThreads && os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(minThreads)
	}
	host, err := loopback(req.Listen)
	if err != nil {
		return err
	}
	d, err := door.New(door.Policy{Hosts: req.AllowHosts, Origins: req.AllowOrigins, HostFlag: "--allow-host", OriginFlag: "--allow-origin"})
	if err != nil {
		return err
	}
	bound, err := c.bound(req.Allow, "reshelve serve", false)
	if err != nil {
		return err
	}
	opened, err := c.openFolder(ctx, req.Data, FolderOptions{Memory: req.Memory / 4, Logger: req.Logger, LeaveOut: req.LeaveOut})
	if err != nil {
		return err
	}
	err = bound.serve(ctx, opened, req, host, d, func(address string) {
		serving := opened.serving()
		serving.Address, serving.Data, serving.TookMillis = address, req.Data, time.Since(began).Milliseconds()
		ready(serving)
	})
	closing := opened.close()
	if closing != nil && ctx.Err() != nil { // an interrupted command does not tell errors
		req.Logger.Error("the folder was not closed cleanly; the next start repairs it", "error", closing)
	}
	return errors.Join(err, closing)
}

// serve answers on the address and on the folder's socket.
func (c *Control) serve(ctx context.Context, opened *openedFolder, req ServeRequest, listen string, d *door.Door, ready func(string)) error {
	var config net.ListenConfig
	tcp, err := config.Listen(ctx, "tcp", listen)
	if err != nil {
		err = fault.At(fault.New(fault.Unavailable, "%w", err), "listening on "+listen)
		return fault.WithNext(err, "stop what listens there, or choose another address with --listen")
	}
	tcp = newBounded(tcp, cmp.Or(req.Limits.Connections, mostConnections))
	socket, err := listenInside(ctx, req.Data)
	if err != nil {
		return errors.Join(err, tcp.Close())
	}
	server := c.wiring.Face(opened.store, FaceOptions{req.Limits, req.Compat}, opened.movements())
	inside := newPipes()
	if c.wiring.Steer != nil {
		desk := c.serveDesk(opened, req.Data, inside.dial, req.Logger)
		desk.attending()
		c.wiring.Steer(server, desk)
		defer desk.Close() // it is closed below, but when nothing can be served
		context.AfterFunc(ctx, desk.stop)
	}
	guarded := guard(d, server)
	var serving sync.WaitGroup
	ended := make(chan error, 3) // of which the first tells
	for _, listener := range []net.Listener{tcp, socket, inside} {
		serving.Go(func() { ended <- guarded.serve(listener) })
	}
	ready("http://" + tcp.Addr().String())
	select {
	case <-ctx.Done():
	case err = <-ended:
		err = fault.At(fault.New(fault.Unavailable, "%w", err), "listening on "+listen)
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), StopWithin)
	defer cancel()
	if server.Shutdown(stopping) != nil {
		_ = server.Close() // what is still at work has had its time; it was not answered
	}
	serving.Wait()
	return err
}

// openedFolder is a folder with its store.
type openedFolder struct {
	folder Folder
	store  *Store
	lane   *reshard.Lane // of the store
}

// openFolder opens a data folder; one process may.
func (c *Control) openFolder(ctx context.Context, dir string, o FolderOptions) (*openedFolder, error) {
	folder, err := c.wiring.Folder(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, folder.Coord, folder.Engine, store.Options{Logger: o.Logger})
	if err != nil {
		return nil, errors.Join(fault.At(err, dir), folder.Engine.Close(), folder.Coord.Close())
	}
	return &openedFolder{folder: folder, store: NewStore(s), lane: &reshard.Lane{Store: s}}, nil
}

// movements are the records of the folder's movements, which it offers; what else lies in
// its coordination store is its own.
func (o *openedFolder) movements() coord.Store {
	return coord.Scope(o.folder.Coord, "movement/", "movements/", "closing/", "claims/", "set-aside/")
}

// serving counts what is in the folder.
func (o *openedFolder) serving() Serving {
	var told Serving
	told.Indices, told.Documents = o.store.Holds()
	return told
}

func (o *openedFolder) close() error {
	o.lane.Close() // else the shards would wait for what it has pinned
	return errors.Join(o.store.Close(), o.folder.Engine.Close(), o.folder.Coord.Close())
}
