package analysis

import (
	"slices"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// part is a definition in settings: of an analyzer, a normalizer, a tokenizer or a filter.
// Its methods read options as the server's settings do, and keep the first error. Options
// that the server does not read are not read here either.
type part struct {
	name   string
	values map[string][]string
	build  *builder
	err    *exception.Error
}

func (p *part) refuse(t exception.Type, format string, args ...any) {
	p.fail(exception.New(t, format, args...))
}

func (p *part) fail(err *exception.Error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *part) illegal(format string, args ...any) {
	p.refuse(exception.IllegalArgument, format, args...)
}

// lacks refuses options that the server has and that are not supported here.
func (p *part) lacks(options ...string) {
	for _, option := range options {
		if p.has(option) {
			p.illegal("option [%s] of [%s] is not supported", option, p.name)
		}
	}
}

func (p *part) has(option string) bool {
	_, ok := p.values[option]
	return ok
}

// text is an option's value; of a list, its items as the server prints them.
func (p *part) text(option, fallback string) string {
	values, ok := p.values[option]
	switch {
	case !ok:
		return fallback
	case len(values) == 1:
		return values[0]
	}
	return "[" + strings.Join(values, ", ") + "]"
}

// list is an option that is a list, or words between commas.
func (p *part) list(option string) []string {
	values, ok := p.values[option]
	if !ok {
		for i := 0; ; i++ {
			item, ok := p.values[option+"."+strconv.Itoa(i)]
			if !ok {
				return values
			}
			values = append(values, item...)
		}
	}
	if len(values) != 1 {
		return values
	}
	var words []string
	for word := range strings.SplitSeq(values[0], ",") {
		if word != "" {
			words = append(words, strings.TrimSpace(word))
		}
	}
	return words
}

func (p *part) number(option string, fallback int) int {
	text := p.text(option, "")
	if !p.has(option) {
		return fallback
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		p.fail(exception.New(exception.Settings, "Failed to parse int setting [%s] with value [%s]", option, text).
			CausedBy(exception.New(exception.NumberFormat, "For input string: \"%s\"", text)).WithStatus(500))
		return fallback
	}
	return int(n)
}

func (p *part) boolean(option string, fallback bool) bool {
	if !p.has(option) {
		return fallback
	}
	switch text := p.text(option, ""); text {
	case "true":
		return true
	case "false":
		return false
	default:
		p.illegal("Failed to parse value [%s] as only [true] or [false] are allowed.", text)
		return fallback
	}
}

// words are an option's words, where a name like _english_ stands for a list; nil when it
// is not set. A file of words cannot be read: there is no folder for such files.
func (p *part) words(option string, named bool) ([]string, bool) {
	path := option + "_path"
	switch {
	case p.has(path):
		p.illegal("IOException while reading %s: file not readable", path)
		return nil, true
	case !p.has(option) && !p.has(option+".0"):
		return nil, false
	}
	list := p.list(option)
	if !named {
		return list, true
	}
	if p.text(option, "") == "_none_" {
		return nil, true
	}
	var all []string
	for _, word := range list {
		if set, ok := stopLists[word]; ok {
			all = append(all, set()...)
		} else {
			all = append(all, word)
		}
	}
	return all, true
}

// folded are words in lower case when case is ignored.
func folded(words []string, ignoreCase bool) []string {
	if !ignoreCase {
		return words
	}
	words = slices.Clone(words)
	for i, word := range words {
		words[i] = lowerText(word)
	}
	return words
}
