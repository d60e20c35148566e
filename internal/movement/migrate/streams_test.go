package migrate_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
	"github.com/reshelve/reshelve/snapshot"
)

func TestBackingIndices(t *testing.T) {
	r := newRig(t, streams, "only")
	global, err := r.from.Global(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	backing, err := migrate.Backing(global)
	if err != nil || len(backing) != 2 || !backing[".ds-loans-2024-000001"] || !backing[".ds-loans-2024-000002"] {
		t.Errorf("%v, %v", backing, err)
	}
	if none, err := migrate.Backing(&snapshot.Global{}); err != nil || len(none) != 0 {
		t.Errorf("%v, %v", none, err)
	}
	if _, err := migrate.Backing(&snapshot.Global{DataStreams: json.RawMessage(`[]`)}); !fault.Is(err, fault.Corrupt) {
		t.Errorf("no object: %v", err)
	}
}

// appended plans to append both backing indices to their data stream.
func appended(r *rig) migrate.Plan {
	r.Helper()
	global, err := r.from.Global(r.Context())
	if err != nil {
		r.Fatal(err)
	}
	places, err := migrate.StreamsOf(global)
	if err != nil {
		r.Fatal(err)
	}
	plan := r.plan(".ds-loans-2024-000001", ".ds-loans-2024-000002")
	plan.Metadata.Streams = migrate.AppendStreams
	for i := range plan.Indices {
		place := places[plan.Indices[i].Source]
		plan.Indices[i].Target, plan.Indices[i].Stream = place.Name, &place
	}
	return plan
}

// backed are the documents of each index that backs the data stream, oldest first.
func (r *rig) backed(stream string) (counts []int) {
	r.Helper()
	streams, err := r.target.DataStreams(r.Context(), stream)
	if err != nil || len(streams) != 1 {
		r.Fatalf("%v, %v", streams, err)
	}
	for _, index := range streams[0].Indices {
		counts = append(counts, r.count(index))
	}
	return counts
}

// TestDataStreamsAreAppended: each backing index gets one of its own, in their order, and is
// compared with it; a template is made where the target has none; abort leaves nothing.
func TestDataStreamsAreAppended(t *testing.T) {
	r := newRig(t, streams, "only")
	id := r.start(appended(r))
	m, p := r.work(id)
	if m.State != movement.Switched || len(p.Verified) != 2 {
		t.Fatalf("%s: %s, %+v", m.State, m.Cause, p.Verified)
	}
	if counts := r.backed("loans-2024"); !slices.Equal(counts, []int{8, 8}) {
		t.Errorf("the backing indices hold %v", counts)
	}
	if !r.has("_index_template", "reshelve-loans-2024") {
		t.Error("there is no template")
	}
	r.tell(id, movement.Abort)
	if m, _ := r.work(id); m.State != movement.Aborted || r.has("_data_stream", "loans-2024") || r.has("_index_template", "reshelve-loans-2024") {
		t.Errorf("%s: %s", m.State, m.Cause)
	}
}

// TestADataStreamThatIsThere is not written to unless that is asked for; then its own indices
// get nothing, and abort does not delete it.
func TestADataStreamThatIsThere(t *testing.T) {
	r := newRig(t, streams, "only")
	r.do("PUT", []string{"_index_template", "theirs"}, `{"index_patterns":["loans-*"],"data_stream":{}}`, nil)
	r.do("PUT", []string{"_data_stream", "loans-2024"}, "", nil)
	r.do("POST", []string{"loans-2024", "_doc"}, `{"@timestamp":"2024-01-01T00:00:00Z"}`, nil)
	plan := appended(r)
	m, _ := r.work(r.startAs("m1", plan))
	if m.State != movement.Held || !strings.Contains(m.Cause, "the target has a data stream loans-2024") {
		t.Fatalf("%s: %s", m.State, m.Cause)
	}
	r.tell("m1", movement.Abort)
	r.work("m1")
	plan.IntoExisting = true
	if m, _ = r.work(r.startAs("m2", plan)); m.State != movement.Switched {
		t.Fatalf("%s: %s", m.State, m.Cause)
	}
	r.do("POST", []string{"loans-2024", "_refresh"}, "", nil)
	if counts := r.backed("loans-2024"); !slices.Equal(counts, []int{1, 8, 8}) {
		t.Errorf("the backing indices hold %v", counts)
	}
	r.tell("m2", movement.Abort)
	if r.work("m2"); !r.has("_data_stream", "loans-2024") {
		t.Error("abort has deleted what was there before")
	}
}

// TestATemplateOfSomebodyElse that has the name which ours would have is neither taken for
// ours nor removed.
func TestATemplateOfSomebodyElse(t *testing.T) {
	r := newRig(t, streams, "only")
	r.do("PUT", []string{"_index_template", "reshelve-loans-2024"}, `{"index_patterns":["else"]}`, nil)
	id := r.start(appended(r))
	if m, p := r.work(id); m.State != movement.Held || !strings.Contains(m.Cause, "has a template reshelve-loans-2024") {
		t.Fatalf("%s: %s, %+v", m.State, m.Cause, p.Indices)
	}
	r.tell(id, movement.Abort)
	if m, _ := r.work(id); m.State != movement.Aborted || !r.has("_index_template", "reshelve-loans-2024") {
		t.Errorf("%s: the template is gone", m.State)
	}
}

// behind are the indices behind a data stream, oldest first.
func (r *rig) behind(stream string) []string {
	r.Helper()
	streams, err := r.target.DataStreams(r.Context(), stream)
	if err != nil || len(streams) != 1 {
		r.Fatalf("%v, %v", streams, err)
	}
	return streams[0].Indices
}

// TestWhatADataStreamLacksIsRepaired: documents that others have deleted come back, into the
// index behind the stream that had them, although a newer one takes what is written to the
// stream. What others have changed is left so.
func TestWhatADataStreamLacksIsRepaired(t *testing.T) {
	r := newRig(t, streams, "only")
	id := r.start(appended(r))
	if m, _ := r.work(id); m.State != movement.Switched {
		t.Fatalf("%s: %s", m.State, m.Cause)
	}
	var found struct {
		Hits struct {
			Hits []struct {
				ID string `json:"_id"`
			} `json:"hits"`
		} `json:"hits"`
	}
	first := r.behind("loans-2024")[0]
	r.do("GET", []string{first, "_search"}, `{"size":4}`, &found)
	ids := found.Hits.Hits
	for _, hit := range ids[:3] {
		r.do("DELETE", []string{first, "_doc", hit.ID}, "", nil)
	}
	r.do("POST", []string{first, "_update", ids[3].ID}, `{"doc":{"changed":true}}`, nil)
	r.do("POST", []string{first, "_refresh"}, "", nil)
	r.tell(id, movement.Repair)
	m, p := r.work(id)
	said := ""
	for _, phase := range m.Phases {
		if phase.Name == movement.RepairPhase {
			said = phase.Outcome
		}
	}
	if said != "3 documents sent again" {
		t.Error(said)
	}
	if counts := r.backed("loans-2024"); !slices.Equal(counts, []int{8, 8}) || m.State != movement.Switched || p.Verified[0].Result.Counts[reconcile.Newer] != 1 {
		t.Errorf("%s: %s: the backing indices hold %v, %+v", m.State, m.Cause, counts, p.Verified)
	}
}

// TestWhatADataStreamRefusedIsSentAgain, when its mappings were mended: also into an index that
// is not the newest any more.
func TestWhatADataStreamRefusedIsSentAgain(t *testing.T) {
	r := newRig(t, streams, "only")
	r.do("PUT", []string{"_index_template", "strict"}, `{"index_patterns":["loans-*"],"data_stream":{},
		"template":{"mappings":{"dynamic":"strict","properties":{"@timestamp":{"type":"date"}}}}}`, nil)
	id := r.start(appended(r))
	if m, p := r.work(id); m.State != movement.Held || p.Failed != 16 {
		t.Fatalf("%s: %s, %d failed", m.State, m.Cause, p.Failed)
	}
	for _, index := range r.behind("loans-2024") {
		r.do("PUT", []string{index, "_mapping"}, `{"dynamic":"false"}`, nil)
	}
	r.tell(id, movement.Redrive)
	m, p := r.work(id)
	if counts := r.backed("loans-2024"); !slices.Equal(counts, []int{8, 8}) || m.State != movement.Switched || p.Failed != 0 {
		t.Errorf("%s: %s: the backing indices hold %v, %d failed", m.State, m.Cause, counts, p.Failed)
	}
}
