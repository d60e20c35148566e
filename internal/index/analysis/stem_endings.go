package analysis

import (
	"slices"
	"strconv"
)

// Stemmers of papers, with the tables of their endings.

// bulgarianStem is after "Searching Strategies for the Bulgarian Language" (Savoy).
func bulgarianStem(t stemTable, word []rune) []rune {
	if len(word) < 4 {
		return word
	}
	if stem, ok := cutEnding(word, []rune("ища")); ok && len(word) > 5 {
		return stem
	}
	word = bulgarianPlural(t, t.after(word, "article"))
	if n := len(word); n > 3 {
		if word[n-1] == 'я' {
			word = word[:n-1]
		}
		if endsInOne(word, "а", "о", "е") {
			word = word[:len(word)-1]
		}
	}
	if n := len(word); n > 4 && endsInOne(word, "ен") {
		word = append(word[:n-2], 'н')
	}
	if n := len(word); n > 5 && word[n-2] == 'ъ' {
		word = append(word[:n-2], word[n-1])
	}
	return word
}

func bulgarianPlural(t stemTable, word []rune) []rune {
	word, done := t.apply("plural", word, regions{})
	if done {
		return word
	}
	if n := len(word); n > 5 && word[n-3] == 'е' && word[n-1] == 'и' {
		word[n-3] = 'я'
		return word[:n-1]
	}
	return t.after(word, "plural_short")
}

// czechStem is after "Indexing and stemming approaches for the Czech language" (Dolamic, Savoy).
func czechStem(t stemTable, word []rune) []rune {
	word = t.after(word, "case", "possessive")
	word, done := t.apply("normal", word, regions{})
	n := len(word)
	switch {
	case done:
	case n > 1 && word[n-2] == 'e':
		word = append(word[:n-2], word[n-1])
	case n > 2 && word[n-2] == 'ů':
		word[n-2] = 'o'
	}
	return word
}

// latvianStem takes an ending away if a vowel is left, and makes what is before it hard.
func latvianStem(t stemTable, word []rune) []rune {
	vowels := 0
	for _, r := range word {
		if slices.Contains([]rune("aeiouāīēū"), r) {
			vowels++
		}
	}
	for least := min(vowels-1, 3); least >= 0; least-- {
		stem, _, ok := t[strconv.Itoa(least)].match(word, regions{})
		if !ok {
			continue
		}
		ending := string(word[len(stem):])
		if slices.Contains([]string{"iem", "us", "os", "u", "a", "i"}, ending) {
			return latvianHard(t, stem, ending[0] == 'u')
		}
		return stem
	}
	return word
}

func latvianHard(t stemTable, stem []rune, u bool) []rune {
	if u {
		if stem, ok := t.apply("soft_u", stem, regions{}); ok {
			return stem
		}
	}
	return t.after(stem, "soft")
}

// greekStem is after "Development of a Stemmer for the Greek Language" (Ntais).
func greekStem(t stemTable, word []rune) []rune {
	if len(word) < 4 {
		return word
	}
	n := len(word)
	word = t.after(word, "0", "1", "2", "3", "4", "5", "6", "7a", "7b", "8a", "8b", "9a", "9b", "10", "11",
		"12a", "12b", "13a", "13b", "14", "15", "16", "17", "18", "19", "20")
	if len(word) == n {
		word = t.after(word, "21")
	}
	return t.after(word, "22")
}

// bengaliStem takes the longest ending away.
func bengaliStem(t stemTable, word []rune) []rune { return t.after(word, "all") }

// persianStem takes endings away, each of which must leave two letters.
func persianStem(word []rune) []rune {
	for _, ending := range []string{"ات", "ان", "ترين", "تر", "يي", "ي", "ها", "\u200c"} {
		if stem, ok := cutEnding(word, []rune(ending)); ok && len(stem) >= 2 {
			word = stem
		}
	}
	return word
}

// galicianStem is after "Regras do lematizador para o galego".
func galicianStem(t stemTable, word []rune) []rune {
	word = t.after(word, "plural", "unification", "adverb")
	for n := -1; n != len(word); {
		n = len(word)
		word = t.after(word, "augmentative")
	}
	n := len(word)
	if word = t.after(word, "noun"); len(word) == n {
		word = t.after(word, "verb")
	}
	return letters(t.after(word, "vowel"), "áéêíóú", "aeeiou")
}

// portugueseStem is RSLP.
func portugueseStem(t stemTable, word []rune) []rune {
	word = t.after(word, "plural", "adverb", "feminine", "augmentative")
	n := len(word)
	if word = t.after(word, "noun"); len(word) == n {
		if word = t.after(word, "verb"); len(word) == n {
			word = t.after(word, "vowel")
		}
	}
	return letters(word, "àáâãäåçèéêëìíîïñòóôõöùúûüýÿ", "aaaaaaceeeeiiiinooooouuuuyy")
}

// plurals is the first step of RSLP.
func plurals(t stemTable, word []rune) []rune { return t.after(word, "plural") }
