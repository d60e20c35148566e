package analysis

import (
	"slices"
	"strings"
)

// finnishStem is Snowball's, whose Go code is of a version that took endings behind digits
// and letters of other scripts away.
func finnishStem(t stemTable, word []rune) []rune {
	w := finnish{t, word, finnishRegions(word)}
	w.step("particle_etc", func(stem []rune, ending string) bool {
		if ending == "sti" {
			return len(stem) >= w.at[region2]
		}
		return lastIn(stem, "aeiouyäönt")
	})
	w.possessive()
	removed := w.caseEnding()
	w.step("other_endings", func(stem []rune, ending string) bool {
		return strings.HasPrefix(ending, "i") || strings.HasPrefix(ending, "e") || !endsInOne(stem, "po")
	})
	if removed {
		w.step("i_plural", nil)
	} else {
		w.pluralT()
	}
	return w.tidy()
}

type finnish struct {
	table stemTable
	word  []rune
	at    regions
}

const finnishConsonants = "bcdfghjklmnpqrstvwxz"

func finnishVowel(r rune) bool { return strings.ContainsRune("aeiouyäö", r) }

// finnishRegions needs something behind the vowels: without, there is no region.
func finnishRegions(word []rune) regions { return usualRegions(word, finnishVowel) }

func lastIn(stem []rune, set string) bool {
	return len(stem) > 0 && strings.ContainsRune(set, stem[len(stem)-1])
}

// long tells whether a word ends in a vowel twice.
func (w *finnish) long(stem []rune) bool {
	return endsInOne(stem, "aa", "ee", "ii", "oo", "uu", "ää", "öö")
}

// step applies a step if its ending fits.
func (w *finnish) step(name string, fits func(stem []rune, ending string) bool) {
	stem, _, ok := w.table[name].match(w.word, w.at)
	if ok && (fits == nil || fits(stem, string(w.word[len(stem):]))) {
		w.word = stem
	}
}

func (w *finnish) possessive() {
	w.step("possessive", func(stem []rune, ending string) bool {
		switch ending {
		case "si":
			return !endsInOne(stem, "k")
		case "an":
			return endsInOne(stem, "ta", "ssa", "sta", "lla", "lta", "na")
		case "än":
			return endsInOne(stem, "tä", "ssä", "stä", "llä", "ltä", "nä")
		case "en":
			return endsInOne(stem, "lle", "ine")
		case "ni":
			if endsInOne(stem, "kse") {
				stem[len(stem)-1] = 'i'
			}
		}
		return true
	})
}

// caseEnding removes a case. Where the longest ending needs letters before it that are not
// there, a shorter one is looked for.
func (w *finnish) caseEnding() bool {
	stem, _, ok := w.table["case_ending"].match(w.word, w.at)
	if !ok {
		return false
	}
	n := len(stem)
	fits := true
	switch ending := string(w.word[n:]); ending {
	case "han", "hen", "hin", "hon", "hän", "hön":
		fits = lastIn(stem, string([]rune(ending)[1]))
	case "siin", "den", "tten":
		if !w.pluralVowels(stem) {
			stem = w.caseN()
		}
	case "seen":
		if !w.long(stem) {
			stem = w.caseN()
		}
	case "n":
		stem = w.caseN()
	case "a", "ä":
		fits = n > 1 && finnishVowel(stem[n-1]) && lastIn(stem[:n-1], finnishConsonants)
	case "tta", "ttä":
		fits = lastIn(stem, "e")
	}
	if fits {
		w.word = stem
	}
	return fits
}

// pluralVowels tells whether a stem ends in a vowel and i.
func (w *finnish) pluralVowels(stem []rune) bool {
	n := len(stem)
	return n > 1 && stem[n-1] == 'i' && lastIn(stem[:n-1], "aeiouäö")
}

// caseN removes n, and with it the second of two vowels.
func (w *finnish) caseN() []rune {
	stem := w.word[:len(w.word)-1]
	if w.long(stem) || endsInOne(stem, "ie") {
		stem = stem[:len(stem)-1]
	}
	return stem
}

func (w *finnish) pluralT() {
	if n := len(w.word); n < 2 || n-2 < w.at[region1] || w.word[n-1] != 't' || !finnishVowel(w.word[n-2]) {
		return
	}
	w.word = w.word[:len(w.word)-1]
	w.step("t_plural", func(stem []rune, ending string) bool {
		return ending == "imma" || !endsInOne(stem, "po")
	})
}

// tidy removes what is doubled or left over at the end.
func (w *finnish) tidy() []rune {
	p, word := w.at[region1], w.word
	two := func() bool { return len(word)-2 >= p } // letters behind p
	if two() && w.long(word) {
		word = word[:len(word)-1]
	}
	if n := len(word); two() && lastIn(word, "aäei") && lastIn(word[:n-1], finnishConsonants) {
		word = word[:n-1]
	}
	if two() && endsInOne(word, "oj", "uj") {
		word = word[:len(word)-1]
	}
	if two() && endsInOne(word, "jo") {
		word = word[:len(word)-1]
	}
	// The last consonant, behind vowels or not, loses its double.
	i := len(word) - 1
	for i >= 0 && finnishVowel(word[i]) {
		i--
	}
	if i > 0 && word[i] == word[i-1] && strings.ContainsRune(finnishConsonants, word[i]) {
		word = slices.Delete(word, i, i+1)
	}
	return word
}
