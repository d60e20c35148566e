package gateway

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// The files in testdata/admin are conversations too, with one more sign: after the
// server's answer, "!!! STATUS" and the lines behind it are what we answer instead,
// where we do so on purpose; a line "# …" before the request says why. Words in
// angle brackets stand for what differs from run to run; see veils.
//
// RESHELVE_RECORD=URL writes the answers of a server into the files, and empties it.

// veils put words in the place of what differs from run to run, and of numbers
// that depend on how a server keeps documents.
var veils = []struct {
	is *regexp.Regexp
	by string
}{
	{regexp.MustCompile(`\b1[789]\d{11}\b`), "<ms>"},
	{regexp.MustCompile(`\b1[789]\d{8}\b`), "<s>"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "<time>"},
	{regexp.MustCompile(`\b\d\d:\d\d:\d\d\b`), "<clock>"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "<address>"},
	{regexp.MustCompile(`_in_bytes":[1-9]\d*`), `_in_bytes":<n>`},
	{regexp.MustCompile(`"_seq_no":\d+`), `"_seq_no":<n>`},
	{regexp.MustCompile(`"_id":"[A-Za-z0-9_-]{20}"`), `"_id":"<id>"`},
	{regexp.MustCompile(`(/_doc/)[A-Za-z0-9_-]{20}($|[^A-Za-z0-9_-])`), `$1<id>$2`},
	{regexp.MustCompile(`("number_of_pending_tasks" ?: ?)\d+`), `${1}0`}, // of the real server's own work
}

var (
	uuidLike = regexp.MustCompile(`[A-Za-z0-9_-]{22,}`)
	methods  = regexp.MustCompile(`\[?(?:GET|HEAD|POST|PUT|DELETE)(?:, ?(?:GET|HEAD|POST|PUT|DELETE))*\]?`)
)

// veil makes an answer comparable with one of another run.
func veil(text string) string {
	for _, v := range veils {
		text = v.is.ReplaceAllString(text, v.by)
	}
	text = uuidLike.ReplaceAllStringFunc(text, func(word string) string {
		if len(word) == 22 && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz_") != "" {
			return "<uuid>"
		}
		return word
	})
	// The server lists the methods of a path in any order.
	return methods.ReplaceAllStringFunc(text, func(list string) string {
		names := strings.Split(strings.ReplaceAll(strings.Trim(list, "[]"), " ", ""), ",")
		slices.Sort(names)
		return strings.Join(names, ",")
	})
}

// ask sends the request of a turn to a server and returns its answer.
func (x turn) ask(t *testing.T, url string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), x.method, url+x.path, bytes.NewReader(x.body))
	if err != nil {
		t.Fatal(err)
	}
	if x.kind != "" {
		r.Header.Set("Content-Type", x.kind)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return veil(told(answer))
}

// wants are the server's answer and ours.
func (x turn) wants() (theirs, ours string) {
	theirs, ours, differs := strings.Cut(x.want, "\n!!! ")
	if !differs {
		ours = theirs
	}
	return veil(theirs), veil(strings.TrimRight(ours, "\n"))
}

func (x turn) check(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %s %s\n%s\ngives %s\nwant  %s", x.place, x.method, x.path, x.body, got, want)
	}
}

// adminTurns reads a file; remarks are no part of answers.
func adminTurns(t *testing.T, file string) []turn {
	t.Helper()
	turns := readTurns(t, file)
	for i := range turns {
		if remark := strings.Index(turns[i].want, "\n# "); remark >= 0 {
			turns[i].want = strings.TrimRight(turns[i].want[:remark], "\n")
		}
	}
	return turns
}

func adminFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/admin/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no conversations", err)
	}
	return files
}

func TestAdministration(t *testing.T) {
	for _, file := range adminFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			turns := adminTurns(t, file)
			if url := os.Getenv("RESHELVE_RECORD"); url != "" {
				recordAdministration(t, url, file, turns)
				return
			}
			server := httptest.NewServer(newServer(t, Options{Name: "only", Cluster: "reshelve-tests"}))
			defer server.Close()
			for _, x := range turns {
				_, ours := x.wants()
				x.check(t, x.ask(t, server.URL), ours)
			}
		})
	}
}

// liveAdministration asks a real server, so that what the files say of it stays true,
// and empties it.
func liveAdministration(t *testing.T, url string) {
	for _, file := range adminFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			for _, x := range adminTurns(t, file) {
				theirs, _ := x.wants()
				x.check(t, x.askCalm(t, url, theirs), theirs)
			}
			forgetEverything(t, url)
		})
	}
}

// askCalm asks a real server that has work of its own, of which answers can speak: a
// task that became pending between the wait and the request. What only reads is asked
// again, for a few seconds, until it is answered as wanted.
func (x turn) askCalm(t *testing.T, url, want string) string {
	t.Helper()
	for until := time.Now().Add(5 * time.Second); ; {
		calm(t, url)
		got := x.ask(t, url)
		if got == want || x.method != http.MethodGet || time.Now().After(until) {
			return got
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// calm waits until a server has done what it does behind its answers.
func calm(t *testing.T, url string) {
	t.Helper()
	turn{method: http.MethodGet, path: "/_cluster/health?wait_for_events=languid"}.ask(t, url)
}

func recordAdministration(t *testing.T, url, file string, turns []turn) {
	t.Helper()
	forgetEverything(t, url)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	remarks := remarksOf(string(text))
	var out bytes.Buffer
	for i, x := range turns {
		fmt.Fprintf(&out, "%s>>> %s %s\n", remarks[i], x.method, x.path)
		if len(x.body) > 0 {
			fmt.Fprintf(&out, "%s\n", bytes.TrimRight(x.body, "\n"))
		}
		theirs := x.ask(t, url)
		fmt.Fprintf(&out, "<<< %s\n", theirs)
		if _, ours, differs := strings.Cut(x.want, "\n!!! "); differs && veil(ours) != theirs {
			fmt.Fprintf(&out, "!!! %s\n", veil(strings.TrimRight(ours, "\n")))
		}
		out.WriteByte('\n')
	}
	if err := os.WriteFile(file, bytes.TrimSuffix(out.Bytes(), []byte("\n")), 0o644); err != nil {
		t.Error(err)
	}
	forgetEverything(t, url)
}

// remarksOf are the remarks before each request.
func remarksOf(text string) (remarks []string) {
	remark := ""
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "# "):
			remark += line
		case strings.HasPrefix(line, ">>> "):
			remarks, remark = append(remarks, remark), ""
		}
	}
	return remarks
}

// forgetEverything empties a server that belongs to this test alone.
func forgetEverything(t *testing.T, url string) {
	t.Helper()
	for _, path := range []string{"/_data_stream/*", "/*?expand_wildcards=all", "/_index_template/*", "/_component_template/*", "/_template/*", "/_ingest/pipeline/*",
		"/_snapshot/*"} {
		turn{method: http.MethodDelete, path: path}.ask(t, url)
	}
	turn{method: http.MethodPut, path: "/_cluster/settings", kind: "application/json",
		body: []byte(`{"persistent":{"*":null},"transient":{"*":null}}`)}.ask(t, url)
}
