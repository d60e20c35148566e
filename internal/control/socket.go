package control

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
)

// socketName is the file in a data folder on which its server listens.
const socketName = "socket"

// longestSocket is the longest path of a socket that every system takes, in bytes.
const longestSocket = 100

// listenInside listens on the socket of a folder that the caller has open; what a
// killed server left there is removed.
func listenInside(ctx context.Context, dir string) (net.Listener, error) {
	path := filepath.Join(dir, socketName)
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return nil, fault.At(fault.New(fault.Unavailable, "%w", err), path)
	}
	var listener net.Listener
	err := viaShortPath(dir, func(short string) (err error) {
		var config net.ListenConfig
		listener, err = config.Listen(ctx, "unix", short)
		return err
	})
	if err != nil {
		return nil, fault.At(fault.New(fault.Unavailable, "%w", err), path)
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false) // its path may have been a short one
	return &inside{listener, path}, nil
}

// inside removes its file when it is closed.
type inside struct {
	net.Listener
	path string
}

func (l *inside) Close() error {
	err := l.Listener.Close()
	_ = os.Remove(l.path)
	return err
}

// dialInside connects to the server of a folder.
func dialInside(ctx context.Context, dir string) (conn net.Conn, err error) {
	err = viaShortPath(dir, func(short string) (err error) {
		var dialer net.Dialer
		conn, err = dialer.DialContext(ctx, "unix", short)
		return err
	})
	return conn, err
}

// untilOpen tries to open a folder, or to reach the process that has: one that has just opened it
// cannot be reached yet, and one that only looks into it will soon be gone.
func untilOpen(ctx context.Context, try func() error) error {
	for end := time.Now().Add(3 * time.Second); ; {
		err := try()
		if !fault.Is(err, fault.Conflict) || time.Now().After(end) {
			return err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

// viaShortPath gives use a path of the folder's socket that is short enough for
// the system: through an open descriptor of the folder where its own is too long.
func viaShortPath(dir string, use func(path string) error) error {
	path := filepath.Join(dir, socketName)
	if len(path) <= longestSocket {
		return use(path)
	}
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	return use(fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), socketName))
}
