package control

import (
	"context"
	"errors"
	"net"
	"testing"
)

// TestWhoWorksThroughAFolderFollowsItsServer: when the process that serves it has gone, the
// folder is opened once, and given back at the end.
func TestWhoWorksThroughAFolderFollowsItsServer(t *testing.T) {
	gone, taken := errors.New("connection refused"), errors.New("another process serves this folder")
	served, opened, closed, refuse := true, 0, 0, true
	s := &successor{
		reach: func(context.Context) (net.Conn, error) {
			if !served {
				return nil, gone
			}
			near, far := net.Pipe()
			_ = far.Close()
			return near, nil
		},
		serve: func(context.Context) (func() error, error) {
			if refuse {
				return nil, taken
			}
			opened++
			served = true
			return func() error { closed++; served = false; return nil }, nil
		},
	}
	dials := func(when string, want error, opens int) {
		t.Helper()
		conn, err := s.dial(t.Context())
		if err == nil {
			_ = conn.Close()
		}
		if err != want || opened != opens {
			t.Errorf("%s: %v, opened %d times", when, err, opened)
		}
	}
	dials("it is served", nil, 0)
	served = false
	dials("it is served no more, and somebody else has it open", gone, 0)
	refuse = false
	dials("nobody has it", nil, 1)
	dials("it is served here", nil, 1)
	if err := s.close(); err != nil || closed != 1 {
		t.Errorf("closed %d times, %v", closed, err)
	}
	dials("it was left", gone, 1)
}
