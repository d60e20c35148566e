package analysis

import (
	_ "embed"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// classic is the tokenizer of Lucene's first years: words, and what looks like an acronym,
// a company, an address or a number with marks in it. Its rules are about segments (runs of
// letters and digits) with single marks between them:
//
//	ALPHANUM     segment
//	APOSTROPHE   letters ' letters …
//	ACRONYM      letter . letter . …
//	COMPANY      letters &@ letters
//	EMAIL        segment ._- segment … @ segment .- segment …
//	HOST         segment . segment …
//	NUM          segments and _-/., where every other segment has a digit
//	CJ           one letter of China or Japan
//	ACRONYM_DEP  segment . segment . …, which becomes a HOST without the last dot
//
// The longest match is the token; of equally long ones the first of the rules. Tokens of
// more than max UTF-16 units are left out, and leave a hole.
type classic struct{ max int }

func newClassic(p *part) tokenizer {
	n := p.number("max_token_length", 255)
	if p.err == nil && n < 1 {
		p.illegal("maxTokenLength must be greater than zero")
	}
	return classic{n}
}

// The classes of the classic tokenizer.
const (
	classicOther = iota
	classicLetter
	classicDigit
	classicWord   // is part of words, and neither a letter nor a digit: marks of Thai
	classicSingle // a token by itself
)

const classicDotted = "<ACRONYM_DEP>"

//go:embed classic.txt
var classicText string

type classicRange struct {
	first, last rune
	class       int
}

var classicRanges = sync.OnceValue(func() []classicRange {
	classes := map[string]int{"letter": classicLetter, "digit": classicDigit, "word": classicWord, "single": classicSingle}
	var all []classicRange
	for line := range strings.Lines(classicText) {
		words := strings.Fields(line)
		for _, word := range words[1:] {
			first, last, isRange := strings.Cut(word, "-")
			if !isRange {
				last = first
			}
			from, errFrom := strconv.ParseInt(first, 16, 32)
			to, errTo := strconv.ParseInt(last, 16, 32)
			if class := classes[words[0]]; class != classicOther && errFrom == nil && errTo == nil {
				all = append(all, classicRange{rune(from), rune(to), class})
			}
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].first < all[j].first })
	return all
})

func classicClass(r rune) int {
	ranges := classicRanges()
	i := sort.Search(len(ranges), func(i int) bool { return ranges[i].last >= r })
	if i < len(ranges) && r >= ranges[i].first {
		return ranges[i].class
	}
	return classicOther
}

func (f classic) tokenize(s *stream) {
	scan := classicScan{text: s.text}
	for i := 0; i < len(s.text); {
		r, size := utf8.DecodeRune(s.text[i:])
		switch classicClass(r) {
		case classicOther:
			i += size
			continue
		case classicSingle:
			s.part(i, i+size, "<CJ>")
			i += size
			continue
		}
		end, typ := scan.token(i)
		switch {
		case units(s.text[i:end]) > f.max:
			s.next++
		case typ == classicDotted:
			s.add(s.text[i:end-1:end-1], i, end, "<HOST>")
		default:
			s.part(i, end, typ)
		}
		i = end
	}
}

// classicScan finds the tokens of a text. It keeps what it knows of addresses, since a text
// without end may look like the beginning of one at each of its segments.
type classicScan struct {
	text       []byte
	chainEnd   int // where the segments end that one looked through for an address
	addressEnd int // where the address ends that they begin, or 0
}

// segment is a run of letters and digits.
type segment struct {
	start, end int
	letters    int  // the end of the letters that it begins with
	plain      int  // the end of the letters and digits that it begins with
	digit      bool // one is in the plain part
	one        bool // it is one code point
}

func (c *classicScan) segment(at int) (g segment, ok bool) {
	g = segment{start: at, end: at, letters: at, plain: at}
	for n := 0; g.end < len(c.text); n++ {
		r, size := utf8.DecodeRune(c.text[g.end:])
		class := classicClass(r)
		if class == classicOther || class == classicSingle {
			break
		}
		if g.letters == g.end && class == classicLetter {
			g.letters += size
		}
		if g.plain == g.end && class != classicWord {
			g.plain += size
			g.digit = g.digit || class == classicDigit
		}
		g.end += size
		g.one = n == 0
	}
	return g, g.end > at
}

// behind is the segment that follows another after one of some marks.
func (c *classicScan) behind(g segment, marks string) (segment, bool) {
	if g.end >= len(c.text) || strings.IndexByte(marks, c.text[g.end]) < 0 {
		return segment{}, false
	}
	return c.segment(g.end + 1)
}

// token is the end and the type of the token that begins with a segment at i.
func (c *classicScan) token(i int) (end int, typ string) {
	first, _ := c.segment(i)
	end, typ = first.end, typeAlphaNum
	for _, rule := range []struct {
		typ  string
		find func(segment) int
	}{
		{"<APOSTROPHE>", c.apostrophe}, {"<ACRONYM>", c.acronym}, {"<COMPANY>", c.company}, {"<EMAIL>", c.address},
		{"<HOST>", c.host}, {"<NUM>", c.number}, {classicDotted, c.dotted},
	} {
		if found := rule.find(first); found > end {
			end, typ = found, rule.typ
		}
	}
	return end, typ
}

func (c *classicScan) apostrophe(g segment) (end int) {
	for g.letters == g.end {
		next, ok := c.behind(g, "'")
		if !ok || next.letters == next.start {
			break
		}
		g, end = next, next.letters
	}
	return end
}

func (c *classicScan) company(g segment) int {
	next, ok := c.behind(g, "&@")
	if !ok || g.letters < g.end || next.letters == next.start {
		return 0
	}
	return next.letters
}

// acronym and dotted end with a dot.
func (c *classicScan) acronym(g segment) int {
	return c.dots(g, func(g segment) bool { return g.one && g.letters == g.end })
}

func (c *classicScan) dotted(g segment) int {
	return c.dots(g, func(segment) bool { return true })
}

func (c *classicScan) dots(g segment, fits func(segment) bool) (end int) {
	for n, ok := 0, true; ok && fits(g) && g.end < len(c.text) && c.text[g.end] == '.'; n++ {
		if n > 0 {
			end = g.end + 1
		}
		g, ok = c.segment(g.end + 1)
	}
	return end
}

func (c *classicScan) host(g segment) (end int) {
	for {
		next, ok := c.behind(g, ".")
		if !ok {
			return end
		}
		g, end = next, next.end
	}
}

func (c *classicScan) address(g segment) int {
	if g.end <= c.chainEnd {
		return c.addressEnd
	}
	for {
		next, ok := c.behind(g, "._-")
		if !ok {
			break
		}
		g = next
	}
	c.chainEnd, c.addressEnd = g.end, 0
	host, ok := c.behind(g, "@")
	for ok {
		if host, ok = c.behind(host, ".-"); ok {
			c.addressEnd = host.end
		}
	}
	return c.addressEnd
}

// number looks for segments of which the even or the odd ones have digits.
func (c *classicScan) number(g segment) int {
	return max(c.alternating(g, 0), c.alternating(g, 1))
}

// alternating is the end of two or more segments of which those with a number of a parity
// have digits, and are plain but for the last one, of which the plain part is enough.
func (c *classicScan) alternating(g segment, parity int) (end int) {
	for n, ok := 0, true; ok; n++ {
		last := g.end
		if n%2 == parity {
			if !g.digit {
				return end
			}
			last = g.plain
		}
		if n > 0 {
			end = last
		}
		if last < g.end {
			return end
		}
		g, ok = c.behind(g, "_-/.,")
	}
	return end
}
