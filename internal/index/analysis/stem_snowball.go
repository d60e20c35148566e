package analysis

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/german"
)

// Stemmers of the Snowball project that its Go code has not, after their descriptions.

// basqueStem takes endings of verbs, nouns and adjectives away. An ending that another word
// takes the place of is not looked at again, but what is before it is.
func basqueStem(t stemTable, word []rune) []rune {
	at := usualRegions(word, oneOf("aeiou"))
	at[regionV] = basqueRegion(word, oneOf("aeiou"))
	var done []rune
	for _, step := range []string{"aditzak", "izenak"} {
		for {
			stem, to, ok := t[step].match(word, at)
			if !ok {
				break
			}
			word, done = stem, append(append([]rune{}, to...), done...)
		}
	}
	word, _ = t.apply("adjetiboak", word, at)
	return append(word, done...)
}

// basqueRegion is where RV begins.
func basqueRegion(word []rune, vowel func(rune) bool) int {
	if len(word) < 2 {
		return len(word)
	}
	p := -1
	switch {
	case vowel(word[0]) && !vowel(word[1]), !vowel(word[0]) && !vowel(word[1]):
		p = after(word, 2, vowel)
	case vowel(word[0]):
		p = after(word, 2, not(vowel))
	case len(word) > 2:
		p = 3
	}
	if p < 0 {
		return len(word)
	}
	return p
}

// catalanStem takes pronouns and endings away, and then accents.
func catalanStem(t stemTable, word []rune) []rune {
	at := usualRegions(word, oneOf("aeiouáàéèíïóòúü"))
	word, _ = t.apply("attached_pronoun", word, at)
	word, done := t.apply("standard_suffix", word, at)
	if !done {
		word, _ = t.apply("verb_suffix", word, at)
	}
	word, _ = t.apply("residual_suffix", word, at)
	return letters(word, "áàéèíìóòúüï·", "aaeeiioouui.")
}

// lithuanianStem takes an ending away, and then all that looks like another one.
func lithuanianStem(t stemTable, word []rune) []rune {
	vowel := oneOf("aeiyouąęįųėū")
	from := 0
	if len(word) > 6 && word[0] == 'a' {
		from = 1
	}
	at := regions{0, len(word)}
	if p := after(word, after(word, from, vowel), not(vowel)); p >= 0 {
		at[region1] = p
	}
	word, _ = t.apply("fix_conflicts", word, at)
	word, _ = t.apply("step1", word, at)
	word, _ = t.apply("fix_chdz", word, at)
	for done := true; done; {
		word, done = t.apply("step2", word, at)
	}
	word, _ = t.apply("fix_chdz", word, at)
	word, _ = t.apply("fix_gd", word, at)
	return word
}

// armenianStem takes endings away behind the first vowel.
func armenianStem(t stemTable, word []rune) []rune {
	vowel := oneOf("աէիօւեոը")
	n := len(word)
	at := regions{0, n, n, n}
	if p := after(word, 0, vowel); p >= 0 {
		at[regionV] = p
		if p = after(word, after(word, after(word, p, not(vowel)), vowel), not(vowel)); p >= 0 {
			at[region2] = p
		}
	}
	for _, step := range []string{"ending", "verb", "adjective", "noun"} {
		word, _ = t.apply(step, word, at)
	}
	return word
}

// german2Stem is the German stemmer that knows ae, oe and ue.
func german2Stem(s *stream, term []byte) []byte {
	return snowball(german.Stem)(s, []byte(string(german2Prelude([]rune(string(term))))))
}

// german2Prelude writes ae, oe and ue as ä, ö and ü, but behind qu, and where u stands
// between vowels; the rest is the German stemmer.
func german2Prelude(word []rune) []rune {
	vowel := oneOf("aeiouyäöü")
	for i := 1; i+1 < len(word); i++ {
		if (word[i] == 'u' || word[i] == 'y') && vowel(word[i-1]) && vowel(word[i+1]) {
			word[i] -= 'a' - 'A'
		}
	}
	var out []rune
	for i := 0; i < len(word); i++ {
		pair := ""
		if i+1 < len(word) {
			pair = string(word[i : i+2])
		}
		switch {
		case word[i] == 'ß':
			out = append(out, 's', 's')
		case pair == "ae" || pair == "oe" || pair == "ue":
			out = append(out, map[rune]rune{'a': 'ä', 'o': 'ö', 'u': 'ü'}[word[i]])
			i++
		case pair == "qu": // with two letters behind it, or as much as there is
			out = append(out, word[i:min(i+4, len(word))]...)
			i += 3
		default:
			out = append(out, word[i])
		}
	}
	return out
}

// dutchStem hides letters of more than one byte from the stemmer, which counts bytes where
// a word begins, but those that it knows. Of these è is left, which is an a there.
func dutchStem(s *stream, term []byte) []byte {
	var hidden []rune
	shown := bytes.Map(func(r rune) rune {
		if r < utf8.RuneSelf && r != 1 || strings.ContainsRune("áäéëíïóöúüè", r) {
			return r
		}
		hidden = append(hidden, r)
		return 1
	}, term)
	rest, grave := bytes.CutPrefix(shown, []byte("è"))
	if next, _ := utf8.DecodeRune(rest); grave && !strings.ContainsRune("aeiouyèáäéëíïóöúü", next) {
		out := snowball(dutch.Stem)(s, append([]byte("a"), rest...))
		shown = append([]byte("è"), out[1:]...)
	} else {
		shown = snowball(dutch.Stem)(s, shown)
	}
	if len(hidden) == 0 {
		return shown
	}
	return bytes.Map(func(r rune) rune {
		if r == 1 {
			r, hidden = hidden[0], hidden[1:]
		}
		return r
	}, shown)
}
