package blob

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/reshelve/reshelve/internal/egress"
)

const (
	// stallAfter is how long a connection may bring nothing while something is
	// awaited from it: long for a store under load, short for a person.
	stallAfter = 60 * time.Second
	dialAfter  = 10 * time.Second
	// idleAfter must be shorter than stallAfter, so that an unused connection
	// is closed in peace and not reported as a stalled one.
	idleAfter = 45 * time.Second
	// keptIdle connections per host serve the pieces of a few streams.
	keptIdle = 64
)

// NewTransport is the HTTP transport to what the location names. The addresses that its names
// lead to are checked (package egress).
func (l Location) NewTransport() *http.Transport {
	return newTransport(egress.Proxy(dialer, l.Wary), egress.Dial(dialer, l.Wary))
}

// NewTransport is the HTTP transport to services that hand out credentials, and to nothing that a
// location names.
func NewTransport() *http.Transport {
	return newTransport(http.ProxyFromEnvironment, dialer.DialContext)
}

var dialer = net.Dialer{Timeout: dialAfter, KeepAlive: 30 * time.Second}

// newTransport is the HTTP transport of the remote adapters: a connection for
// each request in flight, so that pieces do not share one flow-control window
// as they would in HTTP/2; nothing is decompressed on the way; and a connection
// that stalls fails after a minute, in the middle of a body too, where Retry
// resumes it.
func newTransport(proxy func(*http.Request) (*url.URL, error), dial func(ctx context.Context, network, address string) (net.Conn, error)) *http.Transport {
	return &http.Transport{
		Proxy: proxy,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &watchedConn{conn}, nil
		},
		TLSHandshakeTimeout: dialAfter,
		IdleConnTimeout:     idleAfter,
		MaxIdleConnsPerHost: keptIdle,
		DisableCompression:  true,
	}
}

// NewClient is a client of the store that the location names. It follows at most [MostRedirects], and none to another
// origin: credentials belong to the one that was named.
func (l Location) NewClient() *http.Client {
	return &http.Client{Transport: l.NewTransport(), CheckRedirect: sameOrigin}
}

// sameOrigin returns a redirect to another origin as the answer.
func sameOrigin(next *http.Request, before []*http.Request) error {
	first := before[0].URL
	if next.URL.Scheme != first.Scheme || next.URL.Host != first.Host || len(before) >= MostRedirects {
		return http.ErrUseLastResponse
	}
	return nil
}

// MostRedirects is how many redirects of one request a client follows.
const MostRedirects = 10

// watchedConn fails a read that brings nothing for stallAfter. HTTP has no
// such limit of its own: a timeout of the whole request would have to grow with
// the body.
type watchedConn struct{ net.Conn }

func (c *watchedConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(stallAfter)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}
