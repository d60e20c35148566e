package query

import (
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// ReadSource reads the value of _source, whose first token has been read: true,
// false, a pattern, an array of patterns, or an object of includes and excludes.
func ReadSource(r *token.Reader, kind token.Kind) (SourceFilter, error) {
	p := parser{read: r, kind: kind}
	var f SourceFilter
	switch kind {
	case token.True, token.False:
		return SourceFilter{None: kind == token.False}, nil
	case token.String:
		return SourceFilter{Includes: []string{string(r.Text())}}, nil
	case token.Array:
		err := p.elements(func() error {
			pattern, err := p.str()
			f.Includes = append(f.Includes, pattern)
			return err
		})
		return f, err
	case token.Object:
		err := p.members(func(name string) error { return p.sourcePatterns(name, &f) })
		return f, err
	}
	return f, p.fail("Expected one of [VALUE_BOOLEAN, START_OBJECT] but found [%s]", kind)
}

// sourcePatterns reads a pattern, or an array of them.
func (p *parser) sourcePatterns(name string, f *SourceFilter) error {
	into := &f.Includes
	switch name {
	case "includes", "include":
	case "excludes", "exclude":
		into = &f.Excludes
	default:
		return p.fail("Unknown key for a %s in [%s].", p.kind, name)
	}
	return p.each(func() error {
		if p.kind != token.String {
			return p.fail("Unknown key for a %s in [%s].", p.kind, name)
		}
		*into = append(*into, p.text())
		return nil
	})
}

// SourceOf is the filter that the parameters _source, _source_includes and
// _source_excludes of a URL ask for, in the server's order of precedence. Set
// tells whether there was any.
func SourceOf(source []string, includes, excludes []string) (f SourceFilter, set bool) {
	f.Includes, f.Excludes = includes, excludes
	if len(source) == 1 && (source[0] == "true" || source[0] == "false") {
		f.None = source[0] == "false"
	} else if len(f.Includes) == 0 {
		f.Includes = source
	}
	return f, source != nil || includes != nil || excludes != nil
}

// Check refuses a filter that shows nothing where something must be shown.
func (f SourceFilter) Check() error {
	if f.None {
		return exception.New(exception.ActionRequestValidation, "Validation Failed: 1: fetching source can not be disabled;")
	}
	return nil
}
