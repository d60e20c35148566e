package web_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/blobtest"
	"github.com/reshelve/reshelve/snapshot/blob/web"
)

var openers = map[string]blob.Opener{"http": web.Open, "https": web.Open}

// serve puts contents below /my repo/ of a server and opens it.
func serve(t *testing.T, contents map[string][]byte, answer func(w http.ResponseWriter, r *http.Request, data []byte)) blob.Bucket {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, ok := strings.CutPrefix(r.URL.Path, "/my repo/")
		data, there := contents[key]
		if !ok || !there {
			http.NotFound(w, r)
			return
		}
		answer(w, r, data)
	}))
	t.Cleanup(server.Close)
	return open(t, server.URL+"/my%20repo/")
}

func open(t *testing.T, location string) blob.Bucket {
	t.Helper()
	bucket, err := blob.Open(t.Context(), location, openers)
	if err != nil {
		t.Fatal(err)
	}
	return bucket
}

func ranged(w http.ResponseWriter, r *http.Request, data []byte) {
	http.ServeContent(w, r, path.Base(r.URL.Path), time.Time{}, bytes.NewReader(data))
}

// noRanges ignores the Range header, as many small servers do.
func noRanges(w http.ResponseWriter, r *http.Request, data []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	w.Write(data)
}

func TestAWebServerKeepsTheContract(t *testing.T) {
	contents := blobtest.Contents()
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(elsewhere.Close)
	for name, answer := range map[string]func(http.ResponseWriter, *http.Request, []byte){
		"with ranges": ranged,
		"without HEAD": func(w http.ResponseWriter, r *http.Request, data []byte) {
			if r.Method == http.MethodHead {
				http.Error(w, "no", http.StatusMethodNotAllowed)
				return
			}
			ranged(w, r, data)
		},
		"without lengths in HEAD": func(w http.ResponseWriter, r *http.Request, data []byte) {
			if r.Method == http.MethodHead {
				w.(http.Flusher).Flush()
				return
			}
			ranged(w, r, data)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bucket := serve(t, contents, answer)
			blobtest.Run(t, blobtest.Case{Bucket: bucket, Contents: contents, CannotList: true, NoSuch: open(t, elsewhere.URL)})
		})
	}
}

func TestAServerWithoutRangesIsReadWhereItCostsLittle(t *testing.T) {
	small, large := blobtest.Noise(1<<20), blobtest.Noise(1<<20+1)
	bucket := serve(t, map[string][]byte{"small": small, "large": large}, noRanges)
	for _, tc := range []struct {
		key            string
		offset, length int64
		want           []byte // nil when refused
	}{
		{"small", 0, 10, small[:10]},
		{"small", 500, 10, small[500:510]},
		{"small", 500, -1, small[500:]},
		{"small", 2 << 20, 5, []byte{}},
		{"large", 0, -1, large},
		{"large", 0, 1<<20 + 1, large},
		{"large", 0, 5 << 20, large},
		{"large", 0, 10, nil},
		{"large", 10, 10, nil},
		{"large", 10, -1, nil},
	} {
		got, err := blobtest.Read(t.Context(), bucket, tc.key, tc.offset, tc.length)
		switch {
		case tc.want == nil:
			if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "ranges") || !strings.Contains(fault.Next(err), "server") {
				t.Errorf("%s [%d, +%d): %v (%s)", tc.key, tc.offset, tc.length, err, fault.Next(err))
			}
		case err != nil || !bytes.Equal(got, tc.want):
			t.Errorf("%s [%d, +%d): %d bytes, %v", tc.key, tc.offset, tc.length, len(got), err)
		}
	}
}

func TestFailuresHaveTheirKindAndTheKey(t *testing.T) {
	contents := map[string][]byte{"k": blobtest.Noise(100)}
	status := func(code int) func(http.ResponseWriter, *http.Request, []byte) {
		return func(w http.ResponseWriter, _ *http.Request, _ []byte) { w.WriteHeader(code) }
	}
	for _, tc := range []struct {
		name   string
		answer func(http.ResponseWriter, *http.Request, []byte)
		want   fault.Kind
	}{
		{"forbidden", status(403), fault.Unauthorised},
		{"overloaded", status(503), fault.Transient},
		{"another range", func(w http.ResponseWriter, _ *http.Request, data []byte) {
			w.Header().Set("Content-Range", "bytes 0-9/100")
			w.WriteHeader(http.StatusPartialContent)
			w.Write(data[:10])
		}, fault.Refused},
		{"breaks off", func(w http.ResponseWriter, _ *http.Request, data []byte) {
			w.Header().Set("Content-Range", "bytes 10-29/100")
			w.Header().Set("Content-Length", "20")
			w.WriteHeader(http.StatusPartialContent)
			w.Write(data[10:15])
		}, fault.Transient},
	} {
		_, err := blobtest.Read(t.Context(), serve(t, contents, tc.answer), "k", 10, 20)
		if !fault.Is(err, tc.want) || !strings.Contains(err.Error(), "/my repo/k: ") {
			t.Errorf("%s: %v %v, want %v", tc.name, fault.KindOf(err), err, tc.want)
		}
	}
	_, err := blobtest.Read(t.Context(), open(t, "http://127.0.0.1:1"), "k", 0, 1)
	if !fault.Is(err, fault.Transient) {
		t.Errorf("nobody there: %v", err)
	}
}

func TestTheAuthorizationComesFromTheEnvironmentAndStaysWithItsHost(t *testing.T) {
	var elsewhereSaw string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		elsewhereSaw = r.Header.Get("Authorization")
		io.WriteString(w, "moved")
	}))
	t.Cleanup(elsewhere.Close)
	t.Setenv("RESHELVE_HTTP_AUTHORIZATION", "Bearer hunter2")
	bucket := serve(t, map[string][]byte{"k": []byte("here"), "moved": nil}, func(w http.ResponseWriter, r *http.Request, data []byte) {
		switch {
		case r.Header.Get("Authorization") != "Bearer hunter2":
			w.WriteHeader(http.StatusUnauthorized)
		case data == nil:
			http.Redirect(w, r, strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1), http.StatusFound)
		default:
			ranged(w, r, data)
		}
	})
	if got, err := blobtest.Read(t.Context(), bucket, "k", 0, -1); err != nil || string(got) != "here" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := blobtest.Read(t.Context(), bucket, "moved", 0, -1); err != nil || string(got) != "moved" || elsewhereSaw != "" {
		t.Errorf("%q, %v; the other host saw %q", got, err, elsewhereSaw)
	}

}

// TestTheAuthorizationStaysWithItsPort, where net/http sends it to all ports of a host, and below it; and nothing
// that a record or an order by HTTP has named leads on to anywhere.
func TestTheAuthorizationStaysWithItsPort(t *testing.T) {
	t.Setenv("RESHELVE_HTTP_AUTHORIZATION", "Bearer hunter2")
	var saw []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		saw = append(saw, r.Header.Get("Authorization"))
		io.WriteString(w, "moved")
	}))
	t.Cleanup(elsewhere.Close)
	named := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+"/x", http.StatusTemporaryRedirect)
	}))
	t.Cleanup(named.Close)
	if got, err := blobtest.Read(t.Context(), open(t, named.URL), "k", 0, -1); err != nil || string(got) != "moved" || len(saw) != 1 || saw[0] != "" {
		t.Errorf("%q, %v; the other port saw %q", got, err, saw)
	}
	location, err := blob.ParseLocation(named.URL)
	if err != nil {
		t.Fatal(err)
	}
	location.Wary, saw = true, nil
	bucket, err := blob.OpenLocation(t.Context(), location, openers)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := blobtest.Read(t.Context(), bucket, "k", 0, -1); err == nil || len(saw) != 0 {
		t.Errorf("%q, %v; the other port saw %q", got, err, saw)
	}
}

func TestAQueryInTheLocationIsRefusedWithoutRepeatingIt(t *testing.T) {
	_, err := blob.Open(t.Context(), "https://host/repo?sig=hunter2", openers)
	if !fault.Is(err, fault.Usage) || strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
}
