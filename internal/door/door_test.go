package door_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/door"
	"github.com/reshelve/reshelve/internal/fault"
)

// ask sends a request through a door from a connection that ends at an address, and tells the answer
// and whether it reached the handler.
func ask(t *testing.T, p door.Policy, at net.Addr, method, host string, header ...string) (*http.Response, bool) {
	t.Helper()
	d, err := door.New(p)
	if err != nil {
		t.Fatal(err)
	}
	reached := false
	handler := d.Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { reached = true }))
	r := httptest.NewRequest(method, "/books/_doc/1", strings.NewReader("x"))
	r.Host = host
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, at)))
	return w.Result(), reached
}

var (
	loopback = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9200}
	outside  = &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 9200}
	socket   = &net.UnixAddr{Name: "data/socket", Net: "unix"}
)

func TestHosts(t *testing.T) {
	named := door.Policy{Hosts: []string{"search.example", "Shop.Example."}}
	for _, tc := range []struct {
		host string
		at   net.Addr
		p    door.Policy
		pass bool
	}{
		{"localhost", loopback, door.Policy{}, true},
		{"LOCALHOST:9201", loopback, door.Policy{}, true},
		{"localhost.:9200", loopback, door.Policy{}, true},
		{"app.localhost", loopback, door.Policy{}, true},
		{"127.0.0.1:9200", loopback, door.Policy{}, true},
		{"127.8.9.1", loopback, door.Policy{}, true},
		{"[::1]:9200", loopback, door.Policy{}, true},
		{"[::1]", loopback, door.Policy{}, true},
		{"[::ffff:127.0.0.1]:9200", loopback, door.Policy{}, true},
		{"", loopback, door.Policy{}, true}, // HTTP/1.0
		{"evil.example", loopback, door.Policy{}, false},
		{"localhost.evil.example", loopback, door.Policy{}, false},
		{"evillocalhost", loopback, door.Policy{}, false},
		{"127.0.0.1.nip.io:9200", loopback, door.Policy{}, false},
		{"localhost:9200@evil.example", loopback, door.Policy{}, false},
		{"evil.example:80:localhost", loopback, door.Policy{}, false},
		{"2130706433", loopback, door.Policy{}, false}, // a browser writes it as an address
		{"0.0.0.0:9200", loopback, door.Policy{}, false},
		{"10.1.2.3:9200", loopback, door.Policy{}, false},
		{"169.254.169.254", loopback, door.Policy{}, false},
		{"10.1.2.3:9200", outside, door.Policy{}, true},
		{"192.168.1.9:8080", outside, door.Policy{}, true}, // as another network names it
		{"evil.example:9200", outside, door.Policy{}, false},
		{"search.example:443", loopback, named, true},
		{"shop.example", loopback, named, true},
		{"other.search.example", loopback, named, false},
		{"evil.example", socket, door.Policy{}, true}, // no browser comes by a file
	} {
		answer, reached := ask(t, tc.p, tc.at, "GET", tc.host)
		if reached != tc.pass || !tc.pass && answer.StatusCode != http.StatusMisdirectedRequest {
			t.Errorf("%q at %v: %d, reached %v", tc.host, tc.at, answer.StatusCode, reached)
		}
	}
	answer, _ := ask(t, door.Policy{HostFlag: "--allow-host"}, loopback, "GET", "evil.example;rm:9200")
	var told struct {
		Error  struct{ Type, Reason string }
		Status int
		Next   string
	}
	if err := json.NewDecoder(answer.Body).Decode(&told); err != nil || told.Status != 421 || told.Error.Type != "host_not_allowed_exception" || !strings.HasSuffix(told.Next, "--allow-host evil.examplerm") {
		t.Errorf("%v %+v", err, told)
	}
}

// TestPagesOfAnotherOrigin are refused, by a file too, for every method.
func TestPagesOfAnotherOrigin(t *testing.T) {
	for _, at := range []net.Addr{loopback, socket} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"} {
			for _, header := range [][]string{
				{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Sec-Fetch-Site", "unheard-of"},
				{"Origin", "null"}, {"Origin", "http://evil.example"}, {"Origin", "http://localhost:3000"}, {"Origin", "chrome-extension://abc"},
				{"Origin", "http://app.example.evil"}, {"Origin", "http://app.example", "Sec-Fetch-Site", "cross-site", "Access-Control-Request-Method", "PUT"}} {
				answer, reached := ask(t, door.Policy{Origins: []string{"https://app.example"}}, at, method, "localhost:9200", header...)
				if reached || answer.StatusCode != http.StatusForbidden || answer.Header.Get("Access-Control-Allow-Origin") != "" {
					t.Errorf("%s %v: %d, reached %v", method, header, answer.StatusCode, reached)
				}
			}
		}
		for _, header := range [][]string{nil, {"Sec-Fetch-Site", "none"}, {"Sec-Fetch-Site", "same-origin", "Origin", "http://localhost:9200"}, {"Origin", "http://localhost:9200"}} {
			if answer, reached := ask(t, door.Policy{}, at, "POST", "localhost:9200", header...); !reached {
				t.Errorf("%v: %d", header, answer.StatusCode)
			}
		}
	}
}

// TestAllowedOrigins are answered by name, and told what they may send.
func TestAllowedOrigins(t *testing.T) {
	p := door.Policy{Origins: []string{"https://app.example", "http://localhost:3000"}, Token: "t"}
	page := []string{"Origin", "https://app.example", "Sec-Fetch-Site", "cross-site"}
	answer, reached := ask(t, p, loopback, "OPTIONS", "localhost:9200", append(page, "Access-Control-Request-Method", "PUT", "Access-Control-Request-Headers", "authorization,content-type", "Access-Control-Request-Private-Network", "true")...)
	h := answer.Header
	if reached || answer.StatusCode != http.StatusNoContent || h.Get("Access-Control-Allow-Origin") != "https://app.example" || !strings.Contains(h.Get("Access-Control-Allow-Methods"), "PUT") ||
		h.Get("Access-Control-Allow-Headers") != "authorization,content-type" || h.Get("Access-Control-Allow-Private-Network") != "true" || h.Get("Access-Control-Allow-Credentials") != "" || h.Values("Vary")[0] != "Origin" {
		t.Errorf("a preflight: %d %v, reached %v", answer.StatusCode, h, reached)
	}
	if answer, reached := ask(t, p, loopback, "PUT", "localhost:9200", page...); reached || answer.StatusCode != http.StatusUnauthorized || answer.Header.Get("Access-Control-Allow-Origin") == "" {
		t.Errorf("without the token: %d %v", answer.StatusCode, answer.Header)
	}
	if answer, reached := ask(t, p, loopback, "PUT", "localhost:9200", append(page, "Authorization", "bearer t")...); !reached || answer.Header.Get("Access-Control-Allow-Origin") != "https://app.example" {
		t.Errorf("with the token: %d %v", answer.StatusCode, answer.Header)
	}
	if answer, reached := ask(t, p, loopback, "GET", "localhost:9200", "Authorization", "Bearer t"); !reached || answer.Header.Get("Vary") != "Origin" || answer.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("no page: %d %v", answer.StatusCode, answer.Header)
	}
	for _, wrong := range []string{"*", "null", "", "app.example", "https://*.example", "https://app.example/", "https://app.example/x", "HTTPS://app.example", "https://user@app.example", "https://"} {
		if _, err := door.New(door.Policy{Origins: []string{wrong}}); !fault.Is(err, fault.Usage) {
			t.Errorf("the origin %q: %v", wrong, err)
		}
	}
	for _, wrong := range []string{"", "*", "http://search.example", "*.example", "a b"} {
		if _, err := door.New(door.Policy{Hosts: []string{wrong}}); !fault.Is(err, fault.Usage) {
			t.Errorf("the host %q: %v", wrong, err)
		}
	}
}

// TestOnlyFlagsOfTheProcessAreAdvised: a refusal names those that the policy has, and no other.
func TestOnlyFlagsOfTheProcessAreAdvised(t *testing.T) {
	for _, p := range []door.Policy{{}, {HostFlag: "--let-host"}, {OriginFlag: "--let-origin"}, {HostFlag: "--let-host", OriginFlag: "--let-origin"}} {
		for _, tc := range []struct {
			host, origin string
			flag, value  string // that may be advised
		}{
			{"evil.example", "", p.HostFlag, " evil.example"},
			{"localhost", "https://app.example", p.OriginFlag, " https://app.example"},
			{"localhost", "null", p.OriginFlag, ""},
		} {
			answer, reached := ask(t, p, loopback, "GET", tc.host, "Origin", tc.origin)
			text, err := io.ReadAll(answer.Body)
			if err != nil || reached {
				t.Fatalf("%+v: %v, reached %v", tc, err, reached)
			}
			flags := strings.Count(string(text), "--")
			if tc.flag == "" && flags > 0 || tc.flag != "" && (flags == 0 || strings.Count(string(text), tc.flag+tc.value) != flags) {
				t.Errorf("%+v: %s", tc, text)
			}
		}
	}
}

func TestTokens(t *testing.T) {
	p := door.Policy{Token: "s3cret", Public: []string{"/books/_doc/1"}}
	closed := door.Policy{Token: "s3cret", Public: []string{"/books/_doc/1/", "/health"}}
	for _, wrong := range []string{"", "s3cret", "Bearer", "Bearer ", "Bearer s3cre", "Bearer s3crets", "Basic s3cret", "Bearer S3CRET"} {
		answer, reached := ask(t, closed, outside, "GET", "10.1.2.3", "Authorization", wrong)
		if body, _ := io.ReadAll(answer.Body); reached || answer.StatusCode != http.StatusUnauthorized || answer.Header.Get("WWW-Authenticate") == "" || strings.Contains(string(body), "s3c") {
			t.Errorf("%q: %d %s", wrong, answer.StatusCode, body)
		}
	}
	for _, host := range []string{"10.1.2.3:80", "worker-3.fleet:80"} { // who has the token is no page
		if _, reached := ask(t, closed, outside, "GET", host, "Authorization", "Bearer s3cret"); !reached {
			t.Errorf("with the token, %s is refused", host)
		}
	}
	if _, reached := ask(t, p, outside, "GET", "10.1.2.3"); !reached {
		t.Error("an open path asks for the token")
	}
	if answer, reached := ask(t, p, outside, "GET", "evil.example"); reached || answer.StatusCode != http.StatusMisdirectedRequest {
		t.Error("an open path takes any Host")
	}
	if _, reached := ask(t, closed, socket, "GET", "store"); !reached {
		t.Error("a socket asks for the token")
	}
}
