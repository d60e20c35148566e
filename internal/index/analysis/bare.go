package analysis

import "github.com/reshelve/reshelve/internal/opensearch/exception"

// bareFilter is the filter that a name means without a definition, or nil.
func bareFilter(name string) (filter, *exception.Error) {
	switch name {
	case "standard":
		return nil, exception.New(exception.IllegalArgument, "The [standard] token filter has been removed.")
	case "nGram", "edgeNGram":
		now := map[string]string{"nGram": "ngram", "edgeNGram": "edge_ngram"}[name]
		return nil, exception.New(exception.IllegalArgument, "The [%s] token filter name was deprecated in 6.4 and cannot be used in new indices. Please change the filter name to [%s] instead.", name, now)
	}
	kind, ok := filterKinds()[name]
	switch {
	case !ok || kind.needs || kind.make == nil:
		return nil, nil
	case kind.bare != nil:
		return kind.bare(), nil
	}
	p := emptyPart(name)
	f := kind.make(p)
	return f, p.err
}

func emptyPart(name string) *part {
	return &part{name: name, values: map[string][]string{}, build: newBuilder(nil)}
}

func bareTokenizer(name string) (tokenizer, bool) {
	build := tokenizerKinds()[name]
	if build == nil {
		return nil, false
	}
	p := emptyPart(name)
	t := build(p)
	return t, p.err == nil
}

func bareCharFilter(name string) (charFilter, bool) {
	if name != "html_strip" {
		return nil, false
	}
	return htmlStrip{}, true
}

// isUnsupported tells whether the server knows a name and this package does not.
func isUnsupported(group, name string) bool {
	switch group {
	case groupFilter:
		kind, ok := filterKinds()[name]
		return ok && kind.make == nil && !kind.needs
	case groupTokenizer:
		build, ok := tokenizerKinds()[name]
		return ok && build == nil
	}
	return false
}
