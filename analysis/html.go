package analysis

// htmlStrip takes markup out of a text.
type htmlStrip struct{ keep map[string]bool }

func newHTMLStrip(p *part) charFilter {
	p.illegal("char_filter [html_strip] is not supported")
	return htmlStrip{}
}

func (f htmlStrip) rewrite(text []byte, m *moved) []byte { return text }
