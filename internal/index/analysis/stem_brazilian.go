package analysis

import (
	"slices"
	"strings"
	"unicode"
)

// brazilianStem removes endings from words of three to 29 letters. Its regions stay those of
// the whole word, also when an ending is gone.
func brazilianStem(t stemTable, word []rune) []rune {
	whole := letters(lowerWord(word), "áâãéêíóôõúüçñ", "aaaeeiooouucn")
	if len(whole) >= 2 && oneOf(`"'-,;.?!`)(whole[0]) {
		whole = whole[1:]
	}
	if n := len(whole); n >= 2 && oneOf(`"'-,;.?!`)(whole[n-1]) {
		whole = whole[:n-1]
	}
	switch {
	case len(whole) >= 30 || len(whole) <= 2:
		return word
	case slices.ContainsFunc(whole, not(unicode.IsLetter)):
		return whole
	}
	at := brazilianRegions(whole)
	rv := whole[min(len(whole), at[regionV]):]
	stem, altered := t.apply("1", slices.Clone(whole), at)
	if !altered {
		stem, altered = t.apply("2", stem, at)
	}
	drop := func(ending string) {
		if endsInOne(stem, ending) {
			stem = stem[:len(stem)-len(ending)]
		}
	}
	if altered {
		if endsInOne(rv, "ci") {
			drop("i")
		}
	} else {
		for _, ending := range []string{"os", "a", "i", "o"} {
			if endsInOne(rv, ending) {
				drop(ending)
				break
			}
		}
	}
	if endsInOne(rv, "e") {
		drop("e")
		if endsInOne(rv, "gue") {
			drop("u")
		} else if endsInOne(rv, "cie") {
			drop("i")
		}
	}
	return stem
}

// brazilianRegions are Snowball's of Portuguese, but that the last letter is never looked at.
func brazilianRegions(word []rune) regions {
	n := len(word)
	vowel := oneOf("aeiou")
	begun := word[:n-1]
	at := regions{0, n + 1, n + 1, n + 1}
	from := func(word []rune) int { return after(word, after(word, 0, vowel), not(vowel)) }
	if p := from(begun); p >= 0 {
		at[region1] = p
		if p < n-1 {
			if q := from(begun[p:]); q >= 0 {
				at[region2] = p + q
			}
		}
	}
	p := -1
	if !vowel(word[1]) {
		p = after(begun, 2, vowel)
	} else if vowel(word[0]) {
		p = after(begun, 2, not(vowel))
	}
	if p >= 0 {
		at[regionV] = p
		return at
	}
	if n > 3 {
		at[regionV] = 3
	}
	return at
}

// lowerWord is a word in lower case, with the two letters that need more than a table: a
// sigma at the end, and İ, which becomes two.
func lowerWord(word []rune) []rune {
	out := make([]rune, 0, len(word))
	for i, r := range word {
		switch {
		case r == 'İ':
			out = append(out, 'i', '\u0307')
		case r == 'Σ' && casedAt(word, i, -1) && !casedAt(word, i, 1):
			out = append(out, 'ς')
		default:
			out = append(out, unicode.ToLower(r))
		}
	}
	return out
}

// casedAt tells whether the next letter in a direction has case; marks and what joins
// words are skipped.
func casedAt(word []rune, i, step int) bool {
	for i += step; i >= 0 && i < len(word); i += step {
		r := word[i]
		if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk) || strings.ContainsRune("'.:·‘’․‧︓﹒﹕＇．：", r) {
			continue
		}
		return unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r)
	}
	return false
}
