package analysis

import (
	"bytes"
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// htmlStrip takes markup out of a text: tags, comments, declarations, and scripts and
// styles with what is in them. A tag that makes a new block becomes a line's end. What
// entities stand for takes their place.
type htmlStrip struct{ keep map[string]bool } // tags that stay

func newHTMLStrip(p *part) charFilter {
	f := htmlStrip{map[string]bool{}}
	for _, tag := range p.list("escaped_tags") {
		if tag = lowerText(tag); tag == "script" || tag == "style" {
			p.illegal("option [escaped_tags] with [%s] is not supported", tag)
		}
		f.keep[tag] = true
	}
	return f
}

// inlineTags are the tags that stand inside of words.
var inlineTags = wordSet(strings.Fields(`a abbr acronym b basefont bdo big cite code dfn em font i img input kbd label
	q s samp select small span strike strong sub sup textarea tt u var`))

const (
	htmlSpace  = `[\s\x0b\x{85}\p{Z}]`
	htmlQuoted = `=` + htmlSpace + `*(?:"[^"]*"|'[^']*')`
	htmlName   = `([\p{L}_:][\p{L}\p{N}\p{M}_:.-]*)`
)

// The pieces of markup, each at the beginning of a text.
var (
	htmlTag = longest(`<` + htmlSpace + `*(/?)` + htmlSpace + `*` + htmlName +
		`(?:/?>|(?:` + htmlSpace + `|=|` + htmlQuoted + `)(?:[^<>]|` + htmlQuoted + `)*>|\z)`)
	htmlComment = regexp.MustCompile(`\A<!--(?s:.*?)(?:-->|\z)`)
	htmlBang    = regexp.MustCompile(`\A<![^>]*>`)
	htmlPI      = regexp.MustCompile(`\A<\?[^>]*[?/]>`)
	htmlData    = regexp.MustCompile(`(?i)\A<!\[CDATA\[((?s:.*?))(\]\]>|\z)`)
	htmlEntity  = regexp.MustCompile(`\A&(?:#[xX]([0-9a-fA-F]{1,6})|#([0-9]{1,7})|([A-Za-z][A-Za-z0-9]*))`)
	htmlUntil   = map[string]*regexp.Regexp{"script": endOf("script"), "style": endOf("style")}
)

func longest(pattern string) *regexp.Regexp {
	r := regexp.MustCompile(`\A` + pattern)
	r.Longest()
	return r
}

// endOf finds where the element of a tag ends, over its comments.
func endOf(tag string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)<!--(?s:.*?)(?:-->|\z)|</` + tag + htmlSpace + `*>`)
}

func (f htmlStrip) rewrite(text []byte, m *moved) []byte {
	if !bytes.ContainsAny(text, "<&") {
		return text
	}
	w := rewriter{moved: m}
	last := 0
	for i := 0; i < len(text); {
		if text[i] != '<' && text[i] != '&' {
			i++
			continue
		}
		end, with, ok := f.piece(text, i)
		if !ok && bytes.HasPrefix(text[i:], []byte("<!")) {
			break // a declaration without an end: what follows stays as it is
		}
		if !ok {
			i++
			continue
		}
		w.copy(text[last:i])
		f.put(&w, text[i:end], with)
		i, last = end, end
	}
	w.copy(text[last:])
	return w.out
}

// put replaces markup; the contents of CDATA stay where they are.
func (f htmlStrip) put(w *rewriter, markup, with []byte) {
	if match := htmlData.FindSubmatchIndex(markup); match != nil {
		w.replace(markup[:match[2]], nil)
		w.copy(markup[match[2]:match[3]])
		w.replace(markup[match[3]:], nil)
		return
	}
	w.replace(markup, with)
}

// piece is the markup that begins at i, and what takes its place.
func (f htmlStrip) piece(text []byte, i int) (end int, with []byte, ok bool) {
	rest := text[i:]
	if rest[0] == '&' {
		return f.entity(text, i)
	}
	if match := htmlTag.FindSubmatchIndex(rest); match != nil {
		return f.tag(text, i, match)
	}
	for _, pattern := range []*regexp.Regexp{htmlData, htmlComment, htmlBang, htmlPI} {
		match := pattern.FindIndex(rest)
		if match != nil {
			return i + match[1], nil, true
		}
	}
	return i, nil, false
}

func (f htmlStrip) tag(text []byte, i int, match []int) (end int, with []byte, ok bool) {
	name := lowerText(string(text[i+match[4] : i+match[5]]))
	end = i + match[1]
	if f.keep[name] {
		return i, nil, false
	}
	until, skips := htmlUntil[name]
	opens := match[2] == match[3] && string(text[i+match[5]:end]) != "/>"
	if skips && opens {
		return elementEnd(text, end, until)
	}
	if inlineTags[name] || end == len(text) && text[end-1] != '>' {
		return end, nil, true
	}
	return end, lineEnd, true
}

var lineEnd = []byte("\n")

// elementEnd is where an element ends whose contents begin at i, and what takes its place.
func elementEnd(text []byte, i int, until *regexp.Regexp) (end int, with []byte, ok bool) {
	for {
		match := until.FindIndex(text[i:])
		if match == nil {
			return len(text), nil, true
		}
		found := text[i+match[0]:]
		i += match[1]
		if !bytes.HasPrefix(found, []byte("<!--")) {
			return i, lineEnd, true
		}
	}
}

// entity is a character by number or by one of the names of HTML 4. It ends with a
// semicolon, or with the text.
func (f htmlStrip) entity(text []byte, i int) (end int, with []byte, ok bool) {
	r, end, ok := entityAt(text, i)
	if !ok {
		return i, nil, false
	}
	if r >= 0xd800 && r < 0xdc00 {
		if low, after, ok := entityAt(text, end); ok && low >= 0xdc00 && low < 0xe000 {
			r, end = (r-0xd800)<<10+(low-0xdc00)+0x10000, after
		}
	}
	return end, utf8.AppendRune(nil, r), true
}

func entityAt(text []byte, i int) (r rune, end int, ok bool) {
	match := htmlEntity.FindSubmatchIndex(text[i:])
	if match == nil {
		return 0, i, false
	}
	group := func(n int) string {
		if match[2*n] < 0 {
			return ""
		}
		return string(text[i+match[2*n] : i+match[2*n+1]])
	}
	end = i + match[1]
	switch {
	case end < len(text) && text[end] == ';':
		end++
	case end < len(text):
		return 0, i, false
	}
	if name := group(3); name != "" {
		r, ok = entityNamed(name)
		return r, end, ok
	}
	base, digits := 16, group(1)
	if digits == "" {
		base, digits = 10, group(2)
	}
	code, err := strconv.ParseUint(digits, base, 32)
	return rune(code), end, err == nil && code <= utf8.MaxRune
}

// entityNamed knows the names of HTML 4, and a few in capitals.
func entityNamed(name string) (rune, bool) {
	switch name {
	case "nbsp":
		return ' ', true
	case "AMP", "COPY", "GT", "LT", "QUOT", "REG":
		name = strings.ToLower(name)
	}
	if !html4[name] {
		return 0, false
	}
	r, _ := utf8.DecodeRuneInString(html.UnescapeString("&" + name + ";"))
	return r, true
}

// html4 are the names of entities that are known.
var html4 = wordSet(strings.Fields(htmlEntityNames))
