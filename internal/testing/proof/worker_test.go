package proof

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const basic = "../../../testdata/repositories/opensearch-2.19.0-basic/repo"

// gate lets requests through to a server; closed, it stops bulk requests until it is opened.
type gate struct {
	*httptest.Server
	reached chan struct{} // closed when the first bulk request has come
	closed  atomic.Bool
	open    func()
}

func newGate(t *testing.T, server string) *gate {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	opened := make(chan struct{})
	g := &gate{reached: make(chan struct{}), open: sync.OnceFunc(func() { close(opened) })}
	var once sync.Once
	through := httputil.NewSingleHostReverseProxy(u)
	through.FlushInterval = -1 // watches are streams
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.closed.Load() && strings.HasSuffix(r.URL.Path, "/_bulk") {
			body, _ := io.ReadAll(r.Body) // only then does the server see that the client has gone
			r.Body = io.NopCloser(bytes.NewReader(body))
			once.Do(func() { close(g.reached) })
			select {
			case <-opened:
			case <-r.Context().Done():
				return
			}
		}
		through.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		g.open()
		g.Close()
	})
	return g
}

// items are how many of a movement's items wait, are leased, done and failed.
func items(t *testing.T, at, id string) (of struct{ Waiting, Leased, Done, Failed int }) {
	t.Helper()
	var m struct {
		Progress struct {
			Items *struct{ Waiting, Leased, Done, Failed int }
		}
	}
	m.Progress.Items = &of
	if err := json.Unmarshal(runs(t, "movement", "status", id, "--at", at, "--output", "json"), &m); err != nil {
		t.Fatal(err)
	}
	return of
}

// begun starts a migration, and leaves it to workers.
func begun(t *testing.T, repository, target string) (id string) {
	t.Helper()
	var m struct{ ID, State string }
	if err := json.Unmarshal(runs(t, "migrate", "--from", repository, "--to", target, "--yes", "--wait=false", "--output", "json"), &m); err != nil || m.State != "running" {
		t.Fatalf("%v %+v", err, m)
	}
	return m.ID
}

var healthLine = regexp.MustCompile(`health on (http://\S+)`)

// healthy asks a worker for its health.
func healthy(t *testing.T, p *Process) (status int, slots []struct{ Slot, Movement, Phase, Piece string }) {
	t.Helper()
	at := healthLine.FindStringSubmatch(p.Stderr())
	if at == nil {
		t.Fatalf("the worker names no address: %s", p.Stderr())
	}
	answer, err := http.Get(at[1])
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var told struct {
		Slots []struct{ Slot, Movement, Phase, Piece string }
	}
	if err := json.NewDecoder(answer.Body).Decode(&told); err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, told.Slots
}

// TestAStoppedWorkerHandsItsLeaseOver at once, in the middle of a request: nobody waits for
// the lease to end.
func TestAStoppedWorkerHandsItsLeaseOver(t *testing.T) {
	_, server := serve(t, dataFolder(t))
	g := newGate(t, server)
	id := begun(t, basic, g.URL)
	g.closed.Store(true)
	w := start(t, "worker", "--join", g.URL, "--listen", "127.0.0.1:0")
	select {
	case <-g.reached:
	case <-time.After(time.Minute):
		t.Fatalf("the worker sends nothing: %s", w.Stderr())
	}
	if status, slots := healthy(t, w); status != 200 || len(slots) != 1 || slots[0].Movement != id || !strings.HasPrefix(slots[0].Piece, "item/") {
		t.Errorf("at work: %d %+v", status, slots)
	}
	if now := items(t, server, id); now.Leased != 1 {
		t.Fatalf("%+v", now)
	}
	began := time.Now()
	if err := w.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if code, err := w.Wait(ctx); err != nil || code != 0 { // an orderly end, as that of serve
		t.Errorf("code %d, %v: %s", code, err, w.Stderr())
	}
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("the worker ends after %s", took)
	}
	if now := items(t, server, id); now.Leased != 0 || now.Waiting == 0 {
		t.Errorf("after the worker's end: %+v; %s", now, w.Stderr())
	}
	g.open()
	if code, out, wrong := ends(t, "worker", "--join", g.URL, "--once"); code != 0 || !strings.Contains(out, "movement "+id+": finished") {
		t.Errorf("the next worker: %d\n%s%s", code, out, wrong)
	}
}

// TestAWorkerTellsWhatItLacks: what it cannot open, and its place when that is gone.
func TestAWorkerTellsWhatItLacks(t *testing.T) {
	p, server := serve(t, dataFolder(t))
	repository := filepath.Join(t.TempDir(), "repository")
	if err := os.CopyFS(repository, os.DirFS(basic)); err != nil {
		t.Fatal(err)
	}
	id := begun(t, repository, server)
	if err := os.Rename(repository, repository+"-away"); err != nil {
		t.Fatal(err)
	}
	if code, _, wrong := ends(t, "worker", "--join", server, "--once"); code != 3 || !strings.Contains(wrong, repository) {
		t.Errorf("without the repository: %d %s", code, wrong)
	}
	if err := os.Rename(repository+"-away", repository); err != nil {
		t.Fatal(err)
	}
	if code, out, wrong := ends(t, "worker", "--join", server, "--once"); code != 0 || !strings.Contains(out, "movement "+id+": finished") {
		t.Errorf("with the repository: %d\n%s%s", code, out, wrong)
	}
	if code, out, _ := ends(t, "worker", "--join", server, "--once"); code != 0 || !strings.Contains(out, "no movement has anything to do") {
		t.Errorf("with nothing to do: %d %s", code, out)
	}
	w := start(t, "worker", "--join", server, "--listen", "127.0.0.1:0")
	for healthLine.FindString(w.Stderr()) == "" {
		select {
		case <-w.Exited():
			t.Fatal(w.Stderr())
		case <-time.After(10 * time.Millisecond):
		}
	}
	if status, _ := healthy(t, w); status != 200 {
		t.Errorf("status %d", status)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	status := 0
	for end := time.Now().Add(10 * time.Second); status != 503 && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		status, _ = healthy(t, w) // an answer of the place counts for two seconds
	}
	if status != 503 {
		t.Errorf("without its place: status %d", status)
	}
}
