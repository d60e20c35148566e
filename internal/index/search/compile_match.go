package search

import (
	"errors"

	"github.com/reshelve/reshelve/internal/index/analysis"
	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// match makes a plan of match and match_bool_prefix.
func (c *compiler) match(q *Match, boost float32) (plan, error) {
	w := wording{name: "match", boost: boost, zeroAll: q.ZeroTermsAll}
	if q.BoolPrefix {
		w.name, w.form = "match_bool_prefix", wordsPrefix
	}
	w.take(q)
	p, err := c.matched(q.Field, q.Text.Text, w)
	if err != nil {
		return nil, err
	}
	return withMinimum(p, q.MinimumShould)
}

// take are the options of a match.
func (w *wording) take(q *Match) {
	w.analyzer, w.and, w.fuzzy, w.rewrite = q.Analyzer, q.And, q.Fuzziness, q.FuzzyRewrite
	w.lenient, w.noSynonyms = q.Lenient, q.NoSynonyms
}

// withMinimum sets minimum_should_match where a text became several clauses; the terms that
// one word may be are one.
func withMinimum(p plan, spec string) (plan, error) {
	if b, ok := p.(*boolPlan); ok && spec != "" && !b.expanded {
		return p, setMinimum(b, spec)
	}
	return p, nil
}

// matched looks for a text in a field, with what is to be done when nothing is left of it.
func (c *compiler) matched(name, text string, w wording) (plan, error) {
	f, ok := c.field(name)
	if !ok {
		return nonePlan{}, nil
	}
	p, err := c.worded(f, text, w)
	switch {
	case err != nil || p != nil:
		return p, err
	case w.zeroAll:
		return allPlan{w.boost}, nil
	}
	return nonePlan{}, nil
}

// form is what a text becomes.
type form uint8

const (
	anyWords     form = iota
	wordsPrefix       // the last one is the beginning of a word
	phrase            // in their order
	phrasePrefix      // and the last one is the beginning of a word
)

// wording is how a text is made a plan.
type wording struct {
	name        string // of the query, for errors
	form        form
	analyzer    string // "": the field's
	and         bool   // all words
	slop        int
	expansions  int // of phrasePrefix
	fuzzy       Fuzziness
	rewrite     string // of fuzzy terms
	lenient     bool   // what a field cannot be asked finds nothing
	zeroAll     bool
	noSynonyms  bool // several words for one are no phrase
	noPositions bool // removed words leave no hole in a phrase
	boost       float32
}

// worded is a text in a field; nil when the analyzer leaves nothing of it.
func (c *compiler) worded(f *fields.Field, text string, w wording) (plan, error) {
	b := &builder{c: c, field: f, wording: w}
	analyzer, err := c.analyzerOf(f, w)
	if err != nil {
		return nil, err
	}
	tokens := analyzer.Analyze(nil, []byte(text))
	b.end = len(text)
	if f.Kind() != fields.Text && f.Type() != "binary" && w.analyzer == "" && len(tokens) <= 1 && w.form != phrasePrefix {
		if w.form == wordsPrefix && f.Kind() == fields.Keyword && f.Type() == "keyword" {
			return b.prefix([]byte(text))
		}
		return b.value(text)
	}
	return b.plan(tokens, w.form, w.and)
}

// analyzerOf takes a text apart for a field.
func (c *compiler) analyzerOf(f *fields.Field, w wording) (analysis.Analyzer, error) {
	if f.Type() == "binary" && w.analyzer == "" {
		w.analyzer = "standard"
	}
	if w.analyzer == "" {
		return f.SearchAnalyzer(w.form == phrase || w.form == phrasePrefix), nil
	}
	named, ok := c.index.Schema.Analysis().Analyzer(w.analyzer)
	if !ok {
		return nil, c.refuse("[%s] analyzer [%s] not found", w.name, w.analyzer)
	}
	return named, nil
}

// builder makes plans of tokens.
type builder struct {
	c     *compiler
	field *fields.Field
	wording

	end    int       // of the text
	across []weighed // several fields that are looked into as if they were one
	tie    float32   // of them
}

// plan is what tokens become: nothing, a term, synonyms, a phrase or several clauses.
func (b *builder) plan(tokens []analysis.Token, as form, and bool) (plan, error) {
	places, synonyms, graph := survey(tokens)
	if as == wordsPrefix && len(tokens) > 0 && !graph && tokens[len(tokens)-1].End != b.end {
		as = anyWords // the last word is complete
	}
	switch {
	case len(tokens) == 0:
		return nil, nil
	case len(tokens) == 1 && as == phrasePrefix:
		return b.forgive(b.phrase(tokens, true))
	case len(tokens) == 1:
		return b.one(tokens[0], as == wordsPrefix)
	case graph && (as == phrase || as == phrasePrefix):
		return b.forgive(b.graphPhrase(tokens, as == phrasePrefix))
	case graph:
		return b.graph(tokens, and, as == wordsPrefix)
	case as == phrasePrefix, as == phrase && places > 1:
		return b.forgive(b.phrase(tokens, as == phrasePrefix))
	case places == 1 && synonyms:
		return b.synonyms(tokens)
	}
	return b.clauses(tokens, and, as == wordsPrefix)
}

// survey tells how many places tokens have, holes included, whether some have the same
// place, and whether one spans several. As on the server, runs of tokens that stand beside
// their tokens are no graph.
func survey(tokens []analysis.Token) (places int, synonyms, graph bool) {
	at, runs := -1, false
	for _, t := range tokens {
		synonyms = synonyms || t.Position == at
		graph = graph || t.Length > 1
		runs = runs || t.Length > 1 && (t.Type == "shingle" || t.Type == "<DOUBLE>")
		at = t.Position
	}
	return at + 1, synonyms, graph && !runs
}

// forgive gives none for what a field cannot be asked, when the query is lenient.
func (b *builder) forgive(p plan, err error) (plan, error) {
	if err != nil && b.lenient && forgivable(err) {
		return nonePlan{}, nil
	}
	return p, err
}

// forgivable are the errors that lenient queries overlook: those about a value, not the
// limits, nor what is not supported.
func forgivable(err error) bool {
	var own *unsupported
	return !exception.Is(err, exception.TooManyClauses) && !errors.As(err, &own)
}

// value is a text that is not taken apart.
func (b *builder) value(v string) (plan, error) {
	if b.across != nil {
		return b.blendedTerms([]string{v})
	}
	if b.fuzzy.Set {
		return b.forgive(b.c.fuzzyWord(b.field, v, b.fuzzy, b.rewrite, b.boost))
	}
	return b.forgive(b.c.termOf(b.field, text(v), b.boost))
}

func (b *builder) prefix(term []byte) (plan, error) {
	if b.across != nil {
		return b.inEach(func(one *builder) (plan, error) { return one.prefix(term) })
	}
	return b.forgive(b.c.prefixOf(b.field, string(term), false, "", b.boost))
}

func (b *builder) one(t analysis.Token, prefix bool) (plan, error) {
	if prefix {
		return b.prefix(t.Term)
	}
	return b.value(string(t.Term))
}

// synonyms are tokens of one place.
func (b *builder) synonyms(tokens []analysis.Token) (plan, error) {
	if len(tokens) == 1 {
		return b.value(string(tokens[0].Term))
	}
	if err := b.c.countClauses(len(tokens)); err != nil {
		return nil, err
	}
	if b.across != nil {
		terms := make([]string, len(tokens))
		for i, t := range tokens {
			terms[i] = string(t.Term)
		}
		return b.blendedTerms(terms)
	}
	p := &synonymsPlan{field: b.field.Name(), boost: b.boost}
	for _, t := range tokens {
		p.terms = append(p.terms, t.Term)
	}
	p.terms = sortedTerms(p.terms)
	return p, nil
}

// clauses are tokens of several places, each of which may, or must, be found.
func (b *builder) clauses(tokens []analysis.Token, and, prefix bool) (plan, error) {
	var parts []plan
	for len(tokens) > 0 {
		n := 1
		for n < len(tokens) && tokens[n].Position == tokens[0].Position {
			n++
		}
		var p plan
		var err error
		if n == 1 {
			p, err = b.one(tokens[0], prefix && len(tokens) == 1)
		} else {
			p, err = b.synonyms(tokens[:n])
		}
		if err != nil {
			return nil, err
		}
		parts, tokens = append(parts, p), tokens[n:]
	}
	return b.c.joined(parts, and)
}

// joined are clauses that may, or must, be found.
func (c *compiler) joined(parts []plan, and bool) (plan, error) {
	if err := c.countClauses(len(parts)); err != nil {
		return nil, err
	}
	if and {
		return &boolPlan{must: parts}, nil
	}
	return &boolPlan{should: parts, minShould: 1}, nil
}
