package control

import (
	"context"
	"net"
	"sync"
)

// successor goes through the process that serves a folder, and serves it itself, to all who
// come, when that process has gone: killed, mostly, while others worked through it. Safe for
// concurrent use.
type successor struct {
	reach func(context.Context) (net.Conn, error)
	serve func(context.Context) (leave func() error, err error) // opens the folder

	mu    sync.Mutex
	left  bool
	leave func() error // of the folder; nil until it is served here
}

// dial connects to whoever serves the folder.
func (s *successor) dial(ctx context.Context) (net.Conn, error) {
	conn, gone := s.reach(ctx)
	if gone == nil {
		return conn, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left || s.leave != nil || ctx.Err() != nil {
		return nil, gone
	}
	if conn, err := s.reach(ctx); err == nil { // somebody was faster
		return conn, nil
	}
	leave, err := s.serve(context.WithoutCancel(ctx)) // for longer than this request
	if err != nil {
		return nil, gone // somebody is about to, or nobody can: it is tried again
	}
	s.leave = leave
	return s.reach(ctx)
}

// close ends the serving, if any: nobody is followed any more.
func (s *successor) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = true
	if s.leave == nil {
		return nil
	}
	return s.leave()
}
