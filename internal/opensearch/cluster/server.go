package cluster

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
)

// Product is a kind of cluster.
type Product string

// The products that are known.
const (
	OpenSearch    Product = "opensearch"
	Elasticsearch Product = "elasticsearch"
	Reshelve      Product = "reshelve" // it speaks as the OpenSearch whose version it tells
)

// Version is that of a product.
type Version struct{ Major, Minor, Patch int }

// String is "2.19.0".
func (v Version) String() string {
	return strconv.Itoa(v.Major) + "." + strconv.Itoa(v.Minor) + "." + strconv.Itoa(v.Patch)
}

// AtLeast compares.
func (v Version) AtLeast(major, minor int) bool {
	return v.Major > major || v.Major == major && v.Minor >= minor
}

// Server is who answers.
type Server struct {
	Product Product `json:"product"`
	Version Version `json:"version"`
	Name    string  `json:"name"` // of the cluster
	UUID    string  `json:"uuid"` // of the cluster; "" where it is not told
}

// String is "opensearch 2.19.0".
func (s *Server) String() string { return string(s.Product) + " " + s.Version.String() }

// Elastic tells whether it is Elasticsearch of major.minor or later.
func (s *Server) Elastic(major, minor int) bool {
	return s.Product == Elasticsearch && s.Version.AtLeast(major, minor)
}

// Open tells whether it is OpenSearch of major.minor or later, or speaks as it.
func (s *Server) Open(major, minor int) bool {
	return s.Product != Elasticsearch && s.Version.AtLeast(major, minor)
}

// Server asks who answers, once.
func (c *Client) Server(ctx context.Context) (*Server, error) {
	if s := c.server.Load(); s != nil {
		return s, nil
	}
	s, err := c.greet(ctx)
	if err != nil {
		return nil, err
	}
	if s.Product == Elasticsearch && s.Version.Major < 7 || s.Product != Elasticsearch && s.Version.Major < 1 {
		err := fault.At(fault.New(fault.Refused, "it is %s, which is too old for what is asked of it", s), c.place)
		return nil, fault.WithNext(err, "OpenSearch 1 and later and Elasticsearch 7 and later can be asked; of older ones the snapshots are read")
	}
	c.server.Store(s)
	return s, nil
}

type greeting struct {
	Cluster string `json:"cluster_name"`
	UUID    string `json:"cluster_uuid"`
	Tagline string `json:"tagline"`
	Version struct {
		Distribution string `json:"distribution"`
		Number       string `json:"number"`
		Build        string `json:"build_type"`
		OpenSearch   string `json:"opensearch_version"` // of Reshelve, when Number is one for clients of Elasticsearch
	} `json:"version"`
}

// greet reads GET /. OpenSearch can be told to call itself 7.10.2, and servers
// without that page exist: the nodes tell the version then.
func (c *Client) greet(ctx context.Context) (*Server, error) {
	answer, err := c.Send(ctx, Request{Method: http.MethodGet})
	if err != nil {
		if s, other := c.askNodes(ctx, nil, err); other == nil {
			return s, nil
		}
		return nil, c.astray(err)
	}
	var g greeting
	if err := json.Unmarshal(answer.Body, &g); err != nil || g.Version.Number == "" {
		err := fault.At(fault.New(fault.Refused, "what answers is no document store"), c.place)
		return nil, fault.WithNext(c.astray(err), "give the address of OpenSearch, Elasticsearch or reshelve serve")
	}
	s := &Server{Product: Elasticsearch, Version: readVersion(g.Version.Number), Name: g.Cluster, UUID: g.UUID}
	switch {
	case g.Version.Build == "reshelve":
		s.Product = Reshelve
		if g.Version.OpenSearch != "" {
			s.Version = readVersion(g.Version.OpenSearch)
		}
	case g.Version.Distribution == "opensearch" || strings.Contains(g.Tagline, "OpenSearch"):
		s.Product = OpenSearch
	}
	if s.Product == OpenSearch && s.Version.Major == 7 { // compatibility.override_main_response_version
		return c.askNodes(ctx, s, nil)
	}
	return s, nil
}

// astray says of an address with a path, at which no server greets, what it is without.
func (c *Client) astray(err error) error {
	if c.base.Path == "" || !fault.Is(err, fault.Refused) && !fault.Is(err, fault.NotFound) {
		return err
	}
	return fault.WithNext(err, "write %s: only behind a proxy the address of a store has a path", bare(c.base))
}

// askNodes asks the nodes for their version, the oldest of which counts. First is
// why it is asked, when the greeting has failed.
func (c *Client) askNodes(ctx context.Context, s *Server, first error) (*Server, error) {
	if first != nil && !fault.Is(first, fault.Refused) && !fault.Is(first, fault.Unavailable) {
		return nil, first
	}
	params := url.Values{"filter_path": {"cluster_name,nodes.*.version,nodes.*.build_type"}}
	answer, err := c.Send(ctx, Request{Method: http.MethodGet, Path: []string{"_nodes", "_all", "http"}, Params: params, Patience: -1})
	if err != nil {
		return nil, err
	}
	var told struct {
		Cluster string `json:"cluster_name"`
		Nodes   map[string]struct {
			Version string `json:"version"`
		} `json:"nodes"`
	}
	if err := json.Unmarshal(answer.Body, &told); err != nil || len(told.Nodes) == 0 {
		return nil, fault.At(fault.New(fault.Refused, "what answers is no document store"), c.place)
	}
	if s == nil {
		s = &Server{Product: OpenSearch, Name: told.Cluster}
	}
	s.Version = Version{}
	for _, n := range told.Nodes {
		if v := readVersion(n.Version); s.Version == (Version{}) || s.Version.AtLeast(v.Major, v.Minor) {
			s.Version = v
		}
	}
	if s.Version.Major >= 7 { // no OpenSearch has come so far
		s.Product = Elasticsearch
	}
	return s, nil
}

// readVersion reads "8.15.0-SNAPSHOT".
func readVersion(number string) (v Version) {
	parts := strings.SplitN(number, ".", 3)
	for i, to := range []*int{&v.Major, &v.Minor, &v.Patch} {
		if i < len(parts) {
			digits, _, _ := strings.Cut(parts[i], "-")
			*to, _ = strconv.Atoi(digits)
		}
	}
	return v
}

// redacted is an address without its user.
func redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address that cannot be read"
	}
	u.User, u.RawQuery = nil, ""
	return u.String()
}
