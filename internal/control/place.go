package control

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"

	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// DefaultAt is the store that a verb means when it is told no other.
const DefaultAt = "http://127.0.0.1:9200"

// within serves an open folder to one client in this process, and to whoever comes to the
// listeners. Leave closes the folder.
func (c *Control) within(dir string, opened *openedFolder, logger *slog.Logger, listeners ...net.Listener) (*cluster.Client, *MovementService, func() error) {
	pipes := newPipes()
	server := c.wiring.Face(opened.store, FaceOptions{}, opened.movements())
	service := c.serveMovements(opened, dir, pipes.dial, logger)
	if c.wiring.Steer != nil {
		c.wiring.Steer(server, service)
	}
	guarded := guardLocal(server)
	var serving sync.WaitGroup
	for _, listener := range append(listeners, pipes) {
		serving.Go(func() { _ = guarded.serve(listener) }) // ends with the listener
	}
	client, leave := connect(dir, pipes.dial, func() error {
		service.Close()
		_ = server.Close()
		serving.Wait()
		return opened.close()
	})
	return client, service, leave
}

// over is a transport over connections that dial makes.
func over(dial func(context.Context) (net.Conn, error)) *http.Transport {
	return &http.Transport{
		DialContext:         func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		MaxIdleConnsPerHost: 16, DisableCompression: true, // nothing leaves this machine
	}
}

// connect makes a client of the store in dir over connections that dial makes.
func connect(dir string, dial func(context.Context) (net.Conn, error), end func() error) (*cluster.Client, func() error) {
	client := cluster.Via(over(dial), dir)
	return client, func() error {
		client.Close()
		return end()
	}
}

// pipes is a listener in memory.
type pipes struct {
	made   chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{made: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.made <- far:
		return near, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.made:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }
