package analysis

import (
	"github.com/blevesearch/bleve/v2/analysis/lang/cjk"
)

// cjkWidth writes ASCII of full width and Katakana of half width in their usual width.
var cjkWidth = fromBleve(cjk.NewCJKWidthFilter())

// cjkBigrams makes pairs of what the standard tokenizer takes for single letters of
// Chinese, Japanese and Korean.
type cjkBigrams struct {
	types    map[string]bool
	unigrams bool
}

var cjkScripts = map[string]string{
	"han": typeIdeograph, "hiragana": typeHiragana, "katakana": typeKatakana, "hangul": typeHangul,
}

func newCJKBigram(p *part) filter {
	f := &cjkBigrams{types: map[string]bool{}, unigrams: p.boolean("output_unigrams", false)}
	ignored := wordSet(p.list("ignored_scripts"))
	for script, typ := range cjkScripts {
		f.types[typ] = !ignored[script]
	}
	return f
}

const (
	typeSingle = "<SINGLE>"
	typeDouble = "<DOUBLE>"
)

func (f *cjkBigrams) filter(s *stream) {
	out := s.spare[:0]
	tail := s.tail()
	position := -1
	put := func(t Token, step int) {
		position += step
		t.Position = position
		out = append(out, t)
	}
	for i := 0; i < len(s.tokens); {
		run := f.run(s.tokens[i:])
		if run == 0 {
			before := -1
			if i > 0 {
				before = s.tokens[i-1].Position
			}
			put(s.tokens[i], s.tokens[i].Position-before)
			i++
			continue
		}
		f.letters(s, s.tokens[i:i+run], put)
		i += run
	}
	s.tokens, s.spare = append(s.tokens[:0], out...), out[:0]
	s.next = position + 1 + tail
}

// run is how many of the tokens stand right behind each other and are letters.
func (f *cjkBigrams) run(tokens []Token) int {
	n := 0
	for n < len(tokens) && f.types[tokens[n].Type] && (n == 0 || tokens[n].Start == tokens[n-1].End) {
		n++
	}
	return n
}

// letters puts the pairs of the letters of some tokens.
func (f *cjkBigrams) letters(s *stream, tokens []Token, put func(Token, int)) {
	var all []Token
	for _, t := range tokens {
		at := t.Start
		whole := len(t.Term) == t.End-t.Start
		for i := 0; i < len(t.Term); {
			_, next := classAt(t.Term, i)
			letter := Token{Term: t.Term[i:next], Length: 1, Start: t.Start, End: t.End, Type: typeSingle}
			if whole {
				letter.Start, letter.End = at+i, at+next
			}
			all = append(all, letter)
			i = next
		}
	}
	if len(all) == 1 {
		put(all[0], 1)
		return
	}
	for i := range all {
		step := 1
		if f.unigrams {
			put(all[i], 1)
			step = 0
		}
		if i+1 < len(all) {
			pair := all[i]
			pair.Term = append(append(s.room(len(pair.Term)+len(all[i+1].Term)), pair.Term...), all[i+1].Term...)
			pair.End, pair.Type = all[i+1].End, typeDouble
			if f.unigrams {
				pair.Length = 2
			}
			put(pair, step)
		}
	}
}
