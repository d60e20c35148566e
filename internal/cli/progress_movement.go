package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/cwriter"
	"github.com/vbauerster/mpb/v8/decor"
)

// following shows people a movement while it goes on: on a terminal as a screen that is drawn
// again and again, else in plain lines, from time to time and whenever its state or phase is
// another. It is safe for concurrent use.
type following struct {
	p    *program
	at   string        // the place that records it
	bars *mpb.Progress // nil when not on a terminal
	bar  *mpb.Bar

	mu      sync.Mutex
	now     *control.Movement
	state   string
	hinders string
	printed time.Time
	stopped bool
}

func (p *program) follow(place string) *following {
	f := &following{p: p, at: place}
	if p.quiet || !isTerminal(p.stderr) {
		return f
	}
	f.bars = mpb.New(mpb.WithOutput(p.stderr), mpb.WithRefreshRate(drawEvery), mpb.WithAutoRefresh())
	f.bar = f.bars.New(0, mpb.NopStyle(),
		mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return f.lines()[0] })),
		mpb.BarExtender(mpb.BarFillerFunc(func(w io.Writer, _ decor.Statistics) error {
			for _, line := range f.lines()[1:] {
				if _, err := fmt.Fprintln(w, line); err != nil {
					return err
				}
			}
			return nil
		}), false))
	return f
}

// lines is the screen as it is now; the first is always there.
func (f *following) lines() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.now == nil {
		return []string{"planning …"}
	}
	width, height := 80, 24
	if file, ok := f.p.stderr.(*os.File); ok {
		if w, h, err := cwriter.GetSize(int(file.Fd())); err == nil && w > 0 && h > 1 {
			width, height = w, h
		}
	}
	return screen(f.now, f.at, width, height-1)
}

// told takes a look at the movement.
func (f *following) told(m *control.Movement) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = m
	if f.p.quiet || f.bars != nil {
		return
	}
	state, now := stateLine(m, f.at), time.Now()
	hinders := ""
	if m.Progress != nil {
		hinders = strings.Join(hindrances(m.Progress), "\n")
	}
	if changed := state != f.state; changed || hinders != f.hinders || now.Sub(f.printed) >= plainEvery {
		if changed {
			f.p.note("%s", state)
		}
		f.state, f.hinders, f.printed = state, hinders, now
		if m.Progress == nil {
			return
		}
		if m.Progress.Read > 0 || m.Progress.Compared > 0 {
			f.p.note("%s", totalsLine(m.Progress))
		}
		for _, line := range hindrances(m.Progress) {
			f.p.note("%s", line)
		}
	}
}

// stop takes the screen away, and leaves in its place how the movement was last seen. It may
// be called more than once.
func (f *following) stop() {
	if f.bars == nil || f.stopped {
		return
	}
	f.stopped = true
	f.bar.Abort(true)
	f.bars.Wait()
	if f.now != nil {
		f.p.note("%s", stateLine(f.now, f.at))
	}
}
