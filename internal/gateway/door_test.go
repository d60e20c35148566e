package gateway_test

import (
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/reshelve/reshelve/internal/gateway"
	"github.com/reshelve/reshelve/internal/gateway/gatewaytest"
	"github.com/reshelve/reshelve/internal/store/shard/memory"
)

// hostile are requests as browsers send them for pages that are not the server's own: the host
// that they name, and their headers.
var hostile = []struct {
	name, host string
	header     map[string]string
	status     int
}{
	{"a name that is made to mean this machine", "evil.example:9200", nil, 421},
	{"the same, as a modern browser sends it", "evil.example:9200", map[string]string{"Origin": "http://evil.example:9200", "Sec-Fetch-Site": "same-origin"}, 421},
	{"a name that ends as ours does", "localhost.evil.example", nil, 421},
	{"an address as a name", "127.0.0.1.evil.example:9200", nil, 421},
	{"any address of this machine", "0.0.0.0:9200", nil, 421},
	{"another site", "", map[string]string{"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site", "Content-Type": "text/plain"}, 403},
	{"another port of this machine", "", map[string]string{"Origin": "http://127.0.0.1:3000", "Sec-Fetch-Site": "same-site"}, 403},
	{"a picture or a link on another site", "", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 403},
	{"a sandboxed frame", "", map[string]string{"Origin": "null", "Sec-Fetch-Site": "cross-site"}, 403},
	{"a form in an old browser", "", map[string]string{"Origin": "http://evil.example", "Content-Type": "application/x-www-form-urlencoded"}, 403},
	{"a frame in an old browser", "", map[string]string{"Origin": "null", "Content-Type": "text/plain"}, 403},
	{"a socket of another site", "", map[string]string{"Origin": "http://evil.example", "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}, 403},
}

// everyRequest is all that a server offers: the API of documents, the records of movements, and
// what the OpenAPI description names.
func everyRequest(s served) (all [][2]string) {
	names := regexp.MustCompile(`\{[^}]*\}`)
	for _, r := range gateway.Requests() {
		all = append(all, [2]string{r[0], names.ReplaceAllString(strings.ReplaceAll(r[1], "{index}", "_all"), "kept")})
	}
	for _, r := range [][2]string{{"GET", ""}, {"GET", "/record?key=movements/x"}, {"PUT", "/record?key=movements/x"}, {"DELETE", "/record?key=movements/x"},
		{"GET", "/records?prefix=movements/"}, {"GET", "/watch?prefix=movements/&after=0"}, {"GET", "/revision"}, {"GET", "/time"}} {
		all = append(all, [2]string{r[0], "/_reshelve/coord" + r[1]})
	}
	_, _, api := s.ask("GET", "/_reshelve/openapi.json", "")
	for path, operations := range api["paths"].(map[string]any) {
		for method := range operations.(map[string]any) {
			all = append(all, [2]string{strings.ToUpper(method), names.ReplaceAllString(path, "kept")})
		}
	}
	return append(all, [2]string{"GET", "/_reshelve/openapi.json"}, [2]string{"GET", "/_reshelve/metrics"}, [2]string{"POST", "/_all/_delete_by_query?q=*"}, [2]string{"OPTIONS", "/"})
}

// TestNoPageOfAnotherOriginReachesAnything: whatever is offered, a browser's request for a page that
// is not the server's own is refused before it reaches any handler.
func TestNoPageOfAnotherOriginReachesAnything(t *testing.T) {
	var reached atomic.Int64
	s := served{t, gatewaytest.Serve(t, memory.New(memory.Options{}), func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			reached.Add(1)
			h.ServeHTTP(w, r)
		})
	})}
	s.ask("PUT", "/kept/_doc/1?refresh=true", `{"n":1}`)
	all := everyRequest(s)
	if len(all) < 200 {
		t.Fatalf("only %d requests are known", len(all))
	}
	before := reached.Load()
	for _, page := range hostile {
		for _, r := range all {
			request, err := http.NewRequestWithContext(t.Context(), r[0], s.address+r[1], http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			request.Host = page.host
			for name, value := range page.header {
				request.Header.Set(name, value)
			}
			response, err := http.DefaultTransport.RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(response.Body)
			response.Body.Close()
			if response.StatusCode != page.status || r[0] != "HEAD" && !strings.Contains(string(text), `"root_cause":[{"type":`) {
				t.Fatalf("%s: %s %s: %d %s", page.name, r[0], r[1], response.StatusCode, text)
			}
		}
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = conn.Write([]byte("OPTIONS * HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")) // which net/http answers by itself
	if answer, _ := io.ReadAll(conn); !strings.HasPrefix(string(answer), "HTTP/1.1 421 ") {
		t.Errorf("of all resources: %s", answer)
	}
	if n := reached.Load() - before; n != 0 {
		t.Errorf("%d requests reached a handler", n)
	}
	if status, _, got := s.ask("GET", "/kept/_count", ""); status != 200 || got["count"] != 1.0 {
		t.Errorf("afterwards: %d %v", status, got)
	}
}
