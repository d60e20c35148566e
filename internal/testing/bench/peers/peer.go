package peers

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/reshelve/reshelve/internal/testing/servers"
)

// Peer is a server under test. Its methods are called by one goroutine at a time.
type Peer struct {
	Name string
	Dir  string // holds all that it writes
	URL  string // while it runs

	flags []string // of this store; nil: it is another
	run   func(ctx context.Context) (url string, pid int, stop func(), err error)
	pid   int
	stop  func()
}

// Attach is a process that somebody else has started and ends, for what the kernel accounts
// of it.
func Attach(name string, pid int) *Peer { return &Peer{Name: name, pid: pid, stop: func() {}} }

const patience = 2 * time.Minute

// Start starts the peer, and returns how long it took until the request had an
// answer that is good: with status 200, and accepted unless accept is nil.
func (p *Peer) Start(ctx context.Context, request []byte, accept func(answer []byte) bool) (time.Duration, error) {
	began := time.Now()
	url, pid, stop, err := p.run(ctx)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", p.Name, err)
	}
	p.URL, p.pid, p.stop = url, pid, stop
	var last string
	for time.Since(began) < patience && ctx.Err() == nil {
		if c, err := Dial(p.URL); err == nil {
			status, answer, err := c.Do(request)
			_ = c.Close()
			if err == nil && status == 200 && (accept == nil || accept(answer)) {
				return time.Since(began), nil
			}
			last = fmt.Sprintf("%d %.1000s: %v", status, answer, err)
		}
		time.Sleep(time.Millisecond)
	}
	p.stop()
	return 0, fmt.Errorf("%s has no good answer after its start: %s: %w", p.Name, last, cmp.Or(ctx.Err(), errors.New("too late")))
}

// Stop lets the peer end by itself, as an operator would. It may be called twice, and of a peer
// that never ran.
func (p *Peer) Stop() {
	p.stop()
	p.stop = func() {}
}

// Kill ends the peer as a power cut would end its process.
func (p *Peer) Kill() {
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	p.stop()
}

// Build compiles this store, from the module of the working directory.
func Build(ctx context.Context, binary string) error {
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "github.com/reshelve/reshelve/cmd/reshelve")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is released: Pebble's cache is Go's then
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}

// Reshelve is this store, served with more flags.
func Reshelve(binary, dir string, flags ...string) *Peer {
	p := &Peer{Name: "reshelve", Dir: dir, flags: append([]string{}, flags...), stop: func() {}}
	p.run = func(ctx context.Context) (string, int, func(), error) {
		args := append([]string{"serve", "--data", filepath.Join(dir, "data"), "--listen", "127.0.0.1:0"}, flags...)
		cmd := exec.CommandContext(ctx, binary, args...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		told, err := cmd.StderrPipe()
		if err != nil {
			return "", 0, nil, err
		}
		if err := cmd.Start(); err != nil {
			return "", 0, nil, err
		}
		lines := bufio.NewReader(told)
		line, err := lines.ReadString('\n')
		_, rest, found := strings.Cut(line, " on http://")
		if err != nil || !found {
			_ = cmd.Process.Kill()
			return "", 0, nil, fmt.Errorf("it says %q: %w", line, cmp.Or(err, errors.New("there is no address in it")))
		}
		go func() { _, _ = lines.WriteTo(os.Stderr) }()
		address, _, _ := strings.Cut(rest, ": ")
		stop := func() {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			_ = cmd.Wait()
		}
		return "http://" + address, cmd.Process.Pid, stop, nil
	}
	return p
}

// OpenSearch is the server that we are compared with.
func OpenSearch(version, dir string) *Peer {
	p := &Peer{Name: "OpenSearch " + version, Dir: dir, stop: func() {}}
	p.run = func(ctx context.Context) (string, int, func(), error) {
		s, err := servers.Start(ctx, servers.OpenSearch(version), servers.Options{Dir: dir, Heap: "1g", Shipped: true})
		if err != nil {
			return "", 0, nil, err
		}
		return s.URL, s.PID(), func() { _ = s.Stop() }, nil
	}
	return p
}
