package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	coord "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/store"
	shard "github.com/reshelve/reshelve/internal/store/shard/memory"
)

// logged is a log that a test reads while it is written.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logged) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Reset()
}

// TestAPanicIsAnAnswer: whoever asked gets 500 and an exception, the log the place once, and
// everybody else their answers. An answer that has begun is cut off.
func TestAPanicIsAnAnswer(t *testing.T) {
	var log logged
	s, err := store.Open(t.Context(), coord.New(), shard.New(shard.Options{}), store.Options{Logger: slog.New(slog.NewJSONHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	gateway := New(s, Options{})
	gateway.routes.add(&route{"GET POST", "/_panic", "", func(c *call) error {
		if _, err := c.content(); err != nil {
			return err
		}
		c.out = append(c.out, "half of an ans"...)
		var none []error
		return none[len(c.params)]
	}})
	gateway.routes.add(&route{"GET", "/_panic_late", "", func(c *call) error {
		c.answered = true
		c.w.Header().Set("Content-Length", "1000")
		_, _ = c.w.Write([]byte(`{"half":`))
		_ = http.NewResponseController(c.w).Flush()
		panic("too late")
	}})
	front := httptest.NewServer(gateway)
	front.Config.ErrorLog = slog.NewLogLogger(slog.NewTextHandler(&log, nil), slog.LevelError)
	defer front.Close()
	ask := func(method, path, body string) (int, string, error) {
		r, err := http.NewRequestWithContext(context.Background(), method, front.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0, "", err
		}
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		return answer.StatusCode, string(text), err
	}

	status, text, err := ask("POST", "/_panic?pretty", `{"a":1}`)
	const reason = `"reason":"this is a bug in reshelve, see its log: runtime error: index out of range [1] with length 0"`
	want := `{"error":{"root_cause":[{"type":"exception",` + reason + `}],"type":"exception",` + reason + `},"status":500}`
	if err != nil || status != 500 || text != want {
		t.Errorf("%d %s %v", status, text, err)
	}
	if strings.Count(log.String(), "a request failed") != 1 || !strings.Contains(log.String(), "gateway/crash_test.go:") || !strings.Contains(log.String(), `"path":"/_panic"`) {
		t.Errorf("the log tells %s", log.String())
	}
	if held := gateway.inFlight.Load(); held != 0 {
		t.Errorf("%d bytes are still held", held)
	}
	log.reset()
	if _, text, err := ask("GET", "/_panic_late", ""); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a broken answer came as %q, %v", text, err)
	}
	if strings.Count(log.String(), "too late") != 1 {
		t.Errorf("the log tells %s", log.String())
	}
	for path, want := range map[string]int{"/a/_doc/1": 201, "/a/_doc/2": 201} {
		if status, text, err := ask("PUT", path, `{"n":1}`); status != want || err != nil {
			t.Errorf("afterwards %s gives %d %s %v", path, status, text, err)
		}
	}
}
