package door

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/fault"
)

// Policy says what a server lets in. The zero value lets in what comes to it by the names
// and addresses of loopback, and no page of another origin.
type Policy struct {
	Hosts   []string // names that a request may have in Host beside those of loopback, without ports
	Origins []string // pages that may send requests, as scheme://host[:port]
	Token   string   // what a request that is not local carries as Authorization: Bearer; "": nothing
	Open    []string // paths that need no token

	// HostFlag and OriginFlag are how the operator of the process lets hosts and origins in, as a refusal
	// advises: "--allow-host"; "": the process has no such flag.
	HostFlag, OriginFlag string
}

// Door lets requests through to a handler, or refuses them. Safe for concurrent use.
type Door struct {
	hosts     map[string]bool
	origins   map[string]bool
	protected *http.CrossOriginProtection
	token     *[sha256.Size]byte
	open      []string

	hostFlag, originFlag string
}

// New makes a door. fault.Usage when a host or an origin is none.
func New(p Policy) (*Door, error) {
	d := &Door{hosts: map[string]bool{}, origins: map[string]bool{}, protected: http.NewCrossOriginProtection(), open: p.Open,
		hostFlag: p.HostFlag, originFlag: p.OriginFlag}
	for _, host := range p.Hosts {
		name, ok := nameOf(host)
		if !ok || strings.ContainsAny(host, "/*:@ ") && !isAddress(name) {
			err := fault.New(fault.Usage, "%q is no name of a host", host)
			return nil, fault.WithNext(err, "write the name alone, for example search.example")
		}
		d.hosts[name] = true
	}
	for _, origin := range p.Origins {
		u, err := url.Parse(origin)
		if err == nil {
			err = d.protected.AddTrustedOrigin(origin)
		}
		if err != nil || u.User != nil || strings.Contains(origin, "*") || u.Scheme+"://"+u.Host != origin || strings.ToLower(origin) != origin {
			err := fault.New(fault.Usage, "%q is no origin of pages", origin)
			return nil, fault.WithNext(err, "write it as the browser does, for example https://app.example:8443; * and null are none")
		}
		d.origins[origin] = true
	}
	if p.Token != "" {
		sum := sha256.Sum256([]byte(p.Token))
		d.token = &sum
	}
	return d, nil
}

// Around is handler behind the door.
func (d *Door) Around(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		local, known := isLocal(r), d.token != nil && d.knows(r)
		if !local && !known && !d.names(r) {
			d.refuseHost(w, r)
			return
		}
		if len(d.origins) > 0 {
			w.Header().Add("Vary", "Origin")
		}
		origin := r.Header.Get("Origin")
		if !d.sameOrigin(r) {
			d.refuseOrigin(w, r, origin)
			return
		}
		if d.origins[origin] {
			w.Header().Set("Access-Control-Allow-Origin", origin)
			if isPreflight(r) {
				answerPreflight(w, r)
				return
			}
			w.Header().Set("Access-Control-Expose-Headers", exposed)
		}
		if d.token != nil && !local && !known && !slices.Contains(d.open, r.URL.Path) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="reshelve"`)
			refuse(w, r, http.StatusUnauthorized, "security_exception", "the request carries no token, or a wrong one",
				"send the header Authorization: Bearer TOKEN, with what the server has in RESHELVE_TOKEN or --token-file")
			return
		}
		handler.ServeHTTP(w, r)
	})
}

// isLocal tells whether a request came through a file or within the process.
func isLocal(r *http.Request) bool {
	at, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && (at.Network() == "unix" || at.Network() == "pipe")
}

// knows tells whether a request carries the token.
func (d *Door) knows(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(sum[:], d.token[:]) == 1
}

// names tells whether the Host of a request is a name or an address of this server. A request
// without one is no browser's: HTTP/1.0 knows such.
func (d *Door) names(r *http.Request) bool {
	if r.Host == "" {
		return true
	}
	name, ok := nameOf(r.Host)
	if !ok {
		return false
	}
	if name == "localhost" || strings.HasSuffix(name, ".localhost") || d.hosts[name] {
		return true
	}
	address, err := netip.ParseAddr(name)
	return err == nil && (address.Unmap().IsLoopback() || !reachedByLoopback(r))
}

// reachedByLoopback tells whether a connection ends at an address of loopback; one of which
// nothing is known counts as such.
func reachedByLoopback(r *http.Request) bool {
	at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return !ok || at.IP.IsLoopback()
}

// sameOrigin tells whether no page of another origin has caused a request, or one that may. The
// library lets safe methods through; here they are asked like the others.
func (d *Door) sameOrigin(r *http.Request) bool {
	if r.Header["Origin"] == nil && r.Header["Sec-Fetch-Site"] == nil {
		return true
	}
	asked := http.Request{Method: http.MethodPost, Header: r.Header, Host: r.Host, URL: r.URL}
	return d.protected.Check(&asked) == nil
}

// nameOf is the name or the address in a Host, without port and in the spelling that is compared.
func nameOf(host string) (string, bool) {
	name := bareHost(host)
	if address, err := netip.ParseAddr(name); err == nil {
		return address.WithZone("").Unmap().String(), true
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	return name, name != "" && !strings.ContainsAny(name, "[]:@/ ")
}

func isAddress(name string) bool {
	_, err := netip.ParseAddr(name)
	return err == nil
}

// bareHost is a Host without its port and brackets.
func bareHost(host string) string {
	if name, port, err := net.SplitHostPort(host); err == nil && strings.Trim(port, "0123456789") == "" {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}
