package search

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/index/analysis"
	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
	"pgregory.net/rapid"
)

// thing is a document, or a nested child, of the tests: what segments hold of it.
type thing struct {
	id       string   // a child has that of its document
	text     []string // tokens of the field "text", at places 0, 1, …
	words    []string // of the fields "tag" and, without postings, "bare"; the last is that of "kind"
	numbers  []int64  // of the field "n"
	children []*thing
	path     string // of a child
}

// The fields of things.
var (
	textSpec   = segment.Spec{Postings: segment.Positions, Lengths: true}
	tagSpec    = segment.Spec{Postings: segment.Docs, Column: segment.Ordinals}
	bareSpec   = segment.Spec{Column: segment.Ordinals}
	numberSpec = segment.Spec{Column: segment.Numbers, Points: true}
)

// prefix is what the names of its fields begin with.
func (t *thing) prefix() string {
	if t.path == "" {
		return ""
	}
	return t.path + "."
}

// build makes a segment of things.
func build(t rapid.TB, things []*thing) *segment.Segment {
	b := segment.NewBuilder()
	for i, root := range things {
		write(t, b, root)
		b.EndRoot(segment.Identity{Key: keyOf(root.id), ID: root.id, SeqNo: int64(i)})
	}
	data, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	s, err := segment.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func keyOf(id string) routing.Key { return routing.KeyOf(id, "", 1) }

func write(t rapid.TB, b *segment.Builder, one *thing) {
	for _, child := range one.children {
		write(t, b, child)
		b.EndChild(child.path)
	}
	field := func(name string, spec segment.Spec) *segment.FieldBuilder {
		f, err := b.Field(one.prefix()+name, spec)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	if len(one.text) > 0 {
		f := field("text", textSpec)
		for i, word := range one.text {
			f.Token([]byte(word), uint32(i))
		}
		f.Length(uint32(len(one.text)))
	}
	for i, word := range one.words {
		field("tag", tagSpec).Term([]byte(word))
		field("bare", bareSpec).Term([]byte(word))
		if i == len(one.words)-1 {
			field("kind", tagSpec).Term([]byte(word))
		}
	}
	for _, n := range one.numbers {
		field("n", numberSpec).Number(n)
	}
}

// world is an index of things: some segments, and views of them.
type world struct {
	things [][]*thing // of each segment
	index  Index
	shown  [][]shownThing // of each view, of all sources
	counts map[string]counts
}

// counts are what scores need to know of a field and some of its terms.
type counts struct {
	docs, frequencies int64
	with              []int64
}

// thingsMapping is that of things.
const thingsMapping = `{"properties":{"text":{"type":"text"},"tag":{"type":"keyword"},"n":{"type":"long"},
	"kind":{"type":"keyword"},"bare":{"type":"keyword","index":false},
	"kids":{"type":"nested","properties":{"text":{"type":"text"},"tag":{"type":"keyword"},"n":{"type":"long"},
		"toys":{"type":"nested","properties":{"text":{"type":"text"},"tag":{"type":"keyword"},"n":{"type":"long"}}}}}}}`

var thingsSchema = func() *fields.Schema {
	m, err := mapping.Parse([]byte(thingsMapping), mapping.DefaultLimits)
	if err != nil {
		panic(err)
	}
	a, err := analysis.New(nil)
	if err != nil {
		panic(err)
	}
	return fields.New(m, a)
}()

// thingsField is one of its fields.
func thingsField(name string) *fields.Field {
	f, ok := thingsSchema.Field(name)
	if !ok {
		panic(name)
	}
	return f
}

// shownThing is a document that a view shows.
type shownThing struct {
	*thing
	doc segment.Doc
}

// newWorld makes segments of so many things each, and for each a view that hides some.
func newWorld(t rapid.TB, r *rand.Rand, sizes []int, hides float64) *world {
	w := &world{index: Index{Number: 3, Name: "things", Schema: thingsSchema}, counts: map[string]counts{}}
	id := 0
	for i, n := range sizes {
		var things []*thing
		for range n {
			id++
			things = append(things, newThing(r, fmt.Sprint("id", id)))
		}
		w.things = append(w.things, things)
		w.view(uint32(i), build(t, things), things, func(*thing) bool { return r.Float64() >= hides })
	}
	return w
}

// view adds a source with one view of a segment.
func (w *world) view(shard uint32, s *segment.Segment, things []*thing, shows func(*thing) bool) {
	v := segment.View{Segment: s, Hidden: segment.NewBits(s.Docs())}
	var shown []shownThing
	doc := segment.Doc(0)
	for _, one := range things {
		n := segment.Doc(one.size())
		if shows(one) {
			shown = append(shown, shownThing{one, doc + n - 1})
		} else {
			for d := doc; d < doc+n; d++ {
				v.Hidden.Set(d)
			}
		}
		doc += n
	}
	if v.Hidden.Count() == 0 {
		v.Hidden = nil
	}
	w.index.Sources = append(w.index.Sources, Source{Shard: shard, Views: []segment.View{v}})
	w.shown = append(w.shown, shown)
}

// size is how many docs a thing takes.
func (t *thing) size() int {
	n := 1
	for _, c := range t.children {
		n += c.size()
	}
	return n
}

// vocabulary is words from frequent to rare.
var vocabulary = []string{"a", "b", "ab", "d", "abc", "f", "ba", "h"}

// newThing is a random one. Some words are everywhere, some rare. Some have kids, and those
// toys.
func newThing(r *rand.Rand, id string) *thing {
	one := &thing{id: id}
	one.fill(r, r.IntN(8)*r.IntN(8))
	if r.IntN(3) > 0 {
		return one
	}
	for range 1 + r.IntN(3) {
		kid := &thing{id: id, path: "kids"}
		kid.fill(r, r.IntN(5))
		for range r.IntN(3) {
			toy := &thing{id: id, path: "kids.toys"}
			toy.fill(r, r.IntN(4))
			kid.children = append(kid.children, toy)
		}
		one.children = append(one.children, kid)
	}
	return one
}

func (t *thing) fill(r *rand.Rand, length int) {
	for range length {
		t.text = append(t.text, anyWord(r, 10))
	}
	for range r.IntN(4) {
		if word := anyWord(r, 2); !slices.Contains(t.words, word) {
			t.words = append(t.words, word)
		}
	}
	slices.Sort(t.words)
	for range r.IntN(3) {
		t.numbers = append(t.numbers, r.Int64N(100))
	}
	slices.Sort(t.numbers)
}

func randomWord(r *rand.Rand) string {
	return vocabulary[min(int(r.ExpFloat64()*1.2), len(vocabulary)-1)]
}

// rareWords is of how many words most are in few things: enough for a union to forget which it had.
const rareWords = 1500

func rareWord(i int) string { return fmt.Sprintf("%c%d", 'a'+i%3, i) }

// anyWord is one of the vocabulary, and once in a while one of the rare ones.
func anyWord(r *rand.Rand, once int) string {
	if r.IntN(once) == 0 {
		return rareWord(r.IntN(rareWords))
	}
	return randomWord(r)
}

// has reports whether a thing has a term that a condition takes.
func (t *thing) has(field string, takes func(term string) bool) bool {
	switch field {
	case t.prefix() + "text":
		return slices.ContainsFunc(t.text, takes)
	case t.prefix() + "tag", t.prefix() + "bare":
		return slices.ContainsFunc(t.words, takes)
	case t.prefix() + "kind":
		return len(t.words) > 0 && takes(t.words[len(t.words)-1])
	}
	return false
}

// holds is how often a thing has a term.
func (t *thing) holds(field, term string) int {
	n := 0
	switch field {
	case t.prefix() + "text":
		for _, word := range t.text {
			if word == term {
				n++
			}
		}
	case t.prefix() + "tag":
		if slices.Contains(t.words, term) {
			n = 1
		}
	}
	return n
}

// length is how many terms a thing has in a field, and what scores know of it.
func (t *thing) length(field string) (exact int64, rounded byte) {
	switch field {
	case t.prefix() + "text":
		return int64(len(t.text)), segment.LengthByte(uint32(len(t.text)))
	case t.prefix() + "tag":
		return int64(len(t.words)), 1
	}
	return 0, 0
}

// all yields all things of the segments, hidden ones and children too.
func (w *world) all(yield func(*thing)) {
	var each func([]*thing)
	each = func(things []*thing) {
		for _, t := range things {
			each(t.children)
			yield(t)
		}
	}
	for _, things := range w.things {
		each(things)
	}
}

// count works out the statistics of some terms.
func (w *world) count(field string, terms []string) counts {
	name := field + terms[0]
	if len(terms) > 1 {
		name = field + " " + strings.Join(terms, " ")
	}
	if c, ok := w.counts[name]; ok {
		return c
	}
	c := counts{with: make([]int64, len(terms))}
	w.all(func(t *thing) {
		n, _ := t.length(field)
		if n > 0 {
			c.docs++
		}
		c.frequencies += n
		for i, term := range terms {
			if t.holds(field, term) > 0 {
				c.with[i]++
			}
		}
	})
	w.counts[name] = c
	return c
}

// modelScore is BM25 of a term, worked out for one document.
func (w *world) modelScore(t *thing, field string, terms []string, frequency float32, boost float32, asOne bool) float32 {
	c := w.count(field, terms)
	docs, frequencies, with := c.docs, c.frequencies, c.with
	rare := 0.0
	for _, n := range with {
		if n > 0 {
			rare += float64(float32(math.Log(1 + (float64(docs)-float64(n)+0.5)/(float64(n)+0.5))))
		}
	}
	if n := slices.Max(with); asOne {
		rare = float64(float32(math.Log(1 + (float64(docs)-float64(n)+0.5)/(float64(n)+0.5))))
	}
	_, rounded := t.length(field)
	average := float32(float64(frequencies) / float64(docs))
	const k1, b float32 = 1.2, 0.75
	weight := boost * (1 + k1) * float32(rare)
	norm := 1 / (k1 * ((1 - b) + b*float32(segment.Length(rounded))/average))
	return weight - weight/(1+frequency*norm)
}

// finds tells whether a plan finds a thing, and its score.
func (w *world) finds(p plan, t *thing) (bool, float32) {
	switch p := p.(type) {
	case allPlan:
		return true, p.score
	case nonePlan:
		return false, 0
	case *termPlan:
		n := t.holds(p.field, string(p.term))
		if n == 0 {
			return false, 0
		}
		return true, w.modelScore(t, p.field, []string{string(p.term)}, float32(n), p.boost, false)
	case *constantPlan:
		ok, _ := w.finds(p.of, t)
		return ok, p.score
	case *boolPlan:
		return w.findsBool(p, t)
	case *maxPlan:
		return w.findsBest(p, t)
	case *termsPlan:
		return t.has(p.field, func(term string) bool {
			_, ok := slices.BinarySearchFunc(p.terms, term, func(a []byte, b string) int { return cmp.Compare(string(a), b) })
			return ok
		}), 0
	case *numbersPlan:
		return p.field.Name() == t.prefix()+"n" && slices.ContainsFunc(t.numbers, func(n int64) bool {
			return slices.ContainsFunc(p.intervals, func(i interval) bool { return i.least <= n && n <= i.greatest })
		}), 0
	case *wordsPlan:
		return t.has(p.field, func(term string) bool { return strings.HasPrefix(term, p.text) }), 0
	case *idsPlan:
		return slices.Contains(p.ids, t.id), 0
	case *existsPlan:
		return slices.ContainsFunc(p.fields, func(name string) bool {
			n, _ := t.length(name)
			return n > 0 || name == t.prefix()+"n" && len(t.numbers) > 0
		}), 0
	}
	return w.findsMore(p, t)
}

func (w *world) findsMore(p plan, t *thing) (bool, float32) {
	switch p := p.(type) {
	case *synonymsPlan:
		n, terms := 0, []string{}
		for _, term := range p.terms {
			n += t.holds(p.field, string(term))
			terms = append(terms, string(term))
		}
		if n == 0 {
			return false, 0
		}
		return true, w.modelScore(t, p.field, terms, float32(n), p.boost, true)
	case *phrasePlan:
		var terms []string
		for _, word := range p.words {
			for _, term := range word.terms {
				terms = append(terms, string(term))
			}
		}
		n := t.phrase(p)
		if n == 0 {
			return false, 0
		}
		return true, w.modelScore(t, p.field, terms, float32(n), p.boost, false)
	case *boostingPlan:
		ok, score := w.finds(p.positive, t)
		by := 1.0
		if lowered, _ := w.finds(p.negative, t); lowered {
			by = float64(p.factor)
		}
		return ok, float32(float64(score) * by * float64(p.boost))
	case *nestedPlan:
		return w.findsNested(p, t)
	case *functionPlan:
		return w.findsFunction(p, t)
	}
	panic(fmt.Sprintf("a plan of %T", p))
}

// phrase is how often the words of a phrase stand at their places, without slop.
func (t *thing) phrase(p *phrasePlan) int {
	n := 0
	if p.field != t.prefix()+"text" {
		return 0
	}
	for from := range t.text {
		all := true
		for _, w := range p.words {
			at := from + w.position
			all = all && at < len(t.text) && slices.ContainsFunc(w.terms, func(term []byte) bool { return string(term) == t.text[at] })
		}
		if all {
			n++
		}
	}
	return n
}

func (w *world) findsNested(p *nestedPlan, t *thing) (bool, float32) {
	var scores []float64
	var each func([]*thing)
	each = func(things []*thing) {
		for _, c := range things {
			each(c.children)
			if ok, score := w.finds(p.of, c); ok && c.path == p.path {
				scores = append(scores, float64(score))
			}
		}
	}
	if t.path != p.around {
		return false, 0
	}
	if each(t.children); len(scores) == 0 {
		return false, 0
	}
	sum := 0.0
	for _, s := range scores {
		sum += s
	}
	switch p.mode {
	case "min":
		sum = slices.Min(scores)
	case "max":
		sum = slices.Max(scores)
	case "avg":
		sum /= float64(len(scores))
	case "none":
		sum = 0
	}
	return true, float32(sum)
}

func (w *world) findsFunction(p *functionPlan, t *thing) (bool, float32) {
	ok, score := w.finds(p.of, t)
	if !ok {
		return false, 0
	}
	var values []float64
	weights := 0.0
	for i, f := range p.score.Functions {
		if p.filter[i] != nil {
			if applies, _ := w.finds(p.filter[i], t); !applies {
				continue
			}
		}
		v := 1.0
		if f.Factor != nil {
			if v = *f.Factor.Missing; len(t.numbers) > 0 && t.path == "" {
				v = float64(t.numbers[0])
			}
		}
		weight := 1.0
		if f.Weight != nil {
			weight = float64(*f.Weight)
		}
		values, weights = append(values, v*weight), weights+weight
	}
	if len(p.score.Functions) > 0 {
		factor := 1.0
		switch {
		case len(values) == 0:
		case p.score.ScoreMode == "first" || len(p.score.Functions) == 1 && p.filter[0] == nil:
			factor = values[0]
		default:
			factor = combined(p.score.ScoreMode, values, weights)
		}
		score = map[string]float32{
			"multiply": float32(float64(score) * factor), "replace": float32(factor), "sum": float32(float64(score) + factor),
			"max": float32(max(float64(score), factor)), "min": float32(min(float64(score), factor)),
		}[p.score.BoostMode]
	}
	return p.score.MinScore == nil || score >= *p.score.MinScore, score
}

func (w *world) findsBool(p *boolPlan, t *thing) (bool, float32) {
	var sum, optional float64
	for _, q := range p.mustNot {
		if ok, _ := w.finds(q, t); ok {
			return false, 0
		}
	}
	for _, q := range p.filter {
		if ok, _ := w.finds(q, t); !ok {
			return false, 0
		}
	}
	for _, q := range p.must {
		ok, score := w.finds(q, t)
		if !ok {
			return false, 0
		}
		sum += float64(score)
	}
	met := 0
	for _, q := range p.should {
		if ok, score := w.finds(q, t); ok {
			met++
			optional += float64(score)
		}
	}
	return met >= p.minShould, float32(sum) + float32(optional)
}

func (w *world) findsBest(p *maxPlan, t *thing) (bool, float32) {
	found, best, others := false, float32(0), 0.0
	for _, q := range p.of {
		ok, score := w.finds(q, t)
		if !ok {
			continue
		}
		found = true
		others += float64(min(best, score))
		best = max(best, score)
	}
	return found, float32(float64(best) + others*float64(p.tie))
}

// modelHit is what the model finds.
type modelHit struct {
	view  int
	doc   segment.Doc
	id    string
	key   routing.Key
	score float32
}

// search is what a plan finds of what is shown, in the order of docs.
func (w *world) search(p plan) []modelHit {
	var hits []modelHit
	for i, view := range w.shown {
		for _, t := range view {
			if ok, score := w.finds(p, t.thing); ok {
				hits = append(hits, modelHit{i, t.doc, t.id, keyOf(t.id), score})
			}
		}
	}
	return hits
}

// bestFirst sorts hits, the best first.
func bestFirst(hits []modelHit) {
	slices.SortFunc(hits, func(a, b modelHit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.key, b.key), cmp.Compare(a.id, b.id))
	})
}
