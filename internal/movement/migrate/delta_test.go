package migrate_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
	"github.com/reshelve/reshelve/snapshot"
)

// moves moves a snapshot whole, and must finish.
func (p *copied) moves(id, name string, change func(*migrate.Plan)) *migrate.Progress {
	p.t.Helper()
	plan := p.plan(name)
	if change != nil {
		change(&plan)
	}
	p.start(id, plan)
	m, progress := p.work(id)
	if m.State != movement.Finished {
		p.t.Fatalf("%s is %s: %s; %v", id, m.State, m.Cause, progress.Causes)
	}
	if progress.Fraction != 1 || progress.Phase != "" || progress.Workers != 0 {
		p.t.Errorf("%s has finished, and its report tells of phase %q, %d workers, and %v of the work", id, progress.Phase, progress.Workers, progress.Fraction)
	}
	return progress
}

// since makes a plan go on from what an earlier movement brought.
func since(earlier, older string, indices ...string) func(*migrate.Plan) {
	return func(plan *migrate.Plan) {
		for i := range plan.Indices {
			if len(indices) == 0 || slices.Contains(indices, plan.Indices[i].Source) {
				plan.Indices[i].Since = &migrate.Since{Movement: earlier, Snapshot: older, SnapshotUUID: older, Whole: true}
			}
		}
	}
}

// held are the documents of a snapshot's index, by id and routing: version and source.
func (p *copied) held(name, index string) map[string]string {
	p.t.Helper()
	s, err := p.open().Find(p.t.Context(), name)
	if err != nil {
		p.t.Fatal(err)
	}
	idx, err := s.Index(p.t.Context(), index)
	if err != nil {
		p.t.Fatal(err)
	}
	all := map[string]string{}
	for n := range idx.Shards {
		shard, err := idx.Shard(p.t.Context(), n)
		if err != nil {
			p.t.Fatal(err)
		}
		docs, err := shard.Documents(p.t.Context(), snapshot.ReadOptions{Versions: true})
		if err != nil {
			p.t.Fatal(err)
		}
		defer docs.Close()
		for docs.Next() {
			d := docs.Document()
			all[fmt.Sprintf("%s/%s", d.ID, d.Routing)] = fmt.Sprintf("%d %s", d.Versions.Version, d.Source)
		}
		if docs.Err() != nil {
			p.t.Fatal(docs.Err())
		}
	}
	return all
}

// TestADeltaSendsWhatChanged: after the older snapshot, the newer one is brought by sending
// what differs, and deleting what is gone; in the repositories of every version that have two.
func TestADeltaSendsWhatChanged(t *testing.T) {
	names, err := filepath.Glob("../../../testdata/repositories/*-basic")
	if err != nil {
		t.Fatal(err)
	}
	tried, deletions := 0, int64(0)
	for _, name := range names {
		name = filepath.Base(name)
		if slices.Contains([]string{"elasticsearch-1.7.6-basic", "elasticsearch-2.4.6-basic", "elasticsearch-5.6.16-basic"}, name) {
			continue // indices of several types
		}
		t.Run(name, func(t *testing.T) {
			p := newCopied(t, name)
			p.moves("full", "first", nil)
			before := p.plan("first")
			var both []string
			for _, index := range p.plan("second").Indices {
				if slices.ContainsFunc(before.Indices, func(o migrate.Index) bool { return o.Source == index.Source }) {
					both = append(both, index.Source)
				}
			}
			progress := p.moves("delta", "second", since("full", "first", both...))
			for _, index := range progress.Indices {
				if index.Since == nil {
					continue
				}
				was, is := p.held("first", index.Source), p.held("second", index.Source)
				var changed, gone int64
				for id, doc := range is {
					if was[id] != doc {
						changed++
					}
				}
				for id := range was {
					if _, there := is[id]; !there {
						gone++
					}
				}
				if index.Copied.Read != changed || index.Copied.Acknowledged != changed || index.Changed.Deleted != gone {
					t.Errorf("%s: %d changed and %d are gone; %+v %+v", index.Source, changed, gone, index.Copied, index.Changed)
				}
				deletions += gone
			}
			if len(progress.Verified) != len(progress.Indices) {
				t.Error(len(progress.Verified), "were compared")
			}
			for _, v := range progress.Verified {
				if v.Expected != v.Found {
					t.Errorf("%s: %s in the snapshot, %s on the target", v.Index, v.Expected, v.Found)
				}
			}
			tried++
		})
	}
	if tried < 8 || deletions == 0 {
		t.Errorf("%d were tried, %d deletions", tried, deletions)
	}
}

// TestADeltaBesideOthers: what others changed on the target since is left; a document that
// came back after its deletion is found and deleted by a repair; one that was lost comes back.
func TestADeltaBesideOthers(t *testing.T) {
	p := newCopied(t, "opensearch-2.19.0-basic")
	p.moves("full", "first", nil)
	was, is := p.held("first", "shelves"), p.held("second", "shelves")
	pick := func(wanted func(id string) bool) string {
		t.Helper()
		for _, id := range slices.Sorted(maps.Keys(was)) {
			if id[len(id)-1] == '/' && wanted(id) { // without routing
				return id[:len(id)-1]
			}
		}
		t.Fatal("there is none")
		return ""
	}
	changed := pick(func(id string) bool { return is[id] != "" && is[id] != was[id] })
	gone := pick(func(id string) bool { return is[id] == "" })
	for range 30 { // far beyond all versions of the source
		p.put([]string{"shelves", "_doc", changed}, `{"by":"others"}`)
		p.put([]string{"shelves", "_doc", gone}, `{"by":"others"}`)
	}
	plan := p.plan("second")
	since("full", "first")(&plan)
	p.start("delta", plan)
	m, progress := p.work("delta")
	v := verifiedOf(t, progress, "shelves")
	if m.State != movement.Held || v.Result.Counts[reconcile.Newer] != 1 || v.Result.Counts[reconcile.Zombie] != 1 {
		t.Fatalf("it is %s: %s; %v", m.State, m.Cause, v.Result.Counts)
	}
	for _, index := range progress.Indices {
		if index.Source == "shelves" && (index.Copied.Conflicts != 1 || index.Changed.Kept != 1) {
			t.Errorf("%+v %+v", index.Copied, index.Changed)
		}
	}
	if doc := p.doc("shelves", changed); doc != `{"by":"others"}` {
		t.Error(doc)
	}
	p.tell("delta", movement.Repair) // what others have changed is theirs
	if m, _ = p.work("delta"); m.State != movement.Held || p.doc("shelves", gone) != `{"by":"others"}` {
		t.Errorf("it is %s: %s", m.State, m.Cause)
	}
}

// TestADeletionThatWasUndone: a straggler has written what the delta deleted, and the target
// has forgotten the deletion. It is told from what others have written, and a repair deletes
// it, and brings what is missing.
func TestADeletionThatWasUndone(t *testing.T) {
	p := newCopied(t, "opensearch-2.19.0-basic")
	p.moves("full", "first", nil)
	p.keep = true
	plan := p.plan("second")
	since("full", "first")(&plan)
	p.start("delta", plan)
	if m, _ := p.work("delta"); m.State != movement.Switched {
		t.Fatalf("it is %s: %s", m.State, m.Cause)
	}
	was, is := p.held("first", "shelves"), p.held("second", "shelves")
	p.request(http.MethodDelete, "shelves", "")
	p.put([]string{"shelves"}, `{"mappings":{"dynamic":false}}`)
	zombies := int64(0)
	for id, doc := range was {
		if is[id] == "" && strings.HasSuffix(id, "/") {
			version, source, _ := strings.Cut(doc, " ")
			params := url.Values{"version_type": {"external_gte"}, "version": {version}}
			if _, err := p.target.Do(t.Context(), http.MethodPut, []string{"shelves", "_doc", strings.TrimSuffix(id, "/")}, params, []byte(source)); err != nil {
				t.Fatal(err)
			}
			zombies++
		}
	}
	p.request(http.MethodPost, "_refresh", "")
	p.tell("delta", movement.Verify)
	m, progress := p.work("delta")
	if v := verifiedOf(t, progress, "shelves"); m.State != movement.Held || zombies == 0 || v.Result.Counts[reconcile.Zombie] != zombies || v.Result.Counts[reconcile.Missing] != int64(len(is)) {
		t.Fatalf("it is %s: %s; %v, %d are to be deleted", m.State, m.Cause, v.Result.Counts, zombies)
	}
	p.tell("delta", movement.Repair)
	if m, progress = p.work("delta"); m.State != movement.Switched {
		t.Fatalf("it is %s: %s", m.State, m.Cause)
	}
	if v := verifiedOf(t, progress, "shelves"); v.Expected != v.Found {
		t.Error(v)
	}
}

func verifiedOf(t *testing.T, p *migrate.Progress, index string) migrate.Verified {
	t.Helper()
	for _, v := range p.Verified {
		if v.Index == index {
			return v
		}
	}
	t.Fatal("not compared:", index)
	return migrate.Verified{}
}

// doc is the source of a document of the target; "" when it has none.
func (p *copied) doc(index, id string) string {
	p.t.Helper()
	answer, err := p.target.Do(p.t.Context(), http.MethodGet, []string{index, "_doc", id}, nil, nil)
	if err != nil {
		return ""
	}
	var doc struct {
		Source json.RawMessage `json:"_source"`
	}
	if err := json.Unmarshal(answer, &doc); err != nil {
		p.t.Fatal(err)
	}
	return string(doc.Source)
}
