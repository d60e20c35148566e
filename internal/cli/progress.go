package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

const (
	plainEvery = 10 * time.Second       // between two plain lines
	drawEvery  = 200 * time.Millisecond // between two drawings on a terminal
	flushEvery = 100 * time.Millisecond // what a document may wait before it is shown
)

// progress tells people how far a verb is: on a terminal in one line that is
// drawn again and again, else in a plain line from time to time. It is safe for
// concurrent use.
type progress struct {
	out     io.Writer // for notes
	what    string    // the things that are counted, in the singular
	begun   time.Time
	lastDue time.Time // of the caller's goroutine
	shown   bool      // something was drawn or printed; read after stop
	quit    chan struct{}
	ended   sync.WaitGroup
	bars    *mpb.Progress // nil when not on a terminal
	bar     *mpb.Bar

	mu       sync.Mutex
	things   int64
	bytes    int64
	fraction float64 // done, 0 to 1; < 0: unknown
}

// newProgress begins to tell how many things were done, named in the singular,
// unless --quiet. On a terminal it tells only if it may draw there: a line has no
// place among an output that people see grow.
func (p *program) newProgress(what string, draws bool) *progress {
	g := &progress{out: p.stderr, what: what, begun: time.Now(), quit: make(chan struct{}), fraction: -1}
	switch {
	case p.quiet:
	case isTerminal(p.stderr) && !draws:
	case isTerminal(p.stderr):
		g.draw()
	default:
		g.ended.Go(g.printPlain)
	}
	return g
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// draw begins the line on a terminal.
func (g *progress) draw() {
	g.bars = mpb.New(mpb.WithOutput(g.out), mpb.WithRefreshRate(drawEvery), mpb.WithAutoRefresh())
	g.bar = g.bars.New(0, mpb.NopStyle(), mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return g.line() })))
	g.shown = true
}

func (g *progress) printPlain() {
	tick := time.NewTicker(plainEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			g.shown = true
			g.note("%s", g.line())
		case <-g.quit:
			return
		}
	}
}

// due tells the caller's loop that it is time to call set.
func (g *progress) due() bool {
	now := time.Now()
	if now.Sub(g.lastDue) < flushEvery {
		return false
	}
	g.lastDue = now
	return true
}

// set tells how far the verb is.
func (g *progress) set(things, bytes int64, fraction float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.things, g.bytes, g.fraction = things, bytes, fraction
}

// line is the progress as text: counts, rates, percent and time left.
func (g *progress) line() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return progressLine(g.what, g.things, g.bytes, g.fraction, time.Since(g.begun))
}

func progressLine(what string, things, bytes int64, fraction float64, elapsed time.Duration) string {
	var b strings.Builder
	b.WriteString(counted(things, what))
	if bytes >= 0 { // else nobody counts them
		fmt.Fprintf(&b, ", %s", bytesText(bytes))
	}
	if seconds := elapsed.Seconds(); seconds > 0 {
		fmt.Fprintf(&b, ", %s/s", counted(int64(float64(things)/seconds), what))
		if bytes >= 0 {
			fmt.Fprintf(&b, ", %.1f MB/s", float64(bytes)/seconds/1e6)
		}
	}
	if fraction > 0 {
		left := time.Duration(float64(elapsed) * (1 - fraction) / fraction)
		fmt.Fprintf(&b, ", %.0f %%, %s left", 100*fraction, spanText(left.Round(time.Second)))
	}
	return b.String()
}

// note prints a line for people without disturbing the drawn one.
func (g *progress) note(format string, args ...any) {
	text := oneLine(fmt.Sprintf(format, args...)) + "\n"
	if g.bars != nil {
		fmt.Fprint(g.bars, text)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	fmt.Fprint(g.out, text)
}

// end stops, and sums up where progress was shown.
func (g *progress) end(things, bytes int64) {
	g.stop()
	if g.shown {
		fmt.Fprintf(g.out, "%s in %s\n", progressLine(g.what, things, bytes, -1, time.Since(g.begun)), spanText(time.Since(g.begun)))
	}
}

// stop takes the line away. It may be called more than once.
func (g *progress) stop() {
	select {
	case <-g.quit:
		return
	default:
		close(g.quit)
	}
	g.ended.Wait()
	if g.bars != nil {
		g.bar.Abort(true)
		g.bars.Wait()
		g.bars = nil
	}
}
