package analysis

import (
	"slices"
	"strings"
)

// indonesianStem is after "A Study of Stemming Effects on Information Retrieval in Bahasa
// Indonesia" (Tala): particles, possessives, prefixes and suffixes go as long as the word
// has more than two vowels, each of which counts for one.
func indonesianStem(word []rune) []rune {
	w := indonesian{word: word}
	for _, r := range word {
		if isIndonesianVowel(r) {
			w.syllables++
		}
	}
	w.try(func() bool { return w.suffix("kah", "lah", "pun") })
	w.try(func() bool { return w.suffix("ku", "mu", "nya") })
	if w.try(w.firstPrefix) {
		if w.try(w.derivation) {
			w.try(w.secondPrefix)
		}
	} else {
		w.try(w.secondPrefix)
		w.try(w.derivation)
	}
	return w.word
}

type indonesian struct {
	word      []rune
	syllables int
	gone      string // the kind of prefix that was removed
	before    string // the one before it
}

func isIndonesianVowel(r rune) bool { return strings.ContainsRune("aeiou", r) }

// try runs a step if the word has vowels enough; each step takes one.
func (w *indonesian) try(step func() bool) bool {
	if w.syllables > 2 && step() {
		w.syllables--
		return true
	}
	return false
}

func (w *indonesian) suffix(endings ...string) bool {
	for _, ending := range endings {
		if stem, ok := cutEnding(w.word, []rune(ending)); ok {
			w.word = stem
			return true
		}
	}
	return false
}

// prefixed tells whether the word begins with a prefix, before a vowel if that is asked.
func (w *indonesian) prefixed(prefix string, beforeVowel bool) bool {
	n := len(prefix)
	return len(w.word) >= n && string(w.word[:n]) == prefix && (!beforeVowel || len(w.word) > n && isIndonesianVowel(w.word[n]))
}

// indonesianPrefixes are those of the first order; to stands for the letter that a prefix
// has swallowed.
var indonesianPrefixes = []struct {
	prefix      string
	beforeVowel bool
	to          string
	kind        string
}{
	{"meng", false, "", "meng"}, {"meny", true, "s", "meng"}, {"men", false, "", "meng"}, {"mem", false, "", "meng"},
	{"me", false, "", "meng"}, {"peng", false, "", "peng"}, {"peny", true, "s", "peng"}, {"peny", false, "", "peng"},
	{"pen", true, "t", "peng"}, {"pen", false, "", "peng"}, {"pem", false, "", "peng"}, {"di", false, "", "di"},
	{"ter", false, "", "ter"}, {"ke", false, "", "ke"},
}

func (w *indonesian) firstPrefix() bool {
	for _, p := range indonesianPrefixes {
		if w.prefixed(p.prefix, p.beforeVowel) {
			w.word = slices.Concat([]rune(p.to), w.word[len(p.prefix):])
			w.gone = p.kind
			return true
		}
	}
	return false
}

func (w *indonesian) secondPrefix() bool {
	drop, kind := 0, ""
	switch word := w.word; {
	case w.prefixed("ber", false), string(word) == "belajar":
		drop, kind = 3, "ber"
	case w.prefixed("be", false) && len(word) > 4 && !isIndonesianVowel(word[2]) && word[3] == 'e' && word[4] == 'r':
		drop, kind = 2, "ber"
	case w.prefixed("per", false), string(word) == "pelajar":
		drop = 3
	case w.prefixed("pe", false):
		drop, kind = 2, "pe"
	default:
		return false
	}
	w.word, w.before, w.gone = w.word[drop:], w.gone, kind
	return true
}

// derivation removes a suffix that the prefix before allows.
func (w *indonesian) derivation() bool {
	was := func(kinds ...string) bool { return slices.Contains(kinds, w.gone) || slices.Contains(kinds, w.before) }
	switch {
	case endsInOne(w.word, "kan") && !was("ke", "peng", "pe"):
		return w.suffix("kan")
	case endsInOne(w.word, "an") && !was("di", "meng", "ter"):
		return w.suffix("an")
	case endsInOne(w.word, "i") && !endsInOne(w.word, "si") && !was("ber", "ke", "peng"):
		return w.suffix("i")
	}
	return false
}
