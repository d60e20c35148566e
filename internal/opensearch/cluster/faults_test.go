package cluster_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// However a target fails, each operation ends in exactly one of acknowledged,
// conflict and failed, and what is acknowledged is there.
func TestEveryOperationEndsInExactlyOneWay(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d := draw(r)
		inBubble(t, r, func(t *problems) { oneWay(t, d) })
	})
}

// problems collects what a run in a bubble finds: the generator's own T may not be
// used there.
type problems struct {
	mu    sync.Mutex
	found []string
	ctx   context.Context
}

// Errorf notes one.
func (p *problems) Errorf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.found = append(p.found, fmt.Sprintf(format, args...))
}

// inBubble runs with a clock of its own, which stands still while anything works.
func inBubble(t *testing.T, r *rapid.T, run func(*problems)) {
	p := &problems{}
	synctest.Test(t, func(t *testing.T) {
		p.ctx = t.Context()
		run(p)
	})
	for _, f := range p.found {
		r.Errorf("%s", f)
	}
}

// drawn is what a run is made of.
type drawn struct {
	ops     []cluster.Op
	newer   map[int]bool // a newer version is on the target
	bad     map[int]bool
	mishaps []mishap // of the first requests
	rejects []int    // statuses of the first operations that arrive
	limit   int      // of a request
	parts   int      // batches
}

func draw(t *rapid.T) (d drawn) {
	d.newer, d.bad = map[int]bool{}, map[int]bool{}
	for i := range rapid.IntRange(1, 40).Draw(t, "operations") {
		op := cluster.Op{Index: "books", ID: fmt.Appendf(nil, "%d", i), Version: 10, Source: fmt.Appendf(nil, `{"n":%d}`, i)}
		switch rapid.SampledFrom([]string{"", "", "", "", "newer", "bad", "delete", "long"}).Draw(t, "kind") {
		case "newer":
			d.newer[i] = true
		case "bad":
			d.bad[i], op.Source = true, fmt.Appendf(nil, `{"n":%d,"bad":1}`, i)
		case "delete":
			op.Action, op.Source = cluster.Delete, nil
		case "long":
			d.bad[i], op.ID = true, fmt.Appendf(nil, "%0600d", i)
		}
		d.ops = append(d.ops, op)
	}
	d.mishaps = rapid.SliceOfN(rapid.Map(rapid.IntRange(0, int(misfortunes)-1), func(i int) mishap { return mishap(i) }), 0, 12).Draw(t, "mishaps")
	for i, m := range d.mishaps { // four errors inside the server are the document's fault
		if m == internal && i > 2 {
			d.mishaps[i] = resetAfter
		}
	}
	d.rejects = rapid.SliceOfN(rapid.SampledFrom([]int{0, 429, 503, 403}), 0, 60).Draw(t, "rejections")
	d.limit = rapid.SampledFrom([]int{0, 0, 700, 1500}).Draw(t, "limit")
	d.parts = rapid.IntRange(1, 3).Draw(t, "batches")
	return d
}

func oneWay(t *problems, d drawn) {
	f := newFake()
	f.limit = d.limit
	f.whole = func(n int, _ []byte) mishap {
		if n <= len(d.mishaps) {
			return d.mishaps[n-1]
		}
		return fine
	}
	met := 0
	f.item = func(line) int {
		if met++; met <= len(d.rejects) {
			return d.rejects[met-1]
		}
		return 0
	}
	for i := range d.newer {
		f.docs["books//"+string(d.ops[i].ID)] = row{11, "newer"}
	}
	w, _ := clientOf(f).NewWriter(t.ctx, cluster.WriterOptions{Concurrency: 3})
	var mu sync.Mutex
	ended := map[int]string{}
	note := func(id int, how string) {
		if was, twice := ended[id]; twice {
			t.Errorf("operation %d ended as %s and as %s", id, was, how)
		}
		ended[id] = how
	}
	acknowledged := 0
	var done sync.WaitGroup
	for part := range d.parts {
		batch, first := &cluster.Batch{}, part*len(d.ops)/d.parts
		for _, op := range d.ops[first : (part+1)*len(d.ops)/d.parts] {
			if err := batch.Add(op); err != nil {
				t.Errorf("%v", err)
			}
		}
		done.Add(1)
		_ = w.Start(t.ctx, batch, func(r cluster.Result, err error) {
			defer done.Done()
			mu.Lock()
			defer mu.Unlock()
			if err != nil || r.Unknown != 0 || r.Acknowledged+len(r.Conflicts)+len(r.Failed) != batch.Len() {
				t.Errorf("%+v %v", r, err)
			}
			acknowledged += r.Acknowledged
			for _, c := range r.Conflicts {
				note(first+c.Item, "conflict")
			}
			for _, c := range r.Failed {
				note(first+c.Item, "failure")
			}
		})
	}
	done.Wait()
	if acknowledged+len(ended) != len(d.ops) {
		t.Errorf("%d acknowledged, %d otherwise, of %d", acknowledged, len(ended), len(d.ops))
	}
	for i, op := range d.ops {
		want := ""
		switch {
		case d.bad[i]:
			want = "failure"
		case d.newer[i]:
			want = "conflict"
		}
		if ended[i] != want {
			t.Errorf("operation %d is a %q, want a %q", i, ended[i], want)
		}
		has, there := f.docs["books//"+string(op.ID)]
		if want == "" && (there == (op.Action == cluster.Delete) || there && has.source != string(op.Source)) {
			t.Errorf("operation %d is acknowledged, and the target has %q", i, has.source)
		}
	}
}

// Operations on one document take effect in the order of the batch, whichever of
// them are rejected at first, even when no version orders them.
func TestOneDocumentsOperationsKeepTheirOrder(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		docs := rapid.SliceOfN(rapid.IntRange(0, 3), 1, 20).Draw(r, "documents")
		rejects := rapid.SliceOfN(rapid.SampledFrom([]int{0, 429}), 0, 3*len(docs)).Draw(r, "rejections")
		inBubble(t, r, func(t *problems) { inOrder(t, docs, rejects) })
	})
}

func inOrder(t *problems, docs, rejects []int) {
	f, batch := newFake(), &cluster.Batch{}
	last := map[int]int{}
	for i, doc := range docs {
		last[doc] = i
		op := cluster.Op{Index: "a", ID: fmt.Appendf(nil, "%d", doc), Version: -1, Source: fmt.Appendf(nil, `{"n":%d}`, i)}
		if err := batch.Add(op); err != nil {
			t.Errorf("%v", err)
		}
	}
	f.item = func(line) (status int) {
		if len(rejects) > 0 {
			status, rejects = rejects[0], rejects[1:]
		}
		return status
	}
	w, _ := clientOf(f).NewWriter(t.ctx, cluster.WriterOptions{})
	r, err := w.Write(t.ctx, batch)
	if err != nil || r.Acknowledged != len(docs) {
		t.Errorf("%+v %v", r, err)
	}
	for doc, i := range last {
		if got, want := f.docs[fmt.Sprintf("a//%d", doc)].source, fmt.Sprintf(`{"n":%d}`, i); got != want {
			t.Errorf("document %d is %s, want %s", doc, got, want)
		}
	}
}

// What was acknowledged is not sent again.
func TestOnlyRejectedOperationsAreSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		once := map[string]bool{}
		f.item = func(l line) int {
			if l.id[len(l.id)-1] == '7' && !once[l.id] {
				once[l.id] = true
				return 429
			}
			return 0
		}
		w, err := clientOf(f).NewWriter(t.Context(), cluster.WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		batch := &cluster.Batch{}
		for i := range 100 {
			if err := batch.Add(cluster.Op{Index: "a", ID: fmt.Appendf(nil, "%d", i), Version: 1, Source: fmt.Appendf(nil, `{"n":%d}`, i)}); err != nil {
				t.Fatal(err)
			}
		}
		r, err := w.Write(t.Context(), batch)
		if err != nil || r.Acknowledged != 100 || r.Requests != 2 || r.Repeated != 10 {
			t.Fatalf("%+v %v", r, err)
		}
		for source, times := range f.applied {
			if times != 1 {
				t.Errorf("%s was applied %d times", source, times)
			}
		}
	})
}

// A wish of the target is kept by all batches: nothing is sent before it is over.
func TestRetryAfterHoldsTheWholeWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		var asked time.Time
		f.whole = func(n int, _ []byte) mishap {
			switch {
			case n == 1:
				asked = time.Now()
				return tooManyForAWhile
			case time.Since(asked) < 7*time.Second && n > 3: // one was on its way, and one more left when that came back first
				t.Errorf("request %d comes after %s", n, time.Since(asked))
			}
			return fine
		}
		w, err := clientOf(f).NewWriter(t.Context(), cluster.WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var done sync.WaitGroup
		for i := range 6 {
			batch := &cluster.Batch{}
			if err := batch.Add(cluster.Op{Index: "a", ID: fmt.Appendf(nil, "%d", i), Version: 1, Source: []byte(`{}`)}); err != nil {
				t.Fatal(err)
			}
			done.Add(1)
			if err := w.Start(t.Context(), batch, func(r cluster.Result, err error) {
				defer done.Done()
				if err != nil || r.Acknowledged != 1 {
					t.Errorf("%+v %v", r, err)
				}
			}); err != nil {
				t.Fatal(err)
			}
		}
		done.Wait()
	})
}
