package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/fault"
)

// soonEnough is how long a question for health may take.
const soonEnough = 100 * time.Millisecond

// asked is an answer of a health endpoint, which has to come in time: the best of three, since the machine is shared.
func asked(t *testing.T, address, path string) (status int, told map[string]any) {
	t.Helper()
	best := time.Hour
	for range 3 {
		began := time.Now()
		answer, err := http.Get(address + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if best = min(best, time.Since(began)); err != nil {
			t.Fatal(err)
		}
		status, told = answer.StatusCode, nil
		if err := json.Unmarshal(body, &told); err != nil {
			t.Fatalf("%s: %s", path, body)
		}
	}
	if best > soonEnough {
		t.Errorf("%s took %s", path, best)
	}
	return status, told
}

// free is an address at which nothing listens yet.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not in time: " + what)
		}
	}
}

// working starts a worker, and gives where its health is; ended tells its error.
func working(t *testing.T, join string) (address string, log *lines, ended chan error) {
	t.Helper()
	log, ended = &lines{}, make(chan error, 1)
	address = free(t)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go func() {
		_, err := control.New(wiring).Work(ctx, control.WorkerRequest{Join: join, Listen: address, Logger: slog.New(slog.NewTextHandler(log, nil))})
		ended <- err
	}()
	eventually(t, "the endpoint", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return "http://" + address, log, ended
}

// TestAWorkerWaitsForItsPlace: it starts while nothing is there, or nothing answers, says so, answers about its health at once,
// alive and not ready, and is ready some seconds after the place is there. When the place goes silent again it is not ready.
func TestAWorkerWaitsForItsPlace(t *testing.T) {
	at := free(t)
	address, log, ended := working(t, "http://"+at)
	eventually(t, "that it waits", func() bool { return strings.Contains(log.String(), "waits for its place") })
	if status, told := asked(t, address, "/health/live"); status != 200 || told["alive"] != true || told["ready"] != false {
		t.Errorf("alive: %d %v", status, told)
	}
	for _, path := range []string{"/health", "/health/ready"} {
		if status, told := asked(t, address, path); status != 503 || !strings.Contains(told["place"].(string), at) || told["since"] == nil || told["next"] == "" {
			t.Errorf("%s: %d %v", path, status, told)
		}
	}
	_, stop := servingAt(t, at, filepath.Join(t.TempDir(), "data"), control.Allowed{})
	defer stop()
	eventually(t, "that it is ready", func() bool { status, _ := asked(t, address, "/health/ready"); return status == 200 })
	if _, told := asked(t, address, "/health"); told["place"] != "answers" || len(told["slots"].([]any)) != 1 {
		t.Errorf("with its place: %v", told)
	}
	stop()
	eventually(t, "that it is not ready", func() bool { status, _ := asked(t, address, "/health/ready"); return status == 503 })
	if status, _ := asked(t, address, "/health/live"); status != 200 {
		t.Errorf("alive without its place: %d", status)
	}
	select {
	case err := <-ended:
		t.Errorf("it ended: %v", err)
	default:
	}
}

// TestAWorkerEndsWhereNoWaitingHelps: with wrong credentials, or a place of no known kind.
func TestAWorkerEndsWhereNoWaitingHelps(t *testing.T) {
	closed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer closed.Close()
	for place, kind := range map[string]fault.Kind{closed.URL: fault.Unauthorised, "ftp://host/place": fault.Usage, "localhost:9200": fault.Usage} {
		_, err := control.New(wiring).Work(t.Context(), control.WorkerRequest{Join: place, Logger: slog.New(slog.DiscardHandler)})
		if !fault.Is(err, kind) || fault.Next(err) == "" {
			t.Errorf("%s: %v → %s", place, err, fault.Next(err))
		}
	}
}

// TestAWorkerIsHealthyBesideASilentPlace: one that accepts connections and never answers, from the start and in the middle.
func TestAWorkerIsHealthyBesideASilentPlace(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	address, _, _ := working(t, "http://"+listener.Addr().String())
	if status, _ := asked(t, address, "/health/live"); status != 200 {
		t.Errorf("alive: %d", status)
	}
	if status, told := asked(t, address, "/health/ready"); status != 503 || told["since"] == nil {
		t.Errorf("ready: %d %v", status, told)
	}

	served, stop := serving(t, filepath.Join(t.TempDir(), "data"), control.Allowed{})
	defer stop()
	behind, err := url.Parse(served)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(behind)
	var silenced atomic.Bool
	done := make(chan struct{})
	defer close(done)
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if silenced.Load() {
			<-done
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	defer between.CloseClientConnections()
	address, _, _ = working(t, between.URL)
	eventually(t, "that it is ready", func() bool { status, _ := asked(t, address, "/health/ready"); return status == 200 })
	silenced.Store(true)
	eventually(t, "that it is not ready", func() bool { status, _ := asked(t, address, "/health/ready"); return status == 503 })
	if status, _ := asked(t, address, "/health/live"); status != 200 {
		t.Errorf("alive: %d", status)
	}
}

// TestHealthOfAStoreThatIsOpened: while the folder is opened the store is alive and not ready, other requests are told so, and an
// index whose name is that of the endpoint is the store's own matter.
func TestHealthOfAStoreThatIsOpened(t *testing.T) {
	opening, gate := wiring, make(chan struct{})
	opening.Folder = func(ctx context.Context, dir string, o control.FolderOptions) (control.Folder, error) {
		<-gate
		return openFolder(ctx, dir, o)
	}
	at := free(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended, ready := make(chan error, 1), make(chan string, 1)
	go func() {
		req := control.ServeRequest{Data: filepath.Join(t.TempDir(), "data"), Listen: at, Logger: slog.New(slog.DiscardHandler)}
		ended <- control.New(opening).Serve(ctx, req, func(s control.Serving) { ready <- s.Address })
	}()
	served := "http://" + at
	eventually(t, "that it listens", func() bool { answer, err := http.Get(served); return err == nil && answer.Body.Close() == nil })
	if status, told := asked(t, served, "/health/live"); status != 200 || told["state"] != "opening" {
		t.Errorf("alive: %d %v", status, told)
	}
	for _, path := range []string{"/health", "/health/ready", "/books/_search"} {
		if status, told := asked(t, served, path); status != 503 || told["ready"] == true {
			t.Errorf("%s: %d %v", path, status, told)
		}
	}
	silent, err := net.Dial("tcp", at) // a connection of which nothing is known yet, such as browsers and pools open ahead
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	kept := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}, Timeout: 30 * time.Second}
	live := func() (string, time.Duration) {
		began := time.Now()
		answer, err := kept.Get(served + "/health/live")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		var told struct{ State string }
		if err := json.NewDecoder(answer.Body).Decode(&told); err != nil {
			t.Fatal(err)
		}
		return told.State, time.Since(began)
	}
	live()
	close(gate)
	for state, longest := "opening", time.Duration(0); state != "serving"; {
		var took time.Duration
		if state, took = live(); took > max(longest, 10*soonEnough) { // the machine is shared
			t.Errorf("alive, between opening and serving: after %s", took)
			longest = took
		}
	}
	<-ready
	for _, path := range []string{"/health", "/health/ready", "/health/live"} {
		if status, told := asked(t, served, path); status != 200 || told["state"] != "serving" || told["writes"] != "taken" {
			t.Errorf("%s: %d %v", path, status, told)
		}
	}
	request, err := http.NewRequest(http.MethodPut, served+"/health", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil || answer.StatusCode != 200 || answer.Body.Close() != nil {
		t.Fatal(answer, err)
	}
	if status, told := asked(t, served, "/health"); status != 200 || told["health"] == nil {
		t.Errorf("an index: %d %v", status, told)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// lines is a log that is read while it is written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
