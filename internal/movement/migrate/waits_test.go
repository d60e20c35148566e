package migrate_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"log/slog"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/worker"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/snapshot"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/folder"
)

// hindrances are ways in which a server does not do what it is asked for: an answer, or an error of the connection, and
// what a status must quote of it.
var hindrances = []struct {
	name   string
	status int
	after  string // its wish when to be asked again
	body   string
	broken error
	quotes string
	writes bool // it keeps from changes alone
}{
	{name: "503", status: 503, after: "20", body: "<html><title>busy today</title>", quotes: "busy today"},
	{name: "500", status: 500, body: `{"error":{"type":"internal_server_error","reason":"a node is sick"},"status":500}`, quotes: "a node is sick"},
	{name: "429", status: 429, body: `{"error":{"type":"es_rejected_execution_exception","reason":"queue is full"},"status":429}`, quotes: "queue is full"},
	{name: "refused", broken: &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}, quotes: "connection refused"},
	{name: "silent", broken: io.ErrUnexpectedEOF, quotes: "unexpected EOF"},
	{name: "block", status: 403, body: `{"error":{"type":"cluster_block_exception","reason":"index [shelves] blocked by: [FORBIDDEN/5/index read-only (api)];"},"status":403}`,
		quotes: "index read-only (api)", writes: true},
	{name: "right", status: 403, body: `{"error":{"type":"security_exception","reason":"no permissions for [indices:all]"},"status":403}`, quotes: "no permissions for"},
}

// hindered is a library whose target, or repository, does not do what it is asked for while a movement is at one point.
type hindered struct {
	*library
	is     func(*movement.Record) bool // at that point
	answer func() (*http.Response, error)
	writes bool // it is changes alone that are hindered
	lifted atomic.Bool
	mu     sync.Mutex
	began  time.Time // when it was hindered first
}

func (h *hindered) now(method, path string) bool {
	if h.writes && (method == http.MethodGet || method == http.MethodHead || strings.Contains(path, "_search") || strings.Contains(path, "_pit")) {
		return false
	}
	m, err := h.driver.Movement(h.t.Context(), "m")
	if err != nil || h.lifted.Load() || !h.is(&m) {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.began.IsZero() {
		h.began = time.Now()
	}
	return true
}

// since is when it was hindered first; zero before that.
func (h *hindered) since() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.began
}

// RoundTrip reaches the target.
func (h *hindered) RoundTrip(r *http.Request) (*http.Response, error) {
	if h.now(r.Method, r.URL.Path) {
		return h.answer()
	}
	return h.target.RoundTrip(r)
}

// store is the repository behind a server that is hindered likewise.
type hinderedStore struct {
	blob.Bucket
	*hindered
}

func (s hinderedStore) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	if s.now(http.MethodGet, key) {
		answer, err := s.answer()
		if err != nil {
			return nil, blob.NetworkFailure(ctx, err)
		}
		body, _ := io.ReadAll(answer.Body)
		return nil, blob.StatusFailure(answer.StatusCode, answer.Header, string(body))
	}
	return s.Bucket.Open(ctx, key, offset, length)
}

// lane is one whose repository, or else target, is hindered.
func (h *hindered) lane(repository bool) *migrate.Lane {
	var way http.RoundTripper = h
	if repository {
		way = h.target
	}
	return &migrate.Lane{
		Reach: func(ctx context.Context, _ string) (*cluster.Client, error) {
			return cluster.Open(ctx, cluster.Options{URL: "http://target:9200", Transport: way})
		},
		Open: func(ctx context.Context, location string) (*snapshot.Repository, error) {
			bucket, err := blob.Open(ctx, location, map[string]blob.Opener{"file": folder.Open})
			if err == nil && repository {
				bucket = blob.Retry(hinderedStore{bucket, h}, blob.RetryPolicy{})
			}
			if err != nil {
				return nil, err
			}
			return snapshot.Open(ctx, bucket)
		},
	}
}

// namedWithin is a heartbeat of those that nobody has changed.
const namedWithin = 5 * time.Second

// goneWithin is enough for the longest pause between two tries, and for a process that could not work for a movement to try again.
const goneWithin = time.Minute

// TestWhatKeepsWorkFromGettingOnIsNamed: in whichever phase, and whatever it is, a status names it within a heartbeat, as what is
// waited for, or as the cause of a movement that does not go on by itself; and no more once it is over.
func TestWhatKeepsWorkFromGettingOnIsNamed(t *testing.T) {
	in := func(phase string) func(*movement.Record) bool {
		return func(m *movement.Record) bool { return m.Current() != nil && m.Current().Key() == phase }
	}
	for _, point := range []struct {
		name       string
		repository bool
		is         func(*movement.Record) bool
		reads      bool
	}{
		{"metadata", false, in("metadata"), true}, {"indices", false, in("indices"), false}, {"templates", false, in("templates"), false},
		{"documents", false, in("documents"), false}, {"refresh", false, in("refresh"), false}, {"verify", false, in("verify"), true}, {"aliases", false, in("aliases"), false},
		{"abort", false, func(m *movement.Record) bool { return m.State == movement.Aborting }, false},
		{"the repository, at the beginning", true, in("metadata"), true}, {"the repository, in items", true, in("items"), true},
		{"the repository, in documents", true, in("documents"), true}, {"the repository, in verify", true, in("verify"), true},
	} {
		for _, by := range hindrances {
			if point.reads && by.writes {
				continue
			}
			t.Run(point.name+"/"+by.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := &hindered{library: emptyLibrary(t), is: point.is, writes: by.writes}
					h.answer = func() (*http.Response, error) {
						if by.broken != nil {
							return nil, by.broken
						}
						return &http.Response{StatusCode: by.status, Header: http.Header{"Retry-After": {by.after}}, Body: io.NopCloser(strings.NewReader(by.body))}, nil
					}
					h.named(point.repository, by.quotes)
				})
			})
		}
	}
}

// everything is a plan whose phases all have something to ask for.
func (h *hindered) everything() migrate.Plan {
	h.repository = filepath.Join("..", "..", "..", "testdata", "repositories", streams, "repo")
	plan := h.plan("only")
	s, err := h.open().Find(h.t.Context(), plan.SnapshotUUID)
	if err != nil {
		h.t.Fatal(err)
	}
	global, err := s.Global(h.t.Context())
	if err == nil {
		plan.Templates, err = migrate.Choice{}.Templates(global)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	plan.Policy = short
	plan.Indices = slices.DeleteFunc(plan.Indices, func(i migrate.Index) bool { return i.Source != "old-shelf" })
	return plan
}

// named runs the movement into its hindrance, and out of it.
func (h *hindered) named(repository bool, quotes string) {
	t := h.t
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	go func() {
		ended <- worker.Run(ctx, drive.New(h.store, 0), map[movement.Kind]worker.Lane{movement.Migrate: h.lane(repository)},
			worker.Options{Name: "w", Slots: 2, Logger: slog.New(slog.NewTextHandler(h.log, nil))})
	}()
	h.start("m", h.everything())
	aborted := false
	for ; h.since().IsZero(); time.Sleep(100 * time.Millisecond) {
		if m, _ := h.look("m"); m.State == movement.Switched && !aborted {
			aborted = true
			h.tell("m", movement.Abort)
		} else if m.State.Ended() {
			t.Fatal("nothing is asked for there")
		}
	}
	shown := func() (movement.Record, *migrate.Progress, bool) {
		m, p := h.look("m")
		p.Judge(&m, nil, 0, time.Now())
		for _, of := range p.Hindrances {
			if strings.Contains(of.Cause, quotes) && of.Next != "" {
				return m, p, true
			}
		}
		return m, p, len(m.Owed()) == 0 && strings.Contains(m.Cause, quotes)
	}
	for named := false; !named; time.Sleep(100 * time.Millisecond) {
		var m movement.Record
		var p *migrate.Progress
		if m, p, named = shown(); !named && time.Since(h.since()) > namedWithin {
			t.Fatalf("it is %s: %s, in %s, and waits for %+v, hindered by %+v", m.State, m.Cause, p.Phase, p.Waits, p.Hindrances)
		}
	}
	h.lifted.Store(true)
	if m, _ := h.look("m"); m.State == movement.Failed {
		h.tell("m", movement.Resume)
	}
	time.Sleep(goneWithin)
	m, p := h.look("m")
	if len(p.Waits) > 0 || len(m.Owed()) > 0 {
		t.Errorf("afterwards it is %s: %s, and waits for %+v\n%s", m.State, m.Cause, p.Waits, h.log)
	}
	if left, err := h.driver.Keys(t.Context(), "closing/m/waits/"); err != nil || len(left) != 0 {
		t.Errorf("records are left: %v %v", left, err)
	}
}
