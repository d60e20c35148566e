package date

import (
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// Regions finds the zone of a name such as Europe/Paris; time.LoadLocation is
// one. An error means that there is none.
type Regions func(name string) (*time.Location, error)

// ResolveName resolves the date math in the name of an index:
//
//	<logs-{now/d}>                          logs-2020.02.29
//	<logs-{now-1M/M{yyyy.MM|+02:00}}>       logs-2020.01
//	<a\{b\}-{2020.02.29||+1d}>              a{b}-2020.03.01
//
// A name that does not begin with "<" and end with ">" stays what it is. Zones
// are offsets and the names of UTC; see ResolveNameIn for others. Errors are
// those of the server: parse_exception, and for formats and zones
// illegal_argument_exception, date_time_exception, zone_rules_exception.
func ResolveName(name string, nowMillis int64) (string, error) {
	return ResolveNameIn(name, nowMillis, nil)
}

// ResolveNameIn is ResolveName that also knows regions.
func ResolveNameIn(name string, nowMillis int64, regions Regions) (string, error) {
	if len(name) < 2 || name[0] != '<' || name[len(name)-1] != '>' {
		return name, nil
	}
	n := nameMath{text: []rune(name), nowMillis: nowMillis, regions: regions}
	if err := n.resolve(); err != nil {
		return "", err
	}
	return n.out.String(), nil
}

// nameMath reads a name in angle brackets.
type nameMath struct {
	text      []rune
	nowMillis int64
	regions   Regions

	out     strings.Builder
	inside  bool            // a placeholder, {…}
	pattern bool            // the braces of its format
	holder  strings.Builder // the text of the placeholder
}

func (n *nameMath) invalid(format string, args ...any) *exception.Error {
	args = append([]any{string(n.text[1:])}, args...)
	return exception.New(exception.OpenSearchParse, "invalid dynamic name expression [%s]. "+format, args...)
}

func (n *nameMath) resolve() *exception.Error {
	escaped := false
	for i, c := range n.text[1 : len(n.text)-1] {
		switch {
		case !escaped && c == '\\':
			escaped = true
			continue
		case c == '\\':
			n.out.WriteRune(c) // also from inside a placeholder
		case n.inside:
			if err := n.placeholder(c, escaped, i+1); err != nil {
				return err
			}
		case !escaped && c == '{':
			n.inside = true
		case !escaped && c == '}':
			return n.invalid("invalid character at position [%d]. `{` and `}` are reserved characters and should be escaped when used as part of the index name using `\\` (e.g. `\\{text\\}`)", i+1)
		default:
			n.out.WriteRune(c)
		}
		escaped = false
	}
	if n.inside {
		return n.invalid("date math placeholder is open ended")
	}
	if n.out.Len() == 0 {
		return exception.New(exception.OpenSearchParse, "nothing captured")
	}
	return nil
}

// placeholder takes a character inside of braces.
func (n *nameMath) placeholder(c rune, escaped bool, at int) *exception.Error {
	switch {
	case escaped:
	case c == '{' && n.pattern:
		return n.invalid("invalid character in placeholder at position [%d]", at)
	case c == '{':
		n.pattern = true
	case c == '}' && n.pattern:
		n.pattern = false
	case c == '}':
		return n.evaluate()
	}
	n.holder.WriteRune(c)
	return nil
}

var nameFormat = MustFormat("uuuu.MM.dd")

// evaluate writes the date of the placeholder that ends here.
func (n *nameMath) evaluate() *exception.Error {
	holder := n.holder.String()
	n.holder.Reset()
	n.inside = false
	math, pattern, formatted := strings.Cut(holder, "{")
	format, location := nameFormat, time.UTC
	if formatted {
		switch {
		case !strings.HasSuffix(pattern, "}"):
			return exception.New(exception.OpenSearchParse, "invalid dynamic name expression [%s]. missing closing `}` for date math format", holder)
		case pattern == "}":
			return exception.New(exception.OpenSearchParse, "invalid dynamic name expression [%s]. missing date format", holder)
		}
		var err *exception.Error
		if format, location, err = n.formatIn(strings.TrimSuffix(pattern, "}")); err != nil {
			return err
		}
	}
	t, err := format.math(math, n.nowMillis, false, zone{location: location})
	if err != nil {
		return err
	}
	n.out.Write(format.printer.append(nil, t, zone{location: location}))
	return nil
}

// formatIn reads a format and the zone behind a bar.
func (n *nameMath) formatIn(text string) (*Format, *time.Location, *exception.Error) {
	location := time.UTC
	pattern, id, ok := strings.Cut(text, "|")
	if ok {
		var err *exception.Error
		if location, err = zoneNamed(id, n.regions); err != nil {
			return nil, nil, err
		}
	}
	format, err := parseFormat(pattern)
	return format, location, err
}
