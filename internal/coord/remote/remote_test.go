package remote_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/coord/coordtest"
	"github.com/reshelve/reshelve/internal/coord/local"
	"github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/coord/remote"
	"github.com/reshelve/reshelve/internal/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serving is the address of a server in front of a store.
func serving(t *testing.T, behind coord.Store) string {
	t.Helper()
	handler := remote.NewHandler(behind)
	server := httptest.NewUnstartedServer(handler)
	server.Config.RegisterOnShutdown(handler.End)
	server.Start()
	t.Cleanup(func() {
		handler.End()
		server.Close()
		if err := behind.Close(); err != nil {
			t.Error(err)
		}
	})
	return server.URL
}

func opened(t *testing.T, address string) coord.Store {
	t.Helper()
	s, err := remote.Open(t.Context(), remote.Options{Address: address})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheContract(t *testing.T) {
	address := map[coord.Store]string{}
	coordtest.Run(t, coordtest.Case{
		Open: func(t *testing.T) coord.Store {
			behind, err := local.Open(t.Context(), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			at := serving(t, behind)
			s := opened(t, at)
			address[s] = at
			return s
		},
		Reopen: func(t *testing.T, old coord.Store) coord.Store {
			t.Helper()
			if err := old.Close(); err != nil {
				t.Fatal(err)
			}
			s := opened(t, address[old])
			address[s] = address[old]
			return s
		},
	})
}

func TestTheContractWhileAnswersGetLost(t *testing.T) {
	coordtest.RunUncertain(t, func(t *testing.T) (lossy, calm coord.Store) {
		address := serving(t, memory.New())
		way := &coordtest.Lossy{Base: http.DefaultTransport, Every: 6}
		t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
		for lossy == nil {
			s, err := remote.Open(t.Context(), remote.Options{Address: address, Transport: way})
			if err == nil {
				lossy = s
			} else if !fault.Is(err, fault.Unavailable) {
				t.Fatal(err)
			}
		}
		return lossy, opened(t, address)
	})
}

// TestWhatTheOtherSideMaySay: an answer that is not the protocol's is an error that says so.
func TestWhatTheOtherSideMaySay(t *testing.T) {
	says := func(w http.ResponseWriter, status int, text string) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
	var greeting, answer string
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == remote.Root {
			says(w, http.StatusOK, greeting)
			return
		}
		says(w, status, answer)
	}))
	t.Cleanup(server.Close)
	for _, c := range []struct {
		greeting string
		kind     fault.Kind
	}{{`{"protocol":2}`, fault.Refused}, {`<html>`, fault.Unavailable}} {
		greeting = c.greeting
		if _, err := remote.Open(t.Context(), remote.Options{Address: server.URL}); !fault.Is(err, c.kind) || fault.Next(err) == "" {
			t.Errorf("%s: %v (%v)", greeting, err, fault.KindOf(err))
		}
	}
	greeting = `{"protocol":1}`
	s := opened(t, server.URL)
	t.Cleanup(func() { _ = s.Close() })
	list := func() error { _, err := s.List(t.Context(), ""); return err }
	watch := func() error {
		for _, err := range s.Watch(t.Context(), "", 0) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	for _, c := range []struct {
		what   string
		status int
		answer string
		ask    func() error
		kind   fault.Kind
	}{
		{"a list cut off", 200, `{"key":"a","revision":1,"value":""}`, list, fault.Unavailable},
		{"a list that lacks one", 200, `{"key":"a","revision":1}{"end":2}`, list, fault.Unavailable},
		{"an interruption there", 499, `{"kind":"interrupted","detail":"context canceled"}`, list, fault.Unavailable},
		{"a problem", 409, `{"kind":"conflict","detail":"it exists","next":"read it"}`, list, fault.Conflict},
		{"a proxy's page", 502, `<html>bad gateway</html>`, list, fault.Unavailable},
		{"a stranger", 403, `who are you`, list, fault.Unauthorised},
		{"no such path", 404, ``, list, fault.Refused},
		{"a watch cut off", 200, "\n", watch, fault.Unavailable},
		{"a watch cut off in a line", 200, "\n{\"key\":\"a\"", watch, fault.Unavailable},
		{"a watch with a problem", 200, "\n" + `{"problem":{"kind":"stale","detail":"forgotten"}}` + "\n", watch, fault.Stale},
	} {
		status, answer = c.status, c.answer
		if err := c.ask(); !fault.Is(err, c.kind) || !strings.Contains(err.Error(), server.URL) {
			t.Errorf("%s: %v (%v), want %v", c.what, err, fault.KindOf(err), c.kind)
		}
	}
}

// TestARedirectIsNotFollowed: what is asked, and what is stored, is for the address that the operator has named.
func TestARedirectIsNotFollowed(t *testing.T) {
	elsewhere := serving(t, memory.New())
	asked := 0
	to := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		http.Redirect(w, r, elsewhere+r.URL.RequestURI(), http.StatusPermanentRedirect)
	}))
	t.Cleanup(to.Close)
	named := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, to.URL+r.URL.RequestURI(), http.StatusTemporaryRedirect)
	}))
	t.Cleanup(named.Close)
	s, err := remote.Open(t.Context(), remote.Options{Address: named.URL})
	if !fault.Is(err, fault.Refused) || !strings.Contains(fault.Next(err), "points to") || asked != 0 {
		t.Errorf("%v → %s; the other host was asked %d times", err, fault.Next(err), asked)
	}
	if err == nil {
		_ = s.Close()
	}
}

// TestAWatchThatHearsNothingIsOver, and one that hears signs of life is not.
func TestAWatchThatHearsNothingIsOver(t *testing.T) {
	behind := memory.New()
	handler := remote.NewHandler(behind)
	mute := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("prefix") == "mute" {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-mute
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { handler.End(); server.Close() })
	s := opened(t, server.URL)
	t.Cleanup(func() { _ = s.Close() })
	const quiet = 200 * time.Millisecond
	remote.Hurry(s, handler, quiet)
	for _, err := range s.Watch(t.Context(), "mute", 0) {
		if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "said nothing") {
			t.Errorf("mute: %v", err)
		}
	}
	close(mute)
	time.AfterFunc(3*quiet, func() { _, _ = behind.Create(t.Context(), "late", nil) })
	for event, err := range s.Watch(t.Context(), "", 0) {
		if err != nil || event.Key != "late" {
			t.Errorf("with signs of life: %v, %v", event, err)
		}
		break
	}
}

// TestABodyThatDoesNotArriveWholeChangesNothing cuts the connection within it.
func TestABodyThatDoesNotArriveWholeChangesNothing(t *testing.T) {
	behind := memory.New()
	address := serving(t, behind)
	conn, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "PUT %s/record?key=a HTTP/1.1\r\nHost: x\r\nIf-None-Match: *\r\nContent-Length: 10\r\n\r\nhalf", remote.Root)
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.ReadAll(conn) // until the server has done with it
	_ = conn.Close()
	if _, err := behind.Get(t.Context(), "a"); !fault.Is(err, fault.NotFound) {
		t.Errorf("there is a record: %v", err)
	}
}

// FuzzHandler: whatever is asked, the answer is a success or a problem with its kind.
func FuzzHandler(f *testing.F) {
	f.Add("PUT", "/record", "key=a", "1", "", []byte("v"))
	f.Add("PUT", "/record", "key=%00", "", "*", []byte(nil))
	f.Add("DELETE", "/record", "key=a", "\"-1\"", "", []byte(nil))
	f.Add("GET", "/records", "prefix=%ff", "", "", []byte(nil))
	f.Add("GET", "/watch", "after=x", "", "", []byte(nil))
	f.Add("GET", "", "%", "", "", []byte(nil))
	f.Fuzz(func(t *testing.T, method, path, query, match, none string, body []byte) {
		request, err := http.NewRequest("GET", "http://store"+remote.Root, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Method, request.URL.RawQuery = method, query
		request.URL.Path += path
		request.Header.Set("If-Match", match)
		request.Header.Set("If-None-Match", none)
		behind := memory.New()
		handler := remote.NewHandler(behind)
		handler.End() // a watch would last
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		if recorder.Code >= 300 && !strings.Contains(recorder.Body.String(), `"kind":"`) {
			t.Errorf("%s %s?%s: %d %s", method, path, query, recorder.Code, recorder.Body)
		}
	})
}

// TestMeasure prints the numbers of the package's documentation.
func TestMeasure(t *testing.T) {
	if os.Getenv("RESHELVE_MEASURE") == "" {
		t.Skip("RESHELVE_MEASURE=1 measures it")
	}
	behind, err := local.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	way := &coordtest.Counting{Base: http.DefaultTransport}
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	s, err := remote.Open(t.Context(), remote.Options{Address: serving(t, behind), Transport: way})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	coordtest.Measure(t, s, way)
}
