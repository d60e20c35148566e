package gateway

import (
	"net/http"
	"net/url"
	"strings"
)

// route is one row of the API.
type route struct {
	methods string // "GET POST"
	pattern string // "/{index}/_doc/{id}"
	params  string // the parameters known beside the common ones: "routing refresh"
	handle  func(c *call) error
}

// maxNames is the most names that a pattern holds.
const maxNames = 4

// node is a place in the tree of patterns. net/http's own ServeMux is no choice:
// it refuses /{index}/_search beside /_cat/{name}, and redirects ids such as "..".
type node struct {
	literal map[string]*node
	named   *node
	routes  []endpoint
	allowed string // the methods of routes, as the server lists them
}

// endpoint is a route with its method and what its pattern says, taken apart.
type endpoint struct {
	*route
	method string
	names  []string        // of the pattern, in order
	known  map[string]bool // parameters
}

// methodOrder is the order in which the server lists methods.
var methodOrder = []string{"PUT", "DELETE", "POST", "GET", "HEAD"}

func (n *node) add(r *route) {
	var names []string
	for segment := range strings.SplitSeq(strings.Trim(r.pattern, "/"), "/") {
		if r.pattern == "/" {
			break
		}
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
			if n.named == nil {
				n.named = &node{}
			}
			n = n.named
			continue
		}
		if n.literal[segment] == nil {
			if n.literal == nil {
				n.literal = map[string]*node{}
			}
			n.literal[segment] = &node{}
		}
		n = n.literal[segment]
	}
	known := map[string]bool{}
	for name := range strings.FieldsSeq(r.params) {
		known[name] = true
	}
	for _, method := range strings.Fields(r.methods) {
		n.routes = append(n.routes, endpoint{r, method, names, known})
	}
	n.allowed = ""
	for _, method := range methodOrder {
		if n.find(method) != nil {
			n.allowed += "," + method
		}
	}
	n.allowed = strings.TrimPrefix(n.allowed, ",")
}

func (n *node) find(method string) *endpoint {
	for i := range n.routes {
		if n.routes[i].method == method {
			return &n.routes[i]
		}
	}
	return nil
}

// match finds the node of a path, its literal way first, and puts the texts of
// its names into values.
func (n *node) match(path string, encoded bool, values *[maxNames]string, depth int) *node {
	if path == "" || path == "/" {
		if len(n.routes) == 0 {
			return nil
		}
		return n
	}
	segment, rest := path[1:], ""
	if slash := strings.IndexByte(segment, '/'); slash >= 0 {
		segment, rest = segment[:slash], segment[slash:]
	}
	if encoded && strings.IndexByte(segment, '%') >= 0 {
		if text, err := url.PathUnescape(segment); err == nil {
			segment = text
		}
	}
	if next := n.literal[segment]; next != nil {
		if found := next.match(rest, encoded, values, depth); found != nil {
			return found
		}
	}
	if n.named == nil || segment == "" || depth == maxNames {
		return nil
	}
	values[depth] = wellFormed(segment)
	return n.named.match(rest, encoded, values, depth+1)
}

// alone are the paths of one word that the server has and this one has not: none of them is the
// name of an index.
var alone = map[string]bool{
	"_dangling": true, "_list": true, "_mtermvectors": true, "_rank_eval": true, "_recovery": true, "_script_context": true,
	"_script_language": true, "_segments": true, "_shard_stores": true, "_upgrade": true,
}

// locate finds the endpoint of the request, or answers that there is none.
func (c *call) locate() (*endpoint, error) {
	path, encoded := c.r.URL.RawPath, true
	if path == "" {
		path, encoded = c.r.URL.Path, false
	}
	if path == "" || path[0] != '/' {
		path = "/" + path
	}
	n := c.s.routes.match(path, encoded, &c.values, 0)
	if n == nil || n == c.s.routes.named && alone[c.values[0]] {
		return nil, c.plainError(http.StatusBadRequest, false, "no handler found for uri ["+c.r.URL.EscapedPath()+"] and method ["+c.r.Method+"]")
	}
	if c.endpoint = n.find(c.r.Method); c.endpoint != nil {
		return c.endpoint, nil
	}
	c.w.Header().Set("Allow", n.allowed)
	if c.r.Method == http.MethodOptions {
		return nil, c.plain(nil)
	}
	return nil, c.plainError(http.StatusMethodNotAllowed, true,
		"Incorrect HTTP method for uri ["+c.uri()+"] and method ["+c.r.Method+"], allowed: ["+strings.ReplaceAll(n.allowed, ",", ", ")+"]")
}

// uri is the request's target as it was sent.
func (c *call) uri() string {
	if c.r.RequestURI != "" {
		return c.r.RequestURI
	}
	return c.r.URL.RequestURI()
}
