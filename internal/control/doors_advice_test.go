package control

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestNoFlagIsAdvisedThatAProcessLacks: a worker's port has a flag for hosts alone, and the socket of a folder none.
func TestNoFlagIsAdvisedThatAProcessLacks(t *testing.T) {
	worker, err := (&WorkerRequest{Listen: "127.0.0.1:0"}).door()
	if err != nil {
		t.Fatal(err)
	}
	for name, handler := range map[string]http.Handler{
		"a worker's port":   worker.Wrap(http.NotFoundHandler()),
		"a folder's socket": guardLocal(&http.Server{Handler: http.NotFoundHandler()}).Handler,
	} {
		for _, origin := range []string{"https://app.example", "null"} {
			r := httptest.NewRequest(http.MethodGet, "http://localhost/_reshelve/metrics", nil)
			r.Header.Set("Origin", origin)
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "--") {
				t.Errorf("%s, %s: %d %s", name, origin, w.Code, w.Body)
			}
		}
	}
}
