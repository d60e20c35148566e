package control

import (
	"net"
	"sync"
)

// mostConnections may be open at once, unless the operator says otherwise: each takes some 16 KiB.
const mostConnections = 4096

// connectionsFor is how many connections a process that may open so many files (0: any number) has by default: at most half of
// them, since the store needs files, too.
func connectionsFor(files int) int {
	if files <= 0 {
		return mostConnections
	}
	return min(mostConnections, max(1, files/2))
}

// bounded is a listener of which so many connections are open at once. The next one waits where the system keeps
// those that nobody has accepted, of which there is a bound too, until another is closed: idle ones are.
type bounded struct {
	net.Listener
	taken  chan struct{}
	closed chan struct{}
	close  func() error
}

func newBounded(l net.Listener, most int) *bounded {
	b := &bounded{Listener: l, taken: make(chan struct{}, most), closed: make(chan struct{})}
	b.close = sync.OnceValue(func() error {
		close(b.closed)
		return l.Close()
	})
	return b
}

// Accept is net.Listener's.
func (b *bounded) Accept() (net.Conn, error) {
	select {
	case b.taken <- struct{}{}:
	case <-b.closed:
		return nil, net.ErrClosed
	}
	conn, err := b.Listener.Accept()
	if err != nil {
		<-b.taken
		return nil, err
	}
	return &counted{conn, sync.OnceFunc(func() { <-b.taken })}, nil
}

// Close is net.Listener's.
func (b *bounded) Close() error { return b.close() }

// counted is a connection that makes room when it is closed.
type counted struct {
	net.Conn
	leave func()
}

// Close is net.Conn's.
func (c *counted) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
