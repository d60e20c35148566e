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

	"github.com/reshelve/reshelve/internal/fault"
)

// Policy says which requests a server accepts. The zero value accepts those to the names and
// addresses of loopback, and none of a page of another origin.
type Policy struct {
	Hosts   []string // names that a request may have in Host besides those of loopback, without ports
	Origins []string // origins whose pages may send requests, as scheme://host[:port]
	Token   string   // that a request must carry as Authorization: Bearer unless it is local; "": none
	Public  []string // paths that need no token

	// HostFlag and OriginFlag are the flags of the process that allow hosts and origins, which a refusal
	// names: "--allow-host"; "": it has none.
	HostFlag, OriginFlag string
}

// Door passes requests on to a handler, or refuses them. Safe for concurrent use.
type Door struct {
	hosts       map[string]bool
	origins     map[string]bool
	crossOrigin *http.CrossOriginProtection
	token       *[sha256.Size]byte // nil: none is needed
	public      []string

	hostFlag, originFlag string
}

// New makes a door. It is fault.Usage when a host or an origin is malformed.
func New(p Policy) (*Door, error) {
	d := &Door{hosts: map[string]bool{}, origins: map[string]bool{}, crossOrigin: http.NewCrossOriginProtection(), public: p.Public,
		hostFlag: p.HostFlag, originFlag: p.OriginFlag}
	for _, host := range p.Hosts {
		name, ok := hostName(host)
		if !ok || strings.ContainsAny(host, "/*:@ ") && !isAddress(name) {
			err := fault.New(fault.Usage, "%q is not the name of a host", host)
			return nil, fault.WithNext(err, "write the name alone, for example search.example")
		}
		d.hosts[name] = true
	}
	for _, origin := range p.Origins {
		u, err := url.Parse(origin)
		if err == nil {
			err = d.crossOrigin.AddTrustedOrigin(origin)
		}
		if err != nil || u.User != nil || strings.Contains(origin, "*") || u.Scheme+"://"+u.Host != origin || strings.ToLower(origin) != origin {
			err := fault.New(fault.Usage, "%q is not an origin", origin)
			return nil, fault.WithNext(err, "write it as the browser does, for example https://app.example:8443; * and null are not allowed")
		}
		d.origins[origin] = true
	}
	if p.Token != "" {
		sum := sha256.Sum256([]byte(p.Token))
		d.token = &sum
	}
	return d, nil
}

// Wrap is a handler that gets the requests that the door accepts.
func (d *Door) Wrap(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		local, authorized := isLocal(r), d.token != nil && d.authorized(r)
		if !local && !authorized && !d.hostAllowed(r) {
			d.refuseHost(w, r)
			return
		}
		if len(d.origins) > 0 {
			w.Header().Add("Vary", "Origin")
		}
		origin := r.Header.Get("Origin")
		if !d.originAllowed(r) {
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
		if d.token != nil && !local && !authorized && !slices.Contains(d.public, r.URL.Path) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="reshelve"`)
			refuse(w, r, http.StatusUnauthorized, "security_exception", "the request carries no token, or a wrong one",
				"send the header Authorization: Bearer TOKEN, with what the server has in RESHELVE_TOKEN or --token-file")
			return
		}
		handler.ServeHTTP(w, r)
	})
}

// isLocal reports whether a request came through a socket in a folder, or from the process itself.
func isLocal(r *http.Request) bool {
	at, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && (at.Network() == "unix" || at.Network() == "pipe")
}

// authorized reports whether a request carries the token.
func (d *Door) authorized(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(sum[:], d.token[:]) == 1
}

// hostAllowed reports whether the Host of a request is a name or an address of this server. A request
// without one (HTTP/1.0) does not come from a browser.
func (d *Door) hostAllowed(r *http.Request) bool {
	if r.Host == "" {
		return true
	}
	name, ok := hostName(r.Host)
	if !ok {
		return false
	}
	if name == "localhost" || strings.HasSuffix(name, ".localhost") || d.hosts[name] {
		return true
	}
	address, err := netip.ParseAddr(name)
	return err == nil && (address.Unmap().IsLoopback() || !viaLoopback(r))
}

// viaLoopback reports whether a connection ends at an address of loopback. One whose address is not known
// counts as such.
func viaLoopback(r *http.Request) bool {
	at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return !ok || at.IP.IsLoopback()
}

// originAllowed reports whether a request comes from no page, from a page of this server, or from one of an
// allowed origin. The library passes safe methods unchecked; here all methods are checked.
func (d *Door) originAllowed(r *http.Request) bool {
	if r.Header["Origin"] == nil && r.Header["Sec-Fetch-Site"] == nil {
		return true
	}
	asked := http.Request{Method: http.MethodPost, Header: r.Header, Host: r.Host, URL: r.URL}
	return d.crossOrigin.Check(&asked) == nil
}

// hostName is the name or the address in a Host, without port and normalised for comparison.
func hostName(host string) (string, bool) {
	name := withoutPort(host)
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

// withoutPort is a Host without its port and its brackets.
func withoutPort(host string) string {
	if name, port, err := net.SplitHostPort(host); err == nil && strings.Trim(port, "0123456789") == "" {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}
