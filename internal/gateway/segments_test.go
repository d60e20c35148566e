package gateway_test

import (
	"fmt"
	"strings"
	"testing"
)

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

// TestForcedMerges: there are as few segments as was asked for, what was deleted is in none of
// them, and searches find the same.
func TestForcedMerges(t *testing.T) {
	s := serveOnDisk(t)
	s.ask("PUT", "/books", `{"settings":{"number_of_shards":2}}`)
	counts := func() (segments, found float64) {
		t.Helper()
		_, _, all := s.ask("GET", "/books/_stats/segments?filter_path=_all.primaries.segments.count", "")
		_, _, hits := s.ask("GET", "/books/_count", `{"query":{"prefix":{"k":"k"}}}`)
		return all["_all"].(map[string]any)["primaries"].(map[string]any)["segments"].(map[string]any)["count"].(float64), hits["count"].(float64)
	}
	write := func(from, to int) {
		for i := from; i < to; i++ {
			s.ask("PUT", fmt.Sprintf("/books/_doc/%d?refresh=true", i), fmt.Sprintf(`{"k":"k%d"}`, i))
		}
	}
	for _, round := range []struct {
		params         string
		most, segments float64
	}{{"?max_num_segments=3", 6, 1}, {"?max_num_segments=1&flush=false", 2, 1}, {"?only_expunge_deletes=true", 1e9, 1}, {"?max_num_segments=1", 2, 2}} {
		write(0, 24)
		s.ask("DELETE", "/books/_doc/7?refresh=true", "")
		if status, _, answer := s.ask("POST", "/books/_forcemerge"+round.params, ""); status != 200 {
			t.Fatal(round.params, answer)
		}
		if segments, found := counts(); segments > round.most || segments < round.segments || found != 23 {
			t.Errorf("%s: %v segments, and %v documents are found", round.params, segments, found)
		}
	}
	if status, _, answer := s.ask("POST", "/books/_forcemerge?wait_for_completion=false", ""); status != 400 || !strings.Contains(fmt.Sprint(answer), "wait_for_completion") {
		t.Error(status, answer)
	}
}
