package analysis

import "strings"

// frenchStem is Snowball's, whose Go code is of a version without ë and ï.
func frenchStem(t stemTable, word []rune) []rune {
	w := french{t, frenchPrelude(word), regions{}}
	w.mark()
	if w.standard() || w.iVerb() || w.verb() {
		if n := len(w.word); lastIn(w.word, "Y") {
			w.word[n-1] = 'i'
		} else if lastIn(w.word, "ç") {
			w.word[n-1] = 'c'
		}
	} else {
		w.residual()
	}
	if endsInOne(w.word, "enn", "onn", "ett", "ell", "eill") {
		w.word = w.word[:len(w.word)-1]
	}
	i := len(w.word) - 1
	for i >= 0 && !frenchVowel(w.word[i]) {
		i--
	}
	if i >= 0 && i < len(w.word)-1 && (w.word[i] == 'é' || w.word[i] == 'è') {
		w.word[i] = 'e'
	}
	return []rune(frenchPostlude.Replace(string(w.word)))
}

var frenchPostlude = strings.NewReplacer("I", "i", "U", "u", "Y", "y", "He", "ë", "Hi", "ï", "H", "")

type french struct {
	table stemTable
	word  []rune
	at    regions
}

func frenchVowel(r rune) bool { return strings.ContainsRune("aeiouyâàëéêèïîôûù", r) }

// frenchPrelude marks letters that are no vowels where they stand.
func frenchPrelude(word []rune) []rune {
	for i := 0; i < len(word); i++ {
		vowelAt := func(i int) bool { return i < len(word) && frenchVowel(word[i]) }
		next := rune(0)
		if i+1 < len(word) {
			next = word[i+1]
		}
		switch r := word[i]; {
		case frenchVowel(r) && (next == 'u' || next == 'i') && vowelAt(i+2), frenchVowel(r) && next == 'y':
			word[i+1] -= 'a' - 'A'
			i-- // the same letter may be marked too
		case r == 'ë' || r == 'ï':
			word = append(word[:i], append([]rune{'H', map[rune]rune{'ë': 'e', 'ï': 'i'}[r]}, word[i+1:]...)...)
		case r == 'y' && vowelAt(i+1):
			word[i] = 'Y'
		case r == 'q' && next == 'u':
			word[i+1] = 'U'
		}
	}
	return word
}

func (w *french) mark() {
	word := w.word
	w.at = usualRegions(word, frenchVowel)
	switch n := len(word); {
	case n > 2 && (frenchVowel(word[0]) && frenchVowel(word[1]) || strings.Contains("par col tap", string(word[:3]))):
		w.at[regionV] = 3
	default:
		if p := after(word, 1, frenchVowel); p >= 0 {
			w.at[regionV] = p
		}
	}
}

// in tells whether a stem ends in a region.
func (w *french) in(region int) bool { return len(w.word) >= w.at[region] }

// drop removes an ending; it tells whether the word had it.
func (w *french) drop(ending string) bool {
	stem, ok := cutEnding(w.word, []rune(ending))
	if ok {
		w.word = stem
	}
	return ok
}

// dropOr removes an ending in R2, or else puts another in its place.
func (w *french) dropOr(ending, other string) bool {
	if !w.drop(ending) {
		return false
	}
	if !w.in(region2) {
		w.word = append(w.word, []rune(other)...)
		return false
	}
	return true
}

func (w *french) standard() bool {
	stem, to, ok := w.table["standard"].match(w.word, w.at)
	if !ok {
		return false
	}
	whole := w.word
	ending := string(whole[len(stem):])
	switch ending {
	case "issement", "issements":
		if len(stem) == 0 || frenchVowel(stem[len(stem)-1]) {
			return false
		}
	case "ment", "ments":
		if n := len(stem); n > 0 && frenchVowel(stem[n-1]) && n-1 >= w.at[regionV] {
			w.word = stem
		}
		return false
	}
	w.word = append(stem, to...)
	switch ending {
	case "amment", "emment":
		return false
	case "atrice", "ateur", "ation", "atrices", "ateurs", "ations":
		w.dropOr("ic", "iqU")
	case "ement", "ements":
		w.ement()
	case "ité", "ités":
		w.ite()
	case "if", "ive", "ifs", "ives":
		if w.dropOr("at", "at") {
			w.dropOr("ic", "iqU")
		}
	case "euse", "euses":
		return w.eux(ending)
	}
	return true
}

// eux is about what is left when an ending like euse is gone.
func (w *french) eux(ending string) bool {
	if w.in(region2) {
		return true
	}
	if w.in(region1) {
		w.word = append(w.word, []rune("eux")...)
		return true
	}
	w.word = append(w.word, []rune(ending)...)
	return false
}

func (w *french) ement() {
	stem, to, ok := w.table["ement"].match(w.word, w.at)
	if !ok {
		return
	}
	ending := string(w.word[len(stem):])
	w.word = append(stem, to...)
	switch ending {
	case "iv":
		w.dropOr("at", "at")
	case "eus":
		w.eux(ending)
	}
}

func (w *french) ite() {
	stem, _, ok := w.table["ite"].match(w.word, w.at)
	if !ok {
		return
	}
	ending := string(w.word[len(stem):])
	if w.word = stem; !w.in(region2) {
		w.word = append(w.word, []rune(map[string]string{"abil": "abl", "ic": "iqU"}[ending])...)
	}
}

// iVerb removes endings of verbs that begin with i, behind a letter of RV.
func (w *french) iVerb() bool {
	stem, _, ok := w.table["i_verb"].match(w.word, w.at)
	n := len(stem)
	if !ok || n <= w.at[regionV] || n == 0 || stem[n-1] == 'H' || frenchVowel(stem[n-1]) {
		return false
	}
	w.word = stem
	return true
}

func (w *french) verb() bool {
	stem, _, ok := w.table["verb"].match(w.word, w.at)
	if !ok {
		return false
	}
	a := strings.ContainsRune("aâ", w.word[len(stem)])
	if w.word = stem; a && lastIn(stem, "e") && len(stem) > w.at[regionV] {
		w.word = stem[:len(stem)-1]
	}
	return true
}

func (w *french) residual() {
	if n := len(w.word); n > 1 && w.word[n-1] == 's' && (endsInOne(w.word[:n-1], "Hi") || !oneOf("aiouès")(w.word[n-2])) {
		w.word = w.word[:n-1]
	}
	stem, to, ok := w.table["residual"].match(w.word, w.at)
	if ok && (string(w.word[len(stem):]) != "ion" || len(stem) > w.at[regionV]) {
		w.word = append(stem, to...)
	}
}
