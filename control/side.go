package control

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/cluster"
	"github.com/reshelve/reshelve/coord"
	"github.com/reshelve/reshelve/fault"
)

// side is a target and the coordination store that goes with it.
type side struct {
	client *cluster.Client
	coord  coord.Store
	leave  func() error
}

// side opens the target that at names: a cluster by its URL, a folder in place, or through
// the process that serves it. A folder that is not there is made when create says so.
func (c *Control) side(ctx context.Context, at string, create bool, memory int64, logger *slog.Logger) (*side, error) {
	if strings.HasPrefix(at, "http://") || strings.HasPrefix(at, "https://") {
		options, err := access(ofTarget, at)
		if err != nil {
			return nil, err
		}
		client, err := cluster.Open(ctx, options)
		if err != nil {
			return nil, err
		}
		return c.coordinated(ctx, Reached{Client: client, Address: at}, func() error { return nil })
	}
	if err := checkFolder(at, create); err != nil {
		return nil, err
	}
	if conn, err := dialInside(ctx, at); err == nil {
		_ = conn.Close()
		dial := func(ctx context.Context) (net.Conn, error) { return dialInside(ctx, at) }
		client, leave := connect(at, dial, func() error { return nil })
		transport := over(dial)
		return c.coordinated(ctx, Reached{client, "http://store", transport}, func() error {
			transport.CloseIdleConnections()
			return leave()
		})
	}
	if memory > 0 {
		debug.SetMemoryLimit(memory)
	}
	opened, err := c.openFolder(ctx, at, FolderOptions{Memory: memory / 4, Logger: logger})
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
	client, leave := c.within(at, opened, listeners...)
	return &side{client: client, coord: opened.folder.Coord, leave: leave}, nil
}

// checkFolder refuses what is meant to be a cluster, and a folder that is not there unless it
// may be made.
func checkFolder(at string, create bool) error {
	_, err := os.Stat(at)
	if err == nil {
		return nil
	}
	if _, port, split := net.SplitHostPort(at); split == nil && !strings.ContainsAny(at, "/\\") {
		if _, err := strconv.ParseUint(port, 10, 16); err == nil {
			err := fault.New(fault.Usage, "%q is neither a URL nor a folder", at)
			return fault.WithNext(err, "for a cluster write http://%s or https://%s; for a folder of that name ./%s", at, at, at)
		}
	}
	if !create {
		err := fault.At(fault.New(fault.NotFound, "there is no such data folder"), at)
		return fault.WithNext(err, "name the folder of a store, or http://HOST:PORT")
	}
	return nil
}

// coordinated adds the coordination store of a cluster to its client.
func (c *Control) coordinated(ctx context.Context, at Reached, leave func() error) (*side, error) {
	records, err := c.wiring.Coordinate(ctx, at)
	if err != nil {
		return nil, errors.Join(err, leave())
	}
	return &side{client: at.Client, coord: records, leave: func() error { return errors.Join(records.Close(), leave()) }}, nil
}
