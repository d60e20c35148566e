package analysis

// partBytes is the least length of a part: its tokens take about thirty times as much memory.
const partBytes = 64 << 10

// InParts calls use with the tokens that Analyze makes of a text: part by part where the analyzer
// allows that, so that the memory for tokens does not grow with the text. The tokens of a part are
// valid until use returns. dst is a buffer for them, and so is room, for the next call.
func InParts(a Analyzer, dst []Token, text []byte, use func([]Token)) (room []Token) {
	return inParts(a, dst, text, partBytes, use)
}

func inParts(a Analyzer, dst []Token, text []byte, size int, use func([]Token)) (room []Token) {
	c, ok := a.(*chain)
	if g, gapped := a.(otherGap); gapped {
		c, ok = g.chain, true
	}
	if !ok || len(text) <= size || !c.cuts() {
		dst = a.Analyze(dst[:0], text)
		use(dst)
		return dst
	}
	for at, from := 0, 0; from < len(text); {
		to := cut(text, from+size)
		ran := runOf(c, text[from:to], dst[:0])
		dst = ran.tokens
		for i := range dst {
			dst[i].Position += at
			dst[i].Start += from
			dst[i].End += from
		}
		use(dst)
		at, from = at+ran.next, to
	}
	return dst
}

// cuts reports whether a text has the same tokens when it is cut before a word: the tokenizer does not
// look back, and no filter looks at two tokens together.
func (c *chain) cuts() bool {
	if len(c.charFilters) > 0 {
		return false
	}
	switch t := c.tokenizer.(type) {
	case standard:
	case *runs:
		if t.belongs(' ') {
			return false
		}
	default:
		return false
	}
	for _, f := range c.filters {
		switch f.(type) {
		case each, lowerFilter, stemmer, nothing, asciiFolding:
		default:
			return false
		}
	}
	return true
}

// cut is the first place from at on where a word of ASCII follows a blank: every rule for words
// has a border there, whatever is before and after it. The end of the text if there is none.
func cut(text []byte, at int) int {
	for at = max(at, 1); at < len(text); at++ {
		if text[at-1] == ' ' && ascii[text[at]]&(asciiLetter|asciiDigit) != 0 {
			return at
		}
	}
	return len(text)
}
