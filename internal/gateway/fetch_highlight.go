package gateway

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/reshelve/reshelve/internal/index/analysis"
	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/highlight"
	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
)

// The server's defaults of highlighting.
const (
	fragmentSize  = 100
	fragmentCount = 5
)

// marking is how the texts of one field are highlighted.
type marking struct {
	name   string // as asked: a field's path or an alias's
	field  *fields.Field
	def    *mapping.Field
	wanted []search.Wanted
	style  highlight.Style
	limit  int // max_analyzer_offset; NoLimit: not told
	most   int // index.highlight.max_analyzed_offset
	gap    int
	plain  bool     // by the plain highlighter
	simple bool     // whose fragments are cut without regard to what was found
	stored bool     // is kept beside the source: what this leaves out is highlighted too
	values []string // of the current hit
}

// markings works out what is highlighted in an index. The last of a name counts.
func (t *telling) markings(h *search.Hit, of *query.Highlight) ([]*marking, error) {
	index := t.found.Searched(h)
	looks := map[search.Query][]search.Wanted{}
	by, order := map[string]*marking{}, []string{}
	for _, f := range of.Fields {
		m := overlaid(f.Marking, of.Marking)
		if err := checkMarking(f.Name, m); err != nil {
			return nil, err
		}
		wanted, err := t.wanted(&index, m.Query, looks)
		if err != nil {
			return nil, err
		}
		for _, name := range markedNames(index.Schema, f.Name) {
			one, err := newMarking(index.Schema, name, m, of.Encoder, wanted, t.found.MostAnalyzed(h))
			if err != nil {
				return nil, err
			}
			if one == nil {
				continue
			}
			if by[name] == nil {
				order = append(order, name)
			}
			by[name] = one
		}
	}
	var list []*marking
	for _, name := range hashOrder(order, usualTable) {
		list = append(list, by[name])
	}
	return list, nil
}

// wanted is what a query of its own, or that of the search, looks for.
func (t *telling) wanted(index *search.Index, q search.Query, known map[search.Query][]search.Wanted) (w []search.Wanted, err error) {
	if q == nil {
		q = t.query
	}
	if q == nil {
		return nil, nil
	}
	w, ok := known[q]
	if !ok {
		if w, err = search.Looks(index, q); err == nil {
			known[q] = w
		}
	}
	return w, err
}

// overlaid are the options of a field, where they are told, over those of all.
func overlaid(m, all query.Marking) query.Marking {
	if m.PreTags == nil {
		m.PreTags, m.PostTags = all.PreTags, all.PostTags
	}
	m.Order, m.Type, m.Fragmenter = cmp.Or(m.Order, all.Order), cmp.Or(m.Type, all.Type), cmp.Or(m.Fragmenter, all.Fragmenter)
	m.FragmentSize, m.Fragments = cmp.Or(m.FragmentSize, all.FragmentSize), cmp.Or(m.Fragments, all.Fragments)
	m.NoMatchSize, m.MaxOffset = cmp.Or(m.NoMatchSize, all.NoMatchSize), cmp.Or(m.MaxOffset, all.MaxOffset)
	m.FieldMatch, m.ForceSource = cmp.Or(m.FieldMatch, all.FieldMatch), cmp.Or(m.ForceSource, all.ForceSource)
	m.BoundaryScanner = cmp.Or(m.BoundaryScanner, all.BoundaryScanner)
	if m.Query == nil {
		m.Query = all.Query
	}
	return m
}

// checkMarking refuses what the server refuses, and what is not done here.
func checkMarking(name string, m query.Marking) error {
	switch m.Type {
	case "", "unified", "plain", "fvh":
	default:
		return exception.New(exception.IllegalArgument, "unknown highlighter type [%s] for the field [%s]", m.Type, name)
	}
	return nil
}

// markedNames are the names that a name or a pattern means. Patterns mean texts and
// keywords alone.
func markedNames(schema *fields.Schema, pattern string) (names []string) {
	if !strings.Contains(pattern, "*") {
		return []string{pattern}
	}
	for f := range schema.Mapping().All() {
		if f.IsObject() || !wildcard.Match(pattern, f.Path()) {
			continue
		}
		if of, ok := schema.Field(f.Path()); ok && (of.Type() == "text" || of.Type() == "keyword") {
			names = append(names, f.Path())
		}
	}
	return names
}

// newMarking works out one field; nil when there is none of that name.
func newMarking(schema *fields.Schema, name string, m query.Marking, encoder string, wanted []search.Wanted, most int) (*marking, error) {
	f, ok := schema.Field(name)
	if !ok {
		return nil, nil
	}
	def, ok := schema.Mapping().Field(f.Path())
	if !ok {
		return nil, nil
	}
	one := &marking{name: name, field: f, def: def, limit: highlight.NoLimit, most: most, style: styleOf(m, encoder),
		plain: m.Type == "plain", simple: m.Fragmenter == "simple", stored: def.On("store") && (m.ForceSource == nil || !*m.ForceSource)}
	if m.FieldMatch == nil || *m.FieldMatch {
		wanted = only(wanted, f.Name())
	}
	for _, w := range wanted {
		if w.Field != "_id" {
			one.wanted = append(one.wanted, w)
		}
	}
	texts := f.Kind() == fields.Text
	one.style.Whole = !texts
	if texts {
		one.gap = f.Analyzer().Gap()
		if gap := def.Count("position_increment_gap"); gap >= 0 {
			one.gap = int(gap)
		}
	}
	if m.MaxOffset != nil {
		one.limit = *m.MaxOffset
	}
	return one, one.check(m)
}

// check refuses what the server refuses for a field, and what is not done here.
func (one *marking) check(m query.Marking) error {
	vectors := strings.Contains(one.def.Text("term_vector"), "with_positions_offsets")
	switch {
	case m.Type == "fvh" && !vectors:
		return exception.New(exception.IllegalArgument,
			"the field [%s] should be indexed with term vector with position offsets to be used with fast vector highlighter", one.name)
	case m.Type == "fvh":
		return notYet("the highlighter [fvh]")
	case m.Type == "plain" && one.style.Fragments > 0 && m.Fragmenter != "" && m.Fragmenter != "simple" && m.Fragmenter != "span":
		return exception.New(exception.IllegalArgument, "unknown fragmenter option [%s] for the field [%s]", m.Fragmenter, one.name)
	case m.BoundaryScanner == "chars" && !one.plain && one.style.Fragments > 0 && !one.style.Whole:
		return exception.New(exception.IllegalArgument, "Invalid boundary scanner type: chars")
	case one.style.NoMatch > 0 && one.field.Kind() != fields.Text && one.field.Kind() != fields.Keyword:
		return notYet("[no_match_size] of [" + one.name + "], which is of type [" + one.field.Type() + "],")
	}
	return one.checkLimit()
}

// checkLimit refuses a max_analyzer_offset above that of the index. The unified highlighter
// does not look when it has nothing to do.
func (one *marking) checkLimit() error {
	switch {
	case one.limit == highlight.NoLimit:
	case one.limit <= 0:
		return exception.New(exception.IllegalArgument, "the value [%d] of max_analyzer_offset is invalid", one.limit)
	case one.limit > one.most && (one.plain || len(one.wanted) > 0 || one.style.NoMatch > 0):
		return exception.New(exception.IllegalArgument, "max_analyzer_offset has exceeded [%d] - maximum allowed to be analyzed for highlighting. "+
			"This maximum can be set by changing the [index.highlight.max_analyzed_offset] index level setting. "+
			"For large texts, indexing with offsets or term vectors is recommended!", one.most)
	}
	return nil
}

func only(wanted []search.Wanted, field string) []search.Wanted {
	for i := range wanted {
		if wanted[i].Field == field {
			return wanted[i : i+1]
		}
	}
	return nil
}

func styleOf(m query.Marking, encoder string) highlight.Style {
	first := func(tags []string, standard string) string {
		if len(tags) == 0 {
			return standard
		}
		return tags[0]
	}
	number := func(n *int, standard int) int {
		if n == nil {
			return standard
		}
		return *n
	}
	return highlight.Style{
		Open: first(m.PreTags, "<em>"), Close: first(m.PostTags, "</em>"), HTML: encoder == "html",
		Size: number(m.FragmentSize, fragmentSize), Fragments: number(m.Fragments, fragmentCount), NoMatch: number(m.NoMatchSize, 0),
		ByScore: m.Order == "score", ByWord: m.BoundaryScanner == "word",
	}
}

// appendHighlights appends the fragments of a hit, whose source is as it is shown, and as it
// is kept.
func (t *telling) appendHighlights(dst []byte, marks []*marking, h *search.Hit, source, whole []byte) ([]byte, error) {
	if len(marks) == 0 {
		return dst, nil
	}
	var stored, shown []*marking
	for _, m := range marks {
		if m.stored {
			stored = append(stored, m)
		} else {
			shown = append(shown, m)
		}
	}
	readTexts(t.found.Schema(h).Mapping(), h.ID, source, shown)
	readTexts(t.found.Schema(h).Mapping(), h.ID, whole, stored)
	some := false
	for _, m := range marks {
		fragments, err := m.fragments(h, t.found.Index(h))
		if err != nil {
			return dst, err
		}
		if len(fragments) == 0 {
			continue
		}
		if some {
			dst = append(dst, ',')
		} else {
			dst = append(dst, `,"highlight":{`...)
		}
		some = true
		dst = append(appendString(dst, m.name), ":["...)
		for i, text := range fragments {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendString(dst, text)
		}
		dst = append(dst, ']')
	}
	if some {
		dst = append(dst, '}')
	}
	return dst, nil
}

// fragments are those of the current hit.
func (m *marking) fragments(h *search.Hit, index string) ([]string, error) {
	if len(m.values) == 0 || len(m.wanted) == 0 && m.style.NoMatch == 0 && !m.plain {
		return nil, nil
	}
	var a analysis.Analyzer
	if m.field.Kind() == fields.Text {
		a = m.field.Analyzer()
	}
	if m.plain {
		return m.plainFragments(h, index, a)
	}
	limit := m.limit
	if m.kept() {
		limit = highlight.NoLimit
	}
	text := highlight.Read(m.values, a, m.gap, limit)
	if m.limit == highlight.NoLimit && text.Length() > m.most && !m.hasOffsets() {
		return nil, m.tooLong(strconv.Itoa(int(h.Doc)), index, "")
	}
	return highlight.Unified(text, m.wanted, m.style), nil
}

// plainFragments are those of the plain highlighter, which looks at each value alone, and
// does not know what of it lies behind the limit.
func (m *marking) plainFragments(h *search.Hit, index string, a analysis.Analyzer) ([]string, error) {
	var texts []*highlight.Text
	for _, v := range m.values {
		if m.limit != highlight.NoLimit {
			v = firstUnits(v, m.limit)
		}
		text := highlight.Read([]string{v}, a, m.gap, m.limit)
		if text.Length() > m.most && m.limit == highlight.NoLimit {
			return nil, m.tooLong(h.ID, index, ", and highlighting with unified or fvh highlighter")
		}
		texts = append(texts, text)
	}
	if len(m.wanted) == 0 && m.style.NoMatch == 0 {
		return nil, nil
	}
	style := m.style
	if m.limit != highlight.NoLimit {
		style.NoMatch = 0
	}
	fragments := highlight.Plain(texts, m.wanted, style, m.simple)
	if len(fragments) == 0 && m.style.NoMatch > 0 && m.limit != highlight.NoLimit {
		all := highlight.Read(m.values[:1], a, m.gap, highlight.NoLimit) // which is not cut then
		fragments = highlight.Plain([]*highlight.Text{all}, nil, m.style, m.simple)
	}
	return fragments, nil
}

// firstUnits are the first n units of a text in UTF-16.
func firstUnits(text string, n int) string {
	for i, r := range text {
		if n -= utf16.RuneLen(r); n < 0 {
			return text[:i]
		}
	}
	return text
}

func (m *marking) tooLong(doc, index, with string) error {
	return exception.New(exception.IllegalArgument, "The length of [%s] field of [%s] doc of [%s] index has exceeded [%d] - maximum allowed to be analyzed for highlighting. "+
		"This maximum can be set by changing the [index.highlight.max_analyzed_offset] index level setting. "+
		"For large texts, indexing with offsets or term vectors%s is recommended!", m.field.Path(), doc, index, m.most, with)
}

// kept reports whether the server knows the places of what is wanted without taking the
// text apart: forms of terms are not looked for in what index_options keeps.
func (m *marking) kept() bool {
	forms := func(w search.Wanted) bool { return len(w.Forms) > 0 }
	return m.hasOffsets() && (!slices.ContainsFunc(m.wanted, forms) || strings.Contains(m.def.Text("term_vector"), "offsets"))
}

// hasOffsets reports whether the mapping asks to keep the places of words.
func (m *marking) hasOffsets() bool {
	return m.def.Text("index_options") == "offsets" || strings.Contains(m.def.Text("term_vector"), "offsets")
}

// fieldTexts gives marks the texts of their fields.
type fieldTexts struct{ by map[*mapping.Field][]*marking }

// readable limits take apart whatever was accepted before.
var readable = func() mapping.Limits {
	l := mapping.Unlimited(mapping.DefaultLimits)
	l.NestedObjects, l.Coerce, l.IgnoreMalformed = math.MaxInt, true, true
	return l
}()

// readTexts takes a source apart. One that cannot be read has no texts.
func readTexts(m *mapping.Mapping, id string, source []byte, marks []*marking) {
	if len(marks) == 0 {
		return
	}
	t := fieldTexts{by: map[*mapping.Field][]*marking{}}
	for _, one := range marks {
		one.values = one.values[:0]
		t.by[one.def] = append(t.by[one.def], one)
	}
	if _, err := m.Document(source, id, readable, &t); err != nil {
		for _, one := range marks {
			one.values = nil
		}
	}
}

// Value is for mapping.Document.
func (t *fieldTexts) Value(f *mapping.Field, v mapping.Value) {
	for _, m := range t.by[f] {
		if v.Kind != mapping.Text {
			continue
		}
		text := string(v.Bytes)
		if m.field.Kind() == fields.Keyword {
			if above := m.def.Count("ignore_above"); above > 0 && longer(text, above) {
				continue
			}
			if name := cmp.Or(m.def.Text("normalizer"), "default"); name != "default" {
				for _, token := range m.field.Analyzer().Analyze(nil, v.Bytes) {
					text = string(token.Term)
				}
			}
		}
		m.values = append(m.values, text)
	}
}

// Begin is for mapping.Document: objects are not told apart.
func (t *fieldTexts) Begin(*mapping.Field) {}

// End is for mapping.Document.
func (t *fieldTexts) End(*mapping.Field) {}

// longer compares a text's length as the server counts it.
func longer(text string, than int64) bool {
	return int64(len(text)) > than && int64(len(utf16.Encode([]rune(text)))) > than
}
