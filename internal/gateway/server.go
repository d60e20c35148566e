package gateway

import (
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store"
)

// Server answers HTTP requests from a store. Safe for concurrent use.
type Server struct {
	store    *store.Store
	options  Options
	routes   *node
	inFlight atomic.Int64 // bytes of bodies
	calls    sync.Pool    // of *call
	started  time.Time
	statuses [6]atomic.Int64 // of writes, by their first digit

	credentials sync.Once // that they are ignored was logged
}

// told counts a write by the status of its answer, which it gives back.
func (s *Server) told(status int) int {
	s.statuses[min(status/100, len(s.statuses)-1)].Add(1)
	return status
}

// New makes a server in front of a store. The store outlives it.
func New(s *store.Store, o Options) *Server {
	server := &Server{store: s, options: o.withDefaults(), routes: &node{}, started: time.Now()}
	server.calls.New = func() any { return new(call) }
	routes := allRoutes()
	if server.elastic() {
		routes = append(slices.Clone(elasticRoutes), routes...) // of two for one path the first counts
	}
	for _, r := range routes {
		server.routes.add(&r)
	}
	return server
}

// allRoutes is the whole API of documents.
func allRoutes() []route {
	return slices.Concat(rootRoutes, documentRoutes, searchRoutes, scrollRoutes, pointRoutes, byQueryRoutes, taskRoutes, validateRoutes, analyzeRoutes, adminRoutes)
}

// ServeHTTP answers one request, with 500 when its handler panics.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := s.calls.Get().(*call)
	c.begin(s, w, r)
	if s.elastic() {
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
	}
	defer func() {
		if cause := recover(); cause != nil {
			c.crash(cause)
			return
		}
		c.end()
	}()
	if err := c.serve(); err != nil && !c.answered {
		c.fail(exception.From(err))
	}
}

// outdated is the header of a request that is to be routed by an older version of the
// placement of its index. It is for trying that this does no harm.
const outdated = "Reshelve-Placement"

// outdate takes the header up.
func (c *call) outdate() error {
	text := c.r.Header.Get(outdated)
	if text == "" {
		return nil
	}
	version, err := strconv.ParseInt(text, 10, 64)
	if err != nil || version < 1 {
		return exception.New(exception.IllegalArgument, "the header [%s] is [%s], and must be the version of a placement", outdated, text)
	}
	c.r = c.r.WithContext(store.WithPlacement(c.ctx(), version))
	return nil
}

// serve finds the route and lets its handler answer.
func (c *call) serve() error {
	if id := c.r.Header.Get(opaqueHeader); id != "" {
		c.w.Header().Set(opaqueHeader, id)
	}
	c.ignoreCredentials()
	if err := c.outdate(); err != nil {
		return err
	}
	if err := c.readMedia(); err != nil {
		return err
	}
	if err := c.readParams(); err != nil {
		return err
	}
	found, err := c.locate()
	if found == nil || err != nil {
		return err
	}
	if err := c.checkContentType(); err != nil || c.answered {
		return err
	}
	if err := c.checkParams(); err != nil {
		return err
	}
	return found.handle(c)
}
