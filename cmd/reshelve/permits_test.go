package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/egress/egresstest"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
)

// stranger is a server that somebody names; it remembers what it was told.
type stranger struct {
	*httptest.Server
	mu   sync.Mutex
	told []string // the credentials of each request
}

func newStranger(t *testing.T, answers http.Handler) *stranger {
	s := &stranger{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.told = append(s.told, r.Header.Get("Authorization"))
		s.mu.Unlock()
		answers.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *stranger) heard() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.told)
}

// secrets are credentials of every kind in the environment; where a broken test would send them is this machine.
func secrets(t *testing.T) {
	for name, value := range map[string]string{"RESHELVE_HTTP_AUTHORIZATION": "Bearer web", "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "s",
		"AWS_SESSION_TOKEN": "token", "AZURE_STORAGE_KEY": "a2V5", "AZURE_STORAGE_ACCOUNT": "ours", "STORAGE_EMULATOR_HOST": "127.0.0.1:1",
		"AWS_ENDPOINT_URL_S3": "http://127.0.0.1:1", "RESHELVE_SOURCE_BEARER": "source", "RESHELVE_TARGET_BEARER": "target"} {
		t.Setenv(name, value)
	}
}

// serving serves a folder until stop.
func serving(t *testing.T, data string, allow control.Allowed) (address string, stop func()) {
	t.Helper()
	return servingAt(t, "127.0.0.1:0", data, allow)
}

// servingAt is serving at an address.
func servingAt(t *testing.T, at, data string, allow control.Allowed) (address string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- control.New(wiring).Serve(ctx, control.ServeRequest{Data: data, Listen: at, Logger: slog.New(slog.DiscardHandler), Allow: allow},
			func(s control.Serving) { ready <- s.Address })
	}()
	select {
	case address = <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	return address, sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// begin asks for a migration by HTTP.
func begin(t *testing.T, at string, order map[string]any) (int, map[string]any) {
	t.Helper()
	order["kind"] = "migrate"
	body, _ := json.Marshal(order)
	response, err := http.Post(at+"/_reshelve/movements", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	answer := map[string]any{}
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatalf("%s", text)
	}
	return response.StatusCode, answer
}

// TestOrdersByHTTPLeadNowhere that the operator has not named: nothing connects, and nothing is sent.
func TestOrdersByHTTPLeadNowhere(t *testing.T) {
	secrets(t)
	x, y := newStranger(t, http.NotFoundHandler()), newStranger(t, http.NotFoundHandler())
	here, _ := filepath.Abs(repository)
	allow := control.Allowed{Repositories: []string{"http://127.0.0.1:1/backups", "s3://bucket/backups?endpoint=http://127.0.0.1:1", "gs://bucket", "az://ours", filepath.Join(here, "indices")},
		Sources: []string{"http://127.0.0.1:1", y.URL}}
	at, stop := serving(t, filepath.Join(t.TempDir(), "data"), allow)
	defer stop()
	for _, from := range []string{x.URL + "/r", "http://127.0.0.1:1/", "http://127.0.0.1:1/backups-2", "http://127.0.0.1:1/backups/../r", "http://127.0.0.1:1/backups/%2e%2e/r", `http://127.0.0.1:1/backups/..\r`,
		"https://127.0.0.1:1/backups", "http://127.0.0.1:2/backups", "s3://bucket/backups?endpoint=" + x.URL + "&path-style", "s3://bucket/backups", "s3://bucket/backups?endpoint=http://127.0.0.1:1&profile=admin",
		"s3://bucket/other?endpoint=http://127.0.0.1:1", "s3://bucket2/backups?endpoint=http://127.0.0.1:1", "gs://bucket?endpoint=" + x.URL, "gs://bucket/a?user-project=ours", "az://ours?endpoint=" + x.URL + "/ours&account=ours",
		"az://ours?account=theirs&endpoint=http://127.0.0.1:1/theirs", "http://127.0.0.9:1/latest", here, "file://" + here, filepath.Join(here, "indices", ".."), "/"} {
		status, p := begin(t, at, map[string]any{"from": from})
		if next, _ := p["next"].(string); status != 400 || p["kind"] != "refused" || !strings.Contains(next, "reshelve serve … --allow-repository ") {
			t.Errorf("from %s: %d %v", from, status, p)
		}
	}
	for _, order := range []map[string]any{{"from": filepath.Join(here, "indices"), "fromCluster": x.URL}, {"from": filepath.Join(here, "indices"), "fromCluster": "http://u:p@localhost:1"}} {
		status, p := begin(t, at, order)
		if next, _ := p["next"].(string); status != 400 || !strings.Contains(next, "--allow-source http://") || strings.Contains(fmt.Sprint(p["detail"]), "u:p") {
			t.Errorf("%v: %d %v", order, status, p)
		}
	}
	if told := x.heard(); len(told) != 0 {
		t.Errorf("what nobody has named was told %q", told)
	}
	status, p := begin(t, at, map[string]any{"from": here, "fromCluster": y.URL})
	if next, _ := p["next"].(string); status != 400 || !strings.Contains(next, "--allow-repository ") || len(y.heard()) != 0 {
		t.Errorf("a snapshot into what is not allowed: %d %v; the source was asked %q", status, p, y.heard())
	}
	if status, p := begin(t, at, map[string]any{"from": filepath.Join(here, "indices")}); strings.Contains(fmt.Sprint(p["detail"]), "operator") {
		t.Errorf("what is named: %d %v", status, p)
	}
}

// TestRecordsLeadAWorkerNowhere that its operator has not named, and there with the flag that the refusal names.
func TestRecordsLeadAWorkerNowhere(t *testing.T) {
	secrets(t)
	c, data := control.New(wiring), filepath.Join(t.TempDir(), "data")
	from := newStranger(t, http.FileServer(http.Dir(repository)))
	m, err := c.Migrate(t.Context(), control.MigrateRequest{Target: data, NoWait: true, Yes: true, Selection: control.Selection{Repository: from.URL}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	before := len(from.heard())
	if before == 0 || from.heard()[0] != "Bearer web" { // he has named it himself
		t.Errorf("the operator's own repository was told %q", from.heard())
	}
	for _, allow := range []control.Allowed{{}, {Repositories: []string{from.URL + "/below"}}, {Targets: []string{from.URL}, Sources: []string{from.URL}}} {
		_, err = c.Work(t.Context(), control.WorkerRequest{Join: data, Once: true, Memory: 64 << 20, Allow: allow, Logger: slog.New(slog.DiscardHandler)})
		if !fault.Is(err, fault.Refused) || !strings.Contains(fault.Next(err), "reshelve worker … --allow-repository "+from.URL) {
			t.Errorf("%+v: %v → %s", allow, err, fault.Next(err))
		}
	}
	if n := len(from.heard()) - before; n != 0 {
		t.Errorf("%d requests were sent to what the record names", n)
	}
	if _, err := c.Work(t.Context(), control.WorkerRequest{Join: data, Once: true, Memory: 64 << 20, Allow: control.Allowed{Repositories: []string{from.URL}}, Logger: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	if m, err = c.Movement(t.Context(), data, m.ID); err != nil || m.State != movement.Finished {
		t.Errorf("%v %+v", err, m)
	}
}

// TestRecordsNameATarget: where the records lie beside all targets, what they name gets no
// credentials, unless the operator says so.
func TestRecordsNameATarget(t *testing.T) {
	secrets(t)
	at, stop := serving(t, filepath.Join(t.TempDir(), "data"), control.Allowed{})
	defer stop()
	behind, _ := url.Parse(at)
	to := newStranger(t, &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(behind) }})
	c, records := control.New(wiring), "local:"+filepath.Join(t.TempDir(), "records")
	_, err := c.Migrate(t.Context(), control.MigrateRequest{Target: to.URL, Coordinate: records, NoWait: true, Yes: true, Selection: control.Selection{Repository: repository}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if told := to.heard(); len(told) == 0 || !slices.Contains(told, "Bearer target") {
		t.Errorf("the operator's own target was told %q", told)
	}
	before := len(to.heard())
	for _, allow := range []control.Allowed{{}, {Sources: []string{to.URL}}, {Targets: []string{to.URL + "/below"}}} {
		_, err = c.Work(t.Context(), control.WorkerRequest{Join: records, Once: true, Memory: 64 << 20, Allow: allow, Logger: slog.New(slog.DiscardHandler)})
		if !fault.Is(err, fault.Refused) || !strings.Contains(fault.Next(err), "reshelve worker … --allow-target "+to.URL) {
			t.Errorf("%+v: %v → %s", allow, err, fault.Next(err))
		}
	}
	if n := len(to.heard()) - before; n != 0 {
		t.Errorf("%d requests were sent to what the record names", n)
	}
	if _, err := c.Work(t.Context(), control.WorkerRequest{Join: records, Once: true, Memory: 64 << 20, Allow: control.Allowed{Targets: []string{to.URL}}, Logger: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
}

// TestANameThatComesToMeanThisMachine: the operator has named it, and somebody else says what it means.
func TestANameThatComesToMeanThisMachine(t *testing.T) {
	secrets(t)
	x := newStranger(t, http.FileServer(http.Dir(repository)))
	was := net.DefaultResolver
	net.DefaultResolver = egresstest.Names(t, "127.0.0.1")
	defer func() { net.DefaultResolver = was }()
	name := strings.Replace(x.URL, "127.0.0.1", "backups.example", 1)
	at, stop := serving(t, filepath.Join(t.TempDir(), "data"), control.Allowed{Repositories: []string{name, "s3://bucket?endpoint=" + name + "&path-style"}, Sources: []string{name}})
	defer stop()
	for _, order := range []map[string]any{{"from": name}, {"from": "s3://bucket?endpoint=" + name + "&path-style"}, {"from": name, "fromCluster": name}} {
		status, p := begin(t, at, order)
		if detail, _ := p["detail"].(string); status != 400 || p["kind"] != "refused" || !strings.Contains(detail, "backups.example leads to 127.0.0.1") {
			t.Errorf("%v: %d %v", order, status, p)
		}
	}
	if told := x.heard(); len(told) != 0 {
		t.Errorf("it was told %q", told)
	}
	c := control.New(wiring)
	if _, err := c.List(t.Context(), control.ListRequest{Repository: name}); err != nil { // the operator knows his names
		t.Errorf("by the operator: %v", err)
	}
	net.DefaultResolver = egresstest.Names(t, "169.254.169.254")
	for what, err := range map[string]error{
		"a repository": func() error { _, err := c.List(t.Context(), control.ListRequest{Repository: name}); return err }(),
		"a target":     func() error { _, err := c.Movements(t.Context(), name); return err }(),
	} {
		if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "169.254.169.254") {
			t.Errorf("%s that comes to mean the metadata of a cloud: %v", what, err)
		}
	}
}

// TestANameBehindAProxy is checked as without one: for a repository and for a cluster, before the proxy hears of it.
func TestANameBehindAProxy(t *testing.T) {
	const behind = "RESHELVE_TEST_PROXY"
	if os.Getenv(behind) == "" { // the environment's proxies are read once in a process
		x := newStranger(t, http.FileServer(http.Dir(repository)))
		inside := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		inside.Env = append(os.Environ(), behind+"="+x.URL, "HTTP_PROXY="+x.URL, "http_proxy=", "NO_PROXY=", "no_proxy=", "REQUEST_METHOD=")
		text, err := inside.CombinedOutput()
		if err != nil || !strings.Contains(string(text), "--- PASS: "+t.Name()) {
			t.Fatalf("%v\n%s", err, text)
		}
		if len(x.heard()) == 0 {
			t.Error("no request came to the proxy")
		}
		return
	}
	secrets(t)
	was := net.DefaultResolver
	defer func() { net.DefaultResolver = was }()
	const name = "http://backups.example:9200"
	at, stop := serving(t, filepath.Join(t.TempDir(), "data"), control.Allowed{Repositories: []string{name}, Sources: []string{name}})
	defer stop()
	c := control.New(wiring)
	for _, tc := range []struct {
		leads          string
		refused, knows bool // in an order; by the operator
	}{{"127.0.0.1", true, true}, {"169.254.169.254", true, false}, {"192.0.2.7", false, true}} {
		net.DefaultResolver = egresstest.Names(t, tc.leads)
		for _, order := range []map[string]any{{"from": name}, {"from": name, "fromCluster": name}} {
			status, p := begin(t, at, order)
			if detail, _ := p["detail"].(string); tc.refused != strings.Contains(detail, "backups.example leads to "+tc.leads) || tc.refused && (status != 400 || p["kind"] != "refused") {
				t.Errorf("%s, %v: %d %v", tc.leads, order, status, p)
			}
		}
		if _, err := c.List(t.Context(), control.ListRequest{Repository: name}); (err == nil) != tc.knows || err != nil && !fault.Is(err, fault.Refused) {
			t.Errorf("%s, by the operator: %v", tc.leads, err)
		}
	}
}

// TestAServerForgetsWhatWasAllowed: a movement that came by HTTP leads nowhere when the server is started again
// without the permission, whatever its record says.
func TestAServerForgetsWhatWasAllowed(t *testing.T) {
	secrets(t)
	data := filepath.Join(t.TempDir(), "data")
	from := newStranger(t, http.FileServer(http.Dir(repository)))
	at, stop := serving(t, data, control.Allowed{Repositories: []string{from.URL}})
	defer stop()
	status, m := begin(t, at, map[string]any{"from": from.URL, "limits": map[string]any{"documentsPerSecond": 1}})
	if status != http.StatusAccepted {
		t.Fatalf("%d %v", status, m)
	}
	stop()
	before := len(from.heard())
	_, stop = serving(t, data, control.Allowed{})
	defer stop()
	time.Sleep(2 * time.Second) // it looks for work each second
	if n := len(from.heard()) - before; n != 0 {
		t.Errorf("%d requests were sent to what the record names", n)
	}
}
