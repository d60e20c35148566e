package proof

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// built is the binary of this test run.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "reshelve-proof-")
	if err != nil {
		return "", err
	}
	scratches = append(scratches, dir)
	return Build(context.Background(), dir)
})

var scratches []string // folders of binaries

func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("rapid.nofailfile", "true") // the seed that it prints repeats a failure
	code := m.Run()
	for _, dir := range scratches {
		os.RemoveAll(dir)
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// binary is the program; it is not there in short mode, which has no time for it.
func binary(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("the real binary is not tried in short mode")
	}
	name, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// dataFolder is a folder that is kept when the test fails.
func dataFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "reshelve-proof-data-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the data folder is kept: %s", dir)
			return
		}
		os.RemoveAll(dir)
	})
	return dir
}

// seed is the seed of this run, told when the test fails.
func seed(t *testing.T) uint64 {
	t.Helper()
	s := uint64(time.Now().UnixNano())
	if given := os.Getenv("PROOF_SEED"); given != "" {
		var err error
		if s, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("PROOF_SEED=%d repeats the choices", s)
		}
	})
	return s
}

// number is a setting of a run.
func number(t *testing.T, name string, byDefault int) int {
	t.Helper()
	given := os.Getenv(name)
	if given == "" {
		return byDefault
	}
	n, err := strconv.Atoi(given)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// start starts the program, and ends it with the test.
func start(t *testing.T, words ...string) *Process {
	t.Helper()
	p, err := Start(append([]string{binary(t)}, words...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill() })
	return p
}

// serve starts a server on a folder and waits until it serves.
func serve(t *testing.T, dir string, words ...string) (p *Process, url string) {
	t.Helper()
	p = start(t, append([]string{"serve", "--data", dir, "--listen", "127.0.0.1:0"}, words...)...)
	return p, serving(t, p)
}

func serving(t *testing.T, p *Process) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	url, err := p.Serving(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// stop ends a server as its operator does, and holds it to its promise.
func stop(t *testing.T, p *Process) {
	t.Helper()
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ended(t, p, 0)
}

// ended waits for the end of a process with this exit code, within 10 s.
func ended(t *testing.T, p *Process, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	got, err := p.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if got != code {
		t.Fatalf("the process ended with %d, not %d:\n%s", got, code, p.Stderr())
	}
}

// talk is a Talk for a test.
func talk(t *testing.T) *Talk {
	t.Helper()
	talk := NewTalk(time.Minute)
	t.Cleanup(talk.Close)
	return talk
}

// ask sends a request that must get this status, and returns the body.
func ask(t *testing.T, talk *Talk, status int, method, url, body string) []byte {
	t.Helper()
	var content []byte
	if body != "" {
		content = []byte(body)
	}
	answer, err := talk.Do(t.Context(), method, url, content)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Status != status {
		t.Fatalf("%s %s: %s, not %d", method, url, answer, status)
	}
	return answer.Body
}
