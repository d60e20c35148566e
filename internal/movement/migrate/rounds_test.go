package migrate_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// TestWhatOthersKeepWritingIsLeftInTheEnd by a repair that overwrites, also where it is gone just when the repair looks
// for the last time that it would replace it.
func TestWhatOthersKeepWritingIsLeftInTheEnd(t *testing.T) {
	const most = 30 // requests, after which others rest
	for gone := range 8 {
		p := newCopied(t, "opensearch-2.19.0-basic")
		p.keep = true
		id, name := p.emptied(false, false)
		others, direct := p.others(), p.target
		var mu sync.Mutex
		sent := 0
		through, err := cluster.Open(t.Context(), cluster.Options{URL: p.url, Transport: meddler{func(r *http.Request, body string) {
			mu.Lock()
			defer mu.Unlock()
			if sent == most || !strings.HasSuffix(r.URL.Path, "_bulk") || !strings.Contains(body, `"_id":"`+id+`"`) {
				return
			}
			if sent++; sent != gone {
				write(t, others, id, theirs)
			} else if _, err := others.Do(t.Context(), http.MethodDelete, []string{"shelves", "_doc", id}, nil, nil); err != nil {
				t.Error(err)
			}
		}}})
		if err != nil {
			t.Fatal(err)
		}
		p.target = through
		if _, _, err := p.driver.Apply(t.Context(), name, movement.Event{Verb: movement.Repair, By: "ann", Overwrite: true}); err != nil {
			t.Fatal(err)
		}
		m, _ := p.work(name)
		if said := phaseOf(&m, movement.RepairPhase); sent >= most || !strings.Contains(said, "were changed on the target since") || p.doc("shelves", id) != theirs {
			t.Errorf("gone before request %d: %d requests, %s", gone, sent, said)
		}
		p.target = direct
	}
}
