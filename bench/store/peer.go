package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/reshelve/reshelve/servers"
)

// peer is a server under test.
type peer struct {
	name string
	dir  string
	run  func(ctx context.Context) (url string, pid int, stop func(), err error)

	url  string
	pid  int
	stop func()
}

// start starts the peer and returns how long it took until path answered.
func (p *peer) start(ctx context.Context, path string) (time.Duration, error) {
	began := time.Now()
	var err error
	if p.url, p.pid, p.stop, err = p.run(ctx); err != nil {
		return 0, fmt.Errorf("%s: %w", p.name, err)
	}
	for {
		if c, err := dial(p.url); err == nil {
			status, _, err := c.do(request("GET", path, "", nil))
			_ = c.Close()
			if err == nil && status == 200 {
				return time.Since(began), nil
			}
		}
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		time.Sleep(time.Millisecond)
	}
}

// kill ends the peer as a power cut would end its process.
func (p *peer) kill() {
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	p.stop()
}

// reshelve is this store.
func reshelve(binary, dir string) *peer {
	p := &peer{name: "reshelve", dir: dir}
	p.run = func(ctx context.Context) (string, int, func(), error) {
		cmd := exec.CommandContext(ctx, binary, "serve", "--data", filepath.Join(dir, "data"), "--listen", "127.0.0.1:0")
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

// openSearch is the server that we are compared with.
func openSearch(version, dir string) *peer {
	p := &peer{name: "OpenSearch " + version, dir: dir}
	p.run = func(ctx context.Context) (string, int, func(), error) {
		s, err := servers.Start(ctx, servers.OpenSearch(version), servers.Options{Dir: dir, Heap: "1g"})
		if err != nil {
			return "", 0, nil, err
		}
		return s.URL, s.PID(), func() { _ = s.Stop() }, nil
	}
	return p
}

// cpu is the processor time that the peer has used, by proc_pid_stat(5), whose
// clock ticks are 10 ms.
func (p *peer) cpu() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	user, err := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	if err != nil || err2 != nil {
		return 0, fmt.Errorf("stat of %d: %q", p.pid, text)
	}
	return time.Duration(user+system) * 10 * time.Millisecond, nil
}

// memory is what the peer has resident, and the anonymous part of it, in bytes.
func (p *peer) memory() (resident, anonymous int64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", p.pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		kib, _ := strconv.ParseInt(fields[1], 10, 64)
		switch fields[0] {
		case "Rss:":
			resident = kib << 10
		case "Anonymous:":
			anonymous = kib << 10
		}
	}
	return resident, anonymous, nil
}
