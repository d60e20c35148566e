package lucene

import (
	"context"

	"github.com/reshelve/reshelve/internal/fault"
)

// Columns reads numeric doc values side by side, in document order, with one
// window of each (256 KiB for documents and values) in memory whatever the
// segment's size. Not safe for concurrent use.
type Columns struct {
	columns []*column
	files   []*docValues
	last    int // document of the last call
}

// column is one field's reader; nil fields: no document has a value.
type column struct {
	name    string
	present *presenceReader
	values  *valueReader
}

// Columns opens the numeric doc values of the named fields. A field that the
// segment lacks has no values. Doc values in a format that this package does not
// read are a Refused error that names the format.
func (s *Segment) Columns(ctx context.Context, names ...string) (*Columns, error) {
	c := &Columns{last: -1}
	opened := map[string]*docValues{}
	for _, name := range names {
		col := &column{name: name}
		c.columns = append(c.columns, col)
		field, ok := s.Field(name)
		if !ok || field.DocValues == NoDocValues {
			continue
		}
		if err := s.openColumn(ctx, col, field, opened); err != nil {
			return nil, err
		}
	}
	for _, d := range opened {
		c.files = append(c.files, d)
	}
	return c, nil
}

func (s *Segment) openColumn(ctx context.Context, col *column, field FieldInfo, opened map[string]*docValues) error {
	if field.DocValues != NumericDocValues {
		return fault.New(fault.Refused, "the doc values of field %s are no single numbers (type %d)", field.Name, field.DocValues)
	}
	if len(s.Commit.Overlays[field.Number]) > 0 {
		return fault.New(fault.Refused, "the doc values of field %s are updates laid over each other (Lucene 10.6), which is not supported", field.Name)
	}
	_, stem, _, err := s.docValuesFiles(field)
	if err != nil {
		return err
	}
	d, ok := opened[stem]
	if !ok {
		if d, err = s.openDocValues(ctx, field); err != nil {
			return err
		}
		opened[stem] = d
	}
	n, err := d.numeric(field)
	if err != nil {
		return err
	}
	col.present, col.values = d.presenceReader(n.presence), d.valueReader(n)
	if n.nested != nil {
		col.values = d.valueReader(n.nested)
	}
	return nil
}

// At calls value for each column, by its index in the call of Columns, that has
// a value for doc. doc is above that of earlier calls. What it gives is not
// confirmed until Finish.
func (c *Columns) At(doc int, value func(column int, value int64)) error {
	if doc <= c.last {
		return fault.New(fault.Bug, "columns are read forward only: document %d was wanted after %d", doc, c.last)
	}
	c.last = doc
	for i, col := range c.columns {
		if col.present == nil {
			continue
		}
		index, err := col.present.index(doc)
		if err != nil || index < 0 {
			if err != nil {
				return fault.At(err, "field "+col.name)
			}
			continue
		}
		v, err := col.values.value(index)
		if err != nil {
			return fault.At(err, "field "+col.name)
		}
		value(i, v)
	}
	return nil
}

// Finish reads what is left of the files, other fields' values too, and compares
// their checksums: nil means that every value that At gave was confirmed.
func (c *Columns) Finish() error {
	for _, d := range c.files {
		if err := d.finish(); err != nil {
			return err
		}
	}
	return nil
}

// Unconfirmed names the files whose checksum was not compared yet: long ones,
// before Finish.
func (c *Columns) Unconfirmed() (names []string) {
	for _, d := range c.files {
		if d.whole == nil && d.checks && !d.confirmed {
			names = append(names, d.name)
		}
	}
	return names
}

// Close gives memory back. It does not confirm anything.
func (c *Columns) Close() error {
	c.columns, c.files = nil, nil
	return nil
}
