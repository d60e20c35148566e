package cluster

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/reshelve/reshelve/fault"
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
	server      atomic.Pointer[Server]
}

// Open makes a client and asks the cluster who it is.
func Open(ctx context.Context, o Options) (*Client, error) {
	c, err := open(o)
	if err != nil {
		return nil, err
	}
	if o.Soon > 0 {
		err = c.reachable(ctx, o.Soon)
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

// reachable is the error of an address at which nothing is, within soon. Whatever else keeps a server from answering may
// pass, and is for those who ask it for something.
func (c *Client) reachable(ctx context.Context, soon time.Duration) error {
	_, err := c.Send(ctx, Request{Method: http.MethodGet, Patience: soon})
	var unknown *net.DNSError
	if errors.Is(err, syscall.ECONNREFUSED) || errors.As(err, &unknown) && unknown.IsNotFound {
		return err
	}
	return nil
}

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
		err := fault.At(fault.New(fault.Unavailable, "no answer within %s", timeout), c.place)
		return &trouble{again: ifHarmless, err: fault.WithNext(err, "see whether the cluster is overloaded")}
	}
	return c.broken(err)
}
