package analysis

import "slices"

// estonianStem takes what emphasizes away, and then the ending of a verb or those of a noun.
// Some verbs have stems of their own.
func estonianStem(t stemTable, word []rune) []rune {
	if stem, to, ok := t["verb_exceptions"].match(word, regions{}); ok && len(stem) == 0 {
		return slices.Clone(to)
	}
	w := estonian{t, word, usualRegions(word, estonianVowel)}
	w.step("emphasis", func(stem []rune, ending string) bool {
		switch {
		case len(stem) < 4:
			return false
		case ending == "ki":
			return lastIn(stem, "kptgbdshfšzž")
		}
		return lastIn(stem, "cjlmnqrvwxaeiouõäöü") && !w.long(stem)
	})
	if !w.verb() {
		w.noun()
	}
	if n := len(w.word); n > 2 && estonianVowel(w.word[n-1]) && endsInOne(w.word[:n-1], "kk", "pp", "tt") {
		w.word = append(w.word[:n-2], w.word[n-1])
	}
	return w.word
}

type estonian struct {
	table stemTable
	word  []rune
	at    regions
}

var estonianVowel = oneOf("aeiouõäöü")

// long tells whether a word ends in a vowel twice.
func (w *estonian) long(stem []rune) bool {
	n := len(stem)
	return n > 1 && estonianVowel(stem[n-1]) && stem[n-1] == stem[n-2]
}

// voiced tells whether endings of cases may stand behind a stem.
func (w *estonian) voiced(stem []rune, _ string) bool { return lastIn(stem, "aeiuo") || w.long(stem) }

// step applies a step if its ending fits, and tells whether it did.
func (w *estonian) step(name string, fits func(stem []rune, ending string) bool) bool {
	stem, to, ok := w.table[name].match(w.word, w.at)
	if ok = ok && (fits == nil || fits(stem, string(w.word[len(stem):]))); ok {
		w.word = append(stem, to...)
	}
	return ok
}

func (w *estonian) verb() bool {
	return w.step("verb", func(stem []rune, ending string) bool {
		return !slices.Contains([]string{"me", "da", "n", "b"}, ending) || lastIn(stem, "aeiouõäöü")
	})
}

func (w *estonian) noun() {
	w.step("special_noun_endings", nil)
	w.step("case_ending", w.voiced)
	w.plural()
	w.step("degrees", func(stem []rune, ending string) bool { return ending == "ma" || lastIn(stem, "aeiuo") })
	w.step("i_plural", func(stem []rune, _ string) bool { return lastIn(stem, "aeiuo") })
	w.step("nu", nil)
}

func (w *estonian) plural() {
	w.step("plural_three_first_cases", func(stem []rune, ending string) bool {
		switch ending {
		case "sid":
			return !w.long(stem)
		case "de", "d":
			return w.voiced(stem, ending)
		case "te":
			w.pluralTe(stem)
			return false
		}
		return true
	})
}

// pluralTe is about a word that ends in te, and what is before that.
func (w *estonian) pluralTe(stem []rune) {
	switch {
	case len(stem) >= 4 && endsInOne(stem, "mis", "las", "lis"):
		w.word = append(stem, 'e')
	case endsInOne(stem, "t"):
	case len(stem) >= 4:
		w.word = stem
	default:
		w.word = append(stem, 't')
	}
}
