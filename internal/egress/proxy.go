package egress

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
)

// Proxy gives requests the proxies of the environment (HTTPS_PROXY, HTTP_PROXY, NO_PROXY), and checks
// first what the host of a request leads to: a dialer sees the address of the proxy alone. Wary: see Dial.
// A wary client is refused a host that cannot be looked up here, since nothing would be known of it.
func Proxy(d net.Dialer, wary bool) func(*http.Request) (*url.URL, error) {
	return proxies(http.ProxyFromEnvironment, d.Resolver, wary)
}

func proxies(choose func(*http.Request) (*url.URL, error), r *net.Resolver, wary bool) func(*http.Request) (*url.URL, error) {
	if r == nil {
		r = net.DefaultResolver
	}
	l := &lookups{resolver: r, wary: wary, good: map[string]time.Time{}}
	return func(request *http.Request) (*url.URL, error) {
		proxy, err := choose(request)
		if err != nil || proxy == nil {
			return nil, err
		}
		if err := l.check(request.Context(), request.URL.Hostname()); err != nil {
			return nil, err
		}
		return proxy, nil
	}
}

// lookups are the hosts that were looked up a moment ago, and may be meant.
type lookups struct {
	resolver *net.Resolver
	wary     bool

	mu   sync.Mutex
	good map[string]time.Time // until when
}

// A client is asked for a proxy with every request; a host is looked up so often, and so many are remembered.
const (
	lookUpEvery  = 10 * time.Second
	mostLookedUp = 1000
)

func (l *lookups) check(ctx context.Context, host string) error {
	if _, err := netip.ParseAddr(host); err == nil { // no name, and so nothing that changes
		return nil
	}
	l.mu.Lock()
	fresh := time.Now().Before(l.good[host])
	l.mu.Unlock()
	if fresh {
		return nil
	}
	addresses, err := l.resolver.LookupNetIP(ctx, "ip", host)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !l.wary: // the operator has named it, and the proxy
		return nil
	default:
		err = fault.New(fault.Refused, "where %s leads to is not known here, and only the proxy of the environment would know: %w", host, err)
		return fault.WithNext(err, "let this machine resolve the name, or take it out of the proxy with NO_PROXY=%s", host)
	}
	for _, address := range addresses {
		if err := check(host, netip.AddrPortFrom(address, 1).String(), l.wary); err != nil {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.good) >= mostLookedUp {
		clear(l.good)
	}
	l.good[host] = time.Now().Add(lookUpEvery)
	return nil
}
