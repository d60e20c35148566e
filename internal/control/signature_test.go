package control_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/coord/opensearch"
	"github.com/reshelve/reshelve/internal/fault"
)

// The keys of the examples in Amazon's documentation of Signature Version 4.
const (
	exampleID     = "AKIDEXAMPLE"
	exampleSecret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
)

// signature is that of a request by Signature Version 4, as Amazon's documentation tells it:
// of the headers that are named, in their order. Path is escaped as it was sent.
func signature(method, path, query string, header func(string) string, signed []string, bodyHash, scope string) string {
	sum := func(text string) string {
		hash := sha256.Sum256([]byte(text))
		return hex.EncodeToString(hash[:])
	}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(url.QueryEscape(part), "+", "%20") // a second time
	}
	canonical := method + "\n" + strings.Join(parts, "/") + "\n" + query + "\n"
	for _, name := range signed {
		canonical += name + ":" + strings.TrimSpace(header(name)) + "\n"
	}
	canonical += "\n" + strings.Join(signed, ";") + "\n" + bodyHash
	text := "AWS4-HMAC-SHA256\n" + header("x-amz-date") + "\n" + scope + "\n" + sum(canonical)
	key := []byte("AWS4" + exampleSecret)
	for _, part := range append(strings.Split(scope, "/"), text) {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	return hex.EncodeToString(key)
}

// TestTheReferenceSigns what Amazon's test suite calls get-vanilla as it says there.
func TestTheReferenceSigns(t *testing.T) {
	header := map[string]string{"host": "example.amazonaws.com", "x-amz-date": "20150830T123600Z"}
	got := signature("GET", "/", "", func(name string) string { return header[name] }, []string{"host", "x-amz-date"},
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "20150830/us-east-1/service/aws4_request")
	if want := "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

var authorisation = regexp.MustCompile(`^AWS4-HMAC-SHA256 Credential=` + exampleID + `/(\S+), SignedHeaders=(\S+), Signature=([0-9a-f]{64})$`)

// wrong tells what is wrong with the signature of a request; "" when nothing is.
func wrong(r *http.Request, service string) string {
	told := authorisation.FindStringSubmatch(r.Header.Get("Authorization"))
	if told == nil {
		return "no signature: " + r.Header.Get("Authorization")
	}
	body, _ := io.ReadAll(r.Body)
	hash := sha256.Sum256(body)
	sum := hex.EncodeToString(hash[:])
	signed := strings.Split(told[2], ";")
	header := func(name string) string {
		switch name {
		case "host":
			return r.Host
		case "content-length":
			return fmt.Sprint(r.ContentLength)
		}
		return r.Header.Get(name)
	}
	date := r.Header.Get("X-Amz-Date")
	scope := date[:min(8, len(date))] + "/eu-west-1/" + service + "/aws4_request"
	switch {
	case told[1] != scope:
		return "the scope is " + told[1]
	case !slices.Contains(signed, "host") || !slices.Contains(signed, "x-amz-date"):
		return "signed are " + told[2]
	case r.Header.Get("X-Amz-Content-Sha256") != sum:
		return "the hash is not that of the body"
	case signature(r.Method, r.URL.EscapedPath(), r.URL.Query().Encode(), header, signed, sum, scope) != told[3]:
		return "the signature is another"
	}
	return ""
}

// TestRequestsAreSigned for Amazon's services, those with a path, parameters and a body too.
func TestRequestsAreSigned(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", exampleID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", exampleSecret)
	t.Setenv("RESHELVE_TARGET_AWS_REGION", "eu-west-1")
	for _, service := range []string{"", "aoss"} {
		t.Run("service "+service, func(t *testing.T) {
			t.Setenv("RESHELVE_TARGET_AWS_SERVICE", service)
			var mu sync.Mutex
			var seen []string
			amazon := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				expected := service
				if expected == "" {
					expected = "es"
				}
				if text := wrong(r, expected); text != "" {
					t.Errorf("%s %s: %s", r.Method, r.URL, text)
				}
				seen = append(seen, r.Method)
				w.Header().Set("Content-Type", "application/json")
				switch {
				case r.URL.Path == "/":
					fmt.Fprint(w, `{"version":{"number":"2.19.0","distribution":"opensearch"}}`)
				case r.Method == http.MethodGet:
					w.WriteHeader(http.StatusNotFound)
					fmt.Fprint(w, `{"error":{"type":"index_not_found_exception","reason":"no such index"},"status":404}`)
				default:
					w.WriteHeader(http.StatusForbidden)
					fmt.Fprint(w, `{"error":{"type":"security_exception","reason":"no rights"},"status":403}`)
				}
			}))
			defer amazon.Close()
			_, err := control.New(control.Wiring{Coordinate: inTheCluster}).Movements(t.Context(), amazon.URL)
			if !fault.Is(err, fault.Unauthorised) || !slices.Contains(seen, http.MethodPut) {
				t.Errorf("%v; %v", err, seen)
			}
		})
	}
}

// TestSigningNeedsARegion: half of what is to be told is an error, and not something else.
func TestSigningNeedsARegion(t *testing.T) {
	t.Setenv("RESHELVE_TARGET_AWS_SERVICE", "aoss")
	if _, err := control.New(control.Wiring{}).Movements(t.Context(), "http://127.0.0.1:1"); !fault.Is(err, fault.Usage) {
		t.Error(err)
	}
}

// inTheCluster keeps the records of movements in an index of the cluster.
func inTheCluster(ctx context.Context, at control.Reached) (coord.Store, error) {
	return opensearch.Open(ctx, at.Client, opensearch.Options{})
}
