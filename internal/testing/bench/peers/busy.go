package peers

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Others may take so much of the processors while something is measured: in all, and in a window.
const (
	quietShare  = 0.05
	quietWindow = 0.15
	window      = 30 * time.Second
	tick        = 10 * time.Millisecond // of the clock of /proc
)

// Run watches the machine from its beginning to its end, and gathers what has to be known to
// believe the numbers of a benchmark.
type Run struct {
	mu       sync.Mutex
	began    string // load average
	options  []string
	reasons  []string // why there are no ratios
	whole    span
	most     float64
	quit     chan struct{}
	finished chan struct{}
}

// usage is what processors have done since the machine began, and what of it was for this run.
type usage struct{ busy, own, total time.Duration }

// span is what was used between two moments.
type span struct{ from, to usage }

// others is the share of the processors that other processes had.
func (w span) others() float64 {
	total := w.to.total - w.from.total
	if total <= 0 {
		return 0
	}
	return max(0, float64((w.to.busy-w.from.busy)-(w.to.own-w.from.own))/float64(total))
}

// procStat tells what all processors have done, by proc_stat(5).
var procStat = "/proc/stat"

// Watch begins a run. It is refused where nothing tells what other processes use: numbers that nobody can
// believe are not measured.
func Watch() (*Run, error) {
	if _, err := os.Stat(procStat); err != nil {
		return nil, fmt.Errorf("on %s nothing tells what other processes use of the processors (%w): run benchmarks on Linux with /proc mounted", runtime.GOOS, err)
	}
	now, err := used()
	if err != nil {
		return nil, err
	}
	r := &Run{began: loadAverage(), whole: span{now, now}, quit: make(chan struct{}), finished: make(chan struct{})}
	go r.watch(now)
	return r, nil
}

// watch looks each second, since what a process used that is not ours to wait for is lost when it ends.
func (r *Run) watch(from usage) {
	defer close(r.finished)
	at := []usage{from}
	for ended := false; !ended; {
		select {
		case <-r.quit:
			ended = true
		case <-time.After(time.Second):
		}
		now, err := used()
		r.mu.Lock()
		if err != nil {
			r.reasons = append(r.reasons, err.Error())
		} else {
			now.own = max(now.own, at[len(at)-1].own) // one of ours that ended unseen
			at = append(at, now)
			at = at[max(0, len(at)-1-int(window/time.Second)):]
			r.whole.to = now
			if len(at) > int(window/time.Second) {
				r.most = max(r.most, span{at[0], now}.others())
			}
		}
		r.mu.Unlock()
	}
}

// Refuse keeps ratios from being printed, and says why.
func (r *Run) Refuse(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reasons = append(r.reasons, fmt.Sprintf(format, args...))
	Progress("no ratios will be printed: %s", r.reasons[len(r.reasons)-1])
}

// Tell adds to what is printed of the circumstances.
func (r *Run) Tell(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.options, text) {
		r.options = append(r.options, text)
	}
}

// End ends the watch: nothing is measured any more. It may be called twice.
func (r *Run) End() {
	select {
	case <-r.quit:
	default:
		close(r.quit)
	}
	<-r.finished
}

// why is the list of reasons why there are no ratios; empty when there are.
func (r *Run) why() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	reasons := slices.Clone(r.reasons)
	if share := r.whole.others(); share > quietShare {
		reasons = append(reasons, fmt.Sprintf("other processes had %.1f %% of the processors, more than %.0f %%", 100*share, 100*quietShare))
	}
	if r.most > quietWindow {
		reasons = append(reasons, fmt.Sprintf("other processes had %.1f %% of the processors for %v, more than %.0f %%", 100*r.most, window, 100*quietWindow))
	}
	return reasons
}

// Ratio is how the format shows a ratio, and a dash when the run is not to be believed.
func (r *Run) Ratio(format string, ratio float64) string {
	if len(r.why()) > 0 {
		return "–"
	}
	return fmt.Sprintf(format, ratio)
}

// String is the paragraph below the tables.
func (r *Run) String() string {
	var t strings.Builder
	why := r.why()
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(&t, "\n%d processors; load average %s when it began, %s at its end; other processes had %.1f %% of the processors, %.1f %% in the worst %v.\n",
		runtime.NumCPU(), r.began, loadAverage(), 100*r.whole.others(), 100*r.most, window)
	for _, line := range r.options {
		fmt.Fprintf(&t, "%s\n", line)
	}
	for _, reason := range why {
		fmt.Fprintf(&t, "\nNO RATIOS: %s.\n", reason)
	}
	return t.String()
}

// loadAverage is the first numbers of /proc/loadavg.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 3 {
		return "unknown"
	}
	return strings.Join(fields[:3], " ")
}

// used reads what the processors have done, by proc_stat(5), and what of it was done by this
// process and all that come from it, by proc_pid_stat(5).
func used() (u usage, err error) {
	text, err := os.ReadFile(procStat)
	if err != nil {
		return u, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return u, fmt.Errorf("%s begins with %q", procStat, line)
	}
	for i, field := range fields[1:9] { // user nice system idle iowait irq softirq steal; what guests had is in user
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return u, err
		}
		u.total += time.Duration(n) * tick
		if i != 3 && i != 4 {
			u.busy += time.Duration(n) * tick
		}
	}
	u.own, err = family(os.Getpid())
	return u, err
}

// process is what is known of one.
type process struct {
	pid, parent  int
	used, waited time.Duration // by itself, and by children that it has waited for
}

// family is the processor time of a process and of all that come from it.
func family(of int) (total time.Duration, err error) {
	all, err := processes()
	children := map[int][]process{}
	for _, p := range all {
		children[p.parent] = append(children[p.parent], p)
		if p.pid == of {
			total += p.used + p.waited
		}
	}
	for next := []int{of}; len(next) > 0; next = next[1:] {
		for _, p := range children[next[0]] {
			total += p.used + p.waited
			next = append(next, p.pid)
		}
	}
	return total, err
}

// processes are those of the machine, as far as they do not end meanwhile.
func processes() (all []process, err error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		if p, ok := readProcess(file); ok {
			all = append(all, p)
		}
	}
	return all, err
}

func readProcess(file string) (p process, ok bool) {
	text, err := os.ReadFile(file)
	end := strings.LastIndexByte(string(text), ')')
	if err != nil || end < 0 {
		return p, false
	}
	fields := strings.Fields(string(text[end+1:]))
	if len(fields) < 15 {
		return p, false
	}
	number := func(text string) int { n, _ := strconv.Atoi(text); return n }
	p.pid, p.parent = number(filepath.Base(filepath.Dir(file))), number(fields[1])
	p.used = time.Duration(number(fields[11])+number(fields[12])) * tick
	p.waited = time.Duration(number(fields[13])+number(fields[14])) * tick
	return p, true
}
