package analysis

import (
	"slices"
	"strings"
	"unicode"
)

// caumannsStem is filter german_stem: "A Fast and Simple Stemming Algorithm for German
// Words" (Caumanns). Groups of letters count for one, and are written with these marks
// while endings go; the second of two equal letters is *.
func caumannsStem(word []rune) []rune {
	word = lowerWord(word)
	if slices.ContainsFunc(word, not(unicode.IsLetter)) {
		return word
	}
	word, gone := caumannsMarks(word)
	word = caumannsStrip(word, gone)
	if len(word) > 5 && endsInOne(word, "erin*") {
		word = caumannsStrip(word[:len(word)-1], gone)
	}
	if n := len(word); n > 0 && word[n-1] == 'z' {
		word[n-1] = 'x'
	}
	var out []rune
	for i, r := range word {
		group := strings.IndexRune(caumannsSigns, r)
		switch {
		case r == '*' && i > 0:
			out = append(out, out[len(out)-1])
		case group >= 0:
			out = append(out, []rune(caumannsGroups[slices.Index([]rune(caumannsSigns), r)])...)
		default:
			out = append(out, r)
		}
	}
	text := string(out)
	if at := strings.Index(text, "gege"); at >= 0 && len(out) > 4 {
		out = []rune(text[:at] + text[at+2:])
	}
	return out
}

const caumannsSigns = "$§%&#!"

var caumannsGroups = []string{"sch", "ch", "ei", "ie", "ig", "st"}

// caumannsMarks writes the marks, and counts the letters that went.
func caumannsMarks(word []rune) ([]rune, int) {
	gone := 0
	for i := 0; i < len(word); i++ {
		switch r := word[i]; {
		case i > 0 && r == word[i-1]:
			word[i] = '*'
		case r == 'ä':
			word[i] = 'a'
		case r == 'ö':
			word[i] = 'o'
		case r == 'ü':
			word[i] = 'u'
		case r == 'ß':
			word = slices.Insert(word, i, 's')
			word[i+1] = 's'
			gone++
		}
		for j, group := range caumannsGroups {
			if n := len(group); i+n <= len(word) && string(word[i:i+n]) == group {
				word = slices.Replace(word, i, i+n, []rune(caumannsSigns)[j])
				gone += n - 1
				break
			}
		}
	}
	return word, gone
}

// caumannsStrip removes endings as long as more than three letters are left.
func caumannsStrip(word []rune, gone int) []rune {
	for len(word) > 3 {
		n := len(word)
		switch {
		case n+gone > 5 && endsInOne(word, "nd"), n+gone > 4 && endsInOne(word, "em", "er"):
			word = word[:n-2]
		case strings.ContainsRune("esnt", word[n-1]):
			word = word[:n-1]
		default:
			return word
		}
	}
	return word
}

// serbianLatin are the letters of Serbian, and what they are in Latin letters without marks.
var serbianLatin = strings.NewReplacer("а", "a", "б", "b", "в", "v", "г", "g", "д", "d", "ђ", "dj", "đ", "dj", "е", "e",
	"ж", "z", "з", "z", "ž", "z", "и", "i", "ј", "j", "к", "k", "л", "l", "љ", "lj", "м", "m", "н", "n", "њ", "nj", "о", "o",
	"п", "p", "р", "r", "с", "s", "т", "t", "ћ", "c", "ц", "c", "ч", "c", "č", "c", "ć", "c", "у", "u", "ф", "f", "х", "h",
	"џ", "dz", "ш", "s", "š", "s")

func serbianNormal(_ *stream, term []byte) []byte {
	if isASCII(term) {
		return term
	}
	return []byte(serbianLatin.Replace(string(term)))
}
