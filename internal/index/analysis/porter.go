package analysis

import (
	"bytes"

	library "github.com/blevesearch/go-porterstemmer"
)

// porterStem is the stemmer of M. F. Porter, "An algorithm for suffix stripping", Program
// 14 (1980), with the two departures of its author: -bli and -logi. Terms of ASCII, which
// are nearly all, are done here without allocation; the others by a library.
func porterStem(s *stream, term []byte) []byte {
	if len(term) < 3 || string(term) == "eed" {
		return term
	}
	if !isASCII(term) {
		return []byte(string(library.StemWithoutLowerCasing(bytes.Runes(term))))
	}
	w := porterWord(append(s.room(len(term)+1), term...))
	w = w.plural()
	w = w.past()
	if stem := w.without("y"); stem != nil && stem.hasVowel() {
		w[len(w)-1] = 'i'
	}
	w = w.replace(porterStep2, 0)
	w = w.replace(porterStep3, 0)
	w = w.drop()
	return w.final()
}

// porterWord is a word of which the stem is sought.
type porterWord []byte

// consonant tells whether a letter is one: y is, but after a consonant.
func (w porterWord) consonant(i int) bool {
	switch w[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return i == 0 || !w.consonant(i-1)
	}
	return true
}

// measure is how often a vowel is followed by a consonant: m of the paper.
func (w porterWord) measure() int {
	m, vowel := 0, false
	for i, letter := range w {
		consonant := letter != 'a' && letter != 'e' && letter != 'i' && letter != 'o' && letter != 'u'
		if letter == 'y' {
			consonant = i == 0 || vowel
		}
		if consonant && vowel {
			m++
		}
		vowel = !consonant
	}
	return m
}

func (w porterWord) hasVowel() bool {
	for i := range w {
		if !w.consonant(i) {
			return true
		}
	}
	return false
}

// doubled tells whether the word ends with two equal consonants: *d of the paper.
func (w porterWord) doubled() bool {
	n := len(w)
	return n > 1 && w[n-1] == w[n-2] && w.consonant(n-1)
}

// short tells whether it ends with consonant, vowel, consonant, the last one not w, x or
// y: *o of the paper.
func (w porterWord) short() bool {
	n := len(w)
	if n < 3 || !w.consonant(n-1) || w.consonant(n-2) || !w.consonant(n-3) {
		return false
	}
	return w[n-1] != 'w' && w[n-1] != 'x' && w[n-1] != 'y'
}

// without is the word without an ending, or nil.
func (w porterWord) without(ending string) porterWord {
	n := len(w) - len(ending)
	if n < 0 || string(w[n:]) != ending {
		return nil
	}
	if n == 0 {
		return w[:0:0]
	}
	return w[:n]
}

// plural is step 1a.
func (w porterWord) plural() porterWord {
	n := len(w)
	if w[n-1] != 's' {
		return w
	}
	switch {
	case w.without("sses") != nil, w.without("ies") != nil:
		return w[:n-2]
	case w[n-2] != 's':
		return w[:n-1]
	}
	return w
}

// past is step 1b.
func (w porterWord) past() porterWord {
	if stem := w.without("eed"); stem != nil {
		if stem.measure() > 0 {
			return w[:len(w)-1]
		}
		return w
	}
	stem := w.without("ed")
	if stem == nil {
		stem = w.without("ing")
	}
	if stem == nil || !stem.hasVowel() {
		return w
	}
	n := len(stem)
	switch {
	case stem.without("at") != nil, stem.without("bl") != nil, stem.without("iz") != nil:
		return append(stem, 'e')
	case stem.doubled() && stem[n-1] != 'l' && stem[n-1] != 's' && stem[n-1] != 'z':
		return stem[:n-1]
	case !stem.doubled() && stem.measure() == 1 && stem.short():
		return append(stem, 'e')
	}
	return stem
}

// porterRule puts one ending in the place of another.
type porterRule struct{ from, to string }

// The rules by the last letter but one, of which the first that fits is taken.
var (
	porterStep2 = byLetter([]porterRule{
		{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"}, {"bli", "ble"},
		{"alli", "al"}, {"entli", "ent"}, {"eli", "e"}, {"ousli", "ous"}, {"ization", "ize"}, {"ation", "ate"}, {"ator", "ate"},
		{"alism", "al"}, {"iveness", "ive"}, {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"}, {"iviti", "ive"},
		{"biliti", "ble"}, {"logi", "log"},
	})
	porterStep3 = byLetter([]porterRule{
		{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""},
	})
	porterStep4 = byLetter([]porterRule{
		{"al", ""}, {"ance", ""}, {"ence", ""}, {"er", ""}, {"ic", ""}, {"able", ""}, {"ible", ""}, {"ant", ""}, {"ement", ""},
		{"ment", ""}, {"ent", ""}, {"ion", ""}, {"ou", ""}, {"ism", ""}, {"ate", ""}, {"iti", ""}, {"ous", ""}, {"ive", ""}, {"ize", ""},
	})
)

func byLetter(rules []porterRule) *[256][]porterRule {
	var table [256][]porterRule
	for _, rule := range rules {
		letter := rule.from[len(rule.from)-2]
		table[letter] = append(table[letter], rule)
	}
	return &table
}

// replace applies the rule that fits, if what is left has a greater measure.
func (w porterWord) replace(rules *[256][]porterRule, least int) porterWord {
	if len(w) < 2 {
		return w
	}
	for _, rule := range rules[w[len(w)-2]] {
		stem := w.without(rule.from)
		if stem == nil {
			continue
		}
		if stem.measure() > least {
			return append(stem, rule.to...)
		}
		break
	}
	return w
}

// drop is step 4.
func (w porterWord) drop() porterWord {
	if stem := w.without("ion"); stem != nil && (len(stem) == 0 || stem[len(stem)-1] != 's' && stem[len(stem)-1] != 't') {
		return w
	}
	return w.replace(porterStep4, 1)
}

// final is step 5.
func (w porterWord) final() porterWord {
	if stem := w.without("e"); stem != nil {
		if m := stem.measure(); m > 1 || m == 1 && !stem.short() {
			w = stem
		}
	}
	if n := len(w); n > 0 && w[n-1] == 'l' && w.doubled() && w.measure() > 1 {
		w = w[:n-1]
	}
	return w
}
