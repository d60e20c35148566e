package cluster_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"encoding/pem"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

const hello = `{"cluster_name":"c","cluster_uuid":"u","version":{"distribution":"opensearch","number":"2.19.0"}}`

// Credentials arrive in their header, and nowhere else.
func TestCredentialsArriveAndAreNotTold(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "AMBIENT")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s3cret")
	for _, tc := range []struct {
		name  string
		o     cluster.Options
		wants string
	}{
		{"basic", cluster.Options{Credentials: cluster.Credentials{User: "u", Password: "s3cret"}}, "Basic dTpzM2NyZXQ="},
		{"in the address", cluster.Options{URL: "http://u:s3cret@store:9200/"}, "Basic dTpzM2NyZXQ="},
		{"key", cluster.Options{Credentials: cluster.Credentials{APIKey: "s3cret"}}, "ApiKey s3cret"},
		{"bearer", cluster.Options{Credentials: cluster.Credentials{Bearer: "s3cret"}}, "Bearer s3cret"},
		{"ambient aws", cluster.Options{URL: "https://store", Credentials: cluster.Credentials{AWS: &cluster.AWS{Region: "eu-west-1", Service: "aoss", Keys: cluster.AmbientKeys("")}}}, "AWS4-HMAC-SHA256 Credential=AMBIENT/"},
		{"aws", cluster.Options{URL: "https://store", Credentials: cluster.Credentials{AWS: &cluster.AWS{Region: "eu-west-1", Keys: cluster.Keys("AKID", "s3cret", "")}}}, "AWS4-HMAC-SHA256 Credential=AKID/"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := ""
			tc.o.Transport = tripper(func(r *http.Request) (*http.Response, error) {
				got = r.Header.Get("Authorization")
				if r.URL.User != nil {
					t.Error("the address has a user")
				}
				if r.URL.Path == "/gone" {
					return answer(r, 401, ""), nil
				}
				return answer(r, 200, hello), nil
			})
			c, err := cluster.Open(t.Context(), tc.o)
			must(t, err)
			if !strings.HasPrefix(got, tc.wants) {
				t.Errorf("Authorization: %q", got)
			}
			_, err = c.Do(t.Context(), "GET", []string{"gone"}, nil, nil)
			if !fault.Is(err, fault.Unauthorised) {
				t.Errorf("%v", err)
			}
			record, _ := json.Marshal(tc.o.Credentials)
			var log bytes.Buffer
			slog.New(slog.NewTextHandler(&log, nil)).Info("x", "c", tc.o.Credentials)
			for _, shown := range []string{c.String(), err.Error(), fmt.Sprintf("%v %+v %#v %s", tc.o.Credentials, tc.o.Credentials, tc.o.Credentials, tc.o.Credentials), string(record), log.String()} {
				if strings.Contains(shown, "s3cret") || strings.Contains(shown, "dTpz") {
					t.Errorf("told: %s", shown)
				}
			}
		})
	}
}

func TestOptionsThatAreWrong(t *testing.T) {
	for name, o := range map[string]cluster.Options{
		"no address":    {URL: "localhost:9200"},
		"two kinds":     {URL: "http://x", Credentials: cluster.Credentials{User: "u", Bearer: "b"}},
		"two users":     {URL: "http://a:b@x", Credentials: cluster.Credentials{User: "u"}},
		"no such file":  {URL: "https://x", TLS: cluster.TLS{CA: "/nowhere"}},
		"no such key":   {URL: "https://x", TLS: cluster.TLS{Cert: "/nowhere"}},
		"a bad address": {URL: "http://u:s3cret@h\x01"},
	} {
		if _, err := cluster.Open(t.Context(), o); !fault.Is(err, fault.Usage) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v, kind %v", name, err, fault.KindOf(err))
		}
	}
}

// A certificate is only taken when its authority is trusted, or when any is.
func TestCertificates(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, hello) }))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	must(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	if _, err := cluster.Open(t.Context(), cluster.Options{URL: server.URL}); !fault.Is(err, fault.Refused) || !strings.Contains(fault.Next(err), "authority") {
		t.Errorf("a stranger: %v, kind %v", err, fault.KindOf(err))
	}
	for _, tls := range []cluster.TLS{{CA: ca}, {Insecure: true}} {
		c, err := cluster.Open(t.Context(), cluster.Options{URL: server.URL, TLS: tls})
		must(t, err)
		c.Close()
	}
	plain := strings.Replace(server.URL, "https:", "http:", 1)
	if _, err := cluster.Open(t.Context(), cluster.Options{URL: plain, Patience: -1}); err == nil || fault.KindOf(err) == fault.Bug {
		t.Errorf("without TLS: %v, kind %v", err, fault.KindOf(err))
	}
}

// Compressed requests are sent as such.
func TestCompressedRequests(t *testing.T) {
	var got string
	c, err := cluster.Open(t.Context(), cluster.Options{Compress: true, Transport: tripper(func(r *http.Request) (*http.Response, error) {
		if r.Header.Get("Content-Encoding") == "gzip" {
			unpacked, err := gzip.NewReader(r.Body)
			must(t, err)
			text, err := io.ReadAll(unpacked)
			must(t, err)
			got = string(text)
		}
		return answer(r, 200, hello), nil
	})})
	must(t, err)
	body := `{"t":"` + strings.Repeat("x", 5000) + `"}`
	_, err = c.Do(t.Context(), "PUT", []string{"a"}, nil, []byte(body))
	must(t, err)
	if got != body {
		t.Errorf("%d bytes arrived", len(got))
	}
}

func TestWhoAnswers(t *testing.T) {
	nodes := `{"cluster_name":"c","nodes":{"a":{"version":"2.19.0"},"b":{"version":"2.18.0"}}}`
	for _, tc := range []struct{ name, root, nodes, want string }{
		{"opensearch", hello, "", "opensearch 2.19.0"},
		{"elasticsearch", `{"version":{"number":"8.15.0-SNAPSHOT","build_flavor":"default"},"tagline":"You Know, for Search"}`, "", "elasticsearch 8.15.0"},
		{"reshelve", `{"version":{"distribution":"opensearch","number":"2.19.0","build_type":"reshelve"}}`, "", "reshelve 2.19.0"},
		{"reshelve, for clients of Elasticsearch", `{"version":{"number":"8.19.0","build_type":"reshelve","opensearch_version":"2.19.0"},"tagline":"You Know, for Search"}`, "", "reshelve 2.19.0"},
		{"in disguise", `{"version":{"number":"7.10.2"},"tagline":"The OpenSearch Project: https://opensearch.org/"}`, nodes, "opensearch 2.18.0"},
		{"no greeting", "", `{"nodes":{"a":{"version":"9.0.0"}}}`, "elasticsearch 9.0.0"},
		{"too old", `{"version":{"number":"6.8.23"},"tagline":"You Know, for Search"}`, "", "refused: x: it is elasticsearch 6.8.23, which is too old for what is asked of it"},
		{"a web page", "<html>", "", "refused: x: what answers is no document store"},
		{"something else", `{"couchdb":"Welcome"}`, "", "refused: x: what answers is no document store"},
	} {
		c, err := cluster.Open(t.Context(), cluster.Options{Place: "x", Transport: tripper(func(r *http.Request) (*http.Response, error) {
			switch {
			case strings.Contains(r.URL.Path, "_nodes") && tc.nodes != "":
				return answer(r, 200, tc.nodes), nil
			case tc.root == "" || strings.Contains(r.URL.Path, "_nodes"):
				return answer(r, 405, `{"error":"Incorrect HTTP method","status":405}`), nil
			}
			return answer(r, 200, tc.root), nil
		})})
		got := ""
		if err != nil {
			got = fault.KindOf(err).String() + ": " + err.Error()
		} else {
			who, _ := c.Server(t.Context())
			got = who.String()
		}
		if got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

// TestAnAddressWithAPath: one that names something in a store is refused without a request, and one at which no store greets
// says what the address is without the path.
func TestAnAddressWithAPath(t *testing.T) {
	for path, want := range map[string]string{"/books/_doc": "write http://store:9200", "/_search": "write http://store:9200", "/books": "write http://store:9200: only behind a proxy"} {
		asked := 0
		_, err := cluster.Open(t.Context(), cluster.Options{URL: "http://store:9200" + path, Transport: tripper(func(r *http.Request) (*http.Response, error) {
			asked++
			if strings.Contains(r.URL.Path, "_nodes") {
				return answer(r, 405, `{"error":"Incorrect HTTP method","status":405}`), nil
			}
			return answer(r, 200, `{"books":{"aliases":{}}}`), nil
		})})
		if next := fault.Next(err); !strings.HasPrefix(next, want) || strings.Contains(path, "/_") && (asked > 0 || !fault.Is(err, fault.Usage)) {
			t.Errorf("%s: %d requests, %v → %s", path, asked, err, next)
		}
	}
}

// TestUnknownCredentials: where they are read from is named, and whether there are any.
func TestUnknownCredentials(t *testing.T) {
	for _, c := range []struct {
		given cluster.Credentials
		want  string
	}{
		{cluster.Credentials{}, "the cluster asks for credentials, and none are given: set KEY or USER"},
		{cluster.Credentials{APIKey: "s3cret"}, "the cluster does not know the credentials that are given (an API key): check KEY or USER"},
	} {
		_, err := cluster.Open(t.Context(), cluster.Options{Credentials: c.given, CredentialsFrom: "KEY or USER", Transport: tripper(func(r *http.Request) (*http.Response, error) {
			return answer(r, 401, exceptionBody(401, "security_exception", "missing authentication credentials")), nil
		})})
		if next := fault.Next(err); next != c.want || !fault.Is(err, fault.Unauthorised) {
			t.Errorf("%v → %s", err, next)
		}
	}
}

// Credentials do not travel to where an answer points.
func TestRedirectsAreNotFollowed(t *testing.T) {
	requests := 0
	c, err := cluster.New("http://u:s3cret@store", tripper(func(r *http.Request) (*http.Response, error) {
		requests++
		a := answer(r, 302, "")
		a.Header.Set("Location", "http://u:s3cret@elsewhere/x?token=s3cret")
		return a, nil
	}))
	must(t, err)
	_, err = c.Do(t.Context(), "GET", []string{"a"}, nil, nil)
	if requests != 1 || !fault.Is(err, fault.Refused) || !strings.HasSuffix(err.Error(), "it points to http://elsewhere/x") {
		t.Errorf("%d requests: %v", requests, err)
	}
}
