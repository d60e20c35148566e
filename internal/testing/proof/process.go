package proof

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"time"
)

// Build builds cmd/reshelve of the checkout around the working directory into dir,
// and returns the path of the binary: PROOF_BINARY when that is set.
func Build(ctx context.Context, dir string) (string, error) {
	if given := os.Getenv("PROOF_BINARY"); given != "" {
		return filepath.Abs(given)
	}
	binary := filepath.Join(dir, "reshelve")
	command := exec.CommandContext(ctx, "go", "build", "-o", binary, "github.com/reshelve/reshelve/cmd/reshelve")
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("proof: build the binary: %w\n%s", err, output)
	}
	return binary, nil
}

// Process is one life of the program. Its methods may be called from several
// goroutines.
type Process struct {
	command *exec.Cmd
	serving chan string // the address, once
	exited  chan struct{}

	mu     sync.Mutex
	stderr bytes.Buffer
	told   bool
}

// Start starts the words as a process group of its own. It does not wait until
// anything is served.
func Start(words ...string) (*Process, error) {
	command := exec.CommandContext(context.Background(), words[0], words[1:]...) // Kill ends the whole group, a context only the process
	p := &Process{command: command, serving: make(chan string, 1), exited: make(chan struct{})}
	p.command.Stderr = p
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	p.command.WaitDelay = time.Second
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("proof: start %v: %w", words, err)
	}
	go func() {
		_ = p.command.Wait() // ExitCode tells
		close(p.exited)
	}()
	return p, nil
}

// servingLine is what the program says when it answers requests.
var servingLine = regexp.MustCompile(`(?m)^serving (.+) on (http://\S+): .*\n`)

// Write takes what the process says on standard error.
func (p *Process) Write(said []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stderr.Write(said)
	if !p.told {
		if line := servingLine.FindSubmatch(p.stderr.Bytes()); line != nil {
			p.told = true
			p.serving <- string(line[2])
		}
	}
	return len(said), nil
}

// Stderr is what the process has said so far.
func (p *Process) Stderr() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.String()
}

// Serving waits until the process says that it serves, and returns the URL. It may
// be called once.
func (p *Process) Serving(ctx context.Context) (string, error) {
	select {
	case url := <-p.serving:
		return url, nil
	case <-p.exited:
		return "", fmt.Errorf("proof: the process ended with %d and served nothing:\n%s", p.ExitCode(), p.Stderr())
	case <-ctx.Done():
		return "", fmt.Errorf("proof: the process does not serve: %w\n%s", ctx.Err(), p.Stderr())
	}
}

// PID is the number of the process and of its group.
func (p *Process) PID() int { return p.command.Process.Pid }

// Signal sends a signal to the whole group; a group that is gone takes it, too.
func (p *Process) Signal(s syscall.Signal) error {
	if err := syscall.Kill(-p.PID(), s); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("proof: signal %s: %w", s, err)
	}
	return nil
}

// Kill ends the group as a power switch does, and returns when it is dead.
func (p *Process) Kill() error {
	err := p.Signal(syscall.SIGKILL)
	<-p.exited
	return err
}

// Exited is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Wait waits for the process to end by itself, and returns its exit code.
func (p *Process) Wait(ctx context.Context) (int, error) {
	select {
	case <-p.exited:
		return p.ExitCode(), nil
	case <-ctx.Done():
		return 0, fmt.Errorf("proof: the process does not end: %w\n%s", ctx.Err(), p.Stderr())
	}
}

// ExitCode is that of a process that has ended; -1 when a signal ended it.
func (p *Process) ExitCode() int { return p.command.ProcessState.ExitCode() }
