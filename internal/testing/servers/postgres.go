package servers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Postgres is one running PostgreSQL server, with one superuser named postgres and no passwords.
type Postgres struct {
	URL string // "postgres://postgres@127.0.0.1:PORT/postgres"
	Dir string // the run's folder; its data lie in "data"

	programs  string
	command   *exec.Cmd
	exited    chan struct{}
	temporary bool
	unwatch   func() bool
}

// StartPostgres starts the PostgreSQL that is installed, with the data in dir, and waits until it takes connections; a folder
// without data gets new ones. With dir "" it uses a temporary folder, which Stop removes. Root: see Start. Settings are its own,
// such as "fsync": "off". The error of a server that did not come up ends with its last lines.
func StartPostgres(ctx context.Context, dir string, settings map[string]string) (*Postgres, error) {
	programs, err := postgresPrograms()
	if err != nil {
		return nil, err
	}
	p := &Postgres{Dir: dir, programs: programs, temporary: dir == "", exited: make(chan struct{})}
	if p.temporary {
		if p.Dir, err = os.MkdirTemp("", "reshelve-postgres-"); err != nil {
			return nil, err
		}
	}
	if err := p.start(ctx, settings); err != nil {
		return nil, errors.Join(fmt.Errorf("servers: PostgreSQL did not start: %w\n%s", err, p.lastLines()), p.Stop())
	}
	p.unwatch = context.AfterFunc(ctx, func() { _ = p.Stop() })
	return p, nil
}

// postgresPrograms is the folder of initdb and postgres: that of the one on the path, else the newest of Debian's.
func postgresPrograms() (string, error) {
	if initdb, err := exec.LookPath("initdb"); err == nil {
		if initdb, err = filepath.EvalSymlinks(initdb); err == nil {
			return filepath.Dir(initdb), nil
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return "", errors.New("servers: PostgreSQL is not installed; install it (Debian: apt-get install postgresql)")
	}
	return filepath.Dir(found[len(found)-1]), nil
}

func (p *Postgres) start(ctx context.Context, settings map[string]string) error {
	as, err := unprivileged()
	if err != nil {
		return err
	}
	if err := handOver(p.Dir, as); err != nil {
		return err
	}
	output, err := os.Create(p.console())
	if err != nil {
		return err
	}
	defer output.Close()
	data := filepath.Join(p.Dir, "data")
	program := func(name string, args ...string) *exec.Cmd {
		command := exec.Command(filepath.Join(p.programs, name), args...)
		command.Dir = p.Dir
		command.Stdout, command.Stderr = output, output
		command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: as}
		return command
	}
	if _, err := os.Stat(data); err != nil {
		if err := program("initdb", "-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale", "C").Run(); err != nil {
			return fmt.Errorf("initdb: %w", err)
		}
	}
	port, _, err := freePorts()
	if err != nil {
		return err
	}
	p.URL = fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres", port)
	args := []string{"-D", data, "-p", fmt.Sprint(port), "-k", p.Dir, "-c", "listen_addresses=127.0.0.1"}
	for name, value := range settings {
		args = append(args, "-c", name+"="+value)
	}
	p.command = program("postgres", args...)
	if err := p.command.Start(); err != nil {
		return err
	}
	go func() {
		_ = p.command.Wait()
		close(p.exited)
	}()
	return p.waitReady(ctx, port)
}

func (p *Postgres) waitReady(ctx context.Context, port int) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		if exec.CommandContext(ctx, filepath.Join(p.programs, "pg_isready"), "-q", "-h", "127.0.0.1", "-p", fmt.Sprint(port)).Run() == nil {
			return nil
		}
		select {
		case <-p.exited:
			return errors.New("it ended by itself")
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// PID is the server's process, and the number of its process group.
func (p *Postgres) PID() int { return p.command.Process.Pid }

// Stop ends the server, politely at first, and waits until it has ended. It may be called twice.
func (p *Postgres) Stop() error {
	if p.unwatch != nil {
		p.unwatch()
	}
	err := p.end()
	if p.temporary {
		err = errors.Join(err, os.RemoveAll(p.Dir))
	}
	return err
}

func (p *Postgres) end() error {
	if p.command == nil || p.command.Process == nil {
		return nil
	}
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGKILL} { // fast, immediate
		_ = p.command.Process.Signal(signal)
		select {
		case <-p.exited:
			return nil
		case <-time.After(10 * time.Second):
		}
	}
	return fmt.Errorf("servers: PostgreSQL (process %d) does not end", p.PID())
}

func (p *Postgres) console() string { return filepath.Join(p.Dir, "console.txt") }

func (p *Postgres) lastLines() string {
	output, err := os.ReadFile(p.console())
	if err != nil {
		return err.Error()
	}
	return tail(output, 15)
}
