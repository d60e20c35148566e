package control

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"runtime/debug"
	"strings"

	"github.com/reshelve/reshelve/cluster"
	"github.com/reshelve/reshelve/coord"
)

// side is a target and the coordination store that goes with it.
type side struct {
	client *cluster.Client
	coord  coord.Store
	leave  func() error
}

// side opens the target that at names: a cluster by its URL, a folder in place, or through
// the process that serves it. A folder that is not there is made.
func (c *Control) side(ctx context.Context, at string, memory int64, logger *slog.Logger) (*side, error) {
	if strings.HasPrefix(at, "http://") || strings.HasPrefix(at, "https://") {
		options, err := access(at)
		if err != nil {
			return nil, err
		}
		client, err := cluster.Open(ctx, options)
		if err != nil {
			return nil, err
		}
		return c.coordinated(ctx, Reached{Client: client, Address: at}, func() error { return nil })
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
	client, leave := c.within(at, opened)
	return &side{client: client, coord: opened.folder.Coord, leave: leave}, nil
}

// coordinated adds the coordination store of a cluster to its client.
func (c *Control) coordinated(ctx context.Context, at Reached, leave func() error) (*side, error) {
	records, err := c.wiring.Coordinate(ctx, at)
	if err != nil {
		return nil, errors.Join(err, leave())
	}
	return &side{client: at.Client, coord: records, leave: func() error { return errors.Join(records.Close(), leave()) }}, nil
}
