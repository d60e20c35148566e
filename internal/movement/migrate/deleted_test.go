package migrate_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/reshelve/reshelve/internal/coord"
	memory "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// remove is a deletion by another client.
func remove(t *testing.T, c *cluster.Client, id string) {
	t.Helper()
	if _, err := c.Do(t.Context(), http.MethodDelete, []string{"shelves", "_doc", id}, nil, nil); err != nil {
		t.Fatal(id, err)
	}
}

// TestADeltaLeavesWhatOthersDeleted: a document that the source has changed since stays deleted and is named, also when it
// goes away between the look and the write, and in a redrive; the comparison finds it missing, and a repair brings it.
func TestADeltaLeavesWhatOthersDeleted(t *testing.T) {
	for _, path := range []string{"", "_mget", "_bulk"} {
		p := newCopied(t, "opensearch-2.19.0-basic")
		p.moves("full", "first", nil)
		id := pick(t, p.held("first", "shelves"), p.held("second", "shelves"), isChanged)
		others := p.others()
		if path == "" {
			remove(t, others, id)
		} else {
			p.meddle(path, id, func() { remove(t, others, id) })
		}
		p.delta()
		m, progress := p.work("delta")
		left := func(when string) {
			t.Helper()
			if m.State != movement.Held || p.doc("shelves", id) != "" {
				t.Errorf("%s %s: it is %s: %s; the document is %q", path, when, m.State, m.Cause, p.doc("shelves", id))
			}
		}
		left("delta")
		for _, index := range progress.Indices {
			if index.Source == "shelves" && (index.Copied.Conflicts != 1 || !slices.Contains(index.Changed.Others, migrate.Other{ID: id, What: "deleted_by_others"})) {
				t.Errorf("%s: %+v %+v", path, index.Copied, index.Changed)
			}
		}
		if n := verifiedOf(t, progress, "shelves").Result.Counts[reconcile.Missing]; n != 1 {
			t.Errorf("%s: %d are missing", path, n)
		}
		p.tell("delta", movement.Redrive)
		m, _ = p.work("delta")
		left("redrive")
		p.tell("delta", movement.Repair)
		if m, _ = p.work("delta"); m.State != movement.Finished || p.doc("shelves", id) == "" {
			t.Errorf("%s: after a repair it is %s: %s; the document is %q", path, m.State, m.Cause, p.doc("shelves", id))
		}
	}
}

// TestADeltaBringsWhatTheMovementBeforeCouldNot: of an index of which that lacks documents, nothing shows whether others have
// deleted one.
func TestADeltaBringsWhatTheMovementBeforeCouldNot(t *testing.T) {
	p := newCopied(t, "opensearch-2.19.0-basic")
	p.moves("full", "first", nil)
	id := pick(t, p.held("first", "shelves"), p.held("second", "shelves"), isChanged)
	remove(t, p.target, id)
	plan := p.plan("second")
	since("full", "first")(&plan)
	for i := range plan.Indices {
		plan.Indices[i].Since.Lacking = true
	}
	p.start("delta", plan)
	if m, _ := p.work("delta"); m.State != movement.Finished || p.doc("shelves", id) == "" {
		t.Errorf("it is %s: %s; the document is %q", m.State, m.Cause, p.doc("shelves", id))
	}
}

// TestADeltaBringsWhatFinishAccepted: a document that the comparison found missing, and that the operator let be missing, may never
// have come.
func TestADeltaBringsWhatFinishAccepted(t *testing.T) {
	p := newCopied(t, "opensearch-2.19.0-basic")
	p.keep = true
	p.start("full", p.plan("first"))
	p.work("full")
	id := pick(t, p.held("first", "shelves"), p.held("second", "shelves"), isChanged)
	remove(t, p.target, id)
	p.tell("full", movement.Verify)
	p.work("full")
	p.tell("full", movement.Finish)
	m, report := p.work("full")
	if m.State != movement.Finished {
		t.Fatal(m.State, m.Cause)
	}
	plan := p.plan("second")
	since("full", "first")(&plan)
	for i := range plan.Indices {
		at := slices.IndexFunc(report.Indices, func(o migrate.IndexProgress) bool { return o.Source == plan.Indices[i].Source })
		if at < 0 {
			continue
		}
		plan.Indices[i].Since.Lacking = report.Lacks(at)
		if report.Lacks(at) != (plan.Indices[i].Source == "shelves") {
			t.Errorf("%s lacks documents: %v", plan.Indices[i].Source, report.Lacks(at))
		}
	}
	p.keep = false
	p.start("delta", plan)
	if m, _ := p.work("delta"); m.State != movement.Finished || p.doc("shelves", id) == "" {
		t.Errorf("it is %s: %s; the document is %q", m.State, m.Cause, p.doc("shelves", id))
	}
}

// forgetting looks at the records right before a list of failures is removed.
type forgetting struct {
	coord.Store
	look func(letters []coord.Record)
}

func (f forgetting) Delete(ctx context.Context, key string, revision int64) error {
	if strings.HasPrefix(key, "movement/delta/failure/") {
		letters, err := f.List(ctx, "movement/delta/letter/")
		if err != nil {
			return err
		}
		f.look(letters)
	}
	return f.Store.Delete(ctx, key, revision)
}

// TestARedriveNamesWhatOthersDeleted: the target has refused a document of a delta, and others have deleted it since. A
// redrive leaves that so, names it before the list of failures forgets it, for a worker may die between the two, and the
// comparison finds it missing.
func TestARedriveNamesWhatOthersDeleted(t *testing.T) {
	p := newCopied(t, "opensearch-2.19.0-basic")
	p.moves("full", "first", nil)
	id := pick(t, p.held("first", "shelves"), p.held("second", "shelves"), isChanged)
	var named, removed atomic.Bool
	p.driver = drive.New(forgetting{memory.New(), func(letters []coord.Record) {
		removed.Store(true)
		for _, letter := range letters {
			if bytes.Contains(letter.Value, fmt.Appendf(nil, `{"id":%q,"what":"deleted_by_others"}`, id)) {
				named.Store(true)
			}
		}
	}}, 0)
	mends := p.refuses(id)
	p.delta()
	if m, progress := p.work("delta"); m.State != movement.Held || progress.Failed != 1 {
		t.Fatalf("it is %s: %s; %d have failed", m.State, m.Cause, progress.Failed)
	}
	mends()
	remove(t, p.others(), id)
	p.tell("delta", movement.Redrive)
	m, progress := p.work("delta")
	if !removed.Load() || !named.Load() {
		t.Errorf("the list is removed: %v; after the document was named: %v", removed.Load(), named.Load())
	}
	said := phaseOf(&m, movement.RedrivePhase)
	if m.State != movement.Held || progress.Failed != 0 || !strings.Contains(said, fmt.Sprintf("1 were changed or deleted on the target since, and are left so (%q)", id)) {
		t.Errorf("it is %s: %s; %d have failed; %s", m.State, m.Cause, progress.Failed, said)
	}
	if n := verifiedOf(t, progress, "shelves").Result.Counts[reconcile.Missing]; n != 1 || p.doc("shelves", id) != "" {
		t.Errorf("%d are missing; the document is %q", n, p.doc("shelves", id))
	}
}

// refuses lets the target refuse a document, until mends is called: what it gets instead has no number where its mapping has one.
func (p *copied) refuses(id string) (mends func()) {
	p.t.Helper()
	var mended atomic.Bool
	through, err := cluster.Open(p.t.Context(), cluster.Options{URL: p.url, Transport: meddler{func(r *http.Request, body string) {
		lines := strings.Split(body, "\n")
		at := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, fmt.Sprintf(`"_id":%q`, id)) })
		if mended.Load() || at < 0 || !strings.HasSuffix(r.URL.Path, "_bulk") {
			return
		}
		lines[at+1] = `{"n":"none"}`
		body = strings.Join(lines, "\n")
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	}}})
	if err != nil {
		p.t.Fatal(err)
	}
	p.target = through
	p.t.Cleanup(through.Close)
	return func() { mended.Store(true) }
}
