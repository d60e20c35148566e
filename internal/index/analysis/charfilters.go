package analysis

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// charFilterKinds are the server's char filters.
func charFilterKinds() map[string]func(*part) charFilter {
	return map[string]func(*part) charFilter{
		"html_strip":      newHTMLStrip,
		"mapping":         newMapping,
		"pattern_replace": newPatternRewrite,
	}
}

// mapping replaces texts by others, the longest first.
type mapping struct{ root *mappingNode }

type mappingNode struct {
	next map[rune]*mappingNode
	to   []byte
	set  bool
}

func newMapping(p *part) charFilter {
	f := mapping{root: &mappingNode{}}
	rules, ok := p.values["mappings"]
	if p.has("mappings_path") {
		p.illegal("IOException while reading mappings_path: file not readable")
	} else if !ok {
		p.illegal("mapping requires either `mappings` or `mappings_path` to be configured")
	}
	for i, rule := range rules {
		if strings.HasPrefix(rule, "#") {
			continue
		}
		at := strings.LastIndex(rule, "=>")
		if at < 0 {
			p.refuse(exception.Runtime, "Line [%d]: Invalid mapping rule : [%s]", i+1, rule)
			break
		}
		from, to := unicodeEscapes(strings.TrimSpace(rule[:at])), unicodeEscapes(strings.TrimSpace(rule[at+2:]))
		if from == "" {
			p.illegal("cannot match the empty string")
			break
		}
		if !f.add(from, to) {
			p.illegal("match \"%s\" was already added", from)
			break
		}
	}
	return f
}

func (f mapping) add(from, to string) bool {
	node := f.root
	for _, r := range from {
		if node.next == nil {
			node.next = map[rune]*mappingNode{}
		}
		if node.next[r] == nil {
			node.next[r] = &mappingNode{}
		}
		node = node.next[r]
	}
	again := node.set
	node.to, node.set = []byte(to), true
	return !again
}

func (f mapping) rewrite(text []byte, m *moved) []byte {
	w := rewriter{moved: m}
	last := 0
	for i := 0; i < len(text); {
		end, to := f.longest(text, i)
		if end == 0 {
			_, size := utf8.DecodeRune(text[i:])
			i += size
			continue
		}
		w.copy(text[last:i])
		w.replace(text[i:end], to)
		i, last = end, end
	}
	if last == 0 {
		return text
	}
	w.copy(text[last:])
	return w.out
}

func (f mapping) longest(text []byte, i int) (end int, to []byte) {
	node := f.root
	for i < len(text) {
		r, size := utf8.DecodeRune(text[i:])
		if node = node.next[r]; node == nil {
			break
		}
		i += size
		if node.set {
			end, to = i, node.to
		}
	}
	return end, to
}

// unicodeEscapes reads the escapes of rules: \\ \n \t \r \b \f and \uXXXX.
func unicodeEscapes(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			out.WriteByte(text[i])
			continue
		}
		i++
		switch text[i] {
		case 'n':
			out.WriteByte('\n')
		case 't':
			out.WriteByte('\t')
		case 'r':
			out.WriteByte('\r')
		case 'b':
			out.WriteByte('\b')
		case 'f':
			out.WriteByte('\f')
		case 'u':
			if code, err := strconv.ParseUint(text[i+1:min(i+5, len(text))], 16, 32); err == nil && i+5 <= len(text) {
				out.WriteRune(rune(code))
				i += 4
			}
		default:
			out.WriteByte(text[i])
		}
	}
	return out.String()
}
