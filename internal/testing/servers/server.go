package servers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Options of a start. The zero value is a server in a temporary folder of its own.
type Options struct {
	Dir      string         // the run's folder; kept by Stop. "": a temporary one, which Stop removes. Root: see Start
	Settings map[string]any // node settings as flat keys, added to the house's own and winning over them
	Heap     string         // the Java heap, "512m" when empty
	Shipped  bool           // with the Java options of the distribution, except for the heap: for measurements. Else with options with which it starts fast and runs slowly
	Patience time.Duration  // how long to wait until the server is healthy; 3 minutes when zero
}

// Server is one running server. Its methods may be called from several goroutines.
type Server struct {
	Version Version
	URL     string // "http://127.0.0.1:PORT"
	Dir     string // the run's folder
	Repos   string // where repositories of type fs may lie: a location is a folder below it

	command   *exec.Cmd
	console   string
	exited    chan struct{}
	exit      error
	temporary bool
	stop      sync.Once
	stopped   error
	unwatch   func() bool
}

// Start fetches what the version needs, starts it and waits until its health is at least yellow. When ctx ends, the server
// is stopped. The error of a server that did not come up ends with the last lines that it printed.
//
// Root starts the server as the user nobody and gives it Options.Dir, which must therefore not lie in a folder that is closed
// to others, as those of testing's TempDir are; one of os.MkdirTemp will do.
func Start(ctx context.Context, v Version, o Options) (*Server, error) {
	plan, err := prepare(ctx, v, o)
	if err != nil {
		return nil, err
	}
	server, err := plan.start(o.Dir == "")
	if err != nil {
		return nil, err
	}
	patience := o.Patience
	if patience == 0 {
		patience = 3 * time.Minute
	}
	if err := server.waitHealthy(ctx, patience); err != nil {
		log := server.lastLines()
		return nil, errors.Join(fmt.Errorf("servers: %s on %s did not start: %w\n%s", v, plan.java, err, log), server.Stop())
	}
	server.unwatch = context.AfterFunc(ctx, func() { _ = server.Stop() })
	return server, nil
}

// prepare gathers everything that a start needs and lays the run's folder.
func prepare(ctx context.Context, v Version, o Options) (run, error) {
	home, err := Fetch(ctx, v)
	if err != nil {
		return run{}, err
	}
	java, err := findJava(ctx, v)
	if err != nil {
		return run{}, err
	}
	plan := run{version: v, home: home, java: java, dir: o.Dir, heap: o.Heap, shipped: o.Shipped, extra: o.Settings}
	if plan.heap == "" {
		plan.heap = "512m"
	}
	if plan.dir == "" {
		plan.dir, err = os.MkdirTemp("", "reshelve-"+v.String()+"-")
	} else {
		plan.dir, err = filepath.Abs(plan.dir)
	}
	if err != nil {
		return run{}, err
	}
	if plan.http, plan.transport, err = freePorts(); err != nil {
		return run{}, err
	}
	if err := plan.lay(); err != nil {
		return run{}, fmt.Errorf("servers: lay out %s: %w", plan.dir, err)
	}
	return plan, nil
}

// freePorts asks the system for two ports. Somebody may take one before the server does; then the start fails and says so.
func freePorts() (first, second int, err error) {
	var ports [2]int
	for i := range ports {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 0, 0, fmt.Errorf("servers: no free port: %w", err)
		}
		defer listener.Close() // both stay taken until both are known, so they differ
		ports[i] = listener.Addr().(*net.TCPAddr).Port
	}
	return ports[0], ports[1], nil
}

func (r run) start(temporary bool) (*Server, error) {
	as, err := unprivileged()
	if err != nil {
		return nil, err
	}
	server := &Server{Version: r.version, URL: fmt.Sprintf("http://127.0.0.1:%d", r.http), Dir: r.dir, Repos: r.repos(),
		console: filepath.Join(r.logs(), "console.txt"), exited: make(chan struct{}), temporary: temporary}
	output, err := os.Create(server.console)
	if err != nil {
		return nil, err
	}
	defer output.Close()
	if err := handOver(r.dir, as); err != nil {
		return nil, err
	}
	words := r.command()
	server.command = exec.Command(words[0], words[1:]...)
	server.command.Dir = r.home
	server.command.Env = r.environment()
	server.command.Stdout, server.command.Stderr = output, output
	server.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: as}
	if err := server.command.Start(); err != nil {
		return nil, fmt.Errorf("servers: start %s: %w", r.version, err)
	}
	go func() {
		server.exit = server.command.Wait()
		close(server.exited)
	}()
	return server, nil
}

// PID is the server's process, and the number of its process group.
func (s *Server) PID() int { return s.command.Process.Pid }

func (s *Server) waitHealthy(ctx context.Context, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		if s.healthy() {
			return nil
		}
		select {
		case <-s.exited:
			return fmt.Errorf("it ended by itself: %w", s.exit)
		case <-ctx.Done():
			return fmt.Errorf("not healthy within %s: %w", patience, ctx.Err())
		case <-time.After(250 * time.Millisecond):
		}
	}
}

// healthy asks for the cluster's health, which every version serves; the newest small distributions do not serve "/".
func (s *Server) healthy() bool {
	status, answer, err := s.Do("GET", "/_cluster/health?wait_for_status=yellow&timeout=5s", nil)
	if err != nil || status != 200 {
		return false
	}
	health := struct {
		TimedOut bool `json:"timed_out"`
	}{TimedOut: true}
	return json.Unmarshal(answer, &health) == nil && !health.TimedOut
}

// Stop ends the server's process group, politely at first, and waits until none of it is left. It may be called twice.
func (s *Server) Stop() error {
	s.stop.Do(func() {
		if s.unwatch != nil {
			s.unwatch()
		}
		s.stopped = s.end()
		if s.temporary {
			s.stopped = errors.Join(s.stopped, os.RemoveAll(s.Dir))
		}
	})
	return s.stopped
}

func (s *Server) end() error {
	group := -s.command.Process.Pid
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		_ = syscall.Kill(group, signal) // an error means that the group is gone, which the next lines find out
		for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			if errors.Is(syscall.Kill(group, 0), syscall.ESRCH) {
				<-s.exited
				return nil
			}
		}
	}
	return fmt.Errorf("servers: %s (process group %d) does not end", s.Version, -group)
}

// lastLines is the end of what the server printed, without the stack traces.
func (s *Server) lastLines() string {
	output, err := os.ReadFile(s.console)
	if err != nil {
		return err.Error()
	}
	var told []byte
	for line := range bytes.Lines(output) {
		if trimmed := bytes.TrimSpace(line); !bytes.HasPrefix(trimmed, []byte("at ")) && !bytes.HasPrefix(trimmed, []byte("... ")) {
			told = append(told, line...)
		}
	}
	return tail(told, 15)
}
