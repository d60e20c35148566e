package highlight

import "unicode"

// Sentences end where java.text.BreakIterator of the root locale ends them, which is what
// the server cuts texts by. What follows describes its answers (those of JDK 17), as an
// automaton over kinds of characters.
//
// A sentence ends after "!", "?" and their like with closing signs and blanks, after a
// paragraph separator, and after "." with closing signs where blanks and a letter that is
// not small come after it. The place after "." is marked, and counts when the text goes on
// so.

// The kinds of characters in sentences: columns of sentenceSteps.
const (
	sentenceOther = iota
	sentenceBlank
	sentenceEnd // ! ? and the like
	sentenceQuote
	sentenceClose
	sentenceNumber // and comma
	sentencePeriod
	sentenceLetter // but for small ones
	sentenceSmall
	sentenceMark // part of the character before it
	sentenceDanda
	sentenceParagraph
)

func sentenceKind(r rune) int {
	switch r {
	case '!', '?', '。', '！', '？':
		return sentenceEnd
	case '"', '\'':
		return sentenceQuote
	case '.', '．':
		return sentencePeriod
	case '।', '॥':
		return sentenceDanda
	case ',':
		return sentenceNumber
	case '\t', '\n', '\f', '\r', '\u2028':
		return sentenceBlank
	case '\u2029':
		return sentenceParagraph
	}
	switch {
	case unicode.Is(unicode.Ll, r):
		return sentenceSmall
	case unicode.IsLetter(r):
		return sentenceLetter
	case unicode.Is(unicode.Zs, r):
		return sentenceBlank
	case unicode.Is(unicode.N, r):
		return sentenceNumber
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return sentenceMark
	case unicode.In(r, unicode.Pe, unicode.Pf):
		return sentenceClose
	}
	return sentenceOther
}

// sentences ends sentences. Its states tell what was seen last.
var sentences = automaton{
	kind: sentenceKind,
	does: "======?=.??.?.",
	steps: []string{
		// o b e q c n p l s m d p
		"bbcbbbdbbbef", // a: nothing
		"bbcbbbgbbbef", // b: a text
		"-hccc-c--c-f", // c: an end
		"ijckgbgbbgif", // d: a period at the start
		"-e-------e--", // e: a danda, and blanks
		"---------f--", // f: a paragraph
		"ljckgbgbbglf", // g: a period
		"-h-------h-f", // h: an end and blanks
		"ibcibbg--iif", // i: a period at the start, and a sign
		"lmclbbg!bjlf", // j: a period and a blank
		"njckgbg!!knf", // k: a period and a quote
		"lbclbbg!!llf", // l: a period, perhaps blanks, and signs
		"nmcnbbg!!mnf", // m: a period and several blanks
		"l--l---!!nl-", // n: a period and blanks or a quote, and a sign
	},
}
