package control

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/door"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/reshard"
	"github.com/reshelve/reshelve/internal/store"
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
	ItemBytes     int64         `yaml:"max-item"`        // of one source; a sixteenth of the memory
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
		req.Limits.InFlightBytes = req.Memory / 4
	}
	if req.Compat != "" && req.Compat != CompatOpenSearch && req.Compat != CompatElasticsearch {
		err := fault.New(fault.Usage, "--compat is %q, which is no known product", req.Compat)
		return fault.WithNext(err, "write --compat %s, or leave it out for clients of OpenSearch", CompatElasticsearch)
	}
	if req.Limits.ItemBytes == 0 {
		req.Limits.ItemBytes = min(cmp.Or(req.Limits.BodyBytes, 100<<20), req.Memory/itemPart)
	}
	keepBelow(max(req.Memory-besideHeap, req.Memory/2))
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
	if err == nil {
		err = checkServed(req.Data)
	}
	if err != nil {
		return err
	}
	listener, err := listenServe(ctx, host, cmp.Or(req.Limits.Connections, connectionsFor(mostFiles())))
	if err != nil {
		return err
	}
	return c.serveOn(ctx, bound, req, listener, d, func(serving Serving) {
		serving.TookMillis = time.Since(began).Milliseconds()
		ready(serving)
	})
}

// listenServe listens where a store is to be served, for so many connections at once.
func listenServe(ctx context.Context, listen string, most int) (net.Listener, error) {
	var config net.ListenConfig
	tcp, err := config.Listen(ctx, "tcp", listen)
	if err != nil {
		err = fault.At(fault.New(fault.Unavailable, "%w", err), "listening on "+listen)
		return nil, fault.WithNext(err, "stop what listens there, or choose another address with --listen")
	}
	return newBounded(tcp, most), nil
}

// serveOn answers on a listener: about the opening of the folder, and then for its store. Bound are the calls that
// movements may make.
func (c *Control) serveOn(ctx context.Context, bound *Control, req ServeRequest, tcp net.Listener, d *door.Door, ready func(Serving)) error {
	f := c.newFront(d, req)
	f.on(tcp)
	opened, err := c.openFolder(ctx, req.Data, FolderOptions{Memory: req.Memory / 4, Logger: req.Logger, LeaveOut: req.LeaveOut, maxSource: req.Limits.ItemBytes})
	if err != nil {
		f.abandon()
		return err
	}
	address := tcp.Addr().String()
	err = bound.serve(ctx, opened, req, f, address, func() {
		serving := opened.serving()
		serving.Address, serving.Data = "http://"+address, req.Data
		ready(serving)
	})
	closing := opened.close()
	if closing != nil && ctx.Err() != nil { // an interrupted command does not tell errors
		req.Logger.Error("the folder was not closed cleanly; the next start repairs it", "error", closing)
	}
	return errors.Join(err, closing)
}

// serve lets the store of a folder answer, on the folder's socket too, until ctx ends.
func (c *Control) serve(ctx context.Context, opened *openedFolder, req ServeRequest, f *front, address string, ready func()) error {
	socket, err := listenInside(ctx, req.Data)
	if err != nil {
		f.abandon()
		return err
	}
	face := c.wiring.Face(opened.store, FaceOptions{req.Limits, req.Compat}, opened.movements()) // which itself serves nothing
	f.RegisterOnShutdown(func() { _ = face.Shutdown(context.WithoutCancel(ctx)) })
	inside := newPipes()
	if c.wiring.Steer != nil {
		service := c.serveMovements(opened, req.Data, inside.dial, req.Logger)
		service.attending()
		c.wiring.Steer(face, service)
		defer service.Close() // it is closed below, but when nothing can be served
		context.AfterFunc(ctx, service.stop)
	}
	writes := &pulse{over: ctx.Done(), ask: func(context.Context) error { return opened.store.Health().ReadOnly }}
	f.answer((&serveHealth{data: req.Data, since: time.Now(), store: opened.store, disk: writes}).before(face.Handler))
	f.on(socket)
	f.on(inside)
	ready()
	select {
	case <-ctx.Done():
	case err = <-f.ended:
		err = fault.At(fault.New(fault.Unavailable, "%w", err), "listening on "+address)
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), StopWithin)
	defer cancel()
	f.leave(stopping)
	return err
}

// checkServed refuses a data folder that is none, and a new one that was meant as an address.
func checkServed(dir string) error {
	about, err := os.Stat(dir)
	switch {
	case err == nil && !about.IsDir():
		err = fault.New(fault.Usage, "it is a file, and no folder")
	case err != nil && (strings.Contains(dir, "://") || isHostPort(dir)):
		err = fault.New(fault.Usage, "it is an address, and no folder")
	default:
		return nil
	}
	return fault.WithNext(fault.At(err, "--data", dir), "name a folder, which is made when it is not there: %s", Command("serve", "--data", "./data"))
}

// openedFolder is a folder with its store.
type openedFolder struct {
	folder Folder
	store  *store.Store
	lane   *reshard.Lane // of the store
}

// openFolder opens a data folder; one process may.
func (c *Control) openFolder(ctx context.Context, dir string, o FolderOptions) (*openedFolder, error) {
	folder, err := c.wiring.Folder(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, folder.Coord, folder.Engine, store.Options{Logger: o.Logger, MaxSource: o.maxSource})
	if err != nil {
		return nil, errors.Join(fault.At(err, dir), folder.Engine.Close(), folder.Coord.Close())
	}
	return &openedFolder{folder: folder, store: s, lane: &reshard.Lane{Store: s}}, nil
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
