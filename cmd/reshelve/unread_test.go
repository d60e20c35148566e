package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/cli"
	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/coord/local"
	"github.com/reshelve/reshelve/internal/movement"
)

// TestRecordsThatCannotBeRead are shown for what they are, damaged or of a newer release, with a next step that can be
// pasted; a worker says so and exits with the code, after it has looked at the others; what a newer release has written is
// not set aside.
func TestRecordsThatCannotBeRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "records")
	at := "local:" + dir
	run := func(args ...string) (code int, stdout, stderr string) {
		t.Helper()
		var out, err bytes.Buffer
		code = cli.Run(t.Context(), control.New(wiring), append(args, "--quiet"), &out, &err)
		return code, out.String(), err.String()
	}
	for _, c := range []struct {
		record, state, next, aborted, aside string
		once, setAside                      int
	}{
		{"junk", "damaged", "reshelve movement set-aside odd --at " + at, "is damaged", "", 4, 0},
		{`{"schemaVersion":2,"id":"odd","kind":"migrate","state":{"is":"dancing"}}`, "newer", "update this program", "a newer release", "a newer release", 5, 5},
	} {
		records, err := local.Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := records.Create(t.Context(), "movements/odd", []byte(c.record)); err != nil {
			t.Fatal(err)
		}
		if err := records.Close(); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"movement", "ls"}, {"movement", "status", "odd"}} {
			_, out, _ := run(append(args, "--at", at, "--output", "json")...)
			var one movement.Record
			all := []movement.Record{{}}
			if json.Unmarshal([]byte(out), &all) != nil {
				_ = json.Unmarshal([]byte(out), &one)
				all = []movement.Record{one}
			}
			if len(all) != 1 || string(all[0].State) != c.state || !strings.HasPrefix(all[0].Next, c.next) {
				t.Errorf("%s %v: %s", c.state, args, out)
			}
		}
		if code, _, stderr := run("worker", "--join", at, "--once"); code != c.once || strings.Count(stderr, "odd") < 2 || !strings.Contains(stderr, c.next) {
			t.Errorf("%s: a worker exits with %d: %s", c.state, code, stderr)
		}
		if code, _, stderr := run("movement", "abort", "odd", "--at", at); code != 8 || !strings.Contains(stderr, c.aborted) || !strings.Contains(stderr, c.next) {
			t.Errorf("%s: abort exits with %d: %s", c.state, code, stderr)
		}
		if code, _, stderr := run("movement", "set-aside", "odd", "--at", at); code != c.setAside || !strings.Contains(stderr, c.aside) {
			t.Errorf("%s: set-aside exits with %d: %s", c.state, code, stderr)
		}
	}
}
