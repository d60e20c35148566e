package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// cost is what one run of a program took, by the kernel's account.
type cost struct {
	CPU    time.Duration // user and system, of all threads, start-up included
	Wall   time.Duration
	First  time.Duration // until the first byte of standard output; 0 when that was discarded
	Memory int64         // peak resident bytes; never below this program's own, which a child shares until it is exec'd
	Read   int64         // bytes that read calls returned; pages of mapped files are not among them. 0: the system does not tell
}

// measure runs a program to its end. Its standard output goes to the null device when discard is set, else it is returned.
func measure(ctx context.Context, argv []string, discard bool) (cost, []byte, error) {
	child, err := start(ctx, argv, discard)
	if err != nil {
		return cost{}, nil, err
	}
	var output bytes.Buffer
	first, err := child.copyOutput(&output)
	c, stop := child.finish()
	c.First = first
	return c, output.Bytes(), errors.Join(err, stop)
}

// firstLine runs a program until its standard output holds a whole line, and kills it then.
func firstLine(ctx context.Context, argv []string) (time.Duration, error) {
	ctx, kill := context.WithCancel(ctx)
	defer kill()
	child, err := start(ctx, argv, false)
	if err != nil {
		return 0, err
	}
	defer child.output.Close()
	buffer, seen := make([]byte, 1<<16), 0
	for {
		n, err := child.output.Read(buffer[seen:])
		if bytes.IndexByte(buffer[seen:seen+n], '\n') >= 0 {
			took := time.Since(child.started)
			kill()
			_ = child.command.Wait() // it was killed
			return took, nil
		}
		if err != nil {
			_, stop := child.finish()
			return 0, errors.Join(fmt.Errorf("%s: no first line: %w", strings.Join(argv, " "), err), stop)
		}
		seen = (seen + n) % len(buffer)
	}
}

// child is a program that was started.
type child struct {
	command *exec.Cmd
	started time.Time
	output  *os.File // the reading end of its standard output; nil when that is discarded
	stderr  bytes.Buffer
}

func start(ctx context.Context, argv []string, discard bool) (*child, error) {
	c := &child{command: exec.CommandContext(ctx, argv[0], argv[1:]...)}
	c.command.Stderr = &c.stderr
	var theirs *os.File
	var err error
	if discard {
		theirs, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	} else {
		c.output, theirs, err = os.Pipe()
	}
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	c.command.Stdout = theirs
	c.started = time.Now()
	return c, c.command.Start()
}

// copyOutput takes the standard output to its end and tells when its first byte came.
func (c *child) copyOutput(to io.Writer) (first time.Duration, err error) {
	if c.output == nil {
		return 0, nil
	}
	defer c.output.Close()
	var one [1]byte
	if _, err := io.ReadFull(c.output, one[:]); err != nil {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return 0, err
	}
	first = time.Since(c.started)
	if _, err = to.Write(one[:]); err == nil {
		_, err = io.Copy(to, c.output)
	}
	return first, err
}

// finish waits for the end of the program and returns its cost.
func (c *child) finish() (cost, error) {
	read := bytesReadAtExit(c.command.Process.Pid)
	err := c.command.Wait()
	wall := time.Since(c.started)
	if err != nil {
		return cost{}, fmt.Errorf("%s: %w\n%s", strings.Join(c.command.Args, " "), err, c.stderr.Bytes())
	}
	state := c.command.ProcessState
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return cost{}, errors.New("this system does not tell what a process used")
	}
	return cost{CPU: state.UserTime() + state.SystemTime(), Wall: wall, Memory: usage.Maxrss << 10, Read: read}, nil
}
