package gateway

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// appendPretty appends a JSON value with the line breaks and spaces of the
// server's pretty=true, and a line break at its end.
func appendPretty(dst, value []byte) []byte {
	depth := 0
	line := func() {
		dst = append(dst, '\n')
		for range depth {
			dst = append(dst, "  "...)
		}
	}
	for i := 0; i < len(value); i++ {
		switch b := value[i]; b {
		case '"':
			end := stringEnd(value, i)
			dst = append(dst, value[i:end]...)
			i = end - 1
		case '{', '[':
			dst = append(dst, b)
			i = skipSpace(value, i+1)
			if i < len(value) && value[i] == b+2 { // '{'+2 is '}', '['+2 is ']'
				dst = append(dst, ' ', b+2)
				continue
			}
			depth++
			line()
			i--
		case '}', ']':
			depth = max(0, depth-1)
			line()
			dst = append(dst, b)
		case ',':
			dst = append(dst, b)
			line()
		case ':':
			dst = append(dst, " : "...)
		case ' ', '\n', '\r', '\t':
		default:
			dst = append(dst, b)
		}
	}
	return append(dst, '\n')
}

// stringEnd is the place behind the string that begins at i.
func stringEnd(value []byte, i int) int {
	for i++; i < len(value); i++ {
		switch value[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(value)
}

func skipSpace(value []byte, i int) int {
	for i < len(value) && (value[i] == ' ' || value[i] == '\n' || value[i] == '\r' || value[i] == '\t') {
		i++
	}
	return i
}

// appendYAML appends a JSON value as a YAML document; strings are quoted, as the
// server quotes them. What is no JSON is cut off where it ceases to be.
func appendYAML(dst, value []byte) []byte {
	dst = append(dst, "---"...)
	dec := newDecoder(value)
	kind := dec.PeekKind()
	dst, _ = yamlValue(dst, dec, 0, kind != '{' && kind != '[')
	return append(dst, '\n')
}

// yamlValue appends the next value. Inline, it goes on behind "- ", and its first
// member needs no line of its own.
func yamlValue(dst []byte, dec *jsontext.Decoder, depth int, inline bool) ([]byte, error) {
	token, err := dec.ReadToken()
	if err != nil {
		return dst, err
	}
	kind := token.Kind()
	if kind != '{' && kind != '[' {
		return yamlScalar(append(dst, ' '), token), nil
	}
	if next := dec.PeekKind(); next == '}' || next == ']' {
		_, err = dec.ReadToken()
		return append(dst, ' ', byte(kind), byte(kind)+2), err
	}
	for next := dec.PeekKind(); next != '}' && next != ']'; next = dec.PeekKind() {
		if inline {
			dst = append(dst, ' ')
			inline = false
		} else {
			dst = append(append(dst, '\n'), strings.Repeat("  ", depth)...)
		}
		if kind == '[' {
			dst, err = yamlValue(append(dst, '-'), dec, depth+1, true)
		} else {
			var name jsontext.Token
			if name, err = dec.ReadToken(); err != nil {
				return dst, err
			}
			dst = append(yamlName(dst, name.String()), ':')
			below := depth + 1
			if dec.PeekKind() == '[' { // a list stands below its name, not further in
				below = depth
			}
			dst, err = yamlValue(dst, dec, below, false)
		}
		if err != nil {
			return dst, err
		}
	}
	_, err = dec.ReadToken()
	return dst, err
}

func yamlScalar(dst []byte, token jsontext.Token) []byte {
	if token.Kind() == '"' {
		return appendString(dst, token.String())
	}
	return append(dst, token.String()...)
}

// yamlName appends a name, in quotes when a reader could take it for something else.
func yamlName(dst []byte, name string) []byte {
	_, err := strconv.ParseFloat(name, 64)
	plain := err != nil && name != "" && name[0] != '-' && name[0] != '.'
	for i := 0; i < len(name) && plain; i++ {
		b := name[i] | 0x20
		plain = b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || strings.IndexByte("_-./", name[i]) >= 0
	}
	switch strings.ToLower(name) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		plain = false
	}
	if plain {
		return append(dst, name...)
	}
	return appendString(dst, name)
}
