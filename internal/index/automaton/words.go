package automaton

import (
	"unicode"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// MaxEffort is the server's max_determinized_states where a query does not tell it.
const MaxEffort = 10000

// text adds a path of characters from a state, and gives its end.
func (a *nfa) text(from int, text string, fold bool) int {
	for _, r := range text {
		to := a.add()
		a.link(from, r, r, to)
		if other := otherCase(r); fold && other != r {
			a.link(from, other, other, to)
		}
		from = to
	}
	return from
}

// otherCase is a letter of ASCII in the other case, and any other character itself.
func otherCase(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z':
		return r - 'a' + 'A'
	case 'A' <= r && r <= 'Z':
		return r - 'A' + 'a'
	}
	return r
}

// Some of what follows makes automata whose texts all begin with a prefix, before what is
// asked for.

// Prefix accepts what begins with a text.
func Prefix(prefix, text string, fold bool) (*Words, error) {
	a := &nfa{}
	last := a.text(a.text(a.add(), prefix, false), text, fold)
	a.link(last, 0, unicode.MaxRune, last)
	a.value[last] = 1
	d, err := a.determine(MaxEffort + len(prefix) + len(text))
	if err != nil {
		return nil, err
	}
	return newWords(d), nil
}

// Folded accepts a text, whatever the case of its letters of ASCII.
func Folded(text string) (*Words, error) {
	a := &nfa{}
	a.value[a.text(a.add(), text, true)] = 1
	d, err := a.determine(MaxEffort + len(text))
	if err != nil {
		return nil, err
	}
	return newWords(d), nil
}

// Wildcard accepts what a pattern means: * matches any characters, ? one, and
// \ takes the meaning of the next one away.
func Wildcard(prefix, pattern string, fold bool) (*Words, error) {
	a := &nfa{}
	at := a.text(a.add(), prefix, false)
	characters, stars := utf8.RuneCountInString(prefix), 0
	for i := 0; i < len(pattern); {
		r, n := utf8.DecodeRuneInString(pattern[i:])
		i += n
		switch {
		case r == '*':
			to := a.add()
			a.skip(at, to)
			a.link(to, 0, unicode.MaxRune, to)
			at = to
			stars++
			continue
		case r == '?':
			to := a.add()
			a.link(at, 0, unicode.MaxRune, to)
			at = to
			characters++
			continue
		case r == '\\' && i < len(pattern):
			r, n = utf8.DecodeRuneInString(pattern[i:])
			i += n
		}
		at = a.text(at, string(r), fold)
		characters++
	}
	a.value[at] = 1
	d, err := a.determine(MaxEffort)
	if err != nil { // with the sizes of Lucene's automaton of a pattern
		return nil, exception.New(exception.TooComplex, "Determinizing automaton with %d states and %d transitions would require more than %d effort.",
			2*characters+stars, 2*(characters+stars)-1, MaxEffort)
	}
	return newWords(d), nil
}

// Fuzzy accepts texts that differ from one by at most so many edits: characters
// that are added, left out or replaced, or, if told so, two neighbours that are swapped.
// The first characters, same of them, must be the same. The value of an end is one more
// than the least number of edits.
func Fuzzy(text string, edits, same int, transposing bool) (*Words, error) {
	runes := []rune(text)
	same = min(same, len(runes))
	a := &nfa{}
	start := a.text(a.add(), string(runes[:same]), false)
	rest := runes[same:]
	// places[e][i]: e edits were made, and rest[:i] was seen
	places := make([][]int, edits+1)
	for e := range places {
		places[e] = make([]int, len(rest)+1)
		for i := range places[e] {
			if places[e][i] = start; e > 0 || i > 0 {
				places[e][i] = a.add()
			}
		}
		a.value[places[e][len(rest)]] = uint8(e + 1)
	}
	for e := range places {
		for i, from := range places[e] {
			if i < len(rest) {
				a.link(from, rest[i], rest[i], places[e][i+1])
			}
			if e == edits {
				continue
			}
			a.link(from, 0, unicode.MaxRune, places[e+1][i])
			if i < len(rest) {
				a.link(from, 0, unicode.MaxRune, places[e+1][i+1])
				a.skip(from, places[e+1][i+1])
			}
			if transposing && i+1 < len(rest) && rest[i] != rest[i+1] {
				between := a.add()
				a.link(from, rest[i+1], rest[i+1], between)
				a.link(between, rest[i], rest[i], places[e+1][i+2])
			}
		}
	}
	d, err := a.determine(MaxEffort + 10*len(runes))
	if err != nil {
		return nil, exception.New(exception.TooComplex, "Determinizing %s would require more than %d effort.", text, MaxEffort)
	}
	return newWords(d), nil
}
