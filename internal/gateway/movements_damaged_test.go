package gateway_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/coord/remote"
)

// TestDamagedRecordsByHTTP: a record of junk is listed as damaged, and hinders neither the list nor
// another movement, but for one into an index that it wrote to, as far as its ledger tells; it cannot be
// aborted, and is set aside.
func TestDamagedRecordsByHTTP(t *testing.T) {
	s := serveMovements(t)
	records, err := remote.Open(t.Context(), remote.Options{Address: s.address})
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	for key, value := range map[string]string{"movements/empty": "{}", "movements/junk": "junk",
		"movement/junk/ledger/index/racks": `{"kind":"index","name":"racks","at":"2026-01-01T00:00:00Z"}`} {
		if _, err := records.Create(t.Context(), key, []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	const root = "/_reshelve/movements"
	if status, _, list := s.ask("GET", root, ""); status != http.StatusOK || len(list["movements"].([]any)) != 2 {
		t.Errorf("%d %v", status, list)
	}
	status, _, m := s.ask("GET", root+"/junk", "")
	if next, _ := m["next"].(string); status != http.StatusOK || m["state"] != "damaged" || !strings.Contains(next, "set-aside") || m["cause"] == "" {
		t.Errorf("%d %v", status, m)
	}
	if status, _, p := s.ask("POST", root+"/junk/abort", ""); status != http.StatusConflict || !strings.Contains(p["next"].(string), "reshelve movement set-aside junk --at /") {
		t.Errorf("%d %v", status, p)
	}
	if _, _, text := s.ask("GET", "/_reshelve/metrics", ""); !strings.Contains(text["text"].(string), `state="damaged"} 2`) {
		t.Errorf("%v", text["text"])
	}
	body := func(name string) string {
		text, _ := json.Marshal(map[string]any{"kind": "migrate", "from": repositoryOf(t, "opensearch-2.19.0-basic"), "indices": []string{"shelves"}, "rename": map[string]string{"shelves": name}})
		return string(text)
	}
	if status, _, p := s.ask("POST", root, body("racks")); status != http.StatusConflict || !strings.Contains(p["next"].(string), "set-aside junk") {
		t.Errorf("into what the damaged one wrote to: %d %v", status, p)
	}
	begin := func(name string) {
		t.Helper()
		status, header, m := s.ask("POST", root, body(name))
		if status != http.StatusAccepted {
			t.Fatalf("into %s: %d %v", name, status, m)
		}
		s.wait(header.Get("Location"), "finished")
	}
	begin("others")
	for _, id := range []string{"junk", "empty"} {
		status, _, p := s.ask("POST", root+"/"+id+"/set-aside", "")
		if status != http.StatusOK || p["key"] != "set-aside/"+id || len(p["made"].([]any)) != map[string]int{"junk": 1}[id] {
			t.Errorf("%d %v", status, p)
		}
	}
	begin("racks")
	if status, _, list := s.ask("GET", root, ""); status != http.StatusOK || len(list["movements"].([]any)) != 2 {
		t.Errorf("%d %v", status, list)
	}
	if status, _, p := s.ask("POST", root+"/junk/set-aside", ""); status != http.StatusNotFound {
		t.Errorf("%d %v", status, p)
	}
}
