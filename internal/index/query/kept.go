package query

import "github.com/reshelve/reshelve/internal/index/mapping"

// Kept is what the rule of a mapping (_source) leaves of sources. They are stored whole:
// the rule decides what is shown of them.
func Kept(rule mapping.SourceRule) SourceFilter {
	return SourceFilter{None: rule.Disabled, Includes: rule.Includes, Excludes: rule.Excludes}
}

// Shown is what a filter leaves of a source: nil when that is nothing, the source itself
// when it is all.
func (f SourceFilter) Shown(source []byte) []byte {
	switch {
	case f.None || source == nil:
		return nil
	case f.All():
		return source
	}
	return f.Append(nil, source)
}
