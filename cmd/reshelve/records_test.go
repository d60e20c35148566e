package main

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/movement"
)

// seen is what a search of the records finds.
type seen struct {
	Hits struct {
		Total struct{ Value int }
		Hits  []struct {
			ID     string         `json:"_id"`
			Source map[string]any `json:"_source"`
		}
	}
}

// TestLiveRecordsAreReadable on the target itself, by the field names of Reindex-from-Snapshot.
func TestLiveRecordsAreReadable(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts real servers")
	}
	server := openSearch(t)
	c := control.New(wiring)
	m, err := c.Migrate(t.Context(), control.MigrateRequest{Target: server.URL, Yes: true, KeepWayBack: true,
		Selection: control.Selection{Repository: repository}}, func(*control.Movement) {})
	if err != nil || m.State != movement.Switched {
		t.Fatalf("%v %+v", err, m)
	}
	find := func(query string) (s seen) {
		t.Helper()
		status, answer, err := server.Do("GET", "/.reshelve/_search?size=100", []byte(`{"query":{"bool":{"filter":[`+query+`]}}}`))
		if err != nil || status != 200 {
			t.Fatalf("%d %s %v", status, answer, err)
		}
		if err := json.Unmarshal(answer, &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	if _, _, err := server.Do("POST", "/.reshelve/_refresh", nil); err != nil {
		t.Fatal(err)
	}
	items := find(`{"prefix":{"reshelve.key":"movement/` + m.ID + `/item/"}},{"term":{"index":"shelves"}},{"exists":{"field":"completedAt"}},{"range":{"nextAcquisitionLeaseExponent":{"gte":1}}},{"term":{"schemaVersion":1}}`)
	if items.Hits.Total.Value != 2 { // one for each shard
		t.Errorf("%+v", items)
	}
	for _, hit := range items.Hits.Hits {
		for _, field := range []string{"creatorId", "expiration", "nextAcquisitionLeaseExponent", "completedAt", "index", "shard", "cursor", "schemaVersion"} {
			if hit.Source[field] == nil {
				t.Errorf("%s has no %s: %v", hit.ID, field, hit.Source)
			}
		}
	}
	if found := find(`{"term":{"state":"switched"}},{"prefix":{"reshelve.key":"movements/"}}`); found.Hits.Total.Value != 1 {
		t.Errorf("movements: %+v", found)
	}
	if _, err := c.Tell(t.Context(), control.Order{At: server.URL, ID: m.ID, Verb: movement.Finish}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Work(t.Context(), control.WorkerRequest{Join: server.URL, Once: true}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := server.Do("POST", "/.reshelve/_refresh", nil); err != nil {
		t.Fatal(err)
	}
	left := find(`{"prefix":{"reshelve.key":"movement/"}}`)
	for _, hit := range left.Hits.Hits {
		if about, _ := hit.Source["reshelve"].(map[string]any); about["deleted"] != true {
			t.Errorf("finish leaves %s", hit.ID)
		}
	}
}
