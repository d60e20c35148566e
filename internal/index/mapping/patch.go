package mapping

import "bytes"

// JSONAfter is the JSON of the mapping. Before is the JSON of the mapping that has grown: what has not changed is copied from it.
func (g Grown) JSONAfter(before []byte) []byte {
	if g.told != nil {
		if patched, ok := patch(make([]byte, 0, len(before)+len(before)/64+1024), before, g.before, g.root, g.told); ok {
			return patched
		}
	}
	return g.JSON()
}

// patch renders an object out of the text of what it was, with those of its children rendered that were told.
// It is false where the text is not as it is rendered now.
func patch(b, text []byte, was, is, told *Field) (_ []byte, ok bool) {
	at := afterProperties(text)
	if at < 0 || len(was.order) == 0 || was.dynamic != is.dynamic || was.disabled != is.disabled ||
		was.includeInParent != is.includeInParent || was.includeInRoot != is.includeInRoot {
		return is.append(b, false), is.path != ""
	}
	b = append(b, text[:at]...)
	first, behind := true, 0 // how many children of what it was lie before at
	for _, one := range told.order {
		place, known := spot(was.order, one.name)
		if place > behind {
			end := skipMembers(text, at, place-behind)
			b = append(appendComma(b, &first), text[at:end]...)
			at, behind = pastComma(text, end), place
		}
		start := len(b)
		b = appendKey(b, one.name, &first)
		f := is.children[one.name]
		if !known {
			b = f.append(b, false)
			continue
		}
		key := bytes.TrimPrefix(b[start:], []byte{','})
		end := skipMembers(text, at, 1)
		value, same := bytes.CutPrefix(text[at:end], key)
		if !same {
			return nil, false
		}
		if f.IsObject() {
			if b, ok = patch(b, value, was.order[place], f, one); !ok {
				return nil, false
			}
		} else {
			b = f.append(b, false)
		}
		at, behind = pastComma(text, end), place+1
	}
	if behind < len(was.order) {
		b = appendComma(b, &first)
	}
	return append(b, text[at:]...), true
}

func appendComma(b []byte, first *bool) []byte {
	if !*first {
		b = append(b, ',')
	}
	*first = false
	return b
}

func pastComma(text []byte, at int) int {
	if at < len(text) && text[at] == ',' {
		at++
	}
	return at
}

// afterProperties is where the first child begins in the text of an object; negative: there is none.
func afterProperties(text []byte) int {
	for at := 1; at < len(text) && text[at] == '"'; {
		end := skipString(text, at)
		if string(text[at:end]) == `"properties"` && bytes.HasPrefix(text[end:], []byte(`:{"`)) {
			return end + len(`:{`)
		}
		at = pastComma(text, skipMembers(text, at, 1))
	}
	return -1
}

// skipMembers is the end of so many members of an object, or elements of an array, that begin at a place: before
// the comma or the bracket behind them.
func skipMembers(text []byte, at, n int) int {
	depth := 0
	for ; at < len(text); at++ {
		switch text[at] {
		case '"':
			at = skipString(text, at) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return at
			}
		case ',':
			if depth > 0 {
				continue
			}
			if n--; n == 0 {
				return at
			}
		}
	}
	return len(text)
}

// skipString is the end of a string that begins at a place.
func skipString(text []byte, at int) int {
	for at++; at < len(text); at++ {
		switch text[at] {
		case '\\':
			at++
		case '"':
			return at + 1
		}
	}
	return len(text)
}
