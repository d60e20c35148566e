package fields

import (
	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// Check refuses a mapping that names an analyzer or a normalizer that the server has and
// package analysis has not: texts would be found by other terms than there.
func (s *Schema) Check() error {
	for f := range s.mapping.All() {
		if err := s.check(f); err != nil {
			return err
		}
	}
	return nil
}

func (s *Schema) check(f *mapping.Field) error {
	switch f.Type() {
	case "text", "match_only_text":
		for _, param := range []string{"analyzer", "search_analyzer", "search_quote_analyzer"} {
			name := f.Text(param)
			if _, known := s.analysis.Analyzer(name); !known && name != "" {
				return exception.New(exception.IllegalArgument, "analyzer [%s] of field [%s] is not supported by this version of reshelve", name, f.Path())
			}
		}
	case "keyword", "wildcard":
		name := f.Text("normalizer")
		if _, known := s.analysis.Normalizer(name); !known && name != "" {
			return exception.New(exception.IllegalArgument, "normalizer [%s] of field [%s] is not supported by this version of reshelve", name, f.Path())
		}
	}
	return nil
}
