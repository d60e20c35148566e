package gateway

import (
	"context"
	"net/http"
	"time"

	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// call is one request and its answer. It is reused; nothing of it is kept after
// the handler has returned.
type call struct {
	s        *Server
	w        http.ResponseWriter
	r        *http.Request
	endpoint *endpoint
	values   [maxNames]string // of the endpoint's names
	params   []param
	look     appearance // how the client wants its answer
	sent     media      // of the body
	body     []byte     // as read by content; valid until the call ends
	held     int64      // bytes counted as in flight
	started  time.Time
	answered bool

	out   []byte // the answer is appended here
	spare []byte // out is made into another form here

	reader token.Reader       // of the body
	filter query.SourceFilter // of the sources that the answer shows
	items  bulk               // of a bulk request
}

// largestKept is the size above which a buffer is not kept for another call.
const largestKept = 4 << 20

func (c *call) begin(s *Server, w http.ResponseWriter, r *http.Request) {
	c.s, c.w, c.r, c.started = s, w, r, time.Now()
}

// end makes the call ready for another request.
func (c *call) end() {
	s := c.s
	s.inFlight.Add(-c.held)
	clear(c.params[:cap(c.params)])
	c.reader.Reset(nil)
	c.items.clear()
	*c = call{params: c.params[:0], body: kept(c.body), out: kept(c.out), spare: kept(c.spare), reader: c.reader, items: c.items}
	s.calls.Put(c)
}

func kept(buffer []byte) []byte {
	if cap(buffer) > largestKept {
		return nil
	}
	return buffer[:0]
}

// ctx ends when the client goes away.
func (c *call) ctx() context.Context { return c.r.Context() }

// name is the text that stands in the path for a name of the pattern; "" when
// the pattern does not hold it.
func (c *call) name(name string) string {
	for i, known := range c.endpoint.names {
		if known == name {
			return c.values[i]
		}
	}
	return ""
}

// took is the time since the request came, in milliseconds.
func (c *call) took() int64 { return time.Since(c.started).Milliseconds() }
