package analysis

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// wordDelimiter takes terms apart at punctuation, changes of case and digits.
type wordDelimiter struct {
	words, numbers                  bool // parts are tokens
	joinWords, joinNumbers, joinAll bool // runs of parts are tokens
	keep                            bool // the term is a token
	onCase, onDigits, possessive    bool
	adjust, ignoreKeywords          bool
	protected                       map[string]bool
	types                           map[rune]delimiterType
}

// delimiterType is what a code point is to wordDelimiter.
type delimiterType uint8

const (
	delimLower delimiterType = 1 << iota
	delimUpper
	delimDigit
	delimOther
	delimAlpha    = delimLower | delimUpper
	delimAlphaNum = delimAlpha | delimDigit
)

func newWordDelimiterGraph(p *part) filter {
	f := readWordDelimiter(p)
	f.adjust = p.boolean("adjust_offsets", true)
	f.ignoreKeywords = p.boolean("ignore_keywords", false)
	return f
}

func readWordDelimiter(p *part) *wordDelimiter {
	f := &wordDelimiter{
		words: p.boolean("generate_word_parts", true), numbers: p.boolean("generate_number_parts", true),
		joinWords: p.boolean("catenate_words", false), joinNumbers: p.boolean("catenate_numbers", false),
		joinAll: p.boolean("catenate_all", false), keep: p.boolean("preserve_original", false),
		onCase: p.boolean("split_on_case_change", true), onDigits: p.boolean("split_on_numerics", true),
		possessive: p.boolean("stem_english_possessive", true),
	}
	protected, _ := p.words("protected_words", false)
	f.protected = wordSet(protected)
	for i, rule := range p.values["type_table"] {
		left, right, ok := strings.Cut(rule, "=>")
		from := []rune(unicodeEscapes(strings.TrimSpace(left)))
		typ, known := delimiterNames[strings.TrimSpace(right)]
		if !ok || !known || len(from) != 1 {
			p.refuse(exception.Runtime, "Line [%d]: Invalid mapping rule: [%s]", i+1, rule)
			break
		}
		if f.types == nil {
			f.types = map[rune]delimiterType{}
		}
		f.types[from[0]] = typ
	}
	return f
}

var delimiterNames = map[string]delimiterType{
	"LOWER": delimLower, "UPPER": delimUpper, "ALPHA": delimAlpha, "DIGIT": delimDigit,
	"ALPHANUM": delimAlphaNum, "SUBWORD_DELIM": delimOther,
}

func (f *wordDelimiter) typeOf(r rune) delimiterType {
	if typ, ok := f.types[r]; ok {
		return typ
	}
	switch {
	case r >= 0x10000:
		return delimAlphaNum
	case unicode.IsUpper(r):
		return delimUpper
	case unicode.IsLower(r), r == 'ª', r == 'º':
		return delimLower
	case unicode.In(r, unicode.L, unicode.M):
		return delimAlpha
	case unicode.IsNumber(r) && (r >= 0x100 || unicode.IsDigit(r)):
		return delimDigit
	}
	return delimOther
}

// splits tells whether a part ends between two code points.
func (f *wordDelimiter) splits(a, b delimiterType) bool {
	switch {
	case a&b != 0:
		return false
	case !f.onCase && a&delimAlpha != 0 && b&delimAlpha != 0:
		return false
	case a&delimUpper != 0 && b&delimAlpha != 0:
		return false
	case !f.onDigits && (a&delimAlpha != 0 && b&delimDigit != 0 || a&delimDigit != 0 && b&delimAlpha != 0):
		return false
	}
	return true
}

// piece is a part of a term: bytes, and the type of its first code point.
type piece struct {
	start, end int
	typ        delimiterType
}

// pieces takes a term apart.
func (f *wordDelimiter) pieces(term []byte) []piece {
	var all []piece
	var last delimiterType
	for i := 0; i < len(term); {
		r, size := utf8.DecodeRune(term[i:])
		typ := f.typeOf(r)
		switch {
		case typ&delimAlphaNum == 0:
			last = delimOther
		case last == 0 || last == delimOther || f.splits(last, typ):
			all = append(all, piece{i, i + size, typ})
			last = typ
		default:
			all[len(all)-1].end = i + size
			last = typ
		}
		i += size
		if f.possessive && len(all) > 0 && all[len(all)-1].end == i {
			i = f.skipPossessive(term, i, &last)
		}
	}
	for i := range all {
		if typ := all[i].typ; typ == delimLower || typ == delimUpper {
			all[i].typ = delimAlpha
		}
	}
	return all
}

// skipPossessive goes over 's after a letter where nothing of a word follows.
func (f *wordDelimiter) skipPossessive(term []byte, i int, last *delimiterType) int {
	if *last&delimAlpha == 0 || i+1 >= len(term) || term[i] != '\'' || term[i+1] != 's' && term[i+1] != 'S' {
		return i
	}
	if r, size := utf8.DecodeRune(term[i+2:]); size > 0 && f.typeOf(r)&delimAlphaNum != 0 {
		return i
	}
	*last = delimOther
	return i + 2
}

// placed is a token to be: from one position of the term to another.
type placed struct {
	from, to   int // positions
	start, end int // bytes of the term
	term       []byte
}

func (f *wordDelimiter) filter(s *stream) {
	out := s.spare[:0]
	tail := s.tail()
	position, read, held := -1, -1, 0 // held: the step of terms that had no tokens
	least := 0                        // parts do not begin before the part before
	for i := range s.tokens {
		t := s.tokens[i]
		step := t.Position - read + held
		read, held = t.Position, 0
		pieces, untouched := f.apart(&t)
		if untouched {
			position += step
			t.Position = position
			out = append(out, t)
			continue
		}
		parts := f.parts(t.Term, pieces)
		if len(parts) == 0 {
			held = step // a term without parts leaves a hole
			continue
		}
		base := position + step
		for _, part := range parts {
			token := t
			token.Term, token.Position, token.Length = part.term, base+part.from, part.to-part.from
			f.place(s, &token, &t, part)
			token.Start, token.End = max(token.Start, least), max(token.End, least)
			least = token.Start
			out = append(out, token)
			position = token.Position
		}
	}
	s.tokens, s.spare = append(s.tokens[:0], out...), out[:0]
	s.next = position + 1 + tail
}

// apart gives the pieces of a token; untouched: it stays as it is.
func (f *wordDelimiter) apart(t *Token) (pieces []piece, untouched bool) {
	if f.protected[string(t.Term)] || f.ignoreKeywords && t.Keyword {
		return nil, true
	}
	pieces = f.pieces(t.Term)
	return pieces, len(pieces) == 1 && pieces[0].start == 0 && pieces[0].end == len(t.Term)
}

// place sets where a part is in the text, if the token is as long as its text is.
func (f *wordDelimiter) place(s *stream, token, whole *Token, part placed) {
	if !f.adjust || !s.spells(whole) {
		return
	}
	token.Start, token.End = s.inside(whole, part.start), s.inside(whole, part.end)
}

// inside is the place in the text that is as far into a token's text as a place of its
// term is into the term.
func (s *stream) inside(t *Token, at int) int {
	return t.Start + len(window(s.original[t.Start:], 0, units(t.Term[:at])))
}

// spells tells whether a token is as long as its text, so that places in it are places
// in the text.
func (s *stream) spells(t *Token) bool {
	return units(t.Term) == units(s.original[t.Start:t.End])
}

// join is a run of pieces that becomes one token.
type join struct {
	typ              delimiterType
	from, start, end int
	count            int
	text             []byte
}

func (f *wordDelimiter) generates(typ delimiterType) bool {
	return f.words && typ&delimAlpha != 0 || f.numbers && typ&delimDigit != 0
}

// parting is the parts of one term while they are found.
type parting struct {
	*wordDelimiter
	term       []byte
	all        []placed
	run, every join
	position   int
	lastCount  int // of the last run
}

// parts are the tokens of a term, by where they begin, the longer first.
func (f *wordDelimiter) parts(term []byte, pieces []piece) []placed {
	w := parting{wordDelimiter: f, term: term}
	if len(pieces) == 1 {
		w.put(pieces[0]) // what is between delimiters alone is a token whatever the options
	} else {
		for _, p := range pieces {
			w.piece(p)
		}
	}
	w.joins()
	if f.keep {
		w.all = slices.Insert(w.all, 0, placed{0, max(w.position, 1), 0, len(term), term})
	}
	slices.SortStableFunc(w.all, func(a, b placed) int {
		return cmp.Or(a.from-b.from, b.to-a.to, a.start-b.start, b.end-a.end)
	})
	return w.all
}

func (w *parting) put(p piece) {
	w.all = append(w.all, placed{w.position, w.position + 1, p.start, p.end, w.term[p.start:p.end]})
	w.position++
}

func (w *parting) piece(p piece) {
	if w.run.count > 0 && w.run.typ&p.typ == 0 {
		w.endRun()
	}
	if w.joinWords && p.typ&delimAlpha != 0 || w.joinNumbers && p.typ&delimDigit != 0 {
		w.add(&w.run, p)
	}
	if w.joinAll {
		w.add(&w.every, p)
	}
	if w.generates(p.typ) {
		w.put(p)
	}
}

func (w *parting) add(j *join, p piece) {
	if j.count == 0 {
		j.from = w.position
	}
	j.add(w.term, p)
}

// joins puts what is still joined.
func (w *parting) joins() {
	if w.run.count > 0 {
		w.endRun()
	}
	if w.every.count > w.lastCount {
		w.join(w.every)
	}
}

func (w *parting) endRun() {
	w.lastCount = w.run.count
	w.join(w.run)
	w.run = join{}
}

// join puts a run, which takes a position if its pieces took none. A run of one piece that
// is a token already is none.
func (w *parting) join(j join) {
	if w.position == j.from {
		w.position++
	}
	if j.count != 1 || !w.generates(j.typ) {
		w.all = append(w.all, placed{j.from, w.position, j.start, j.end, j.text})
	}
}
