package fields

import (
	"github.com/reshelve/reshelve/internal/index/analysis"
	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/index/segment"
)

// Field is a leaf as queries see it. Immutable, safe for concurrent use.
type Field struct {
	path string
	name string // in segments
	row  *row
	def  *mapping.Field // nil: one of the server's own
	spec segment.Spec

	index, search, quoted analysis.Analyzer
	normalizer            analysis.Normalizer // nil: none
	gap                   int                 // positions between values
	unique                bool                // the length counts each term once

	under string // below a flat_object: the path there
}

// newField works a leaf of a mapping out.
func newField(def *mapping.Field, a *analysis.Analysis) *Field {
	f := &Field{path: def.Path(), name: def.Path(), def: def, row: rows[def.Type()]}
	f.spec = f.row.spec(def)
	f.unique = f.spec.Postings == segment.Docs
	if f.row.flat {
		f.name += "._value"
	}
	if f.row.kind == Text {
		f.analyzers(a)
	} else {
		f.whole(a)
	}
	return f
}

// analyzers finds those of a text field. A mapping names none that is not known.
func (f *Field) analyzers(a *analysis.Analysis) {
	find := func(param string) analysis.Analyzer {
		if found, ok := a.Analyzer(f.def.Text(param)); ok {
			return found
		}
		found, _ := a.Analyzer("standard")
		return found
	}
	f.index, f.search, f.quoted = find("analyzer"), find("search_analyzer"), find("search_quote_analyzer")
	if f.gap = f.index.Gap(); f.def.Count("position_increment_gap") >= 0 {
		f.gap = int(f.def.Count("position_increment_gap"))
	}
}

// whole is for fields whose texts are one term each.
func (f *Field) whole(a *analysis.Analysis) {
	if name := f.def.Text("normalizer"); name != "" && name != "default" {
		f.normalizer, _ = a.Normalizer(name)
	}
	f.search = &oneTerm{f.normalizer}
	if split, ok := a.Analyzer("whitespace"); ok && f.def.On("split_queries_on_whitespace") {
		f.search = &splitting{split, f.normalizer}
	}
	f.quoted = f.search
}

// Path is the full path in the mapping, as messages tell it. Below a flat_object it is
// what was asked for.
func (f *Field) Path() string { return f.path }

// Name is the name of the field in segments: its path, but for flat_object.
func (f *Field) Name() string { return f.name }

// Type is the name of its type: "text", "keyword", ….
func (f *Field) Type() string { return f.row.name }

// Kind says what a segment holds of the field, and so what queries can do.
func (f *Field) Kind() Kind { return f.row.kind }

// Spec is what a segment holds of the field. Without postings, terms are found by the
// column of ordinals, and without points, numbers by the column of numbers: see
// [Match.Column].
func (f *Field) Spec() segment.Spec { return f.spec }

// Scored reports whether what Exact finds is scored by BM25; else its score is 1.
func (f *Field) Scored() bool { return f.row.scored && f.spec.Postings != segment.NoPostings }

// Prefix is what all terms of the field begin with, before what a query asks for:
// queries for forms of terms (prefix, wildcard …) put it in front. It is empty but for
// paths below a flat_object.
func (f *Field) Prefix() string {
	if f.under == "" {
		return ""
	}
	return f.under + "="
}

// Analyzer is what takes texts of documents apart; for fields that are not text it is
// that of queries.
func (f *Field) Analyzer() analysis.Analyzer {
	if f.index != nil {
		return f.index
	}
	return f.SearchAnalyzer(false)
}

// SearchAnalyzer is what takes texts of queries apart; quoted ones, if asked. For fields
// that are not text it is one that leaves the text whole, or the normalizer.
func (f *Field) SearchAnalyzer(quoted bool) analysis.Analyzer {
	if quoted {
		return f.quoted
	}
	return f.search
}

// oneTerm leaves a text whole, but for a normalizer.
type oneTerm struct{ normalizer analysis.Normalizer }

func (o *oneTerm) Analyze(dst []analysis.Token, text []byte) []analysis.Token {
	term := text
	if o.normalizer != nil {
		term = o.normalizer.Normalize(nil, text)
	}
	return append(dst, analysis.Token{Term: term, Length: 1, End: len(text), Type: "word"})
}

func (o *oneTerm) Gap() int { return 100 }

// splitting cuts a text at blanks and normalizes the parts.
type splitting struct {
	analysis.Analyzer
	normalizer analysis.Normalizer
}

func (s *splitting) Analyze(dst []analysis.Token, text []byte) []analysis.Token {
	first := len(dst)
	dst = s.Analyzer.Analyze(dst, text)
	for i := range dst[first:] {
		if t := &dst[first+i]; s.normalizer != nil {
			t.Term = s.normalizer.Normalize(nil, t.Term)
		}
	}
	return dst
}
