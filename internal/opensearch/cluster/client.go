package cluster

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
)

// MaxAnswer is the most bytes of an answer that are read.
const MaxAnswer = 256 << 20

// Client asks one cluster. Safe for concurrent use.
type Client struct {
	base        *url.URL
	http        *http.Client
	place       string
	credentials Credentials
	agent       string
	compress    bool
	timeout     time.Duration // 0: none but the context's
	patience    time.Duration
	asks        string // what the credentials are read from; "": nothing is known of that
	trust       string // what names the certificates that are trusted; "": nothing is known of that
	server      atomic.Pointer[Server]
}

// Open makes a client and asks the cluster who it is.
func Open(ctx context.Context, o Options) (*Client, error) {
	c, err := open(o)
	if err != nil {
		return nil, err
	}
	if o.Soon > 0 || o.Silence > 0 {
		err = c.reachable(ctx, o.Soon, o.Silence)
	}
	if err == nil {
		_, err = c.Server(ctx)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// reachable is the error of an address at which nothing is, within soon, and of a server that says nothing within silence; 0:
// that has no bound. Whatever else keeps a server from answering may pass, and is for those who ask it for something.
func (c *Client) reachable(ctx context.Context, soon, silence time.Duration) error {
	if soon == 0 {
		soon = -1
	}
	_, err := c.Send(ctx, Request{Method: http.MethodGet, Patience: soon, Timeout: silence})
	var unknown *net.DNSError
	switch {
	case errors.As(err, &unknown) && unknown.IsNotFound, errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH),
		silence > 0 && errors.Is(err, errSilent):
		return err
	case err != nil && (errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF) || strings.Contains(err.Error(), "HTTPS")) && c.speaksTLS(ctx):
		return fault.WithNext(fault.At(fault.New(fault.Refused, "it speaks TLS, and answers nothing without"), c.place), "write https:// instead")
	}
	return nil
}

// speaksTLS reports whether a server that was asked without TLS wants it. The greeting is all that it is sent.
func (c *Client) speaksTLS(ctx context.Context) bool {
	transport, ok := c.http.Transport.(*http.Transport)
	if !ok || transport.DialContext == nil || c.base.Scheme != "http" {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := transport.DialContext(ctx, "tcp", net.JoinHostPort(c.base.Hostname(), cmp.Or(c.base.Port(), "80")))
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	err = tls.Client(conn, &tls.Config{ServerName: c.base.Hostname(), MinVersion: tls.VersionTLS12}).HandshakeContext(ctx)
	var certificate *tls.CertificateVerificationError
	return err == nil || errors.As(err, &certificate)
}

// errSilent is the cause when nothing was answered in time.
var errSilent = errors.New("no answer")

func open(o Options) (*Client, error) {
	base := &url.URL{Scheme: "http", Host: "store"}
	if o.URL != "" || o.Transport == nil {
		u, err := o.address()
		if err != nil {
			return nil, err
		}
		base = u
	}
	if err := o.Credentials.check(); err != nil {
		return nil, err
	}
	transport, err := o.transport()
	if err != nil {
		return nil, err
	}
	c := &Client{base: base, place: o.Place, credentials: o.Credentials, agent: o.UserAgent, compress: o.Compress, timeout: o.Timeout, patience: o.Patience}
	c.trust, c.asks = o.TLS.CAFrom, o.CredentialsFrom
	if c.place == "" {
		c.place = base.Redacted()
	}
	if c.agent == "" {
		c.agent = "reshelve"
	}
	if c.timeout == 0 {
		c.timeout = 2 * time.Minute
	}
	if c.patience == 0 {
		c.patience = time.Minute
	}
	c.http = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // credentials do not travel to where somebody points
	}}
	return c, nil
}

// New makes a client of the store at base, "http://host:port" with an optional
// path, which asks once and fails at once: for verbs that a person waits for.
// Transport is how it is reached; nil: the house's own.
func New(base string, transport http.RoundTripper) (*Client, error) {
	u := Options{URL: base}
	if _, err := u.address(); err != nil {
		return nil, err
	}
	return open(Options{URL: base, Transport: transport, Patience: -1})
}

// Via makes a client of the store that transport leads to whatever the address:
// through a socket, or within the process. Place is what errors name.
func Via(transport http.RoundTripper, place string) *Client {
	c, _ := open(Options{Transport: transport, Place: place, Patience: -1}) // nothing in it can be wrong
	return c
}

// String is the address without credentials, or the place.
func (c *Client) String() string { return c.place }

// Transport reaches the cluster for others as this client does: with what it trusts, and with its credentials but for signatures.
func (c *Client) Transport() http.RoundTripper { return authorised{c} }

type authorised struct{ client *Client }

// RoundTrip is http.RoundTripper's.
func (a authorised) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.client.credentials != (Credentials{}) && a.client.credentials.AWS == nil {
		r = r.Clone(r.Context())
		if err := a.client.authorise(r, nil); err != nil {
			return nil, err
		}
	}
	return a.client.http.Transport.RoundTrip(r)
}

// Close closes connections that are not in use.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Request is one request.
type Request struct {
	Method string
	Path   []string // the parts of the path, which Send escapes
	Params url.Values
	Body   []byte // JSON unless Type says otherwise; nil for none
	Type   string // the content type

	// Harmless says that applying it twice is as good as once, so that it may be
	// sent again when nobody knows whether it was applied. GET and HEAD always are.
	Harmless bool
	Timeout  time.Duration // of one attempt; 0: the client's
	Patience time.Duration // for all attempts; 0: the client's; negative: one attempt
	Pack     bool          // gzip the body, even where Options.Compress is not set
	Most     int64         // bytes of the answer; 0: MaxAnswer
}

// Answer is a success.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do sends one request and reads its answer. Segments are the parts of the path,
// which Do escapes; body is JSON, nil for none. What is no GET is not harmless.
func (c *Client) Do(ctx context.Context, method string, segments []string, params url.Values, body []byte) ([]byte, error) {
	answer, err := c.Send(ctx, Request{Method: method, Path: segments, Params: params, Body: body})
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}

// Send sends a request, again while it fails in passing and its repetition is
// harmless, and reads the answer. Errors have their kind from the one table of
// this package, and name the place.
func (c *Client) Send(ctx context.Context, r Request) (*Answer, error) {
	var answer *Answer
	patience := r.Patience
	if patience == 0 {
		patience = c.patience
	}
	harmless := r.Harmless || r.Method == http.MethodGet || r.Method == http.MethodHead
	err := insist(ctx, patience, func() (t *trouble) {
		answer, t = c.exchange(ctx, &r, nil)
		if t != nil && t.again == ifHarmless && !harmless {
			t.again = never
		}
		return t
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// exchange sends a request once. Buffer is grown and reused for the answer when
// it is not nil: the answer's body lies in it.
func (c *Client) exchange(ctx context.Context, r *Request, buffer *bytes.Buffer) (*Answer, *trouble) {
	timeout := r.Timeout
	if timeout == 0 {
		timeout = c.timeout
	}
	within, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	lent := &lending{}
	defer lent.end()
	request, err := c.request(within, r, lent)
	if err != nil {
		return nil, &trouble{err: fault.At(err, c.place)}
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, c.unreachable(ctx, err, timeout)
	}
	defer response.Body.Close()
	if buffer == nil {
		buffer = &bytes.Buffer{}
	}
	buffer.Reset()
	most := r.Most
	if most == 0 {
		most = MaxAnswer
	}
	if n := response.ContentLength; n > 0 && n <= most {
		buffer.Grow(int(n) + bytes.MinRead)
	}
	n, err := io.Copy(buffer, io.LimitReader(response.Body, most+1))
	switch {
	case err != nil:
		return nil, c.unreachable(ctx, err, timeout)
	case n > most:
		return nil, &trouble{err: fault.At(fault.New(fault.Limit, "the answer to %s %s has more than %d bytes", r.Method, request.URL.Path, most), c.place)}
	case response.StatusCode >= 300:
		return nil, c.refused(response, buffer.Bytes())
	}
	return &Answer{Status: response.StatusCode, Header: response.Header, Body: buffer.Bytes()}, nil
}

// request makes one with its credentials.
func (c *Client) request(ctx context.Context, r *Request, lent *lending) (*http.Request, error) {
	u := c.base.JoinPath()
	for _, s := range r.Path {
		u = u.JoinPath(strings.ReplaceAll(url.PathEscape(s), ".", "%2E"))
	}
	u.RawQuery = r.Params.Encode()
	body, packed := r.Body, false
	if (c.compress || r.Pack) && len(body) >= 1<<10 {
		body, packed = pack(body), true
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, u.String(), nil)
	if err != nil {
		return nil, fault.Wrap(fault.Usage, err)
	}
	if body != nil {
		request.ContentLength = int64(len(body))
		request.GetBody = func() (io.ReadCloser, error) { return lent.open(body), nil }
		request.Body = lent.open(body)
		kind := r.Type
		if kind == "" {
			kind = "application/json"
		}
		request.Header.Set("Content-Type", kind)
	}
	if packed {
		request.Header.Set("Content-Encoding", "gzip")
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", c.agent)
	return request, c.authorise(request, body)
}

// unreachable is the trouble of a request that got no whole answer. A cancelled
// caller is no trouble of the other side.
func (c *Client) unreachable(ctx context.Context, err error, timeout time.Duration) *trouble {
	if ctx.Err() != nil {
		return &trouble{err: context.Cause(ctx)}
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err := fault.At(fault.New(fault.Unavailable, "%w within %s", errSilent, timeout), c.place)
		return &trouble{again: ifHarmless, err: fault.WithNext(err, "see whether something answers there, and whether it is overloaded: curl -sS -m 5 %s", c.place)}
	}
	return c.broken(err)
}
