package fields

import (
	"math"

	"github.com/reshelve/reshelve/internal/index/analysis"
	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// Writer puts documents into a segment. Not safe for concurrent use.
type Writer struct {
	to      *segment.Builder
	schema  *Schema
	reached map[*mapping.Field]*column // of schema
	columns map[string]*column         // by name
	texts   []*column                  // fields with lengths and positions of the current doc
	tokens  []analysis.Token
	held    held
	value   mapping.Value
	stale   bool     // a field is written as an older schema has it
	passed  []string // paths of fields of which a value was passed over

	routing, seqNo, ignored *segment.FieldBuilder
	err                     error
}

// column is where the values of one field go.
type column struct {
	writer *Writer
	field  *Field
	put    func(c *column, v *mapping.Value)
	out    *segment.FieldBuilder
	spec   segment.Spec // of out
	flat   *flatColumns
	around string // path of the nested field whose objects have the field

	// of the current doc
	open     bool   // among Writer.texts
	position uint32 // where the next value begins
	length   uint32

	scratch []byte
	terms   map[string]struct{}
}

// NewWriter writes into b. The schema may be replaced by a grown one.
func NewWriter(b *segment.Builder) *Writer {
	return &Writer{to: b, columns: map[string]*column{}, reached: map[*mapping.Field]*column{}}
}

// lenient limits take apart whatever was accepted before: what the settings refused then
// is not there, and what they passed over is passed over again.
var lenient = func() mapping.Limits {
	l := mapping.Unlimited(mapping.DefaultLimits)
	l.NestedObjects, l.IgnoreMalformed, l.Coerce = math.MaxInt, true, true
	return l
}()

// Add writes one document with its nested children. A source that cannot be read, which
// a write would have refused, is written with its identity alone: the error tells why,
// and the document is there. An error of fault.Bug is of the builder, and nothing is
// there.
func (w *Writer) Add(s *Schema, id segment.Identity, routing string, source []byte) error {
	if err := w.own(); err != nil {
		return err
	}
	if w.schema != s || w.stale && w.to.Docs() == 0 {
		w.schema, w.stale = s, false
		clear(w.reached)
	}
	w.err, w.passed = nil, w.passed[:0]
	w.held.begin(len(s.nested) > 0)
	additions, err := s.mapping.Document(source, id.ID, lenient, w)
	if err == nil && w.held.on {
		w.write(w.held.open[0].values)
	}
	switch {
	case err == nil && w.err != nil:
		err = w.err
	case err == nil && additions != nil:
		err = exception.New(exception.IllegalState, "the mapping does not know all fields of the document [%s]", id.ID)
	}
	if err != nil {
		w.to.Abandon()
		w.forget()
		w.passed = w.passed[:0]
	}
	for _, path := range w.passed {
		w.ignored.Term([]byte(path))
	}
	if routing != "" {
		w.routing.Term([]byte(routing))
	}
	w.seqNo.Number(id.SeqNo)
	w.close()
	w.to.EndRoot(id)
	w.shrink()
	return err
}

// What is kept from document to document, at most.
const (
	keptTokens = 1 << 14
	keptBytes  = 1 << 20
	keptValues = 1 << 12
)

// shrink leaves the memory of a document that was out of the common to the collector.
func (w *Writer) shrink() {
	if cap(w.tokens) > keptTokens {
		w.tokens = nil
	}
	if cap(w.held.bytes) > keptBytes || len(w.held.open) > 0 && cap(w.held.open[0].values) > keptValues {
		w.held = held{}
	}
}

// own makes the server's own fields.
func (w *Writer) own() (err error) {
	if w.seqNo != nil {
		return nil
	}
	if w.routing, err = w.to.Field("_routing", own["_routing"].spec); err != nil {
		return err
	}
	if w.ignored, err = w.to.Field("_ignored", own["_ignored"].spec); err != nil {
		return err
	}
	w.seqNo, err = w.to.Field("_seq_no", own["_seq_no"].spec)
	return err
}

// Value is for mapping.Document.
func (w *Writer) Value(f *mapping.Field, v mapping.Value) {
	c := w.column(f)
	w.value = v // in memory that is there
	switch {
	case c.put == nil:
	case w.held.on:
		w.held.value(c, &w.value)
	default:
		c.put(c, &w.value)
	}
}

// Ignored is for mapping.Document: the document tells, whatever object it was in.
func (w *Writer) Ignored(f *mapping.Field) {
	w.passed = append(w.passed, f.Path())
}

// column finds where the values of a field go.
func (w *Writer) column(f *mapping.Field) *column {
	if c, ok := w.reached[f]; ok {
		return c
	}
	c := w.columns[f.Path()]
	if c == nil {
		c = &column{writer: w}
		w.columns[f.Path()] = c
	}
	w.reached[f] = c
	field := w.schema.leaves.get(f.Path())
	if field == nil || field.def != f {
		return c // of a mapping that is not the schema's: not written
	}
	c.field, c.around = field, w.schema.NestedAround(field.path)
	switch {
	case c.out == nil:
		if err := c.make(); err != nil {
			c.out, c.put, w.err = nil, nil, err
		}
	case c.spec != field.spec: // changed by an update; in one segment the first counts
		if _, err := w.to.Field(field.path, field.spec); err == nil {
			c.spec = field.spec
		} else {
			w.stale = true
		}
	}
	return c
}

// make makes the fields of the builder.
func (c *column) make() (err error) {
	f := c.field
	if f.spec == (segment.Spec{}) && !f.def.On("store") {
		return nil // nothing is kept of it, not even that it is there
	}
	c.spec = f.spec
	if c.out, err = c.writer.to.Field(f.path, c.spec); err != nil {
		return err
	}
	if f.row.flat {
		c.flat = &flatColumns{}
		if c.flat.values, err = c.writer.to.Field(f.path+"._value", c.spec); err != nil {
			return err
		}
		if c.flat.pairs, err = c.writer.to.Field(f.path+"._valueAndPath", c.spec); err != nil {
			return err
		}
	}
	c.put = f.row.put
	if c.spec == (segment.Spec{}) {
		c.put = putNothing
	}
	return nil
}

// close tells the lengths of the current doc.
func (w *Writer) close() {
	for _, c := range w.texts {
		if c.spec.Lengths {
			c.out.Length(c.length)
		}
	}
	w.forget()
}

// forget leaves the current doc.
func (w *Writer) forget() {
	for _, c := range w.texts {
		c.open, c.position, c.length = false, 0, 0
		clear(c.terms)
	}
	w.texts = w.texts[:0]
}

// count adds to the length of the current doc.
func (c *column) count(n uint32) {
	if !c.open {
		c.open = true
		c.writer.texts = append(c.writer.texts, c)
	}
	c.length += n
}
