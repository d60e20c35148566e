package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/reshelve/reshelve/exception"
	"github.com/reshelve/reshelve/fault"
)

// MaxAnswer is the most bytes of an answer that are read.
const MaxAnswer = 256 << 20

// Client asks one store. Safe for concurrent use.
type Client struct {
	base  *url.URL
	http  *http.Client
	place string
}

// New makes a client of the store at base, "http://host:port" with an optional
// path. Transport is how it is reached; nil: http.DefaultTransport.
func New(base string, transport http.RoundTripper) (*Client, error) {
	u, err := url.Parse(strings.TrimSuffix(base, "/"))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		err := fault.New(fault.Usage, "%q is no address of a store", base)
		return nil, fault.WithNext(err, "write http://HOST:PORT, or the path of a data folder")
	}
	return &Client{base: u, http: &http.Client{Transport: transport}, place: u.Redacted()}, nil
}

// Via makes a client of the store that transport leads to whatever the address:
// through a socket, or within the process. Place is what errors name.
func Via(transport http.RoundTripper, place string) *Client {
	return &Client{base: &url.URL{Scheme: "http", Host: "store"}, http: &http.Client{Transport: transport}, place: place}
}

// String is the address or the place.
func (c *Client) String() string { return c.place }

// Close closes connections that are not in use.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Do sends one request and reads its answer. Segments are the parts of the path,
// which Do escapes; body is JSON, nil for none.
func (c *Client) Do(ctx context.Context, method string, segments []string, params url.Values, body []byte) ([]byte, error) {
	u := c.base.JoinPath()
	for _, s := range segments {
		u = u.JoinPath(strings.ReplaceAll(url.PathEscape(s), ".", "%2E"))
	}
	u.RawQuery = params.Encode()
	request, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fault.Wrap(fault.Usage, err)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, MaxAnswer+1))
	switch {
	case err != nil:
		return nil, c.unreachable(ctx, err)
	case len(answer) > MaxAnswer:
		return nil, fault.At(fault.New(fault.Limit, "the answer to %s %s has more than %d bytes", method, u.Path, MaxAnswer), c.String())
	case response.StatusCode >= 300:
		return nil, fault.At(refusal(response.StatusCode, answer), c.String())
	}
	return answer, nil
}

func (c *Client) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	err = fault.At(fault.New(fault.Unavailable, "%w", err), c.String())
	return fault.WithNext(err, "start a store there with reshelve serve, or name another with --at")
}

// refusal is the exception that an answer tells.
func refusal(status int, answer []byte) error {
	var told struct {
		Error struct {
			Type   exception.Type `json:"type"`
			Reason string         `json:"reason"`
		} `json:"error"`
	}
	if err := json.Unmarshal(answer, &told); err != nil || told.Error.Type == "" {
		text := strings.TrimSpace(string(answer[:min(len(answer), 200)]))
		return fault.New(fault.Unavailable, "it answers with status %d: %s", status, text)
	}
	e := exception.New(told.Error.Type, "%s", told.Error.Reason).WithStatus(status)
	if told.Error.Type.Row().Type == exception.Unknown {
		return fault.New(fault.Unavailable, "it answers with status %d: %w", status, e)
	}
	return fmt.Errorf("%w", e)
}
