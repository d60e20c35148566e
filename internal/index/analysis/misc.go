package analysis

import "bytes"

// classicFilter removes 's and the dots of acronyms from tokens of the classic tokenizer.
type classicFilter struct{}

func (classicFilter) filter(s *stream) {
	for i := range s.tokens {
		t := &s.tokens[i]
		switch t.Type {
		case "<APOSTROPHE>":
			if n := len(t.Term); n >= 2 && t.Term[n-2] == '\'' && (t.Term[n-1] == 's' || t.Term[n-1] == 'S') {
				t.Term = t.Term[:n-2]
			}
		case "<ACRONYM>":
			t.Term = bytes.ReplaceAll(t.Term, []byte("."), nil)
		}
	}
}
