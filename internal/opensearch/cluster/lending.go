package cluster

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// lending lends a request's body to the transport, which may go on reading after
// it has returned an answer: the end takes the body back, and its owner may
// change it.
type lending struct {
	mu    sync.Mutex
	ended bool
}

var errEnded = errors.New("the request has ended")

func (l *lending) open(body []byte) io.ReadCloser { return &lent{l, *bytes.NewReader(body)} }

func (l *lending) end() {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
}

type lent struct {
	*lending
	body bytes.Reader
}

func (l *lent) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return 0, errEnded
	}
	return l.body.Read(p)
}

func (l *lent) Close() error { return nil }
