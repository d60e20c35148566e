package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/coord"
	coordmemory "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/gateway/gatewaytest"
	"github.com/reshelve/reshelve/internal/store/shard/memory"
	"github.com/reshelve/reshelve/internal/store/shard/shardtest"
)

// TestALossIsToldAndRebuilt has a shard that does not show a document: searches say so, a comparison
// finds it, and a rebuilding mends it, by HTTP.
func TestALossIsToldAndRebuilt(t *testing.T) {
	engine := &shardtest.Losing{Engine: memory.New(memory.Options{})}
	s := served{t, gatewaytest.Serve(t, engine)}
	s.ask("PUT", "/books", `{"settings":{"number_of_shards":2}}`)
	for n := range 30 {
		s.ask("PUT", fmt.Sprintf("/books/_doc/%d", n), `{"a":1}`)
	}
	s.ask("POST", "/books/_refresh", "")
	c := control.New(control.Wiring{Coordinate: func(context.Context, control.Reached) (coord.Store, error) { return coordmemory.New(), nil }})
	keepUp := func(verb string) (*control.Upkeep, error) {
		return c.RunUpkeep(t.Context(), s.address, "books", verb, func(*control.Upkeep) {})
	}
	total := func() (hits, failed float64, reasons string) {
		_, _, answer := s.ask("POST", "/books/_search?size=0", `{"track_total_hits":true}`)
		shards := answer["_shards"].(map[string]any)
		return answer["hits"].(map[string]any)["total"].(map[string]any)["value"].(float64), shards["failed"].(float64), fmt.Sprint(shards["failures"])
	}
	if u, err := keepUp(control.CheckIndex); err != nil || len(u.Checked) != 2 || u.Checked[0].Found+u.Checked[1].Found != 30 {
		t.Fatal(u, err)
	}
	if hits, failed, _ := total(); hits != 30 || failed != 0 {
		t.Errorf("%v hits, %v shards failed", hits, failed)
	}
	engine.Lost.Store(true)
	engine.Noted.Store(true)
	if hits, failed, reasons := total(); hits != 29 || failed != 1 || !strings.Contains(reasons, "and there are") || !strings.Contains(reasons, "books") {
		t.Errorf("%v hits, %v shards failed: %s", hits, failed, reasons)
	}
	if _, _, answer := s.ask("POST", "/books/_count", ""); answer["count"] != float64(29) || answer["_shards"].(map[string]any)["failed"] != float64(1) {
		t.Errorf("%v", answer)
	}
	if status, _, answer := s.ask("POST", "/books/_search?allow_partial_search_results=false", ""); status < 500 {
		t.Errorf("%d %v", status, answer)
	}
	u, err := keepUp(control.CheckIndex)
	if !fault.Is(err, fault.Differences) || u.Checked[0].Missing != 1 || len(u.Checked[0].Examples) != 1 || u.Checked[1].Differences() != 0 {
		t.Errorf("%+v %v", u, err)
	}
	if next := fault.Next(err); !strings.HasPrefix(next, "reshelve index rebuild books --at "+s.address) {
		t.Errorf("what to do is %q", next)
	}
	if u, err = keepUp(control.RebuildIndex); err != nil || len(u.Rebuilt) != 2 || !u.Rebuilt[1].Done {
		t.Errorf("%+v %v", u, err)
	}
	if _, err = keepUp(control.CheckIndex); err != nil {
		t.Error(err)
	}
	if hits, failed, _ := total(); hits != 30 || failed != 0 {
		t.Errorf("%v hits, %v shards failed", hits, failed)
	}
	_, _, answer := s.ask("GET", "/_reshelve/metrics", "")
	if text := answer["text"].(string); !strings.Contains(text, `reshelve_shard_repairs_total{cause="count",index="books",shard="0"} 0`) {
		t.Error(text)
	}
	if status, _, answer := s.ask("GET", "/_reshelve/indices/none/check", ""); status != 404 {
		t.Errorf("%d %v", status, answer)
	}
	if status, _, answer := s.ask("POST", "/_reshelve/indices/none/rebuild", ""); status != 404 {
		t.Errorf("%d %v", status, answer)
	}
}
