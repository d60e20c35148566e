package peers

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestRoundsAgree: the last three count, and no fewer.
func TestRoundsAgree(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   bool
	}{
		{nil, false}, {[]float64{1, 1}, false}, {[]float64{1, 1, 1}, true}, {[]float64{9, 100, 104, 105}, true},
		{[]float64{100, 104, 106}, false}, {[]float64{100, 100, 100, 106}, false},
	} {
		if steady(c.values) != c.want {
			t.Errorf("%v: %t", c.values, !c.want)
		}
	}
}

// TestWhatChildrenUseIsOurs, while they live and when they were waited for.
func TestWhatChildrenUseIsOurs(t *testing.T) {
	before, err := family(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command("sh", "-c", "sh -c 'while :; do :; done'; :") // a child of a child
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	grown := false
	for began := time.Now(); !grown && time.Since(began) < time.Minute; time.Sleep(20 * time.Millisecond) {
		now, err := family(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		grown = now-before > 300*time.Millisecond
	}
	if !grown {
		t.Error("what a child uses is not seen")
	}
	for _, pid := range children(t, child.Process.Pid) {
		p, _ := os.FindProcess(pid)
		_ = p.Kill()
	}
	_ = child.Wait()
	if now, err := family(os.Getpid()); err != nil || now-before < 200*time.Millisecond {
		t.Errorf("what it used is forgotten when it has ended: %v, %v", now-before, err)
	}
}

// TestWithoutProcNothingIsMeasured: it is refused by name, where a system has none.
func TestWithoutProcNothingIsMeasured(t *testing.T) {
	there := procStat
	defer func() { procStat = there }()
	procStat = filepath.Join(t.TempDir(), "stat")
	run, err := Watch()
	if err == nil {
		run.End()
	}
	if err == nil || !strings.Contains(err.Error(), "on "+runtime.GOOS+" nothing tells") || !strings.Contains(err.Error(), "run benchmarks on Linux") {
		t.Error(err)
	}
}

func children(t *testing.T, of int) (pids []int) {
	t.Helper()
	all, err := processes()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if p.parent == of {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// TestNoRatiosOfABusyMachine: what others had is what the processors did and we did not.
func TestNoRatiosOfABusyMachine(t *testing.T) {
	for _, c := range []struct {
		busy, own time.Duration
		ratio     string
	}{
		{100 * time.Second, 100 * time.Second, "2.0×"}, {104 * time.Second, 100 * time.Second, "2.0×"}, {100 * time.Second, 101 * time.Second, "2.0×"},
		{112 * time.Second, 100 * time.Second, "–"}, {200 * time.Second, 0, "–"},
	} {
		r := &Run{whole: span{to: usage{busy: c.busy, own: c.own, total: 200 * time.Second}}, began: "0 0 0"}
		if got := r.Ratio("%.1f×", 2); got != c.ratio {
			t.Errorf("%v busy, %v our own: %s, want %s", c.busy, c.own, got, c.ratio)
		}
		if said := strings.Contains(r.String(), "NO RATIOS"); said != (c.ratio == "–") {
			t.Errorf("%v busy, %v our own: %s", c.busy, c.own, r)
		}
	}
	r := &Run{}
	r.Refuse("it is %s", "cold")
	if r.Ratio("%.1f", 1) != "–" || !strings.Contains(r.String(), "NO RATIOS: it is cold.") {
		t.Errorf("refused: %s", r)
	}
}
