package gateway_test

import "testing"

// TestSegmentsAreCounted: how many segments a search looks into is told where the server tells
// it, so that people see them become fewer.
func TestSegmentsAreCounted(t *testing.T) {
	s := serveOnDisk(t)
	s.ask("PUT", "/books", `{"settings":{"number_of_shards":1}}`)
	count := func() float64 {
		t.Helper()
		_, _, all := s.ask("GET", "/books/_stats/segments?filter_path=_all.primaries.segments.count", "")
		counted := all["_all"].(map[string]any)["primaries"].(map[string]any)["segments"].(map[string]any)["count"].(float64)
		return counted
	}
	if n := count(); n != 0 {
		t.Errorf("of nothing there are %v", n)
	}
	for _, id := range []string{"1", "2"} {
		s.ask("PUT", "/books/_doc/"+id+"?refresh=true", `{"title":"x"}`)
	}
	if n := count(); n < 1 || n > 2 {
		t.Errorf("of two refreshes there are %v", n)
	}
}
