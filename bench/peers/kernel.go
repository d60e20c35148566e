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
