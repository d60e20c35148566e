package segment_test

import (
	"cmp"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// check compares all that a segment says with the model.
func check(t *rapid.T, s *segment.Segment, families []family) {
	docs := flat(families)
	if s.Docs() != len(docs) || s.Roots() != len(families) {
		t.Fatalf("%d docs, %d roots; want %d and %d", s.Docs(), s.Roots(), len(docs), len(families))
	}
	checkDocuments(t, s, families, docs)
	fields := map[string]bool{}
	for f := range s.Fields() {
		fields[f.Name()] = true
		if s.Field(f.Name()) != f {
			t.Fatalf("the field %q is another", f.Name())
		}
	}
	all := map[string]segment.Spec{"_id": {Postings: segment.Docs, Column: segment.Ordinals}, "_nested_path": {Postings: segment.Docs}}
	for name, spec := range specs {
		all[name] = spec
	}
	for name, spec := range all {
		e := expect(docs, name, spec)
		if fields[name] != (len(e.exists) > 0) {
			t.Fatalf("the field %q is there: %v", name, fields[name])
		}
		if fields[name] {
			checkField(t, s, s.Field(name), spec, e, len(docs))
		}
	}
}

func checkDocuments(t *rapid.T, s *segment.Segment, families []family, docs []record) {
	at, ascending, before := segment.Doc(0), true, int64(0)
	ids := map[string][]segment.Doc{}
	for i, f := range families {
		root := at + segment.Doc(len(f)) - 1
		id := f[len(f)-1].id
		if ascending = ascending && (i == 0 || id.SeqNo > before); true {
			before = id.SeqNo
		}
		ids[id.ID] = append(ids[id.ID], root)
		for doc := at; doc <= root; doc++ {
			if s.IsRoot(doc) != (doc == root) || s.Root(doc) != root {
				t.Fatalf("doc %d: root %d, want %d", doc, s.Root(doc), root)
			}
			if s.Key(doc) != id.Key || s.SeqNo(doc) != id.SeqNo || s.ID(doc) != id.ID {
				t.Fatalf("doc %d is (%v, %q, %d), want %+v", doc, s.Key(doc), s.ID(doc), s.SeqNo(doc), id)
			}
		}
		if first := s.FirstChild(root); first != at {
			t.Fatalf("the first child of %d is %d, want %d", root, first, at)
		}
		at = root + 1
	}
	if s.Ascending() != ascending {
		t.Fatalf("ascending: %v", s.Ascending())
	}
	for id, want := range ids {
		equal(t, "docs of the id "+id, slices.Collect(s.FindID(id)), want)
	}
	if ascending {
		for i := range docs {
			root := s.Root(segment.Doc(i))
			if got, ok := s.FindSeqNo(docs[i].id.SeqNo); !ok || got != root {
				t.Fatalf("sequence number %d: %d %v, want %d", docs[i].id.SeqNo, got, ok, root)
			}
		}
	}
	if _, ok := s.FindSeqNo(-7); ok {
		t.Fatal("a sequence number that nobody has was found")
	}
	half := routing.Range{From: 1 << 62, To: 1 << 63}
	out := s.OutOf(half)
	for i, r := range docs {
		if out.Has(segment.Doc(i)) == half.Contains(r.id.Key) {
			t.Fatalf("doc %d with the key %v is out of the range: %v", i, r.id.Key, out.Has(segment.Doc(i)))
		}
	}
}

func equal[T any](t *rapid.T, what string, got, want []T) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
}

func checkField(t *rapid.T, s *segment.Segment, f *segment.Field, spec segment.Spec, e *expected, docs int) {
	if f.Spec() != spec || f.Stats() != e.stats {
		t.Fatalf("%s: %+v %+v, want %+v %+v", f.Name(), f.Spec(), f.Stats(), spec, e.stats)
	}
	var exists []segment.Doc
	for doc := segment.Doc(0); int(doc) < docs; doc++ {
		if set := f.Existing(); set == nil || set.Has(doc) {
			exists = append(exists, doc)
		}
	}
	equal(t, f.Name()+" exists in", exists, e.exists)
	if spec.Lengths {
		equal(t, f.Name()+" has lengths", f.Lengths(), e.lengths)
	}
	checkTerms(t, f, e)
	if spec.Postings != segment.NoPostings {
		for _, term := range e.terms {
			checkPostings(t, f, term, e.postings[term])
		}
	}
	if c := f.Ordinals(); (c != nil) != (spec.Column == segment.Ordinals) {
		t.Fatalf("%s has a column of ordinals: %v", f.Name(), c != nil)
	} else if c != nil {
		checkOrdinals(t, f.Name(), c, e.ordinals, docs)
	}
	if c := f.Numbers(); (c != nil) != (spec.Column == segment.Numbers) {
		t.Fatalf("%s has a column of numbers: %v", f.Name(), c != nil)
	} else if c != nil {
		checkNumbers(t, f.Name(), c, e.numbers, docs)
	}
	if p := f.Points(); (p != nil) != spec.Points {
		t.Fatalf("%s has points: %v", f.Name(), p != nil)
	} else if p != nil {
		checkPoints(t, f.Name(), p, e.numbers, docs)
	}
}

func checkTerms(t *rapid.T, f *segment.Field, e *expected) {
	if f.Terms() != len(e.terms) {
		t.Fatalf("%s has %d terms, want %d", f.Name(), f.Terms(), len(e.terms))
	}
	i := 0
	for it := f.From(nil); it.Valid(); it.Next() {
		if string(it.Term()) != e.terms[i] || it.Entry().Ord != uint32(i) {
			t.Fatalf("%s: term %d is %q, want %q", f.Name(), i, it.Term(), e.terms[i])
		}
		if got, ok := f.Lookup(it.Term()); !ok || got != it.Entry() {
			t.Fatalf("%s: %q is %+v, looked up %+v %v", f.Name(), it.Term(), it.Entry(), got, ok)
		}
		if f.Spec().Postings != segment.NoPostings && int(it.Entry().Docs) != len(e.postings[e.terms[i]]) {
			t.Fatalf("%s: %q has %d docs", f.Name(), it.Term(), it.Entry().Docs)
		}
		if got := f.Term([]byte("x"), uint32(i)); string(got) != "x"+e.terms[i] {
			t.Fatalf("%s: term %d is %q", f.Name(), i, got)
		}
		i++
	}
	if i != len(e.terms) {
		t.Fatalf("%s: %d terms were stepped through, want %d", f.Name(), i, len(e.terms))
	}
	checkSorted(t, f, e.terms)
	for range 5 {
		from := rapid.StringMatching(`[a-d]{0,3}`).Draw(t, "from")
		want, found := slices.BinarySearch(e.terms, from)
		if _, ok := f.Lookup([]byte(from)); ok != found {
			t.Fatalf("%s: %q is there: %v", f.Name(), from, ok)
		}
		it := f.From([]byte(from))
		if it.Valid() != (want < len(e.terms)) || it.Valid() && string(it.Term()) != e.terms[want] {
			t.Fatalf("%s: from %q on: %v %q", f.Name(), from, it.Valid(), it.Term())
		}
		seek := f.From(nil)
		if seek.Seek([]byte(from)); seek.Valid() != it.Valid() || it.Valid() && seek.Entry() != it.Entry() {
			t.Fatalf("%s: seek %q: %v %q", f.Name(), from, seek.Valid(), seek.Term())
		}
	}
}

// checkSorted compares LookupSorted of some terms that there are, and of others, with Lookup of each.
func checkSorted(t *rapid.T, f *segment.Field, terms []string) {
	asked := rapid.SliceOfN(rapid.StringMatching(`[a-d]{0,3}`), 0, 20).Draw(t, "asked")
	every := rapid.IntRange(1, 9).Draw(t, "every")
	for i := 0; i < len(terms); i += every {
		asked = append(asked, terms[i])
	}
	slices.Sort(asked)
	sortedAs(t, f, slices.Compact(asked))
}

func sortedAs(t rapid.TB, f *segment.Field, asked []string) {
	var terms [][]byte
	var want, got []segment.Entry
	for _, term := range asked {
		terms = append(terms, []byte(term))
		if e, ok := f.Lookup([]byte(term)); ok {
			want = append(want, e)
		}
	}
	if f.LookupSorted(terms, func(e segment.Entry) { got = append(got, e) }); !slices.Equal(got, want) {
		t.Fatalf("%s: %q of %d terms were looked up together as %+v, want %+v", f.Name(), asked, f.Terms(), got, want)
	}
}

func checkPostings(t *rapid.T, f *segment.Field, term string, want []posting) {
	e, _ := f.Lookup([]byte(term))
	with := rapid.SampledFrom([]segment.Postings{segment.Docs, segment.Frequencies, segment.Positions}).Draw(t, "with")
	p := f.Postings(e, with, nil)
	with = min(with, f.Spec().Postings)
	i := -1
	bounded := segment.Doc(0)
	for {
		if i >= 0 && p.Left() != len(want)-i {
			t.Fatalf("%s %q: %d left, want %d", f.Name(), term, p.Left(), len(want)-i)
		}
		if rapid.IntRange(0, 3).Draw(t, "bound") == 0 && i+1 < len(want) {
			bounded = max(bounded, want[i+1].doc)
			checkBound(t, f, p, bounded, want)
		}
		var doc segment.Doc
		switch rapid.IntRange(0, 5).Draw(t, "step") {
		default:
			doc = p.Next()
			i++
		case 0, 1:
			to := segment.Doc(0)
			if i >= 0 {
				to = want[i].doc + 1
			}
			to += segment.Doc(rapid.SampledFrom([]int{0, 1, 2, 5, 40, 200, 1000}).Draw(t, "skip"))
			doc = p.Advance(to)
			for i++; i < len(want) && want[i].doc < to; i++ {
			}
		case 2:
			docs, often := p.Block()
			for k, doc := range docs {
				i++
				if want[i].doc != doc || often != nil && often[k] != want[i].often {
					t.Fatalf("%s %q: doc %d of a block is %d", f.Name(), term, k, doc)
				}
			}
			if len(docs) == 0 {
				i = len(want)
			}
			doc = p.Doc()
		}
		if doc != p.Doc() {
			t.Fatalf("%s %q: at %d, and at %d", f.Name(), term, doc, p.Doc())
		}
		if i >= len(want) {
			if doc != segment.End || p.Next() != segment.End || p.Left() != 0 {
				t.Fatalf("%s %q: %d behind the last, %d left", f.Name(), term, doc, p.Left())
			}
			return
		}
		if doc != want[i].doc {
			t.Fatalf("%s %q: doc %d, want %d", f.Name(), term, doc, want[i].doc)
		}
		often := want[i].often
		if with < segment.Frequencies {
			often = 1
		}
		if p.Frequency() != often {
			t.Fatalf("%s %q: frequency %d in %d, want %d", f.Name(), term, p.Frequency(), doc, often)
		}
		if with == segment.Positions && rapid.Bool().Draw(t, "positions") {
			equal(t, term, p.Positions(nil), want[i].places)
			equal(t, term, p.Positions(nil), want[i].places)
		}
	}
}

// checkBound holds what Bound says of the docs from doc on against them.
func checkBound(t *rapid.T, f *segment.Field, p *segment.PostingsIterator, doc segment.Doc, want []posting) {
	at := p.Doc()
	last, impacts := p.Bound(doc)
	impacts = slices.Clone(impacts)
	all := slices.Clone(p.Impacts())
	if p.Doc() != at {
		t.Fatalf("%s: Bound moved", f.Name())
	}
	if last == segment.End || last < doc {
		t.Fatalf("%s: the block of %d ends at %d", f.Name(), doc, last)
	}
	covers := func(list []segment.Impact, p posting) bool {
		often, length := uint32(1), byte(1)
		if f.Spec().Postings >= segment.Frequencies {
			often = p.often
		}
		if l := f.Lengths(); l != nil {
			length = l[p.doc]
		}
		return slices.ContainsFunc(list, func(i segment.Impact) bool { return i.Frequency >= often && i.Length <= length })
	}
	for _, w := range want {
		if w.doc >= doc && w.doc <= last && !covers(impacts, w) {
			t.Fatalf("%s: %+v is not within %v", f.Name(), w, impacts)
		}
		if !covers(all, w) {
			t.Fatalf("%s: %+v is not within %v of all", f.Name(), w, all)
		}
	}
	for i := 1; i < len(impacts); i++ {
		if impacts[i-1].Frequency >= impacts[i].Frequency || impacts[i-1].Length >= impacts[i].Length {
			t.Fatalf("%s: impacts %v do not ascend", f.Name(), impacts)
		}
	}
	if last, _ := p.Bound(segment.End - 1); last != segment.End {
		t.Fatalf("%s: a block behind the last ends at %d", f.Name(), last)
	}
}

func checkOrdinals(t *rapid.T, name string, c *segment.OrdinalColumn, want map[segment.Doc][]uint32, docs int) {
	single := true
	var asked []segment.Doc
	for doc := segment.Doc(0); int(doc) < docs; doc++ {
		values := want[doc]
		single = single && len(values) < 2
		equal(t, name, c.All(nil, doc), values)
		if first, ok := c.First(doc); ok != (len(values) > 0) || ok && first != values[0] {
			t.Fatalf("%s: %d %v is the first of %v", name, first, ok, values)
		}
		if doc%3 != 1 {
			asked = append(asked, doc)
		}
	}
	if c.Single() != single {
		t.Fatalf("%s is single: %v", name, c.Single())
	}
	checkHaving(t, name, c, want, docs)
	if !single {
		return
	}
	ords, has := make([]uint32, len(asked)), make([]bool, len(asked))
	c.Read(asked, ords, has)
	for i, doc := range asked {
		if has[i] != (len(want[doc]) > 0) || has[i] && ords[i] != want[doc][0] {
			t.Fatalf("%s: %d %v was read of %d, want %v", name, ords[i], has[i], doc, want[doc])
		}
	}
}

func checkHaving(t *rapid.T, name string, c *segment.OrdinalColumn, want map[segment.Doc][]uint32, docs int) {
	most := uint32(0)
	for _, values := range want {
		most = max(most, slices.Max(values))
	}
	some, got, having := segment.NewBits(int(most)+1), segment.NewBits(docs), segment.NewBits(docs)
	for _, ord := range rapid.SliceOf(rapid.Uint32Range(0, most)).Draw(t, "some") {
		some.Set(ord)
	}
	for doc, values := range want {
		if slices.ContainsFunc(values, some.Has) {
			having.Set(doc)
		}
	}
	if c.Having(some, got); !slices.Equal(got.Words(), having.Words()) {
		t.Fatalf("%s: docs that have some of %d ordinals: %x, want %x", name, some.Count(), got.Words(), having.Words())
	}
}

func checkNumbers(t *rapid.T, name string, c *segment.NumberColumn, want map[segment.Doc][]int64, docs int) {
	single := true
	var asked []segment.Doc
	var every []int64
	for doc := segment.Doc(0); int(doc) < docs; doc++ {
		values := want[doc]
		every = append(every, values...)
		single = single && len(values) < 2
		equal(t, name, c.All(nil, doc), values)
		if first, ok := c.First(doc); ok != (len(values) > 0) || ok && first != values[0] {
			t.Fatalf("%s: %d %v is the first of %v", name, first, ok, values)
		}
		if doc%5 != 1 {
			asked = append(asked, doc)
		}
	}
	least, greatest, ok := c.Bounds()
	if ok != (len(every) > 0) || ok && (least != slices.Min(every) || greatest != slices.Max(every)) {
		t.Fatalf("%s is from %d to %d %v", name, least, greatest, ok)
	}
	if c.Single() != single {
		t.Fatalf("%s is single: %v", name, c.Single())
	}
	if !single {
		return
	}
	n, has := make([]int64, len(asked)), make([]bool, len(asked))
	c.Read(asked, n, has)
	for i, doc := range asked {
		if has[i] != (len(want[doc]) > 0) || has[i] && n[i] != want[doc][0] {
			t.Fatalf("%s: %d %v was read of %d, want %v", name, n[i], has[i], doc, want[doc])
		}
	}
}

func checkPoints(t *rapid.T, name string, p *segment.PointIndex, want map[segment.Doc][]int64, docs int) {
	var bounds []int64
	for _, values := range want {
		bounds = append(bounds, values...)
	}
	slices.Sort(bounds)
	bounds = append(bounds, -1<<63, 1<<63-1, 0)
	for range 6 {
		from, to := rapid.SampledFrom(bounds).Draw(t, "least"), rapid.SampledFrom(bounds).Draw(t, "greatest")
		n, set := 0, segment.NewBits(docs)
		for doc, values := range want {
			for _, v := range values {
				if cmp.Compare(from, v) <= 0 && v <= to {
					n++
					set.Set(doc)
				}
			}
		}
		got := segment.NewBits(docs)
		p.Within(from, to, got)
		if p.Count(from, to) != n || fmt.Sprint(got.Words()) != fmt.Sprint(set.Words()) {
			t.Fatalf("%s from %d to %d: %d %v, want %d %v", name, from, to, p.Count(from, to), got.Words(), n, set.Words())
		}
	}
}
