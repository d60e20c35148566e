package control

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/reshard"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// side is a coordination store, and a way to the targets of the movements that it records.
type side struct {
	client  *cluster.Client // of the target that the store belongs to; nil when the store is beside all targets
	coord   coord.Store
	leave   func() error
	service *MovementService // of a folder that this process has opened; nil else
	lane    *reshard.Lane    // of its store

	alone   bool     // this process has opened the folder of the store, which no other has therefore
	beside  bool     // the store lies beside all targets
	at      string   // where such a store is
	targets *targets // of such a store
	sources struct {
		sync.Mutex
		open map[string]*cluster.Client
	}
}

// side opens the place that at names. It is a target, with the coordination store that goes
// with it: a cluster by its URL, a folder in place, or through the process that serves it; a
// folder that is not there is made when create says so. Or it is a coordination store alone.
func (c *Control) side(ctx context.Context, at string, create bool, memory int64, logger *slog.Logger) (*side, error) {
	if isRecords(at) || !create && isRecordsAlone(at) {
		return c.elsewhere(ctx, at, create, memory, logger)
	}
	t, err := c.target(ctx, at, create, memory, logger)
	if err != nil {
		return nil, err
	}
	return c.coordinated(ctx, t)
}

// target is an open target.
type target struct {
	Reached
	records coord.Store      // of a folder that this process has opened; nil else
	service *MovementService // of the same
	leave   func() error
}

// target opens a target as side tells.
func (c *Control) target(ctx context.Context, at string, create bool, memory int64, logger *slog.Logger) (*target, error) {
	if strings.HasPrefix(at, "http://") || strings.HasPrefix(at, "https://") {
		options, err := c.access(ofTarget, at)
		if err != nil {
			return nil, err
		}
		c.contact.cluster(&options)
		client, err := cluster.Open(ctx, options)
		if err != nil {
			return nil, err
		}
		return &target{Reached: Reached{Client: client, Address: at, Transport: client.Transport()}, leave: func() error { return nil }}, nil
	}
	if err := c.permits.folder(at); err != nil {
		return nil, err
	}
	if err := checkFolder(at, create); err != nil {
		return nil, err
	}
	var t *target
	err := untilOpen(ctx, func() (err error) {
		t, err = c.targetFolder(ctx, at, create, memory, logger)
		return err
	})
	return t, err
}

// targetFolder opens a folder as a target, or goes through the process that has.
func (c *Control) targetFolder(ctx context.Context, at string, create bool, memory int64, logger *slog.Logger) (*target, error) {
	if conn, err := dialInside(ctx, at); err == nil {
		_ = conn.Close()
		return c.through(at, memory, logger), nil
	}
	if _, err := os.Stat(filepath.Join(at, "format")); os.IsNotExist(err) && !create { // to look makes no store
		err := fault.At(fault.New(fault.NotFound, "it is no data folder of reshelve"), at)
		return nil, fault.WithNext(err, "name the folder of a store; %s makes one there", Command("serve", "--data", at))
	}
	opened, err := c.take(ctx, at, memory, logger)
	if err != nil {
		return nil, err
	}
	var listeners []net.Listener
	if memory > 0 { // it stays for long: others come through the socket, to steer and to help
		socket, err := listenInside(ctx, at)
		if err != nil {
			return nil, errors.Join(err, opened.close())
		}
		listeners = append(listeners, socket)
	}
	client, service, leave := c.within(at, opened, logger, listeners...)
	return &target{Reached: Reached{Client: client}, records: opened.folder.Coord, service: service, leave: leave}, nil
}

// take opens a folder of which this process is to be the server.
func (c *Control) take(ctx context.Context, at string, memory int64, logger *slog.Logger) (*openedFolder, error) {
	if memory > 0 {
		keepBelow(max(memory-besideHeap, memory/2))
	}
	// A served store has a quarter. Here the slots need theirs too, and with less for the engine
	// copies took less processor time: garbage is collected less often.
	return c.openFolder(ctx, at, FolderOptions{Memory: memory / 12, Logger: logger})
}

// through is a target that another process serves. Who stays for long becomes its server when
// that process goes.
func (c *Control) through(at string, memory int64, logger *slog.Logger) *target {
	next := &successor{reach: func(ctx context.Context) (net.Conn, error) { return dialInside(ctx, at) }, left: memory == 0}
	next.serve = func(ctx context.Context) (func() error, error) {
		opened, err := c.take(ctx, at, memory, logger)
		if err != nil {
			return nil, err
		}
		socket, err := listenInside(ctx, at)
		if err != nil {
			return nil, errors.Join(err, opened.close())
		}
		_, _, leave := c.within(at, opened, logger, socket)
		return leave, nil
	}
	client, leave := connect(at, next.dial, func() error { return nil })
	transport := over(next.dial)
	return &target{Reached: Reached{client, "http://store", transport}, leave: func() error {
		transport.CloseIdleConnections()
		return errors.Join(leave(), next.close())
	}}
}

// checkFolder refuses what is meant to be a cluster, and a folder that is not there unless it
// may be made.
func checkFolder(at string, create bool) error {
	if at == "" {
		err := fault.New(fault.Usage, "the place of the store is empty")
		return fault.WithNext(err, "name the folder of a store, or http://HOST:PORT")
	}
	about, err := os.Stat(at)
	if err == nil && !about.IsDir() {
		err := fault.At(fault.New(fault.Usage, "it is a file, and no folder"), at)
		return fault.WithNext(err, "name the data folder of a store, or http://HOST:PORT")
	}
	if err == nil {
		return nil
	}
	if scheme, _, is := strings.Cut(at, "://"); is {
		err := fault.New(fault.Usage, "%q is neither a URL of a cluster nor a folder: nothing is known of %s", at, scheme)
		return fault.WithNext(err, "for a cluster write http://… or https://…; for a folder its path")
	}
	if scheme, rest, is := strings.Cut(at, ":"); is && slices.Contains([]string{"http", "https"}, strings.ToLower(scheme)) {
		err := fault.New(fault.Usage, "%q is neither a URL of a cluster nor a folder", at)
		return fault.WithNext(err, "for a cluster write http://HOST:PORT or https://HOST:PORT; for a folder its path: ./%s", strings.TrimLeft(rest, "./"))
	}
	if isHostPort(at) {
		err := fault.New(fault.Usage, "%q is neither a URL nor a folder", at)
		return fault.WithNext(err, "for a cluster write http://%s or https://%s; for a folder of that name ./%s", at, at, at)
	}
	if !create {
		err := fault.At(fault.New(fault.NotFound, "there is no such data folder"), at)
		return fault.WithNext(err, "name the folder of a store, or http://HOST:PORT")
	}
	return nil
}

// isHostPort reports whether a text begins with HOST:PORT, as an address does whose http:// was left away.
func isHostPort(text string) bool {
	host, _, _ := strings.Cut(text, "/")
	name, port, err := net.SplitHostPort(host)
	if err != nil || name == "" || strings.Contains(host, "\\") {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

// coordinated adds the coordination store that goes with a target.
func (c *Control) coordinated(ctx context.Context, t *target) (*side, error) {
	if t.records != nil {
		return &side{client: t.Client, coord: t.records, leave: t.leave, service: t.service, lane: t.service.side.lane, alone: true}, nil
	}
	records, err := c.wiring.Coordinate(ctx, t.Reached)
	if err != nil {
		return nil, errors.Join(err, t.leave())
	}
	return &side{client: t.Client, coord: records, leave: func() error { return errors.Join(records.Close(), t.leave()) }}, nil
}
