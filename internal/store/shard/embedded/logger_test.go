package embedded

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// TestAFailureIsToldOnce: behind the seal Pebble tries the same again and again, and each time
// with other numbers in what it says.
func TestAFailureIsToldOnce(t *testing.T) {
	var told bytes.Buffer
	l := &logger{to: slog.New(slog.NewTextHandler(&told, nil)), seal: &seal{failed: func(error) {}, done: make(chan struct{})}}
	l.Errorf("compaction %d failed", 1)
	l.Errorf("compaction %d failed", 2) // within the same second
	l.seal.shut(errors.New("no space left on device"))
	clear(l.passed)
	for n := range 3 {
		l.Errorf("compaction %d failed", 10+n)
		l.Errorf("flush %d failed", n)
		for format := range l.passed {
			l.passed[format] = l.passed[format].Add(-1 << 40) // long ago
		}
	}
	if got := told.String(); strings.Count(got, "\n") != 3 || !strings.Contains(got, "compaction 1 ") || !strings.Contains(got, "compaction 10 ") || !strings.Contains(got, "flush 0 ") {
		t.Errorf("it says\n%s", got)
	}
}
