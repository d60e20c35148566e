package gcs_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/blobtest"
	"github.com/reshelve/reshelve/snapshot/blob/gcs"
)

var openers = map[string]blob.Opener{"gs": gcs.Open}

// The contract is held in the module e2e, against an emulator. Here are the
// answers that it does not give.

func serve(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	t.Setenv("STORAGE_EMULATOR_HOST", "")
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return server.URL
}

func open(t *testing.T, location string) blob.Bucket {
	t.Helper()
	bucket, err := blob.Open(t.Context(), location, openers)
	if err != nil {
		t.Fatal(err)
	}
	return bucket
}

func TestEachAnswerHasItsKind(t *testing.T) {
	for _, tc := range []struct {
		status int
		body   string
		want   fault.Kind
		says   string
	}{
		{404, `{"error":{"code":404,"message":"No such object: b/k"}}`, fault.NotFound, "No such object"},
		{404, "Not Found\n", fault.NotFound, "Not Found"},
		{401, `{"error":{"message":"Anonymous caller does not have access"}}`, fault.Unauthorised, "Anonymous caller"},
		{400, `{"error":{"message":"Bucket is a requester pays bucket but no user project provided."}}`, fault.Refused, "requester pays"},
		{429, "", fault.Transient, "429"},
		{503, "<html>", fault.Transient, "503"},
		{200, "ignores the range", fault.Refused, "ranges"},
	} {
		endpoint := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(tc.status)
			fmt.Fprint(w, tc.body)
		})
		bucket := open(t, "gs://bucket/prefix?anonymous&endpoint="+endpoint)
		_, err := blobtest.Read(t.Context(), bucket, "k", 5, 10)
		if !fault.Is(err, tc.want) || !strings.Contains(err.Error(), tc.says) || !strings.Contains(err.Error(), "gs://bucket/prefix/k: ") {
			t.Errorf("%d: %v %v; want %v", tc.status, fault.KindOf(err), err, tc.want)
		}
		if after := blob.RetryAfter(err); (after == 3*time.Second) != (tc.want == fault.Transient) {
			t.Errorf("%d: retry after %v", tc.status, after)
		}
	}
}

func TestASizeThatIsNoneIsRefused(t *testing.T) {
	for _, size := range []string{"-1", "", "many", "99999999999999999999"} {
		endpoint := serve(t, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"name":"k","size":%q,"items":[{"name":"k","size":%q}]}`, size, size)
		})
		bucket := open(t, "gs://bucket?anonymous&endpoint="+endpoint)
		if n, err := bucket.Size(t.Context(), "k"); !fault.Is(err, fault.Refused) {
			t.Errorf("Size %q: %d, %v", size, n, err)
		}
		if found, err := bucket.List(t.Context(), ""); !fault.Is(err, fault.Refused) {
			t.Errorf("List %q: %v, %v", size, found, err)
		}
	}
}

// TestNoTokenFollowsARedirect: it is added to every request of its client.
func TestNoTokenFollowsARedirect(t *testing.T) {
	var saw []string
	elsewhere := serve(t, func(_ http.ResponseWriter, r *http.Request) { saw = append(saw, r.Header.Get("Authorization")) })
	endpoint := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"access_token":"hunter2","token_type":"Bearer","expires_in":3600}`)
			return
		}
		http.Redirect(w, r, elsewhere+"/x", http.StatusTemporaryRedirect)
	})
	file := filepath.Join(t.TempDir(), "credentials.json")
	if err := os.WriteFile(file, serviceAccount(t, endpoint+"/token"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
	if _, err := blobtest.Read(t.Context(), open(t, "gs://bucket?endpoint="+endpoint), "k", 0, -1); err == nil || len(saw) != 0 {
		t.Errorf("%v; the other host saw %q", err, saw)
	}
}

func TestTokensAreFetchedOnceAndSent(t *testing.T) {
	tokens, valid := 0, true
	endpoint := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/token" && !valid:
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":"invalid_grant","error_description":"hunter2 is expired"}`)
		case r.URL.Path == "/token":
			tokens++
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"access_token":"hunter2","token_type":"Bearer","expires_in":3600}`)
		case r.Header.Get("Authorization") != "Bearer hunter2":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Query().Get("userProject") != "payer":
			w.WriteHeader(http.StatusBadRequest)
		default:
			w.Header().Set("Content-Range", "bytes 1-2/3")
			w.WriteHeader(http.StatusPartialContent)
			fmt.Fprint(w, "bc")
		}
	})
	file := filepath.Join(t.TempDir(), "credentials.json")
	if err := os.WriteFile(file, serviceAccount(t, endpoint+"/token"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
	location := "gs://bucket?user-project=payer&endpoint=" + endpoint
	bucket := open(t, location)
	for range 2 {
		if got, err := blobtest.Read(t.Context(), bucket, "k", 1, 2); err != nil || string(got) != "bc" {
			t.Errorf("%q, %v", got, err)
		}
	}
	if tokens != 1 {
		t.Errorf("%d tokens fetched", tokens)
	}
	valid = false
	_, err := blobtest.Read(t.Context(), open(t, location), "k", 1, 2)
	if !fault.Is(err, fault.Unauthorised) || !strings.Contains(err.Error(), "invalid_grant") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a refused token: %v %v", fault.KindOf(err), err)
	}
}
