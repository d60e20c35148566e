package search

import (
	"github.com/reshelve/reshelve/internal/index/analysis"
)

// tokenGraph are tokens of which some span several places: each goes from a place to
// another. Holes that removed words left count as no place of their own.
type tokenGraph struct {
	tokens   []analysis.Token
	from, to []int
	holes    []int // before a token
	end      int
}

func newTokenGraph(tokens []analysis.Token) *tokenGraph {
	g := &tokenGraph{tokens: tokens}
	at, last := -1, -1
	for _, t := range tokens {
		hole := 0
		if t.Position > last || at < 0 {
			hole = t.Position - last - 1
			at++
		}
		last = t.Position
		g.from, g.to, g.holes = append(g.from, at), append(g.to, at+max(t.Length, 1)), append(g.holes, hole)
		g.end = max(g.end, at+max(t.Length, 1))
	}
	return g
}

// joints are the places that no token spans, the first and the last included.
func (g *tokenGraph) joints() []int {
	var list []int
	for at := 0; at <= g.end; at++ {
		spanned := false
		for i := range g.tokens {
			spanned = spanned || g.from[i] < at && at < g.to[i]
		}
		if !spanned {
			list = append(list, at)
		}
	}
	return list
}

// starting are the tokens that begin at a place.
func (g *tokenGraph) starting(at int) (list []int) {
	for i := range g.tokens {
		if g.from[i] == at {
			list = append(list, i)
		}
	}
	return list
}

// parts reports whether there are several ways on from a place.
func (g *tokenGraph) parts(at int) bool {
	list := g.starting(at)
	for _, i := range list {
		if g.to[i] != g.to[list[0]] {
			return true
		}
	}
	return false
}

// ways are the sequences of tokens from a place to another, each with places of its own;
// at most limit and one more.
func (g *tokenGraph) ways(from, to, limit int) (list [][]analysis.Token) {
	var way []int
	var follow func(at int)
	follow = func(at int) {
		if at == to {
			list = append(list, g.placed(way))
			return
		}
		for _, i := range g.starting(at) {
			if len(list) > limit || g.to[i] > to {
				continue
			}
			way = append(way, i)
			follow(g.to[i])
			way = way[:len(way)-1]
		}
	}
	follow(from)
	return list
}

func (g *tokenGraph) placed(way []int) []analysis.Token {
	tokens := make([]analysis.Token, len(way))
	at := -1
	for n, i := range way {
		at += 1 + g.holes[i]
		tokens[n] = g.tokens[i]
		tokens[n].Position, tokens[n].Length = at, 1
	}
	return tokens
}

// graph is what tokens of which some span several places become: for each stretch between
// joints the ways, or'ed.
func (b *builder) graph(tokens []analysis.Token, and, prefix bool) (plan, error) {
	g := newTokenGraph(tokens)
	limit := orDefault(b.c.limits.Clauses, defaultClauses)
	joints := g.joints()
	var parts []plan
	for n := 0; n+1 < len(joints); n++ {
		last := prefix && n+2 == len(joints)
		p, err := b.stretch(g, joints[n], joints[n+1], limit, last)
		if err != nil {
			return nil, err
		}
		if p != nil {
			parts = append(parts, p)
		}
	}
	return b.c.joined(parts, and)
}

func (b *builder) stretch(g *tokenGraph, from, to, limit int, prefix bool) (plan, error) {
	if !g.parts(from) {
		list := g.starting(from)
		tokens := make([]analysis.Token, len(list))
		for n, i := range list {
			tokens[n] = g.tokens[i]
		}
		if len(tokens) == 1 {
			return b.one(tokens[0], prefix)
		}
		return b.synonyms(tokens)
	}
	as := anyWords
	switch {
	case b.noSynonyms && prefix:
		as = wordsPrefix
	case prefix:
		as = phrasePrefix
	case !b.noSynonyms:
		as = phrase
	}
	ways := g.ways(from, to, limit)
	if err := b.c.countClauses(len(ways)); err != nil {
		return nil, err
	}
	inner := *b
	inner.slop = 0
	var parts []plan
	for _, way := range ways {
		p, err := inner.plan(way, as, true)
		if err != nil {
			return nil, err
		}
		if p != nil {
			parts = append(parts, p)
		}
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return &boolPlan{should: parts, minShould: 1}, nil
}
