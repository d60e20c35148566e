package embedded

import (
	"fmt"
	"github.com/reshelve/reshelve/internal/fault"
	"reflect"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

var someManifest = manifest{committed: 7, wider: true, covers: routing.Range{From: 1, To: 2},
	entries: []listed{{number: 1, numbers: numbers{0, 6}, name: "a.seg", hides: true}, {number: 300, numbers: numbers{7, 7}, name: "b.seg"}}}

func TestManifestsAreAsDocumented(t *testing.T) {
	want := "010801" + "0000000000000001" + "0000000000000002" + "02" +
		"010006" + "05612e736567" + "01" +
		"ac020707" + "05622e736567" + "00"
	if got := fmt.Sprintf("%x", encodeManifest(&someManifest)); got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	id := shard.ID{Index: 7, Number: 2}
	if got := fmt.Sprintf("%x %x", manifestKey(id), maskKey(id, 5)); got != "6d000000070000000200 6d0000000700000002000000000000000500" {
		t.Error(got)
	}
}

func FuzzManifest(f *testing.F) {
	f.Add(encodeManifest(&someManifest))
	f.Add(encodeManifest(&manifest{committed: -1}))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := readManifest(data)
		if torn(t, err) {
			return
		}
		if back, err := readManifest(encodeManifest(&m)); err != nil || !reflect.DeepEqual(back, m) {
			t.Errorf("%+v is %+v, %v", m, back, err)
		}
	})
}

func TestAFullTierIsMergedTheLowestFirst(t *testing.T) {
	for docs, want := range map[int]int{1: 0, 3: 0, 4: 1, 15: 1, 16: 2, 4095: 5, 4096: 6, 1<<16 - 1: 7, 1 << 16: 8, 1<<20 - 1: 8, 1 << 20: 9} {
		if got := tier(docs); got != want {
			t.Errorf("%d docs are of tier %d, expected %d", docs, got, want)
		}
	}
	for docs, want := range map[int]int{1: 4, 2000: 4, 1<<16 - 1: 4, 1 << 16: 16, 1 << 22: 16} {
		if got := (tiers{fanIn: 16}).fan(tier(docs)); got != want {
			t.Errorf("%d segments of %d docs become one, expected %d", got, docs, want)
		}
	}
	for docs, want := range map[int]int{1: 2, 2000: 2, 1<<16 - 1: 2, 1 << 16: 16} {
		if got := (tiers{fanIn: 16}).atRest().fan(tier(docs)); got != want {
			t.Errorf("%d segments of %d docs become one at rest, expected %d", got, docs, want)
		}
	}
	ts := tiers{fanIn: 3}
	for _, c := range []struct {
		shown    []int
		smallest int
		want     []int
	}{
		{nil, 1, nil},
		{[]int{1, 2}, 1, nil},
		{[]int{1, 20, 2, 20}, 1, nil},
		{[]int{1, 20, 2, 20, 3}, 1, []int{1, 2, 3}},
		{[]int{20, 1, 20, 1, 20}, 1, []int{20, 20, 20}},
		{[]int{20, 1, 20, 1, 20, 1}, 1, []int{1, 1, 1}},
		{[]int{20, 1, 20, 500}, 256, []int{20, 1, 20, 500}},
	} {
		var entries []*entry
		for i, n := range c.shown {
			entries = append(entries, &entry{first: int64(i), shown: n})
		}
		var got []int
		for _, e := range ts.ripe(entries, c.smallest) {
			got = append(got, e.shown)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("of %v become one %v, expected %v", c.shown, got, c.want)
		}
	}
}

// blank is a segment of n documents.
func blank(t testing.TB, n int, first int64) *file {
	b := segment.NewBuilder()
	for i := range n {
		b.EndRoot(segment.Identity{Key: routing.Key(i), ID: fmt.Sprint(i), SeqNo: first + int64(i)})
	}
	data, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	f, err := inMemory(data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestTheEntryThatHidesMostIsWrittenAgain(t *testing.T) {
	entries := []*entry{{file: blank(t, 10_000, 0)}, {file: blank(t, 10_000, 0)}, {file: blank(t, 4000, 0)}}
	for _, c := range []struct {
		shown [3]int
		want  int
	}{
		{[3]int{10_000, 6000, 1}, -1}, {[3]int{10_000, 5000, 1}, -1}, {[3]int{10_000, 4999, 1}, 1}, {[3]int{4998, 4999, 1}, 0}, {[3]int{4998, 3, 1}, 1},
	} {
		for i := range entries {
			entries[i].shown = c.shown[i]
		}
		if got := slices.Index(entries, tiers{}.wasted(entries, func(*entry) bool { return false })); got != c.want {
			t.Errorf("of %v entry %d is wasted, expected %d", c.shown, got, c.want)
		}
	}
	if got := slices.Index(entries, tiers{}.wasted(entries, func(e *entry) bool { return e == entries[1] })); got != 0 {
		t.Errorf("without the one that is another's business entry %d is wasted", got)
	}
}

func TestWhatIsLeftOfARangeWithoutAnother(t *testing.T) {
	r := func(from, to routing.Key) routing.Range { return routing.Range{From: from, To: to} }
	for _, c := range []struct {
		of, other routing.Range
		want      []routing.Range
	}{
		{r(0, 9), r(0, 9), nil}, {r(3, 5), r(0, 9), nil}, {r(0, 9), r(3, 5), []routing.Range{r(0, 2), r(6, 9)}},
		{r(0, 9), r(0, 5), []routing.Range{r(6, 9)}}, {r(0, 9), r(5, 20), []routing.Range{r(0, 4)}},
		{r(0, 9), r(10, 20), []routing.Range{r(0, 9)}}, {routing.Whole, r(1, routing.MaxKey-1), []routing.Range{r(0, 0), r(routing.MaxKey, routing.MaxKey)}},
	} {
		if got := without(c.of, c.other); !slices.Equal(got, c.want) {
			t.Errorf("%v without %v is %v, expected %v", c.of, c.other, got, c.want)
		}
	}
}

// TestWhatIsHiddenMoves merges entries, hides more of them meanwhile, and compares what
// the merged one then shows.
func TestWhatIsHiddenMoves(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		some := func(label string, docs int, beside *segment.Bits) *segment.Bits {
			if rapid.IntRange(0, 3).Draw(rt, label+" at all") == 0 {
				return beside
			}
			hidden := segment.NewBits(docs)
			if beside != nil {
				hidden = beside.Clone()
			}
			for _, doc := range rapid.SliceOf(rapid.IntRange(0, docs-1)).Draw(rt, label) {
				hidden.Set(segment.Doc(doc))
			}
			return hidden
		}
		var was, now []*entry
		want := map[int64]bool{}
		more := false // is shown by a source than when it was rewritten
		at := int64(0)
		for i := range rapid.IntRange(1, 4).Draw(rt, "entries") {
			docs := rapid.IntRange(1, 200).Draw(rt, "docs")
			f := blank(t, docs, at)
			a := &entry{file: f, first: at, last: at + int64(docs) - 1}
			a.hidden = some("hidden", docs, nil)
			if err := a.count(); err != nil {
				rt.Fatal(err)
			}
			b := *a
			if b.hidden = some("hidden then", docs, a.hidden); rapid.IntRange(0, 9).Draw(rt, fmt.Sprint("shows more ", i)) == 0 {
				b.hidden = some("hidden otherwise", docs, nil)
			}
			if err := b.count(); err != nil {
				rt.Fatal(err)
			}
			was = append(was, a)
			if gone := rapid.IntRange(0, 5).Draw(rt, fmt.Sprint("gone ", i)) == 0; !gone {
				now = append(now, &b)
				more = more || a.hidden != nil && slices.ContainsFunc(docsOf(a.hidden), func(doc segment.Doc) bool { return b.hidden == nil || !b.hidden.Has(doc) })
				for doc := range docs {
					if b.hidden == nil || !b.hidden.Has(segment.Doc(doc)) {
						want[at+int64(doc)] = true
					}
				}
			}
			at += int64(docs)
		}
		x := &segments{shard: &local{engine: &Engine{}}}
		r, err := x.rewrite(t.Context(), was, false)
		if err != nil {
			rt.Fatal(err)
		}
		st, ok := newStack(at, routing.Whole, nil, now).replaced(r)
		if ok == more {
			rt.Fatalf("a source shows more: %t, taken: %t", more, ok)
		}
		if more {
			return
		}
		shown := 0
		for _, e := range st.entries {
			n := 0
			for doc := range segment.Doc(e.Docs()) {
				if e.hidden == nil || !e.hidden.Has(doc) {
					if !want[e.SeqNo(doc)] {
						rt.Fatalf("number %d is shown", e.SeqNo(doc))
					}
					n++
				}
			}
			if e.shown != n || e.docs != n {
				rt.Fatalf("%d are shown, counted are %d and %d documents", n, e.shown, e.docs)
			}
			shown += n
		}
		if shown != len(want) || len(st.entries) > 1 {
			rt.Fatalf("%d of %d are shown by %d entries", shown, len(want), len(st.entries))
		}
	})
}

func docsOf(set *segment.Bits) (docs []segment.Doc) {
	for doc := range segment.Doc(set.Len()) {
		if set.Has(doc) {
			docs = append(docs, doc)
		}
	}
	return docs
}

// TestAManifestClaimsWhatItNames: whatever entries a stack has, a manifest of those that are files
// claims no number at or above one whose document is in memory alone, and nothing when a document
// in memory alone is in no change.
func TestAManifestClaimsWhatItNames(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var entries []*entry
		indexed := rapid.Int64Range(-1, 60).Draw(rt, "indexed")
		inMemory, only := map[int64]bool{}, false
		for i := range rapid.IntRange(0, 6).Draw(rt, "entries") {
			first := rapid.Int64Range(0, 50).Draw(rt, fmt.Sprint("first ", i))
			e := &entry{file: &file{}, first: first, last: first + rapid.Int64Range(0, 9).Draw(rt, fmt.Sprint("more ", i)),
				scanned: rapid.IntRange(0, 5).Draw(rt, fmt.Sprint("scanned ", i)) == 0}
			if rapid.Bool().Draw(rt, fmt.Sprint("file ", i)) {
				e.name = "1.seg"
			} else {
				inMemory[e.first], inMemory[e.last] = true, true
				only = only || e.scanned
			}
			entries = append(entries, e)
		}
		st := &stack{indexed: indexed, entries: entries}
		if rapid.IntRange(0, 5).Draw(rt, "lost") == 0 {
			st.lost = []numbers{allNumbers}
		}
		claimed, ok := st.claim()
		if ok != (indexed >= 0 && !only && len(st.lost) == 0) {
			rt.Fatalf("claims %d: %t", claimed, ok)
		}
		for number := range inMemory {
			if ok && (claimed >= number || claimed > indexed) {
				rt.Fatalf("claims %d of %d, and %d is in memory alone", claimed, indexed, number)
			}
		}
		if ok && len(inMemory) == 0 && claimed != indexed {
			rt.Fatalf("claims %d of %d", claimed, indexed)
		}
	})
}

// TestEntriesAreToldApart: no two entries of a manifest have one number, and none gets a number again
// while a manifest is being taken up.
func TestEntriesAreToldApart(t *testing.T) {
	m := manifest{committed: 3, covers: routing.Whole, entries: []listed{{number: 2, name: "a.seg"}, {number: 2, name: "b.seg"}}}
	if _, err := readManifest(encodeManifest(&m)); !fault.Is(err, fault.Corrupt) {
		t.Errorf("two entries of one number: %v", err)
	}
	x := &segments{}
	var all sync.WaitGroup
	var mu sync.Mutex
	given := map[uint64]bool{}
	for range 4 {
		all.Go(func() {
			for range 2000 {
				number := x.numbers.Add(1)
				mu.Lock()
				if given[number] {
					t.Errorf("%d is given twice", number)
				}
				given[number] = true
				mu.Unlock()
			}
		})
	}
	all.Go(func() {
		for number := range uint64(9000) {
			x.above(number)
		}
	})
	all.Wait()
}

// TestAMaskIsCommitted: an entry that hides something else than is stored of it is written anew.
func TestAMaskIsCommitted(t *testing.T) {
	e := &entry{file: &file{name: "a.seg"}, number: 1, hidden: segment.NewBits(4)}
	st := &stack{indexed: 3, covers: routing.Whole, entries: []*entry{e}}
	x := &segments{}
	x.durable = durable{manifest: manifest{committed: 3, covers: routing.Whole, entries: []listed{{number: 1}}}, is: true,
		masks: map[uint64]*segment.Bits{1: e.hidden}}
	if x.uncommitted(st) {
		t.Error("nothing has changed")
	}
	x.durable.masks[1] = segment.NewBits(4)
	if !x.uncommitted(st) {
		t.Error("another mask is not written")
	}
}
