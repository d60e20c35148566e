package query

import (
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// Fetch is what is told of each hit: of a search, of inner_hits, of top_hits.
type Fetch struct {
	Source         SourceFilter
	SourceSet      bool     // _source was told: without it, StoredFields hide the source
	StoredFields   []string // names and patterns; nil: not told. ["_none_"]: neither source nor id
	DocvalueFields []FieldFormat
	Fields         []FieldFormat
	Highlight      *Highlight // nil: none
	Versions       bool       // "version": true
	SeqNoTerm      bool       // "seq_no_primary_term": true
	Explain        bool
	TrackScores    bool          // scores although sorted by something else
	NamedScores    bool          // matched_queries with scores
	Sort           []search.Sort // of inner_hits; empty: by score
}

// FieldFormat is a field, or a pattern of fields, with the format of its values.
type FieldFormat struct {
	Field  string
	Format string // "": the field's own
}

// fetchOption reads the value of a member that says what is told of hits. Known is
// false when it is none of those, or of a kind that it does not take; nothing has been
// read then. Its kinds are those of a search and of top_hits; inner_hits take fewer.
func (p *parser) fetchOption(name string, f *Fetch) (known bool, err error) {
	o, known := p.fetchOptions(f)[name]
	if !known || o.takes&(1<<p.kind) == 0 {
		return false, nil
	}
	return true, o.read()
}

// fetchOptions are the options about what is told of hits.
func (p *parser) fetchOptions(f *Fetch) map[string]option {
	flag := func(into *bool) option {
		return option{takesScalar, func() error { return p.setFlag(into) }}
	}
	return map[string]option{
		"_source": {takesScalar | takesObjects, func() (err error) {
			f.SourceSet = true
			f.Source, err = ReadSource(p.read, p.kind)
			return err
		}},
		"stored_fields":   {takesScalar | takesArray, func() (err error) { f.StoredFields, err = p.storedFields(); return err }},
		"docvalue_fields": {takesArray, func() error { return p.fieldFormats(&f.DocvalueFields) }},
		"fields":          {takesArray, func() error { return p.fieldFormats(&f.Fields) }},
		"highlight":       {takesObject, func() (err error) { f.Highlight, err = p.highlight(); return err }},
		"version":         flag(&f.Versions), "seq_no_primary_term": flag(&f.SeqNoTerm), "explain": flag(&f.Explain), "track_scores": flag(&f.TrackScores),
		"script_fields": {takesObject, func() error { return p.nothingIn("[script_fields]") }},
	}
}

// nothingIn reads an object or array that this version takes only when it is empty.
func (p *parser) nothingIn(what string) error {
	end := token.ObjectEnd
	if p.kind == token.Array {
		end = token.ArrayEnd
	}
	if err := p.next(); err != nil || p.kind == end {
		return err
	}
	return p.unsupported(what)
}

// storedFields reads the name of a stored field, or an array of them.
func (p *parser) storedFields() ([]string, error) {
	switch p.kind {
	case token.String:
		return []string{p.text()}, nil
	case token.Array:
	default:
		return nil, p.fail("Expected [VALUE_STRING] or [START_ARRAY] in [stored_fields] but found [%s]", p.kind)
	}
	names := []string{}
	err := p.elements(func() error {
		name, err := p.str()
		names = append(names, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	return names, checkStored(names)
}

// checkStored refuses "_none_" beside other names.
func checkStored(names []string) error {
	for _, name := range names {
		if name == "_none_" && len(names) > 1 {
			return exception.New(exception.IllegalArgument, "cannot combine _none_ with other fields")
		}
	}
	return nil
}

// fieldFormats reads an array of names and of {"field": …, "format": …}.
func (p *parser) fieldFormats(into *[]FieldFormat) error {
	return p.each(func() error {
		f := FieldFormat{}
		if p.isValue() {
			f.Field = p.text()
		} else {
			given := false
			err := p.object("docvalues_field", map[string]option{
				"field":  {takesString, func() (err error) { f.Field, err = p.str(); given = true; return err }},
				"format": {takesString | takesNull, func() (err error) { f.Format, err = p.strOrNull(); return err }},
			})
			if err != nil {
				return err
			}
			if !given {
				return exception.New(exception.IllegalArgument, "Required [field]")
			}
		}
		*into = append(*into, f)
		return nil
	})
}
