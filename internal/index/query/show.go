package query

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
)

// Show shows values of fields of the hits of one index: what stored_fields,
// docvalue_fields and fields ask for. Not safe for concurrent use.
type Show struct {
	columns []column
	values  *values        // nil: none
	stored  *fields.Stored // nil: none

	members []shownMember // of the current hit
	json    []byte        // of its columns
}

// Row is a hit as Show sees it.
type Row struct {
	View   segment.View
	Doc    segment.Doc
	Index  string // its name
	ID     string
	SeqNo  int64  // of a nested object, that of its document
	Source []byte // as it is shown; looked at when Show.NeedsSource
	Whole  []byte // as it is kept, for stored fields; likewise
	Around string // of a nested object, the path of its field; Source and Whole hold no other then
}

// maxColumns is how many docvalue_fields there may be: the server's default of
// index.max_docvalue_fields_search.
const maxColumns = 100

// CheckColumns refuses more docvalue_fields than an index gives, with the server's words.
func CheckColumns(limits search.Limits, f *Fetch) error {
	if most := max(cmp.Or(limits.Columns, maxColumns), 0); len(f.DocvalueFields) > most {
		return exception.New(exception.IllegalArgument, "Trying to retrieve too many docvalue_fields. Must be less than or equal to: [%d] but was [%d]. "+
			"This limit can be set by changing the [index.max_docvalue_fields_search] index level setting.", most, len(f.DocvalueFields))
	}
	return nil
}

// NewShow works out what is asked for the fields of an index. Patterns mean the fields
// that there are, names that there are not mean nothing. Errors are the server's.
func NewShow(schema *fields.Schema, limits search.Limits, f *Fetch) (*Show, error) {
	if err := CheckColumns(limits, f); err != nil {
		return nil, err
	}
	s := &Show{}
	if len(f.StoredFields) > 0 {
		stored, err := fields.NewStored(schema, storedNames(schema, f.StoredFields))
		if err != nil {
			return nil, err
		}
		if stored.Any() {
			s.stored = stored
		}
	}
	for _, want := range f.DocvalueFields {
		if err := s.addColumns(schema, want); err != nil {
			return nil, err
		}
	}
	if len(f.Fields) > 0 {
		s.values = newValues(schema)
		for _, want := range f.Fields {
			if err := s.values.add(want); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// NeedsSource reports whether Append looks at sources.
func (s *Show) NeedsSource() bool { return s.values != nil || s.stored != nil }

// NeedsWhole reports whether Append looks at sources as they are kept.
func (s *Show) NeedsWhole() bool { return s.stored != nil }

// Append appends the object of the fields of a hit; some is false, and nothing has been
// appended, when it has none of them.
func (s *Show) Append(dst []byte, row Row) (_ []byte, some bool) {
	s.members = s.members[:0]
	if s.values != nil {
		s.values.read(row.ID, row.Source)
	}
	if s.stored != nil {
		s.appendStored(row)
	}
	s.appendColumns(row)
	if s.values != nil {
		s.members = s.values.members(s.members)
	}
	return appendMembers(dst, s.members), len(s.members) > 0
}

// shownMember is a field of the current hit: its values, with a comma behind each.
type shownMember struct {
	name string
	json []byte
}

// inServerOrder sorts members as the server's map of them does, by buckets.
func inServerOrder(members []shownMember) {
	table := tableOf(len(members))
	slices.SortStableFunc(members, func(a, b shownMember) int { return java.Bucket(a.name, table) - java.Bucket(b.name, table) })
}

// tableOf is how many buckets the server's maps of so many members have.
func tableOf(members int) int {
	table := usualTable
	for 4*members > 3*table {
		table *= 2
	}
	return table
}

// named are the names that a name or a pattern with * means: leaves and aliases.
func named(schema *fields.Schema, pattern string) []string {
	if !strings.Contains(pattern, "*") {
		return []string{pattern}
	}
	var names []string
	for f := range schema.Mapping().All() {
		if !f.IsObject() && wildcard.Match(pattern, f.Path()) {
			names = append(names, f.Path())
		}
	}
	return names
}
