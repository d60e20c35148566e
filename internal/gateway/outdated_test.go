package gateway

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/store/placement"
)

// TestARequestMayBeRoutedByAnOldPlacement asks by each version that there is, and by others.
func TestARequestMayBeRoutedByAnOldPlacement(t *testing.T) {
	s := newServer(t, Options{})
	do := func(method, path, body, version string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		if version != "" {
			r.Header.Set("Reshelve-Placement", version)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w
	}
	if w := do("PUT", "/i/_doc/1?refresh=true", `{"a":1}`, ""); w.Code != 201 {
		t.Fatal(w.Code, w.Body)
	}
	p, err := s.store.PlacementOf(t.Context(), "i")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.store.ChangePlacement(t.Context(), p.Index, func(p placement.Placement) (placement.Placement, error) {
		p.Last.Why = "a test"
		return p, nil
	}); err != nil {
		t.Fatal(err)
	}
	for version, status := range map[string]int{"": 200, "1": 200, "2": 200, "3": 400, "0": 400, "-1": 400, "new": 400} {
		for _, path := range []string{"/i/_doc/1", "/i/_count", "/i/_search"} {
			if w := do("GET", path, "", version); w.Code != status {
				t.Errorf("by version %q, %s is answered %d %s", version, path, w.Code, w.Body)
			}
		}
		if w := do("PUT", "/i/_doc/1", `{"a":2}`, version); w.Code != status {
			t.Errorf("a write by version %q is answered %d %s", version, w.Code, w.Body)
		}
	}
}
