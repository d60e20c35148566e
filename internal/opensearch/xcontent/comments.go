package xcontent

import "bytes"

// WithoutComments returns JSON text in which every comment, /* … */ or // to the
// end of its line, has become spaces. The servers' parsers pass over comments, so
// they store them within sources, but they are no JSON, and the line breaks that
// end some of them do not survive in a line of output. Text without comments is
// returned as it is, and costs one search for a slash; other text is copied.
func WithoutComments(text []byte) []byte {
	slash := bytes.IndexByte(text, '/')
	if slash < 0 || !mayHoldComment(text[slash:]) {
		return text
	}
	var plain []byte // a copy, once there is a comment
	for i := 0; i < len(text); {
		switch {
		case text[i] == '"':
			i += stringLength(text[i:])
		case text[i] == '/' && commentLength(text[i:]) > 0:
			if plain == nil {
				plain = bytes.Clone(text)
			}
			n := commentLength(text[i:])
			copy(plain[i:], bytes.Repeat([]byte{' '}, n))
			i += n
		default:
			i++
		}
	}
	if plain == nil {
		return text
	}
	return plain
}

// mayHoldComment is quick and often right: a comment to the end of a line needs
// a line break behind it, or the object could not end.
func mayHoldComment(text []byte) bool {
	for oneLine := false; ; {
		slash := bytes.IndexByte(text, '/')
		if slash < 0 || slash+1 == len(text) {
			return false
		}
		text = text[slash+1:]
		switch {
		case text[0] == '*':
			return true
		case text[0] == '/' && !oneLine:
			if oneLine = !hasLineBreak(text); !oneLine {
				return true
			}
		}
	}
}

func hasLineBreak(text []byte) bool {
	return bytes.IndexByte(text, '\n') >= 0 || bytes.IndexByte(text, '\r') >= 0
}

// stringLength is the length of the JSON string at the beginning of text, with
// its quotes; all of text when it does not end.
func stringLength(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// commentLength is the length of the comment at the beginning of text; 0 when
// there is none.
func commentLength(text []byte) int {
	switch {
	case bytes.HasPrefix(text, []byte("/*")):
		if end := bytes.Index(text[2:], []byte("*/")); end >= 0 {
			return end + 4
		}
		return len(text)
	case bytes.HasPrefix(text, []byte("//")):
		if end := bytes.IndexAny(text, "\r\n"); end >= 0 {
			return end
		}
		return len(text)
	}
	return 0
}
