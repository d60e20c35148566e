package query

import (
	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// column shows a field's column under a name.
type column struct {
	name  string // as asked: a field's path or an alias's
	field *fields.Field
	print []*fields.Printer // one for each format that was asked for, in that order

	numbers  []int64
	ordinals []uint32
	term     []byte
}

func (s *Show) addColumns(schema *fields.Schema, want FieldFormat) error {
	for _, name := range named(schema, want.Field) {
		f, ok := schema.Field(name)
		if !ok {
			continue
		}
		if err := f.Readable(); err != nil {
			return err
		}
		printer, err := f.Printer(want.Format, nil)
		if err != nil {
			return err
		}
		s.addColumn(name, f, printer)
	}
	return nil
}

// addColumn adds a format to the column of that name. A name that comes twice shows its
// values twice, as on the server.
func (s *Show) addColumn(name string, f *fields.Field, printer *fields.Printer) {
	for i := range s.columns {
		if s.columns[i].name == name {
			s.columns[i].print = append(s.columns[i].print, printer)
			return
		}
	}
	s.columns = append(s.columns, column{name: name, field: f, print: []*fields.Printer{printer}})
}

// appendColumns adds the members of the columns, but for those that the values have shown.
func (s *Show) appendColumns(row Row) {
	s.json = s.json[:0]
	for i := range s.columns {
		c := &s.columns[i]
		if s.values != nil && s.values.shows(c.name) {
			continue
		}
		start := len(s.json)
		for _, printer := range c.print {
			s.json = c.append(s.json, printer, row)
		}
		if end := len(s.json); end > start {
			s.addMember(shownMember{c.name, s.json[start:end:end]})
		}
	}
}

// append appends the values of a column, each with a comma behind it.
func (c *column) append(dst []byte, printer *fields.Printer, row Row) []byte {
	switch c.field.Path() {
	case "_id":
		return append(token.AppendString(dst, row.ID), ',')
	case "_index":
		return append(token.AppendString(dst, row.Index), ',')
	case "_seq_no": // segments have none of nested objects
		return append(printer.Append(dst, row.SeqNo), ',')
	}
	held := row.View.Field(c.field.Name())
	if held == nil {
		return dst
	}
	if numbers := held.Numbers(); numbers != nil {
		c.numbers = numbers.All(c.numbers[:0], row.Doc)
		for _, n := range c.numbers {
			dst = append(printer.Append(dst, n), ',')
		}
		return dst
	}
	if ordinals := held.Ordinals(); ordinals != nil {
		return c.appendTerms(dst, held, ordinals, row.Doc)
	}
	return dst
}

func (c *column) appendTerms(dst []byte, held *segment.Field, ordinals *segment.OrdinalColumn, doc segment.Doc) []byte {
	c.ordinals = ordinals.All(c.ordinals[:0], doc)
	for _, ord := range c.ordinals {
		c.term = held.Term(c.term[:0], ord)
		dst = append(c.field.AppendTerm(dst, c.term), ',')
	}
	return dst
}
