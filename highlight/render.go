package highlight

import (
	"strings"
	"unicode"
	"unicode/utf16"
)

// entities are how Lucene's encoder for HTML writes characters.
var entities = strings.NewReplacer(`"`, "&quot;", "&", "&amp;", "<", "&lt;", ">", "&gt;", "'", "&#x27;", "/", "&#x2F;")

// render writes a passage with its tags.
func (s *Style) render(t *Text, p *passage) string {
	var out strings.Builder
	plain := func(from, to int) { out.WriteString(s.encoded(t.units[from:to])) }
	at := p.start
	for _, m := range p.matches {
		if m.start > at {
			plain(at, m.start)
		}
		if m.end > at {
			out.WriteString(s.Open)
			plain(max(at, m.start), m.end)
			out.WriteString(s.Close)
			at = m.end
		}
	}
	plain(at, max(at, p.end))
	text := strings.TrimSuffix(out.String(), "\x00")
	return strings.TrimFunc(text, func(r rune) bool { return r <= ' ' })
}

// encoded is a part of the content as it is written.
func (s *Style) encoded(units []uint16) string {
	text := string(utf16.Decode(units))
	if s.HTML {
		text = entities.Replace(text)
	}
	return text
}

// hasText reports whether a text has more than blanks.
func hasText(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsSpace(r) })
}
