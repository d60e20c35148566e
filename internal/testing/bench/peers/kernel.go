package peers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// CPU is the processor time that the peer has used, by proc_pid_stat(5), whose
// clock ticks are 10 ms.
func (p *Peer) CPU() (time.Duration, error) {
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

// Memory is what the peer has resident, and the anonymous part of it, in bytes.
func (p *Peer) Memory() (resident, anonymous int64, err error) {
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

// Resident is the most that the peer ever had resident, mapped files included, in bytes.
func (p *Peer) Resident() (bytes int64, err error) { return p.account("status", "VmHWM:", 1<<10) }

// Written is how many bytes the peer has handed to file systems, whatever became of
// them, by proc_pid_io(5).
func (p *Peer) Written() (bytes int64, err error) { return p.account("io", "write_bytes:", 1) }

// account is a number in a file of the peer's process that has one name and value a line.
func (p *Peer) account(file, name string, unit int64) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", p.pid, file))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == name {
			n, err := strconv.ParseInt(fields[1], 10, 64)
			return n * unit, err
		}
	}
	return 0, fmt.Errorf("%s of %d has no %s", file, p.pid, name)
}

// Peak watches the anonymous memory of the peer until it is told to stop, ten times a
// second, and returns the most that it saw, in bytes.
func (p *Peer) Peak() (stop func() int64) {
	ended, most := make(chan struct{}), make(chan int64)
	go func() {
		peak := int64(0)
		for {
			if now, err := p.account("status", "RssAnon:", 1<<10); err == nil {
				peak = max(peak, now)
			}
			select {
			case <-ended:
				most <- peak
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	return func() int64 {
		close(ended)
		return <-most
	}
}

// Disk is what the files in the peer's folder hold, in bytes.
func (p *Peer) Disk() (bytes int64) {
	_ = filepath.WalkDir(p.Dir, func(_ string, entry os.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// Settle lets a peer become idle, for so long at most: what it does behind the
// requests has an end.
func (p *Peer) Settle(ctx context.Context, long time.Duration) error {
	deadline := time.Now().Add(long)
	for time.Now().Before(deadline) {
		before, err := p.CPU()
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * time.Second):
		}
		after, err := p.CPU()
		if err != nil {
			return err
		}
		if after-before <= 40*time.Millisecond {
			return nil
		}
	}
	return nil
}
