package analysis

import (
	"bytes"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// tokenizerKinds are the server's tokenizers; nil: not supported.
func tokenizerKinds() map[string]func(*part) tokenizer {
	return map[string]func(*part) tokenizer{
		"standard": func(p *part) tokenizer { return standard{max: p.tokenLength()} },
		"keyword": func(p *part) tokenizer {
			if p.number("buffer_size", 256) <= 0 {
				p.illegal("bufferSize must be > 0")
			}
			return whole{}
		},
		"whitespace": func(p *part) tokenizer {
			return newRuns(notSpace, p.tokenLength(), false)
		},
		"letter":     func(*part) tokenizer { return newRuns(unicode.IsLetter, 255, false) },
		"lowercase":  func(*part) tokenizer { return newRuns(unicode.IsLetter, 255, true) },
		"ngram":      newNGramTokenizer,
		"nGram":      newNGramTokenizer,
		"edge_ngram": newEdgeNGramTokenizer, "edgeNGram": newEdgeNGramTokenizer,
		"pattern":              newPatternTokenizer,
		"simple_pattern":       newSimplePattern,
		"simple_pattern_split": newSimplePatternSplit,
		"char_group":           newCharGroup,
		"path_hierarchy":       newPathHierarchy, "PathHierarchy": newPathHierarchy,
		"classic":       newClassic,
		"uax_url_email": nil, "thai": nil,
	}
}

func notSpace(r rune) bool { return !isSpace(r) }

// tokenLength is the greatest length of tokens. Lucene allows 1 to 1048576.
func (p *part) tokenLength() int {
	n := p.number("max_token_length", 255)
	if p.err == nil && n < 1 {
		p.illegal("maxTokenLength must be greater than zero")
	}
	if p.err == nil && n > 1<<20 {
		p.illegal("maxTokenLength may not exceed 1048576")
	}
	return n
}

// newCharGroup splits at single code points, or at kinds of them.
func newCharGroup(p *part) tokenizer {
	single := map[rune]bool{}
	var kinds []func(rune) bool
	for _, item := range p.values["tokenize_on_chars"] {
		runes := []rune(item)
		switch {
		case len(runes) == 0:
			p.refuse(exception.Runtime, "[tokenize_on_chars] cannot contain empty characters")
		case len(runes) == 1:
			single[runes[0]] = true
		case runes[0] == '\\':
			c, ok := escapedChar(runes[1:])
			if !ok {
				p.refuse(exception.Runtime, "Invalid escaped char in [%s]", item)
			}
			single[c] = true
		default:
			kind, ok := charGroups[item]
			if !ok {
				p.refuse(exception.Runtime, "Invalid escaped char in [%s]", item)
				break
			}
			kinds = append(kinds, kind)
		}
	}
	most := p.tokenLength()
	return newRuns(func(r rune) bool {
		for _, kind := range kinds {
			if kind(r) {
				return false
			}
		}
		return !single[r]
	}, most, false)
}

var charGroups = map[string]func(rune) bool{
	"letter": unicode.IsLetter, "digit": unicode.IsDigit, "whitespace": isSpace,
	"punctuation": unicode.IsPunct, "symbol": unicode.IsSymbol,
}

func escapedChar(rest []rune) (rune, bool) {
	switch {
	case len(rest) == 1 && strings.ContainsRune(`\tbnrfs`, rest[0]) || len(rest) == 1 && rest[0] == '\\':
		return map[rune]rune{'\\': '\\', 't': '\t', 'b': '\b', 'n': '\n', 'r': '\r', 'f': '\f', 's': ' '}[rest[0]], true
	}
	return 0, false
}

// pathHierarchy makes tokens of a path and of what is above it.
type pathHierarchy struct {
	delimiter, replacement rune
	skip                   int
	reverse                bool
}

func newPathHierarchy(p *part) tokenizer {
	f := pathHierarchy{delimiter: '/', skip: p.number("skip", 0), reverse: p.boolean("reverse", false)}
	f.delimiter = p.oneRune("delimiter", '/')
	f.replacement = p.oneRune("replacement", f.delimiter)
	if p.number("buffer_size", 1024) <= 0 {
		p.illegal("bufferSize cannot be negative")
	}
	if p.err == nil && f.skip < 0 {
		p.illegal("skip cannot be negative")
	}
	return f
}

func (p *part) oneRune(option string, fallback rune) rune {
	text := p.text(option, string(fallback))
	if units([]byte(text)) != 1 {
		p.illegal("%s must be a one char value", option)
		return fallback
	}
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

func (f pathHierarchy) tokenize(s *stream) {
	delimiters := f.places(s.text)
	end := len(s.text)
	path := f.replaced(s, delimiters)
	s.next = 0
	emit := func(start, stop int) {
		t := Token{Term: path(start, stop), Length: 1, Start: start, End: stop, Type: typeWord}
		s.tokens = append(s.tokens, t)
		s.next = 1
	}
	if f.reverse {
		f.backward(end, delimiters, emit)
		return
	}
	// A path begins after the parts that are skipped, with its delimiter.
	start, parts := 0, delimiters
	if len(parts) == 0 || parts[0] != 0 {
		if f.skip > 0 && len(parts) < f.skip {
			return
		}
		if f.skip > 0 {
			start, parts = parts[f.skip-1], parts[f.skip-1:]
			parts = parts[1:]
		}
	} else {
		parts = parts[1:]
		if f.skip > 0 {
			if len(parts) < f.skip {
				return
			}
			start, parts = parts[f.skip-1], parts[f.skip:]
		}
	}
	for _, at := range parts {
		emit(start, at)
	}
	if end > start && (end > 0) {
		emit(start, end)
	}
}

func (f pathHierarchy) backward(end int, delimiters []int, emit func(int, int)) {
	stop := end
	if f.skip > 0 {
		var after []int // where parts end, from the right
		for i := len(delimiters) - 1; i >= 0; i-- {
			after = append(after, delimiters[i]+utf8.RuneLen(f.delimiter))
		}
		if len(after) > 0 && after[0] == end {
			after = after[1:] // nothing is after the last delimiter
		}
		if len(after) < f.skip {
			return
		}
		stop = after[f.skip-1]
	}
	starts := []int{0}
	for _, at := range delimiters {
		starts = append(starts, at+utf8.RuneLen(f.delimiter))
	}
	for _, start := range starts {
		if start < stop {
			emit(start, stop)
		}
	}
}

// places are where the delimiters are.
func (f pathHierarchy) places(text []byte) []int {
	var places []int
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == f.delimiter {
			places = append(places, i)
		}
		i += size
	}
	return places
}

// replaced gives parts of the text with the replacement in the place of delimiters: one
// copy of the text, of which the parts are parts.
func (f pathHierarchy) replaced(s *stream, delimiters []int) func(start, end int) []byte {
	if f.delimiter == f.replacement {
		return func(start, end int) []byte { return s.text[start:end:end] }
	}
	other := bytes.ReplaceAll(s.text, []byte(string(f.delimiter)), []byte(string(f.replacement)))
	longer := utf8.RuneLen(f.replacement) - utf8.RuneLen(f.delimiter)
	place := func(at int) int { return at + longer*sort.SearchInts(delimiters, at) }
	return func(start, end int) []byte { return other[place(start):place(end):place(end)] }
}

// simplePattern makes tokens of the longest matches of a regular expression of Lucene's
// dialect, or of what is between them.

func newSimplePattern(p *part) tokenizer {
	if p.text("pattern", "") != "" {
		p.illegal("tokenizer [simple_pattern] is not supported")
	}
	return noTokens{}
}

func newSimplePatternSplit(p *part) tokenizer {
	if p.text("pattern", "") != "" {
		p.illegal("tokenizer [simple_pattern_split] is not supported")
	}
	return wholeOrNothing{}
}

// noTokens finds nothing.
type noTokens struct{}

func (noTokens) tokenize(*stream) {}

// wholeOrNothing makes one token of a text that is not empty.
type wholeOrNothing struct{}

func (wholeOrNothing) tokenize(s *stream) {
	if len(s.text) > 0 {
		s.part(0, len(s.text), typeWord)
	}
}
