package gateway

import (
	"bytes"
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	coord "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/store"
	shard "github.com/reshelve/reshelve/internal/store/shard/memory"
)

// TestCredentialsAreToldToBeIgnored: in each answer to who sends them, whatever it is, and once in the
// log, without what was sent.
func TestCredentialsAreToldToBeIgnored(t *testing.T) {
	var log bytes.Buffer
	st, err := store.Open(context.Background(), coord.New(), shard.New(shard.Options{}), store.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	s := New(st, Options{})
	for _, path := range []string{"/", "/_search", "/nosuch", "/_nonsense/x/y/z", "/_search?nonsense"} {
		for _, credentials := range []string{"", "Basic c2VjcmV0OnNlY3JldA==", "ApiKey c2VjcmV0OnNlY3JldA==", "Bearer c2VjcmV0OnNlY3JldA=="} {
			r := httptest.NewRequest("GET", path, nil)
			if credentials != "" {
				r.Header.Set("Authorization", credentials)
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if told := strings.HasPrefix(w.Header().Get("Reshelve-Credentials"), "ignored"); told != (credentials != "") {
				t.Errorf("%s with %q: %v", path, credentials, w.Header())
			}
		}
	}
	if said := log.String(); strings.Count(said, "credentials") != 1 || strings.Contains(said, "c2Vjc") {
		t.Error(said)
	}
}
