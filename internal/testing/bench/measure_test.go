package main

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestMeasureAccountsForTheChild(t *testing.T) {
	c, output, err := measure(t.Context(), []string{"sh", "-c", "head -c 3000000 /dev/zero >/dev/null; sleep 0.1; echo done"}, false)
	if err != nil || string(output) != "done\n" {
		t.Fatalf("%q, %v", output, err)
	}
	if c.First < 100*time.Millisecond || c.Wall < c.First || c.Wall > 10*time.Second {
		t.Errorf("first byte after %s of %s, want it after the sleep", c.First, c.Wall)
	}
	if c.Memory < 100<<10 {
		t.Errorf("peak memory %d", c.Memory)
	}
	if runtime.GOOS == "linux" && c.Read < 3_000_000 {
		t.Errorf("%d bytes read, want the 3,000,000 of head among them", c.Read)
	}
}

func TestMeasureDiscardsAndReportsFailure(t *testing.T) {
	if c, output, err := measure(t.Context(), []string{"sh", "-c", "echo lost"}, true); err != nil || len(output) > 0 || c.First != 0 {
		t.Errorf("%+v, %q, %v", c, output, err)
	}
	_, _, err := measure(t.Context(), []string{"sh", "-c", "echo why >&2; exit 5"}, true)
	if err == nil || !strings.Contains(err.Error(), "exit status 5") || !strings.Contains(err.Error(), "why") {
		t.Errorf("a failing program: %v", err)
	}
}

func TestFirstLineDoesNotWaitForTheEnd(t *testing.T) {
	took, err := firstLine(t.Context(), []string{"sh", "-c", "echo one; exec sleep 60"})
	if err != nil || took > 10*time.Second {
		t.Errorf("%s, %v", took, err)
	}
	if _, err := firstLine(t.Context(), []string{"sh", "-c", "printf x"}); err == nil {
		t.Error("a program that ends without a line had a first line")
	}
}
