package analysis

import (
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// synonymRules are synonyms before it is known how their words are taken apart.
type synonymRules struct {
	lines           []string
	expand, lenient bool
	graph           bool
	missing         *exception.Error // there are no rules, which matters where the filter is used
}

func newSynonyms(p *part) filter {
	if p.text("format", "") == "wordnet" {
		p.illegal("synonyms of format [wordnet] are not supported")
	}
	if p.boolean("updateable", false) {
		p.lacks("updateable")
	}
	p.lacks("synonym_analyzer")
	f := &synonymRules{expand: p.boolean("expand", true), lenient: p.boolean("lenient", false),
		graph: p.text("type", "") == "synonym_graph"}
	switch {
	case p.has("synonyms"):
		f.lines = p.list("synonyms")
		if len(p.values["synonyms"]) == 1 && len(f.lines) != 1 {
			f.lines = p.values["synonyms"]
		}
	case p.has("synonyms_path"):
		f.missing = exception.New(exception.IllegalArgument, "IOException while reading synonyms_path_path: file not readable")
	default:
		f.missing = exception.New(exception.IllegalArgument, "synonym requires either `synonyms` or `synonyms_path` to be configured")
	}
	return f
}

// filter is never used: see bind.
func (f *synonymRules) filter(*stream) {}

// bind takes the words of the rules apart with the chain before the filter.
func (f *synonymRules) bind(before *chain) (filter, *exception.Error) {
	if f.missing != nil {
		return nil, f.missing
	}
	words := &chain{charFilters: before.charFilters, tokenizer: before.tokenizer}
	for i, other := range before.filters {
		if notForSynonyms(other) {
			return nil, exception.New(exception.IllegalArgument, "Token filter [%s] cannot be used to parse synonyms", before.names[i])
		}
		switch other := other.(type) {
		case *synonyms, decompounder: // the words of rules are left whole
		case asciiFolding:
			words.filters = append(words.filters, asciiFolding{})
		default:
			words.filters = append(words.filters, other)
		}
	}
	r := &synonymReader{rules: f, words: words, root: &synonymNode{}}
	for _, line := range f.lines {
		for single := range strings.Lines(line) {
			r.line(strings.TrimRight(single, "\r\n"))
		}
	}
	switch {
	case r.failed:
		return nil, exception.New(exception.IllegalArgument, "Failed to build synonyms")
	case len(r.root.next) == 0:
		return nothing{}, nil
	case f.graph:
		return &synonymGraph{root: r.root}, nil
	}
	return &synonyms{root: r.root}, nil
}

// notForSynonyms tells whether words of rules cannot be taken apart with a filter.
func notForSynonyms(f filter) bool {
	switch f.(type) {
	case *shingles, *edgeNGrams, *nGrams, *commonGrams, *wordDelimiter, oldDelimiter, fingerprint, *cjkBigrams, keywordRepeat, *multiplexer:
		return true
	}
	return false
}

// synonymNode is a place in the tree of what is replaced: words that may follow, and
// what the words up to here stand for.
type synonymNode struct {
	next    map[string]*synonymNode
	outputs [][][]byte
	keep    bool // the words themselves stay
}

// synonymReader reads rules of Solr's format into a tree.
type synonymReader struct {
	rules  *synonymRules
	words  *chain
	root   *synonymNode
	failed bool
}

func (r *synonymReader) line(line string) {
	if line == "" || line[0] == '#' || r.failed {
		return
	}
	sides := splitEscaped(line, "=>")
	if len(sides) > 2 {
		r.failed = true
		return
	}
	left := r.side(sides[0])
	if len(sides) == 2 {
		right := r.side(sides[1])
		for _, from := range left {
			for _, to := range right {
				r.add(from, to, false)
			}
		}
		return
	}
	for i, from := range left {
		if !r.rules.expand {
			r.add(from, left[0], false)
			continue
		}
		for j, to := range left {
			if i != j {
				r.add(from, to, true)
			}
		}
	}
}

// side takes apart the words between commas; nil is one that has no words.
func (r *synonymReader) side(text string) [][][]byte {
	var all [][][]byte
	for _, item := range splitEscaped(text, ",") {
		words := r.analyzed(unescape(strings.TrimSpace(item)))
		all = append(all, words)
		r.failed = r.failed || words == nil && !r.rules.lenient
	}
	return all
}

func (r *synonymReader) analyzed(text string) [][]byte {
	var words [][]byte
	for i, t := range r.words.Analyze(nil, []byte(text)) {
		if t.Position != i || len(t.Term) == 0 {
			return nil
		}
		words = append(words, t.Term)
	}
	return words
}

func (r *synonymReader) add(from, to [][]byte, keep bool) {
	if len(from) == 0 || len(to) == 0 {
		return
	}
	node := r.root
	for _, word := range from {
		if node.next == nil {
			node.next = map[string]*synonymNode{}
		}
		next := node.next[string(word)]
		if next == nil {
			next = &synonymNode{}
			node.next[string(word)] = next
		}
		node = next
	}
	node.keep = node.keep || keep
	for _, other := range node.outputs {
		if slices.EqualFunc(other, to, slices.Equal[[]byte]) {
			return
		}
	}
	node.outputs = append(node.outputs, to)
}

// splitEscaped splits at a separator that no backslash precedes.
func splitEscaped(text, separator string) []string {
	var parts []string
	start := 0
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case strings.HasPrefix(text[i:], separator):
			if i > start || separator != "," {
				parts = append(parts, text[start:i])
			}
			i += len(separator) - 1
			start = i + 1
		}
	}
	if start < len(text) || separator != "," {
		parts = append(parts, text[start:])
	}
	return parts
}

func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		out.WriteByte(text[i])
	}
	return out.String()
}

// longest is how many of the tokens have synonyms together, and those.
func (n *synonymNode) longest(tokens []Token) (count int, found *synonymNode) {
	for i := range tokens {
		n = n.next[string(tokens[i].Term)]
		if n == nil {
			break
		}
		if len(n.outputs) > 0 {
			count, found = i+1, n
		}
	}
	return count, found
}

const typeSynonym = "SYNONYM"

// synonymGraph puts synonyms of several words beside the words as paths of their own.
// Holes before words that have synonyms are lost, as in Lucene's SynonymGraphFilter.
type synonymGraph struct{ root *synonymNode }

func (f *synonymGraph) filter(s *stream) {
	out := s.spare[:0]
	tail := s.tail()
	last, node, read := -1, 0, -1 // the position of the last token, where the next one begins, and where it was
	for i := 0; i < len(s.tokens); {
		t := s.tokens[i]
		count, match := f.root.longest(s.tokens[i:])
		if match == nil {
			last += t.Position - read
			read = t.Position
			t.Position, node = last, last+t.Length
			out = append(out, t)
			i++
			continue
		}
		matched := s.tokens[i : i+count]
		out, node = match.paths(out, matched, node)
		last = out[len(out)-1].Position
		read = matched[count-1].Position
		i += count
	}
	s.tokens, s.spare = append(s.tokens[:0], out...), out[:0]
	s.next = last + 1 + tail
}

// tail is how many holes are after the last token.
func (s *stream) tail() int {
	if len(s.tokens) == 0 {
		return s.next
	}
	return s.next - s.tokens[len(s.tokens)-1].Position - 1
}

// paths appends the ways from a position to where all of them meet again: first the
// first words of all, then the rest of each.
func (n *synonymNode) paths(out, matched []Token, start int) ([]Token, int) {
	inner := start + 1
	end := inner
	for _, words := range n.outputs {
		end += len(words) - 1
	}
	if n.keep {
		end += len(matched) - 1
	}
	synonym := Token{Start: matched[0].Start, End: matched[len(matched)-1].End, Type: typeSynonym}
	put := func(t Token, from, to int) {
		t.Position, t.Length = from, to-from
		out = append(out, t)
	}
	ends := make([]int, 0, len(n.outputs)+1)
	first := func(t Token, words int) {
		to := end
		if words > 1 {
			to = inner
			inner += words - 1
		}
		ends = append(ends, to)
		put(t, start, to)
	}
	for _, words := range n.outputs {
		t := synonym
		t.Term = words[0]
		first(t, len(words))
	}
	if n.keep {
		first(matched[0], len(matched))
	}
	rest := func(at, i, count int, t Token) {
		to := at + i
		if i == count-1 {
			to = end
		}
		put(t, at+i-1, to)
	}
	for k, words := range n.outputs {
		for i := 1; i < len(words); i++ {
			t := synonym
			t.Term = words[i]
			rest(ends[k], i, len(words), t)
		}
	}
	if n.keep {
		for i := 1; i < len(matched); i++ {
			rest(ends[len(n.outputs)], i, len(matched), matched[i])
		}
	}
	return out, end
}

// synonyms puts synonyms beside the words; further words of a synonym stand beside what
// follows the words, as in Lucene's SynonymFilter.
type synonyms struct{ root *synonymNode }

func (f *synonyms) filter(s *stream) {
	out := s.spare[:0]
	tail := s.tail()
	var ahead [][]Token // synonyms at the positions from the next token on
	last := Token{Position: -1}
	beside := func(t Token, position int) {
		if t.Start < 0 {
			t.Start, t.End = last.Start, last.End
		}
		t.Position = position
		out = append(out, t)
	}
	replaced := 0 // how many tokens from here on are replaced
	position, read := -1, -1
	for i := 0; i < len(s.tokens); i++ {
		t := s.tokens[i]
		if replaced == 0 {
			if count, match := f.root.longest(s.tokens[i:]); match != nil {
				ahead = match.plan(ahead, s.tokens[i:i+count])
				replaced = count
				if match.keep {
					replaced = -count
				}
			}
		}
		var now []Token
		if len(ahead) > 0 {
			now, ahead = ahead[0], ahead[1:]
		}
		step := t.Position - read
		read = t.Position
		if replaced > 0 {
			if len(now) > 0 {
				position++ // whatever holes were before it
			}
		} else {
			position += step
			t.Position = position
			out = append(out, t)
		}
		last = t
		for _, other := range now {
			beside(other, position)
		}
		switch {
		case replaced > 0:
			replaced--
		case replaced < 0:
			replaced++
		}
	}
	for _, now := range ahead {
		if len(now) > 0 {
			position++
		}
		for _, other := range now {
			beside(other, position)
		}
	}
	s.tokens, s.spare = append(s.tokens[:0], out...), out[:0]
	s.next = position + 1 + tail
}

// plan lays the words of all synonyms over the positions that begin with the match. A
// place of -1 is that of the token beside it.
func (n *synonymNode) plan(ahead [][]Token, matched []Token) [][]Token {
	for _, words := range n.outputs {
		for i, word := range words {
			for len(ahead) <= i {
				ahead = append(ahead, nil)
			}
			t := Token{Term: word, Length: 1, Start: -1, End: -1, Type: typeSynonym}
			if len(words) == 1 {
				t.Start, t.End = matched[0].Start, matched[len(matched)-1].End
				if n.keep {
					t.Length = len(matched)
				}
			}
			ahead[i] = append(ahead[i], t)
		}
	}
	for len(ahead) < len(matched) {
		ahead = append(ahead, nil)
	}
	return ahead
}
