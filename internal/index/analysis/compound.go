package analysis

import (
	"strings"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// decompounder adds the words of a list that a term has in it, at the place of the term.
// Lengths are UTF-16 units. As on the server, its name is of dictionary_decompounder.
type decompounder struct {
	words       map[string]bool
	longestWord int // of the list
	word        int // least length of terms
	least, most int // lengths of parts
	onlyLongest bool
}

func newDecompounder(p *part) filter {
	f := decompounder{word: p.number("min_word_size", 5), least: p.number("min_subword_size", 2), most: p.number("max_subword_size", 15),
		onlyLongest: p.boolean("only_longest_match", false)}
	words, ok := p.words("word_list", false)
	if !ok {
		p.err = nil
		p.illegal("word_list must be provided for [%s], either as a path to a file, or directly", p.name)
	}
	f.words = wordSet(words)
	for word := range f.words {
		f.longestWord = max(f.longestWord, units([]byte(word)))
	}
	for _, size := range []struct {
		name string
		is   int
	}{{"minWordSize", f.word}, {"minSubwordSize", f.least}, {"maxSubwordSize", f.most}} {
		if p.err == nil && size.is < 0 {
			p.illegal("%s cannot be negative", size.name)
		}
	}
	return f
}

func (f decompounder) filter(s *stream) {
	s.spread(func(t *Token) {
		whole := *t
		s.spare = append(s.spare, whole)
		if units(whole.Term) < f.word {
			return
		}
		for i := 0; i < len(whole.Term); {
			f.parts(s, whole, i)
			_, size := utf8.DecodeRune(whole.Term[i:])
			i += size
		}
	})
}

// parts adds the words of the list that begin at place i of the term.
func (f decompounder) parts(s *stream, whole Token, i int) {
	longest := 0
	for j, n := i, 0; j < len(whole.Term) && n < min(f.most, f.longestWord); {
		r, size := utf8.DecodeRune(whole.Term[j:])
		j += size
		n += utf16Units(r)
		if n < f.least || n > f.most || !f.words[string(whole.Term[i:j])] {
			continue
		}
		if longest = j; !f.onlyLongest {
			s.spare = append(s.spare, whole.partOf(i, j))
		}
	}
	if f.onlyLongest && longest > 0 {
		s.spare = append(s.spare, whole.partOf(i, longest))
	}
}

// partOf is a token at the place of another, of a part of its term.
func (t Token) partOf(i, j int) Token {
	t.Term = t.Term[i:j:j]
	return t
}

// multiplexer puts what several filters make of a term at the place of the term. Only
// filters that look at one term at a time are supported.
type multiplexer struct {
	name     string
	build    *builder
	lists    [][]string // names of filters
	chains   [][]filter
	original bool
	body     *Inline // that defines it, or nil
}

func newMultiplexer(p *part) filter {
	f := &multiplexer{name: p.name, build: p.build, original: p.boolean("preserve_original", true)}
	items := p.values["filters"]
	if !p.has("filters") {
		items = p.list("filters")
	}
	for _, item := range items {
		var names []string
		for name := range strings.SplitSeq(item, ",") {
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
			}
		}
		if len(items) == 1 && len(names) > 1 {
			p.illegal("one list of [filters] in multiplexer [%s] is not supported", p.name) // or is it a list of filters?
		}
		f.lists = append(f.lists, names)
	}
	return f
}

// bind finds the filters by their names.
func (f *multiplexer) bind(*chain) (filter, *exception.Error) {
	bound := *f
	bound.chains = nil
	if f.original {
		bound.chains = append(bound.chains, nil)
	}
	for _, list := range f.lists {
		var filters []filter
		for _, name := range list {
			one, ok := f.build.filters[name]
			if !ok {
				var err *exception.Error
				if one, err = bareFilter(name); err != nil {
					return nil, err
				}
			}
			switch {
			case one == nil && isUnsupported(groupFilter, name):
				return nil, unsupported(groupFilter, name)
			case one == nil:
				return nil, f.undefined(name)
			case !ofOneTerm(one):
				return nil, exception.New(exception.IllegalArgument, "filter [%s] in multiplexer [%s] is not supported", name, f.name)
			}
			filters = append(filters, one)
		}
		bound.chains = append(bound.chains, filters)
	}
	return &bound, nil
}

// undefined tells of a name that no filter has.
func (f *multiplexer) undefined(name string) *exception.Error {
	if f.body != nil {
		return exception.New(exception.IllegalArgument, "failed to find %sfilter under [%s]", f.body.global(), name)
	}
	return exception.New(exception.IllegalArgument, "Multiplexing filter [%s] refers to undefined tokenfilter [%s]", f.name, name)
}

// ofOneTerm tells whether a filter changes terms one by one.
func ofOneTerm(f filter) bool {
	switch f := f.(type) {
	case each, stemmer, lowerFilter, truncate, elision, nothing:
		return true
	case asciiFolding:
		return !f.keep
	}
	return false
}

func (f *multiplexer) filter(s *stream) {
	tokens, made := s.tokens, make([]Token, 0, len(s.tokens)*len(f.chains))
	var one []Token
	for _, t := range tokens {
		for _, filters := range f.chains {
			one = append(one[:0], t)
			s.tokens = one
			for _, f := range filters {
				f.filter(s)
			}
			made = append(made, s.tokens...)
		}
	}
	s.tokens = append(tokens[:0], made...)
	removeDuplicates{}.filter(s)
}
