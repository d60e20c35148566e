package analysis

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/analysis/char/asciifolding"
)

// Filters that look at one term at a time.

// nothing leaves tokens as they are.
type nothing struct{}

func (nothing) filter(*stream) {}

// cutAtApostrophe cuts a term at its first apostrophe.
func cutAtApostrophe(_ *stream, term []byte) []byte {
	if i, _ := apostrophe(term); i >= 0 {
		return term[:i]
	}
	return term
}

// apostrophe finds the first of ' and ’, and its size.
func apostrophe(term []byte) (at, size int) {
	for i, b := range term {
		if b == '\'' {
			return i, 1
		}
		if b == 0xe2 && bytes.HasPrefix(term[i:], []byte("’")) {
			return i, len("’")
		}
	}
	return -1, 0
}

// asciiFolding puts letters of ASCII in place of those with accents, after the table of
// Lucene that Bleve has.
type asciiFolding struct{ keep bool }

func newASCIIFolding(p *part) filter {
	return asciiFolding{p.boolean("preserve_original", false)}
}

func (f asciiFolding) filter(s *stream) {
	s.spread(func(t *Token) {
		folded := foldASCII(t.Term)
		whole := *t
		t.Term = folded
		s.spare = append(s.spare, *t)
		if f.keep && !bytes.Equal(folded, whole.Term) {
			s.spare = append(s.spare, whole)
		}
	})
}

func foldASCII(term []byte) []byte {
	if isASCII(term) {
		return term
	}
	return asciifolding.New().Filter(term)
}

func isASCII(term []byte) bool {
	for _, b := range term {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// spread lets a function put tokens of its own in place of each token: it appends them
// to s.spare.
func (s *stream) spread(put func(t *Token)) {
	s.spare = s.spare[:0]
	for i := range s.tokens {
		put(&s.tokens[i])
	}
	s.tokens, s.spare = append(s.tokens[:0], s.spare...), s.spare[:0]
}

// decimalDigits puts ASCII digits in place of the digits of other scripts.
func decimalDigits(s *stream, term []byte) []byte {
	if isASCII(term) {
		return term
	}
	return mapped(s, term, func(r rune) rune {
		if r < utf8.RuneSelf || !unicode.Is(unicode.Nd, r) {
			return r
		}
		return '0' + digitValue(r)
	})
}

// digitValue is the value of a decimal digit: each script has its ten in a row.
func digitValue(r rune) rune {
	for _, table := range unicode.Nd.R16 {
		if r >= rune(table.Lo) && r <= rune(table.Hi) {
			return (r - rune(table.Lo)) % 10
		}
	}
	for _, table := range unicode.Nd.R32 {
		if r >= rune(table.Lo) && r <= rune(table.Hi) {
			return (r - rune(table.Lo)) % 10
		}
	}
	return 0
}

// reversed is a term from its end to its beginning.
func reversed(s *stream, term []byte) []byte {
	out := s.room(len(term))
	for end := len(term); end > 0; {
		_, size := utf8.DecodeLastRune(term[:end])
		out = append(out, term[end-size:end]...)
		end -= size
	}
	return out
}

// trimmed is a term without the spaces around it.
func trimmed(_ *stream, term []byte) []byte { return bytes.TrimFunc(term, isSpace) }

// units is the length of a term in UTF-16 units.
func units(term []byte) int {
	n := 0
	for i := 0; i < len(term); {
		r, size := utf8.DecodeRune(term[i:])
		n += utf16Units(r)
		i += size
	}
	return n
}

// truncate cuts terms after so many UTF-16 units. Half of a code point is told as U+FFFD,
// as Lucene writes it.
type truncate int

func newTruncate(p *part) filter {
	n := p.number("length", -1)
	if n <= 0 {
		p.illegal("length parameter must be provided")
	}
	return truncate(n)
}

func (f truncate) filter(s *stream) {
	for i := range s.tokens {
		t := &s.tokens[i]
		if len(t.Term) <= int(f) || t.Keyword {
			continue
		}
		cut := window(t.Term, 0, int(f))
		if len(cut) < len(t.Term) && units(cut) < int(f) {
			cut = append(append(s.room(len(cut)+utf8.UTFMax), cut...), "\ufffd"...)
		}
		t.Term = cut
	}
}

// length removes terms that are shorter or longer, in UTF-16 units.
type length struct{ least, most int }

func newLength(p *part) filter {
	f := length{p.number("min", 0), p.number("max", 1<<31-1)}
	if p.err == nil && f.least < 0 {
		p.illegal("minimum length must be greater than or equal to zero")
	}
	if p.err == nil && f.least > f.most {
		p.illegal("maximum length must not be greater than minimum length")
	}
	return f
}

func (f length) filter(s *stream) {
	s.remove(func(t *Token) bool {
		n := units(t.Term)
		return n < f.least || n > f.most
	})
}

// elision removes an article and its apostrophe from the beginning of a term.
type elision struct {
	words      map[string]bool
	ignoreCase bool
}

var frenchArticles = []string{"l", "m", "t", "qu", "n", "s", "j", "d", "c", "jusqu", "quoiqu", "lorsqu", "puisqu"}

func newElision(p *part) filter {
	f := elision{ignoreCase: p.boolean("articles_case", false)}
	words, ok := p.words("articles", false)
	if !ok {
		p.illegal("elision filter requires [articles] or [articles_path] setting")
	}
	f.words = wordSet(folded(words, f.ignoreCase))
	return f
}

func (f elision) filter(s *stream) {
	for i := range s.tokens {
		t := &s.tokens[i]
		at, size := apostrophe(t.Term)
		if at < 0 {
			continue
		}
		if article := t.Term[:at]; f.words[string(article)] || f.ignoreCase && f.words[lowerText(string(article))] {
			t.Term = t.Term[at+size:]
		}
	}
}

func wordSet(words []string) map[string]bool {
	set := make(map[string]bool, len(words))
	for _, word := range words {
		set[word] = true
	}
	return set
}
