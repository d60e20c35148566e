package xcontent

// WithQuotedNames returns JSON text with quotation marks around every name that
// has none. Elasticsearch up to 2.x takes such names and stores
// them as they came; later servers refuse them, and they are no JSON. A name is
// what Jackson takes for one: letters, digits, any of _ $ @ # * + -, and everything
// outside ASCII. Text with none of them is returned as it is; other text is copied
// and becomes half as long again at most. Comments must be gone.
func WithQuotedNames(text []byte) []byte {
	var quoted []byte
	from, mayBegin := 0, false // a name may begin behind a brace or a comma
	for i := 0; i < len(text); {
		switch b := text[i]; {
		case b == '"':
			i += stringLength(text[i:])
			mayBegin = false
		case b == '{' || b == ',':
			i++
			mayBegin = true
		case b == ' ' || b == '\t' || b == '\n' || b == '\r':
			i++
		case mayBegin && inName(b):
			end := i + 1
			for end < len(text) && inName(text[end]) {
				end++
			}
			if beforeColon(text[end:]) {
				quoted = append(append(append(append(quoted, text[from:i]...), '"'), text[i:end]...), '"')
				from = end
			}
			i, mayBegin = end, false
		default:
			i++
			mayBegin = false
		}
	}
	if quoted == nil {
		return text
	}
	return append(quoted, text[from:]...)
}

func inName(b byte) bool {
	switch {
	case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9', b >= 0x80:
		return true
	case b == '_', b == '$', b == '@', b == '#', b == '*', b == '+', b == '-':
		return true
	}
	return false
}

// beforeColon reports whether a colon follows, after blanks alone.
func beforeColon(text []byte) bool {
	for _, b := range text {
		switch b {
		case ':':
			return true
		case ' ', '\t', '\n', '\r':
		default:
			return false
		}
	}
	return false
}
