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
	for i := 0; i < len(p.matches); i++ {
		start, end := p.matches[i].start, p.matches[i].end
		for i+1 < len(p.matches) && p.matches[i+1].start < end { // those that overlap are one
			i++
			end = p.matches[i].end
		}
		if end = min(end, p.end); start > at {
			plain(at, start)
		}
		if start = max(at, start); end > start {
			out.WriteString(s.Open)
			plain(start, end)
			out.WriteString(s.Close)
			at = end
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
