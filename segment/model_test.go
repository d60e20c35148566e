package segment_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/routing"
	"github.com/reshelve/reshelve/segment"
)

// value is one call of a FieldBuilder.
type value struct {
	kind     byte // 't'erm, 'p'osition, 'l'ength, 'n'umber, 'e'xists
	text     string
	position uint32
	number   int64
}

// record is a doc: what a builder is given of it.
type record struct {
	path   string // of a nested child; "" of a document
	id     segment.Identity
	values map[string][]value
}

// family is a document with its children before it.
type family []record

// specs are the fields of the model.
var specs = map[string]segment.Spec{
	"text":   {Postings: segment.Positions, Lengths: true},
	"plain":  {Postings: segment.Frequencies},
	"rated":  {Postings: segment.Docs, Lengths: true},
	"word":   {Postings: segment.Docs, Column: segment.Ordinals},
	"value":  {Column: segment.Ordinals},
	"number": {Column: segment.Numbers, Points: true},
	"date":   {Column: segment.Numbers},
	"point":  {Points: true},
	"flag":   {},
}

var names = func() []string {
	var n []string
	for name := range specs {
		n = append(n, name)
	}
	slices.Sort(n)
	return n
}()

// write gives the builder a family.
func write(t rapid.TB, b *segment.Builder, docs family) {
	for _, r := range docs {
		for _, name := range names {
			for _, v := range r.values[name] {
				f, err := b.Field(name, specs[name])
				if err != nil {
					t.Fatal(err)
				}
				switch v.kind {
				case 't':
					f.Term([]byte(v.text))
				case 'p':
					f.Token([]byte(v.text), v.position)
				case 'l':
					f.Length(uint32(v.number))
				case 'n':
					f.Number(v.number)
				case 'e':
					f.Exists()
				}
			}
		}
		if r.path != "" {
			b.EndChild(r.path)
		} else {
			b.EndRoot(r.id)
		}
	}
}

func build(t rapid.TB, families []family) []byte {
	b := segment.NewBuilder()
	for _, f := range families {
		write(t, b, f)
	}
	data, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func open(t rapid.TB, data []byte) *segment.Segment {
	s, err := segment.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// posting is a doc of a term.
type posting struct {
	doc    segment.Doc
	often  uint32
	places []uint32
}

// expected is what a field must answer, worked out the simple way.
type expected struct {
	postings map[string][]posting
	terms    []string
	exists   []segment.Doc
	lengths  []byte
	ordinals map[segment.Doc][]uint32
	numbers  map[segment.Doc][]int64
	stats    segment.Stats
}

// flat are the docs of all families.
func flat(families []family) (docs []record) {
	for _, f := range families {
		root := f[len(f)-1]
		for _, r := range f {
			r.id = root.id
			docs = append(docs, r)
		}
	}
	return docs
}

func expect(docs []record, name string, spec segment.Spec) *expected {
	e := &expected{postings: map[string][]posting{}, lengths: make([]byte, len(docs)),
		ordinals: map[segment.Doc][]uint32{}, numbers: map[segment.Doc][]int64{}}
	for i, r := range docs {
		doc := segment.Doc(i)
		values := r.values[name]
		if name == "_id" && r.path == "" {
			values = []value{{kind: 't', text: r.id.ID}}
		}
		if name == "_nested_path" && r.path != "" {
			values = []value{{kind: 't', text: r.path}}
		}
		if len(values) > 0 {
			e.exists = append(e.exists, doc)
		}
		terms := false
		for _, v := range values {
			switch v.kind {
			case 't', 'p':
				terms = terms || spec.Postings != segment.NoPostings || spec.Column == segment.Ordinals
				list := e.postings[v.text]
				if n := len(list); n == 0 || list[n-1].doc != doc {
					list = append(list, posting{doc: doc})
				}
				last := &list[len(list)-1]
				last.often++
				last.places = append(last.places, v.position)
				e.postings[v.text] = list
			case 'l':
				e.lengths[doc] = segment.LengthByte(uint32(v.number))
			case 'n':
				e.numbers[doc] = append(e.numbers[doc], v.number)
			}
		}
		slices.Sort(e.numbers[doc])
		if terms {
			e.stats.Docs++
		}
	}
	if spec.Postings == segment.NoPostings && spec.Column != segment.Ordinals {
		e.postings = nil
	}
	for term := range e.postings {
		e.terms = append(e.terms, term)
	}
	slices.Sort(e.terms)
	for ord, term := range e.terms {
		for _, p := range e.postings[term] {
			e.ordinals[p.doc] = append(e.ordinals[p.doc], uint32(ord))
			if spec.Postings != segment.NoPostings {
				e.stats.Postings++
				if spec.Postings >= segment.Frequencies {
					e.stats.Frequencies += int64(p.often)
				} else {
					e.stats.Frequencies++
				}
			}
		}
	}
	return e
}

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

// drawFamilies makes documents.
func drawFamilies(t *rapid.T, most int) []family {
	n := rapid.IntRange(0, most).Draw(t, "documents")
	shape := drawShape(t)
	r := newRandom(rapid.Uint64().Draw(t, "seed"))
	families := make([]family, n)
	seqNo := int64(0)
	for i := range families {
		children := 0
		if shape.nested && r.below(3) == 0 {
			children = r.below(4)
		}
		for range children {
			families[i] = append(families[i], record{path: []string{"items", "items.parts"}[r.below(2)], values: shape.values(r)})
		}
		seqNo += 1 + int64(r.below(3))
		if shape.unordered {
			seqNo = int64(r.below(1 << 20))
		}
		id := segment.Identity{Key: routing.Key(r.next()), ID: fmt.Sprintf("d%d", r.below(4*most+8)), SeqNo: seqNo}
		families[i] = append(families[i], record{id: id, values: shape.values(r)})
	}
	return families
}

// random is a cheap source of numbers: rapid's own would make big examples slow.
type random struct{ state uint64 }

func newRandom(seed uint64) *random { return &random{seed} }

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *random) below(n int) int { return int(r.next() % uint64(n)) }

// shape is what the docs of one example are like.
type shape struct {
	nested, unordered bool
	vocabulary        int
	tokens            int
	presence          map[string]int // one doc of how many has the field; 0: none
	several           bool
	step, spread      uint64 // of numbers
}

func drawShape(t *rapid.T) shape {
	s := shape{
		nested: rapid.Bool().Draw(t, "nested"), unordered: rapid.Bool().Draw(t, "unordered"),
		vocabulary: rapid.SampledFrom([]int{1, 3, 50, 1000}).Draw(t, "vocabulary"),
		tokens:     rapid.SampledFrom([]int{1, 6, 300}).Draw(t, "tokens"),
		several:    rapid.Bool().Draw(t, "several"),
		step:       rapid.SampledFrom([]uint64{1, 1000, 86400000}).Draw(t, "step"),
		spread:     rapid.SampledFrom([]uint64{1, 2, 1000, 1 << 40, 1 << 63}).Draw(t, "spread"),
		presence:   map[string]int{},
	}
	for _, name := range names {
		s.presence[name] = rapid.SampledFrom([]int{0, 1, 1, 2, 50}).Draw(t, "presence of "+name)
	}
	return s
}

func (s *shape) word(r *random) string {
	n := min(r.below(s.vocabulary), r.below(s.vocabulary))
	w := ""
	for n++; n > 0; n /= 4 {
		w += string("abcd"[n%4])
	}
	return w
}

func (s *shape) values(r *random) map[string][]value {
	all := map[string][]value{}
	for _, name := range names {
		p := s.presence[name]
		if p == 0 || r.below(p) != 0 {
			continue
		}
		n := 1
		if s.several {
			n = 1 + r.below(3)
		}
		var values []value
		switch name {
		case "text", "rated":
			position, count := uint32(0), 1+r.below(s.tokens)
			for range count {
				position += uint32(r.below(3))
				if r.below(40) == 0 {
					position += uint32(r.below(1 << 18))
				}
				values = append(values, value{kind: 'p', text: s.word(r), position: position})
			}
			if r.below(9) > 0 {
				values = append(values, value{kind: 'l', number: int64(count)})
			}
		case "plain", "word", "value":
			for range n {
				values = append(values, value{kind: 't', text: s.word(r)})
			}
		case "number", "date", "point":
			for range n {
				values = append(values, value{kind: 'n', number: int64(s.step * (r.next() % s.spread))})
			}
		}
		if name == "flag" || r.below(20) == 0 {
			values = append(values, value{kind: 'e'})
		}
		all[name] = values
	}
	return all
}

func TestEveryReadIsAsTheModelSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		families := drawFamilies(t, rapid.SampledFrom([]int{3, 40, 400}).Draw(t, "most"))
		s := open(t, build(t, families))
		check(t, s, families)
	})
}
