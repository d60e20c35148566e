package gateway

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	coord "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/store"
	shard "github.com/reshelve/reshelve/internal/store/shard/memory"
)

// newServer is a server in front of an empty store in memory.
func newServer(t testing.TB, o Options) *Server {
	t.Helper()
	s, err := store.Open(context.Background(), coord.New(), shard.New(shard.Options{}), store.Options{
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return New(s, o)
}

// turn is one request of a conversation and what was answered.
type turn struct {
	place  string
	method string
	path   string
	kind   string // content type, when there is a body
	body   []byte
	want   string // status, Location, body
}

// The files in testdata/conversations are requests, and the answers that
// OpenSearch 2.19.0 gave to them. RESHELVE_RECORD=URL asks a server at that URL
// and writes its answers into the files; its indices that begin with "gwt" go.
//
//	>>> METHOD PATH [CONTENT-TYPE]
//	a line of the body; one that begins with = is a Go string, without a line end
//	<<< STATUS [LOCATION]
//	the answer
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/conversations/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no conversations", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			turns := readTurns(t, file)
			if url := os.Getenv("RESHELVE_RECORD"); url != "" {
				record(t, url, file, turns)
				return
			}
			server := newServer(t, Options{})
			for _, turn := range turns {
				r := httptest.NewRequest(turn.method, turn.path, bytes.NewReader(turn.body))
				if turn.kind != "" {
					r.Header.Set("Content-Type", turn.kind)
				}
				w := httptest.NewRecorder()
				server.ServeHTTP(w, r)
				if got := told(w.Result()); got != turn.want {
					t.Errorf("%s: %s %s\n%s\ngives %s\nwant  %s", turn.place, turn.method, turn.path, turn.body, got, turn.want)
				}
			}
		})
	}
}

func readTurns(t *testing.T, file string) (turns []turn) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	answering := false
	for i, line := range strings.Split(strings.TrimRight(string(text), "\n"), "\n") {
		if request, ok := strings.CutPrefix(line, ">>> "); ok {
			method, path, _ := strings.Cut(request, " ")
			path, kind, _ := strings.Cut(path, " ")
			turns = append(turns, turn{place: fmt.Sprintf("%s:%d", file, i+1), method: method, path: path, kind: kind})
			answering = false
			continue
		}
		if len(turns) == 0 {
			continue // what stands before the first request
		}
		last := &turns[len(turns)-1]
		switch status, ok := strings.CutPrefix(line, "<<< "); {
		case ok:
			last.want, answering = status, true
		case answering:
			last.want += "\n" + line
		case strings.HasPrefix(line, "="):
			text, err := strconv.Unquote(line[1:])
			if err != nil {
				t.Fatalf("%s:%d: %v", file, i+1, err)
			}
			last.body = append(last.body, text...)
		default:
			last.body = append(last.body, line+"\n"...)
		}
	}
	for i := range turns {
		last := &turns[i]
		last.want = strings.TrimRight(last.want, "\n")
		if len(last.body) > 0 && last.kind == "" {
			last.kind = "application/json"
		}
		if last.kind != "application/x-ndjson" {
			last.body = bytes.TrimSuffix(last.body, []byte("\n"))
		}
	}
	return turns
}

// volatile is what differs from one server, or one moment, to the next.
var volatile = []struct {
	is     *regexp.Regexp
	become string
}{
	{regexp.MustCompile(`("?took"? ?: ?)\d+`), `${1}0`},
	{regexp.MustCompile(`"(index_uuid|node)":"[A-Za-z0-9_-]{20,22}"`), `"$1":"…"`},
	{regexp.MustCompile(`"node":"reshelve"`), `"node":"…"`},
	{regexp.MustCompile(`"_id":"[A-Za-z0-9_-]{20}"`), `"_id":"…"`},
	{regexp.MustCompile(`(/_doc/)[A-Za-z0-9_-]{20}$`), `$1…`},
}

// told is an answer as the files hold it.
func told(r *http.Response) string {
	body, _ := io.ReadAll(r.Body)
	head, text := strconv.Itoa(r.StatusCode), string(body)
	if at := r.Header.Get("Location"); at != "" {
		head += " " + at
	}
	if kind := r.Header.Get("Content-Type"); kind != "application/json; charset=UTF-8" {
		head += " " + kind
	}
	if allow := r.Header.Get("Allow"); allow != "" {
		head += " " + allow
	}
	for _, v := range volatile {
		head, text = v.is.ReplaceAllString(head, v.become), v.is.ReplaceAllString(text, v.become)
	}
	return strings.TrimRight(head+"\n"+text, "\n")
}

// record asks a real server and rewrites the file.
func record(t *testing.T, url, file string, turns []turn) {
	t.Helper()
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, path, kind string, body []byte) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), method, url+path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", kind)
		if kind == "" {
			r.Header.Del("Content-Type")
		}
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	ask("DELETE", "/gwt*?ignore_unavailable=true", "", nil)
	ask("DELETE", "/_index_template/gwt*", "", nil)
	head, _, _ := strings.Cut(string(old), ">>> ")
	out := []byte(head)
	for _, turn := range turns {
		out = fmt.Appendf(out, ">>> %s %s", turn.method, turn.path)
		if turn.kind != "" && (turn.kind != "application/json" || len(turn.body) == 0) {
			out = append(out, " "+turn.kind...)
		}
		out = append(out, '\n')
		for line := range strings.SplitAfterSeq(string(turn.body), "\n") {
			text := strings.TrimSuffix(line, "\n")
			ends := text != line || turn.kind == "application/json" && strings.HasSuffix(string(turn.body), line)
			switch {
			case line == "":
			case !ends || strings.HasPrefix(text, "=") || strings.HasPrefix(text, ">>>") || strings.HasPrefix(text, "<<<") || strings.Trim(text, "\r") != text || text == "":
				out = append(out, "="+strconv.Quote(line)+"\n"...)
			default:
				out = append(out, text+"\n"...)
			}
		}
		out = append(out, "<<< "+told(ask(turn.method, turn.path, turn.kind, turn.body))+"\n\n"...)
	}
	if err := os.WriteFile(file, bytes.TrimSuffix(out, []byte("\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	ask("DELETE", "/gwt*?ignore_unavailable=true", "", nil)
}
