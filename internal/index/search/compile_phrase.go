package search

import (
	"bytes"
	"slices"

	"github.com/reshelve/reshelve/internal/index/analysis"
	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

const defaultExpansions = 50

// matchPhrase makes a plan of match_phrase and match_phrase_prefix.
func (c *compiler) matchPhrase(q *MatchPhrase, boost float32) (plan, error) {
	w := wording{name: "match_phrase", form: phrase, analyzer: q.Analyzer, slop: q.Slop, zeroAll: q.ZeroTermsAll, boost: boost}
	if q.Prefix {
		w.name, w.form, w.expansions = "match_phrase_prefix", phrasePrefix, orDefault(q.Expansions, defaultExpansions)
	}
	return c.matched(q.Field, q.Text.Text, w)
}

// phrase is what tokens become that must follow one another.
func (b *builder) phrase(tokens []analysis.Token, prefix bool) (plan, error) {
	if b.across != nil {
		return b.inEach(func(one *builder) (plan, error) { return one.phrase(tokens, prefix) })
	}
	if err := b.phrases(tokens, prefix); err != nil {
		return nil, err
	}
	words := b.words(tokens)
	if prefix {
		last := &words[len(words)-1]
		last.terms = b.c.beginning(b.field, last.terms, b.expansions)
		if len(last.terms) == 0 {
			return nonePlan{}, nil
		}
	}
	return b.unscored(b.placed(words)), nil
}

// unscored takes the rareness of words away where the server looks for phrases in sources.
func (b *builder) unscored(p plan) plan {
	if b.field.Scored() {
		return p
	}
	return &constantPlan{p, b.boost}
}

// phrases refuses fields that have no places of words.
func (b *builder) phrases(tokens []analysis.Token, prefix bool) error {
	f, name := b.field, "phrase"
	if prefix {
		name = "phrase prefix"
	}
	switch positions := f.Spec().Postings == segment.Positions; {
	case !positions && len(tokens) > 1:
		return exception.New(exception.IllegalState, "field:[%s] was indexed without position data; cannot run PhraseQuery", f.Path())
	case f.Kind() != fields.Text:
		return exception.New(exception.IllegalArgument, "Can only use %s queries on text fields - not on [%s] which is of type [%s]", name, f.Path(), f.Type())
	}
	return nil
}

// words are tokens by their places, the first of which is 0.
func (b *builder) words(tokens []analysis.Token) (words []word) {
	for i, t := range tokens {
		at := t.Position - tokens[0].Position
		n := len(words)
		if i > 0 && t.Position == tokens[i-1].Position {
			words[n-1].terms = append(words[n-1].terms, t.Term)
			continue
		}
		if b.noPositions {
			at = n
		}
		words = append(words, word{at, [][]byte{t.Term}})
	}
	return words
}

// placed is a phrase; one place alone is no phrase.
func (b *builder) placed(words []word) plan {
	name := b.field.Name()
	if len(words) > 1 {
		return &phrasePlan{field: name, words: words, slop: b.slop, boost: b.boost}
	}
	parts := make([]plan, len(words[0].terms))
	for i, term := range words[0].terms {
		parts[i] = &termPlan{field: name, term: term, boost: b.boost}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return &boolPlan{should: parts, minShould: 1}
}

// graphPhrase is a phrase of tokens of which some span several places.
func (b *builder) graphPhrase(tokens []analysis.Token, prefix bool) (plan, error) {
	if err := b.phrases(tokens, prefix); err != nil {
		return nil, err
	}
	g := newTokenGraph(tokens)
	ways := g.ways(0, g.end, orDefault(b.c.limits.Clauses, defaultClauses))
	if err := b.c.countClauses(len(ways)); err != nil {
		return nil, err
	}
	p := &phrasesPlan{field: b.field.Name(), slop: b.slop, boost: b.boost}
	var parts []plan
	for _, way := range ways {
		words := b.words(way)
		if prefix {
			last := &words[len(words)-1]
			if last.terms = b.c.beginning(b.field, last.terms, b.expansions); len(last.terms) == 0 {
				continue
			}
		}
		p.ways = append(p.ways, words)
		parts = append(parts, b.placed(words))
	}
	switch {
	case len(parts) == 0:
		return nonePlan{}, nil
	case b.slop > 0: // the server makes one query of each way
		return &boolPlan{should: parts, minShould: 1}, nil
	case len(parts) == 1:
		return parts[0], nil
	}
	return p, nil
}

// beginning are the first terms, at most so many, that begin with one of some texts, and
// that a document has.
func (c *compiler) beginning(f *fields.Field, texts [][]byte, most int) [][]byte {
	var found [][]byte
	for _, text := range texts {
		for _, v := range c.views {
			n := 0
			c.eachBeginning(v, f, text, func(term []byte) bool {
				found = addTerm(found, term)
				n++
				return n < most
			})
		}
	}
	return found[:min(len(found), max(most, 1))]
}

func (c *compiler) eachBeginning(v segment.View, f *fields.Field, text []byte, do func(term []byte) bool) {
	held := v.Field(f.Name())
	if held == nil {
		return
	}
	for t := held.From(text); t.Valid() && bytes.HasPrefix(t.Term(), text); t.Next() {
		if shown(v, held, t.Entry()) && !do(t.Term()) {
			return
		}
	}
}

// shown reports whether a doc that is not hidden has a term.
func shown(v segment.View, held *segment.Field, e segment.Entry) bool {
	if v.Hidden == nil {
		return true
	}
	p := held.Postings(e, segment.Docs, nil)
	for doc := p.Next(); doc != segment.End; doc = p.Next() {
		if v.Shows(doc) {
			return true
		}
	}
	return false
}

// addTerm puts a term into a sorted list, once.
func addTerm(list [][]byte, term []byte) [][]byte {
	i, ok := slices.BinarySearchFunc(list, term, bytes.Compare)
	if ok {
		return list
	}
	return slices.Insert(list, i, bytes.Clone(term))
}

// sortedTerms are terms in their order, each once.
func sortedTerms(terms [][]byte) [][]byte {
	slices.SortFunc(terms, bytes.Compare)
	return slices.CompactFunc(terms, bytes.Equal)
}
