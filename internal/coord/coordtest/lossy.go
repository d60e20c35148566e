package coordtest

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"
)

// Lossy is a way to a server by HTTP on which one of Every requests fails: it
// is lost, or its answer is, or somebody refuses it before (429) or says that he could not (503) although it
// was done. Others are late.
type Lossy struct {
	Base  http.RoundTripper
	Every int

	mu     sync.Mutex
	random *rand.Rand
}

func (l *Lossy) draw(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.random == nil {
		l.random = rand.New(rand.NewPCG(3, 3))
	}
	return l.random.IntN(n)
}

var errLost = errors.New("the connection was lost")

// RoundTrip is http.RoundTripper's.
func (l *Lossy) RoundTrip(r *http.Request) (*http.Response, error) {
	if l.draw(l.Every) > 0 {
		if l.draw(l.Every) == 0 {
			time.Sleep(time.Duration(l.draw(20)) * time.Millisecond)
		}
		return l.Base.RoundTrip(r)
	}
	fate := l.draw(4)
	switch fate {
	case 0, 1: // before it is done
		if r.Body != nil {
			_ = r.Body.Close()
		}
	default:
		response, err := l.Base.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
	}
	switch fate {
	case 1:
		return refusal(r, http.StatusTooManyRequests, "rejected_execution_exception"), nil
	case 2:
		return refusal(r, http.StatusServiceUnavailable, "unavailable_shards_exception"), nil
	}
	return nil, errLost
}

func refusal(r *http.Request, status int, kind string) *http.Response {
	body := `{"error":{"root_cause":[],"type":"` + kind + `","reason":"it is a trial"}}`
	return &http.Response{StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: int64(len(body)),
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewBufferString(body))}
}

// LossyConn is a connection of which one of Every reads fails after something was
// sent: an answer that is lost.
type LossyConn struct {
	net.Conn
	Every int
}

// Read is net.Conn's.
func (c *LossyConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err == nil && rand.IntN(c.Every) == 0 {
		_ = c.Close()
		return 0, errLost
	}
	return n, err
}
