package highlight

import "unicode"

// Words meet where java.text.BreakIterator of the root locale divides them: between any
// two characters but within runs of letters and digits, numbers with their signs, runs of
// Han, hiragana or katakana, and line ends. As with sentences, what follows describes its
// answers.

// The kinds of characters in words: columns of the steps.
const (
	wordOther = iota
	wordControl
	wordBlank
	wordLine
	wordReturn
	wordQuote
	wordCurrency // before a number
	wordPercent  // after one
	wordComma
	wordHyphen
	wordPeriod
	wordNumber
	wordLetter
	wordSoftHyphen
	wordMark // part of the character before it
	wordFormat
	wordDanda
	wordHan
	wordHiragana
	wordVoiced // marks of hiragana and katakana
	wordLong   // and signs of both
	wordKatakana
)

var wordSigns = map[rune]int{
	'\t': wordBlank, '\n': wordLine, '\f': wordLine, '\u2028': wordLine, '\u2029': wordLine, '\r': wordReturn,
	'"': wordQuote, '\'': wordQuote, '#': wordCurrency,
	'%': wordPercent, '&': wordPercent, '¢': wordPercent, '٪': wordPercent, '‰': wordPercent, '‱': wordPercent,
	',': wordComma, '٫': wordComma, '.': wordPeriod, '\u2027': wordHyphen, '\u00ad': wordSoftHyphen,
	'।': wordDanda, '॥': wordDanda, '々': wordHan,
	'\u3099': wordVoiced, '\u309a': wordVoiced, '\u309b': wordLong, '\u309c': wordLong, '\u30fb': wordLong, '\u30fc': wordLong,
}

func wordKind(r rune) int {
	if r < 0x80 && (r|0x20 >= 'a' && r|0x20 <= 'z') {
		return wordLetter
	}
	if kind, ok := wordSigns[r]; ok {
		return kind
	}
	switch {
	case r >= 0x4e00 && r <= 0x9fa5, r >= 0xf900 && r <= 0xfa2d:
		return wordHan
	case r >= 0x3041 && r <= 0x3094, r == 0x309d, r == 0x309e:
		return wordHiragana
	case r >= 0x30a1 && r <= 0x30fa, r == 0x30fd, r == 0x30fe:
		return wordKatakana
	case unicode.In(r, unicode.L, unicode.Mc):
		return wordLetter
	case unicode.Is(unicode.Zs, r):
		return wordBlank
	case unicode.Is(unicode.N, r):
		return wordNumber
	case unicode.In(r, unicode.Mn, unicode.Me):
		return wordMark
	case unicode.In(r, unicode.Pd, unicode.Pc):
		return wordHyphen
	case unicode.Is(unicode.Sc, r):
		return wordCurrency
	case unicode.Is(unicode.Cc, r):
		return wordControl
	case unicode.Is(unicode.Cf, r):
		return wordFormat
	}
	return wordOther
}

// words divides words. Its states tell what was seen last.
var words = automaton{
	kind: wordKind,
	does: "==============..====",
	steps: []string{
		"ebcbdefeeefghbbiejklmn", // a: nothing
		"---------------b------", // b: a control or a mark
		"--cbd---------cc---c--", // c: blanks
		"---b-----------d------", // d: a return
		"--------------ee---e--", // e: another sign
		"-----------g--ef---e--", // f: a currency
		"-----o-bo-ogh-gg---g--", // g: a number
		"-----p---ppghphhq--h--", // h: a letter
		"ebcbdefeeefghbbiejklmn", // i: a format character, which means nothing
		"--------------ej-r-e--", // j: Han
		"--------------ek--sks-", // k: hiragana
		"---------------l--sllt", // l: a voiced mark
		"--------------em--smlt", // m: a long sign
		"--------------en---ntt", // n: katakana
		"-----------g---o------", // o: a number, and a sign in it
		"------------h--p------", // p: a letter, and a sign in it
		"-----------g---q------", // q: a letter and a danda
		"---------------r-r----", // r: more Han
		"---------------s--sss-", // s: more hiragana
		"---------------t---ttt", // t: more katakana
	},
}
