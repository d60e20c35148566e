package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// edgeNGrams is a filter that puts the beginnings, or ends, of terms in their place.
type edgeNGrams struct {
	least, most int // code points
	back, keep  bool
}

func newEdgeNGrams(p *part) filter {
	f := &edgeNGrams{least: p.number("min_gram", 1), most: p.number("max_gram", 2), keep: p.boolean("preserve_original", false)}
	switch side := p.text("side", "front"); side {
	case "front":
	case "back":
		f.back = true
	default:
		p.illegal("invalid side: %s", side)
	}
	p.checkGrams(f.least, f.most)
	return f
}

func (p *part) checkGrams(least, most int) {
	switch {
	case p.err != nil:
	case least < 1:
		p.illegal("minGram must be greater than zero")
	case least > most:
		p.illegal("minGram must not be greater than maxGram")
	}
}

func (f *edgeNGrams) filter(s *stream) {
	s.next -= s.tail() // as Lucene's filter, which forgets the holes at the end
	s.spread(func(t *Token) {
		term := t.Term
		n := utf8.RuneCount(term)
		at, gram := 0, *t
		if f.back {
			at = len(term)
		}
		for size := 1; size <= min(n, f.most); size++ {
			if f.back {
				_, width := utf8.DecodeLastRune(term[:at])
				at -= width
				gram.Term = term[at:]
			} else {
				_, width := utf8.DecodeRune(term[at:])
				at += width
				gram.Term = term[:at]
			}
			if size >= f.least {
				s.spare = append(s.spare, gram)
			}
		}
		if f.keep && (n < f.least || n > f.most) {
			s.spare = append(s.spare, *t)
		}
	})
}

// nGrams is a filter that puts all parts of some lengths in the place of terms.
type nGrams struct {
	least, most int // code points
	keep        bool
}

func newNGrams(p *part) filter {
	f := &nGrams{least: p.number("min_gram", 1), most: p.number("max_gram", 2), keep: p.boolean("preserve_original", false)}
	p.checkSpread(f.least, f.most)
	p.checkGrams(f.least, f.most)
	return f
}

// checkSpread holds the lengths of n-grams to a setting of the index.
func (p *part) checkSpread(least, most int) {
	allowed := p.build.number("max_ngram_diff", 1)
	if p.err == nil && most-least > allowed {
		p.illegal("The difference between max_gram and min_gram in NGram Tokenizer must be less than or equal to: [%d] but was [%d]. This limit can be set by changing the [index.max_ngram_diff] index level setting.", allowed, most-least)
	}
}

func (f *nGrams) filter(s *stream) {
	s.next -= s.tail() // as edgeNGrams
	s.spread(func(t *Token) {
		gram := *t
		eachGram(t.Term, f.least, f.most, func(start, end int) {
			gram.Term = t.Term[start:end]
			s.spare = append(s.spare, gram)
		})
		if n := utf8.RuneCount(t.Term); f.keep && (n < f.least || n > f.most) {
			s.spare = append(s.spare, *t)
		}
	})
}

// eachGram tells the parts of a text that have least to most code points, by their
// beginnings, the shorter first.
func eachGram(text []byte, least, most int, tell func(start, end int)) {
	for start := 0; start < len(text); {
		end := start
		for size := 1; size <= most && end < len(text); size++ {
			_, width := utf8.DecodeRune(text[end:])
			end += width
			if size >= least {
				tell(start, end)
			}
		}
		_, width := utf8.DecodeRune(text[start:])
		start += width
	}
}

// gramTokenizer makes tokens of the parts of words: all, or those at their beginnings.
type gramTokenizer struct {
	least, most int
	edge        bool
	belongs     func(rune) bool // to words; nil: everything
}

func newNGramTokenizer(p *part) tokenizer {
	f := &gramTokenizer{least: p.number("min_gram", 1), most: p.number("max_gram", 2)}
	p.checkSpread(f.least, f.most)
	f.belongs = tokenChars(p)
	p.checkGrams(f.least, f.most)
	return f
}

func newEdgeNGramTokenizer(p *part) tokenizer {
	f := &gramTokenizer{least: p.number("min_gram", 1), most: p.number("max_gram", 2), edge: true}
	f.belongs = tokenChars(p)
	p.checkGrams(f.least, f.most)
	return f
}

func (f *gramTokenizer) tokenize(s *stream) {
	text := s.text
	for start := 0; start < len(text); {
		end := start
		for end < len(text) {
			r, width := utf8.DecodeRune(text[end:])
			if f.belongs != nil && !f.belongs(r) {
				break
			}
			end += width
		}
		f.word(s, start, end)
		for start = end; start < len(text); {
			r, width := utf8.DecodeRune(text[start:])
			if f.belongs == nil || f.belongs(r) {
				break
			}
			start += width
		}
	}
}

func (f *gramTokenizer) word(s *stream, start, end int) {
	if !f.edge {
		eachGram(s.text[start:end], f.least, f.most, func(a, b int) { s.part(start+a, start+b, typeWord) })
		return
	}
	at := start
	for size := 1; size <= f.most && at < end; size++ {
		_, width := utf8.DecodeRune(s.text[at:])
		at += width
		if size >= f.least {
			s.part(start, at, typeWord)
		}
	}
}

// charKinds are the kinds of code points that token_chars names.
var charKinds = map[string]func(rune) bool{
	"letter": unicode.IsLetter, "whitespace": isSpace, "digit": unicode.IsDigit,
	"punctuation": unicode.IsPunct, "symbol": unicode.IsSymbol,
	"uppercase_letter": in(unicode.Lu), "lowercase_letter": in(unicode.Ll), "titlecase_letter": in(unicode.Lt),
	"modifier_letter": in(unicode.Lm), "other_letter": in(unicode.Lo), "non_spacing_mark": in(unicode.Mn),
	"enclosing_mark": in(unicode.Me), "combining_spacing_mark": in(unicode.Mc), "decimal_digit_number": in(unicode.Nd),
	"letter_number": in(unicode.Nl), "other_number": in(unicode.No), "space_separator": in(unicode.Zs),
	"line_separator": in(unicode.Zl), "paragraph_separator": in(unicode.Zp), "control": in(unicode.Cc),
	"format": in(unicode.Cf), "private_use": in(unicode.Co), "surrogate": in(unicode.Cs),
	"dash_punctuation": in(unicode.Pd), "start_punctuation": in(unicode.Ps), "end_punctuation": in(unicode.Pe),
	"connector_punctuation": in(unicode.Pc), "other_punctuation": in(unicode.Po), "math_symbol": in(unicode.Sm),
	"currency_symbol": in(unicode.Sc), "modifier_symbol": in(unicode.Sk), "other_symbol": in(unicode.So),
	"initial_quote_punctuation": in(unicode.Pi), "final_quote_punctuation": in(unicode.Pf),
	"unassigned": func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.C)
	},
}

// charKindNames are the names in the order in which the server tells them.
const charKindNames = `symbol private_use paragraph_separator start_punctuation unassigned enclosing_mark
	connector_punctuation letter_number other_number math_symbol lowercase_letter space_separator
	surrogate initial_quote_punctuation decimal_digit_number digit other_punctuation dash_punctuation
	currency_symbol non_spacing_mark custom format modifier_letter control uppercase_letter other_symbol
	end_punctuation modifier_symbol other_letter line_separator titlecase_letter letter punctuation
	combining_spacing_mark final_quote_punctuation whitespace`

func in(table *unicode.RangeTable) func(rune) bool {
	return func(r rune) bool { return unicode.Is(table, r) }
}

// tokenChars reads which code points belong to words; nil: all.
func tokenChars(p *part) func(rune) bool {
	var kinds []func(rune) bool
	for _, name := range p.list("token_chars") {
		name = strings.TrimSpace(lowerText(name))
		kind, ok := charKinds[name]
		switch {
		case name == "custom":
			custom := p.text("custom_token_chars", "")
			if !p.has("custom_token_chars") {
				p.illegal("Token type: 'custom' requires setting `custom_token_chars`")
			}
			kind = func(r rune) bool { return strings.ContainsRune(custom, r) }
		case !ok:
			p.illegal("Unknown token type: '%s', must be one of [%s]", name, strings.Join(strings.Fields(charKindNames), ", "))
			return nil
		}
		kinds = append(kinds, kind)
	}
	if len(kinds) == 0 {
		return nil
	}
	return func(r rune) bool {
		for _, kind := range kinds {
			if kind(r) {
				return true
			}
		}
		return false
	}
}

func (b *builder) number(name string, fallback int) int {
	p := part{values: b.index}
	return p.number(name, fallback)
}
