package proof

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/coord/local"
)

// front stands before a store, and fails as it is told. It lets requests be no longer than a
// few documents, and one at a time, so that small snapshots are long work.
type front struct {
	*httptest.Server
	mu      sync.Mutex
	behind  *url.URL
	slow    time.Duration // each bulk request
	most    int           // bytes of a request, and bulk requests come one at a time; 0: as the store has it
	refuses int           // status of bulk requests, or of all when away
	away    bool
	busy    bool                       // with a bulk request: others are rejected
	starts  map[string]map[string]bool // of items that were seen: index and shard → first positions
}

var itemName = regexp.MustCompile(`([a-z-]+__\d+)__(\d+)`)

func newFront(t *testing.T, behind string) *front {
	t.Helper()
	f := &front{slow: 200 * time.Millisecond, most: 1300, starts: map[string]map[string]bool{}}
	f.leadTo(t, behind)
	pass := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			f.mu.Lock()
			defer f.mu.Unlock()
			r.SetURL(f.behind)
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if most := f.limit(); most > 0 && strings.HasSuffix(r.URL.Path, "/_nodes/_all/http") {
			_, _ = fmt.Fprintf(w, `{"nodes":{"n":{"http":{"max_content_length_in_bytes":%d}}}}`, most)
			return
		}
		bulk := strings.HasSuffix(r.URL.Path, "_bulk")
		wait, status := f.mood(r, bulk)
		if wait > 0 {
			time.Sleep(wait)
		}
		if bulk && status == 0 {
			defer f.set(func() { f.busy = false })
		}
		if status != 0 {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, `{"error":{"root_cause":[],"type":"rejected_execution_exception","reason":"no room"},"status":%d}`, status)
			return
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

// mood notes the items that a request names, and says what befalls it.
func (f *front) mood(r *http.Request, bulk bool) (wait time.Duration, status int) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range itemName.FindAllStringSubmatch(r.URL.String()+string(body), -1) {
		if f.starts[m[1]] == nil {
			f.starts[m[1]] = map[string]bool{}
		}
		f.starts[m[1]][m[2]] = true
	}
	if bulk && !f.busy {
		wait = f.slow
	}
	if f.away {
		return 0, http.StatusServiceUnavailable
	}
	switch {
	case bulk && f.refuses != 0:
		status = f.refuses
	case bulk && f.busy && f.most > 0:
		status = http.StatusTooManyRequests
	case bulk:
		f.busy = true
	}
	return wait, status
}

func (f *front) limit() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.most
}

func (f *front) leadTo(t *testing.T, behind string) {
	t.Helper()
	u, err := url.Parse(behind)
	if err != nil {
		t.Fatal(err)
	}
	f.set(func() { f.behind = u })
}

func (f *front) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// listed is a movement that a store tells of.
type listed struct{ ID, State, Cause string }

func movements(t *testing.T, at string) (all []listed) {
	t.Helper()
	if err := json.Unmarshal(runs(t, "movement", "ls", "--at", at, "--output", "json"), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// until waits for a condition that other processes bring about.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for began := time.Now(); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Since(began) > 2*time.Minute {
			t.Fatalf("it takes too long until %s", what)
		}
	}
}

// same compares what a folder holds with the snapshot, document by document, and looks
// whether only the record of the movement is left of those that coordinate.
func same(t *testing.T, data string, want prints) {
	t.Helper()
	got := storePrints(t, data)
	for p, n := range want {
		if got[p] != n {
			t.Errorf("%s: %d in the snapshot, %d found", p, n, got[p])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d documents are found, the snapshot has %d", len(got), len(want))
	}
	store, err := local.Open(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for _, prefix := range []string{"movement/", "closing/"} {
		left, err := store.List(t.Context(), prefix)
		if err != nil || len(left) > 0 {
			t.Errorf("%d records are left under %s: %v", len(left), prefix, err)
		}
	}
}

// TestFleetUnderKills: leases so short that items are handed over to successors; processes
// are killed, told to stop, and stand still past their leases, at any moment.
func TestFleetUnderKills(t *testing.T) {
	want := snapshotPrints(t, basic)
	for _, workers := range []int{1, 8} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			data := filepath.Join(dataFolder(t), "data")
			server, address := serve(t, data)
			f := newFront(t, address)
			random := rand.New(rand.NewPCG(seed(t), uint64(workers)))
			fleet := []*Process{start(t, "migrate", "-q", "--from", basic, "--to", f.URL, "--workers", "1",
				"--initial-lease", "1s", "--heartbeat", "250ms", "--max-attempts", "100")}
			until(t, "the movement runs", func() bool {
				all := movements(t, f.URL)
				return len(all) == 1 && all[0].State == "running"
			})
			join := func() *Process { return start(t, "worker", "--join", f.URL) }
			for len(fleet) < workers {
				fleet = append(fleet, join())
			}
			mishaps := number(t, "PROOF_KILLS", 8)
			for n := 0; movements(t, f.URL)[0].State == "running"; n++ {
				if n > 400 {
					t.Fatalf("it does not end\n%s", runs(t, "movement", "status", movements(t, f.URL)[0].ID, "--at", f.URL))
				}
				time.Sleep(time.Duration(random.IntN(500)) * time.Millisecond)
				if n >= mishaps {
					continue
				}
				whom := random.IntN(len(fleet))
				switch n % 3 {
				case 0:
					_ = fleet[whom].Kill()
					fleet[whom] = join()
				case 1:
					_ = fleet[whom].Signal(syscall.SIGTERM)
					fleet[whom] = join()
				case 2:
					_ = fleet[whom].Signal(syscall.SIGSTOP)
					time.Sleep(1500 * time.Millisecond)
					_ = fleet[whom].Signal(syscall.SIGCONT)
				}
			}
			if all := movements(t, f.URL); all[0].State != "finished" {
				t.Fatalf("%+v\n%s", all, runs(t, "movement", "status", all[0].ID, "--at", f.URL))
			}
			for _, p := range fleet {
				_ = p.Signal(syscall.SIGTERM)
			}
			for _, p := range fleet {
				if code, err := p.Wait(t.Context()); err != nil || code != 0 && code != 130 {
					t.Errorf("a worker that was told to stop ends with %d, %v\n%s", code, err, p.Stderr())
				}
			}
			handed := 0
			for _, starts := range f.starts {
				handed += len(starts) - 1
			}
			if handed == 0 {
				t.Errorf("no item was handed over: %v", f.starts)
			}
			stop(t, server)
			same(t, data, want)
		})
	}
}

// TestFleetWhoseTargetFails: it rejects, is unreachable, and is killed and started again at
// another place; and since it coordinates too, the records are away with it.
func TestFleetWhoseTargetFails(t *testing.T) {
	want := snapshotPrints(t, basic)
	data := filepath.Join(dataFolder(t), "data")
	server, address := serve(t, data)
	f := newFront(t, address)
	p := start(t, "migrate", "-q", "--from", basic, "--to", f.URL, "--initial-lease", "3s", "--heartbeat", "250ms", "--max-attempts", "100")
	until(t, "documents are copied", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.starts) >= 3
	})
	time.Sleep(300 * time.Millisecond)
	f.set(func() { f.refuses = http.StatusTooManyRequests })
	time.Sleep(time.Second)
	f.set(func() { f.refuses, f.away = 0, true })
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	server, address = serve(t, data)
	f.leadTo(t, address)
	f.set(func() { f.away, f.refuses = false, http.StatusServiceUnavailable })
	time.Sleep(time.Second)
	f.set(func() { f.refuses = 0 })
	if code, err := p.Wait(t.Context()); err != nil || code != 0 {
		t.Fatalf("it ends with %d, %v\n%s", code, err, p.Stderr())
	}
	stop(t, server)
	same(t, data, want)
}

// TestTwoMovementsAtOnce: of two that begin in the same moment at most one goes on, and the
// other is refused with its name.
func TestTwoMovementsAtOnce(t *testing.T) {
	data := filepath.Join(dataFolder(t), "data")
	server, address := serve(t, data)
	var both [2]*Process
	for n := range both {
		both[n] = start(t, "migrate", "-q", "--from", basic, "--to", address)
	}
	codes, refusals := map[int]int{}, ""
	for _, p := range both {
		code, err := p.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if codes[code]++; code != 0 {
			refusals += p.Stderr()
		}
	}
	// 5: the preview has seen the other; 8: both had been planned; 9: the other had ended when this one
	// began, whose plan had seen nothing of it.
	late := codes[9] == 1 && codes[0] == 1 && strings.Contains(refusals, "was not moved: the index ")
	if !late && codes[0]+codes[5]+codes[8] != 2 || !regexp.MustCompile(`movement \d{8}-\d{6}-\w{6}`).MatchString(refusals) {
		t.Errorf("they end with %v: %s", codes, refusals)
	}
	if codes[0] > 1 {
		t.Errorf("both go on: %v", codes)
	}
	stop(t, server)
}
