package cli

import "sync"

// counting is the progress of a plan that counts ids: it begins with the first word about that.
type counting struct {
	program *program
	mu      sync.Mutex
	shown   *progress
	over    bool
}

func (p *program) counting() *counting { return &counting{program: p} }

// told is what control.MigrateRequest calls. A second reading of an index, which names ids, begins again.
func (c *counting) told(_ string, read, of int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	if c.shown == nil {
		c.shown = c.program.newProgress("document", true)
	}
	c.shown.set(read, -1, min(float64(read)/float64(max(of, 1)), 1))
}

// stop takes it away. It may be called more than once.
func (c *counting) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over = true; c.shown != nil {
		c.shown.stop()
	}
}
