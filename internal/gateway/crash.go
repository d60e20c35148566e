package gateway

import (
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// crash answers a request whose handler panicked with 500, and logs where. An answer that
// has begun is cut off, so that nobody takes it for whole. The call is not used again:
// nobody knows what state it is in.
func (c *call) crash(cause any) {
	s := c.s
	defer s.inFlight.Add(-c.held)
	if cause == http.ErrAbortHandler { //nolint:errorlint // as package net/http compares it
		panic(cause)
	}
	s.store.Logger().Error("a request failed by a bug in this program",
		"method", c.r.Method, "path", c.r.URL.Path, "panic", fmt.Sprint(cause), "place", panicPlace(), "stack", string(debug.Stack()))
	if c.answered {
		panic(http.ErrAbortHandler)
	}
	c.w.Header().Del("Content-Encoding")
	c.out, c.spare, c.look = nil, nil, appearance{}
	c.fail(exception.From(fault.New(fault.Bug, "this is a bug in reshelve, see its log: %v", cause)))
}

// panicPlace is the file and the line of what panicked: the first frame below the one that
// Go's runtime adds.
func panicPlace() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	panicking := false
	for {
		frame, more := frames.Next()
		inside := strings.HasPrefix(frame.Function, "runtime.")
		if panicking && !inside {
			return fmt.Sprintf("%s:%d", frame.File, frame.Line)
		}
		panicking = panicking || inside
		if !more {
			return "unknown"
		}
	}
}
