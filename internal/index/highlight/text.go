package highlight

import (
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/index/analysis"
)

// separator stands between values.
const separator = 0

// Text is the values of a field of one document, taken apart. Immutable.
type Text struct {
	units  []uint16
	values []value
	tokens []token // of all values
	by     map[string][]int32
}

// value is where one is in the units.
type value struct{ from, to int }

// token is a word of the content.
type token struct {
	term       string
	position   int
	start, end int // units
}

// NoLimit reads all tokens.
const NoLimit = int(^uint(0) >> 1)

// Read takes values apart as the analyzer does that indexed them. Gap is how many
// positions they are apart; tokens that begin behind limit in their value are left out.
// Without an analyzer (nil) each value is one token.
func Read(values []string, a analysis.Analyzer, gap, limit int) *Text {
	t := &Text{by: map[string][]int32{}}
	position := 0
	var tokens []analysis.Token
	for i, v := range values {
		if i > 0 {
			t.units = append(t.units, separator)
		}
		from := len(t.units)
		units := t.append(v)
		t.values = append(t.values, value{from, len(t.units)})
		if a == nil {
			t.put(token{v, i, from, len(t.units)})
			continue
		}
		next := 0
		tokens, next = analysis.Continue(tokens[:0], a, []byte(v), position)
		for _, one := range tokens {
			start, end := unit(units, one.Start), unit(units, one.End)
			if start > limit {
				break
			}
			t.put(token{string(one.Term), one.Position, from + start, from + end})
		}
		position = next - a.Gap() + gap
	}
	return t
}

// Length is that of the content, in units.
func (t *Text) Length() int { return len(t.units) }

func (t *Text) put(one token) {
	t.by[one.term] = append(t.by[one.term], int32(len(t.tokens)))
	t.tokens = append(t.tokens, one)
}

// append appends the units of a value, and tells at which of them each byte is; nil when
// all characters are of ASCII.
func (t *Text) append(v string) []int32 {
	i := 0
	for i < len(v) && v[i] < utf8.RuneSelf {
		t.units = append(t.units, uint16(v[i]))
		i++
	}
	if i == len(v) {
		return nil
	}
	units := make([]int32, len(v)+1)
	for j := range i {
		units[j] = int32(j)
	}
	at := int32(i)
	for i < len(v) {
		r, n := utf8.DecodeRuneInString(v[i:])
		for j := range n {
			units[i+j] = at
		}
		i += n
		if r >= 0x10000 {
			r -= 0x10000
			t.units = append(t.units, uint16(0xd800+r>>10), uint16(0xdc00+r&0x3ff))
			at += 2
			continue
		}
		t.units = append(t.units, uint16(r))
		at++
	}
	units[len(v)] = at
	return units
}

func unit(units []int32, at int) int {
	if units == nil {
		return at
	}
	return int(units[at])
}

// characterAt is the character that begins at a unit, and its length.
func characterAt(units []uint16, i int) (rune, int) {
	u := rune(units[i])
	if u >= 0xd800 && u < 0xdc00 && i+1 < len(units) {
		if low := rune(units[i+1]); low >= 0xdc00 && low < 0xe000 {
			return 0x10000 + (u-0xd800)<<10 + low - 0xdc00, 2
		}
	}
	return u, 1
}

// valueAt is the value that holds a unit.
func (t *Text) valueAt(at int) value {
	low, high := 0, len(t.values)-1
	for low < high {
		middle := (low + high + 1) / 2
		if t.values[middle].from <= at {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return t.values[low]
}
