package analysis

import "slices"

// Light and minimal stemmers, whose endings stand in stems/light.txt.

// lightStep is a stemmer that is steps of the table alone.
func lightStep(steps ...string) stemmer {
	return byTable("light", func(t stemTable, word []rune) []rune { return t.after(word, steps...) })
}

func lightFinnish(t stemTable, word []rune) []rune {
	if len(word) < 4 {
		return word
	}
	word = letters(word, "äåö", "aao")
	for again := true; again; {
		word, again = t.apply("fi_particle", word, regions{})
	}
	word = t.after(word, "fi_dell", "fi_2", "fi_3", "fi_hde", "fi_4", "fi_5")
	if len(word) <= 4 {
		return word
	}
	if word = t.after(word, "fi_i"); len(word) > 4 {
		last := rune(0)
		word = slices.DeleteFunc(word, func(r rune) bool {
			double := r == last && (r == 'k' || r == 'p' || r == 't')
			last = r
			return double
		})
	}
	return word
}

func lightHungarian(t stemTable, word []rune) []rune {
	word = letters(word, "áëéíóőõöúűũûü", "aeeioooouuuuu")
	return t.after(lightHungarianCase(t, word), "hu_possessive", "hu_plural", "hu_normal")
}

// lightHungarianCase also takes a doubled consonant before al, el, a and e away with them.
func lightHungarianCase(t stemTable, word []rune) []rune {
	double := func(n int) bool { return !oneOf("aeiouy")(word[n-1]) && word[n-1] == word[n-2] }
	word, done := t.apply("hu_case", word, regions{})
	if done {
		return word
	}
	if n := len(word); n > 5 && endsInOne(word, "al", "el") && double(n-2) {
		return word[:n-3]
	}
	if word, done = t.apply("hu_case_short", word, regions{}); done {
		return word
	}
	if n := len(word); n > 4 && endsInOne(word, "a", "e") && double(n-1) {
		return word[:n-2]
	}
	return word
}

func minimalGerman(t stemTable, word []rune) []rune {
	if len(word) < 5 {
		return word
	}
	return t.after(letters(word, "äöü", "aou"), "de_minimal")
}
