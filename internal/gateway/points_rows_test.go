package gateway

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestAPageOfRowsIsHeldWhole: long ids and no sources are an answer too, and whoever asks for
// more of it than the limit of bytes in flight gets none.
func TestAPageOfRowsIsHeldWhole(t *testing.T) {
	s := newServer(t, Options{InFlightBytes: 64 << 10})
	do := func(method, path, body string) *httptest.ResponseRecorder {
		t.Helper()
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if held := s.inFlight.Load(); held != 0 {
			t.Fatalf("%s %s: %d bytes stay in flight", method, path, held)
		}
		return w
	}
	for n := range 3 {
		bulk := ""
		for i := range 80 {
			bulk += fmt.Sprintf("{\"index\":{\"_id\":\"%0500d\"}}\n{}\n", 100*n+i)
		}
		if w := do("POST", "/a/_bulk?refresh=true", bulk); w.Code != 200 {
			t.Fatal(w.Code, w.Body)
		}
	}
	var point struct {
		ID string `json:"pit_id"`
	}
	if err := json.Unmarshal(do("POST", "/a/_search/point_in_time?keep_alive=1m", "").Body.Bytes(), &point); err != nil || point.ID == "" {
		t.Fatal(point, err)
	}
	path := "/_reshelve/rows?pit=" + point.ID
	if w := do("GET", path+"&bytes=30000", ""); w.Code != 200 || w.Body.Len() < 30000 || w.Body.Len() > 31000 {
		t.Errorf("%d, with %d bytes", w.Code, w.Body.Len())
	}
	if w := do("GET", path+"&bytes=2147483647", ""); w.Code != 413 || !strings.Contains(w.Body.String(), "circuit_breaking_exception") || w.Body.Len() > 2000 {
		t.Errorf("%d, with %d bytes: %.300q", w.Code, w.Body.Len(), w.Body)
	}
}
