package fields

import (
	"encoding/base64"
	"slices"
	"strconv"

	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// Stored gives what the server keeps of documents beside their sources: the values of
// fields with store: true, in the order of the source. Here they are made of the source
// when they are asked for. Not safe for concurrent use.
//
//	source ──▶ mapping ──▶ levels: the document, nested objects that are open ──▶ JSON of each field
type Stored struct {
	schema *Schema
	fields []*storedField
	by     map[*mapping.Field]int // places in fields

	around  string // the objects that are looked at: path of a nested field; "": the document
	levels  []storedLevel
	depth   int
	found   storedLevel
	ignored []string
	value   []byte // of one value
}

// storedField is a field that is asked for.
type storedField struct {
	*Field
	names   []string // its path, and aliases of it, as asked
	printer *Printer // of dates
}

// storedLevel is a document or an object that is not completed: the JSON of the values of
// each field, with a comma behind each, and the fields that have some, in the order of
// their first.
type storedLevel struct {
	path   string
	values [][]byte
	order  []int
}

// NewStored is for some fields of a schema: their paths or aliases. Fields that are not
// stored, and names that there are not, mean nothing; objects are refused in the server's
// words.
func NewStored(s *Schema, names []string) (*Stored, error) {
	k := &Stored{schema: s, by: map[*mapping.Field]int{}}
	for _, name := range names {
		if def, ok := s.mapping.Field(name); ok && def.IsObject() {
			return nil, exception.New(exception.IllegalArgument, "field [%s] isn't a leaf field", name)
		}
		f := s.leaves.get(name)
		if f == nil || !f.def.On("store") {
			continue
		}
		at, known := k.by[f.def]
		if !known {
			one := &storedField{Field: f}
			if f.row.kind == Date {
				one.printer = &Printer{field: f, dates: f.def.Format()}
			}
			at = len(k.fields)
			k.by[f.def], k.fields = at, append(k.fields, one)
		}
		if one := k.fields[at]; !slices.Contains(one.names, name) {
			one.names = append(one.names, name)
		}
	}
	const usual = 16 // buckets of the server's set of a field's names
	for _, one := range k.fields {
		slices.SortStableFunc(one.names, func(a, b string) int { return java.Bucket(a, usual) - java.Bucket(b, usual) })
	}
	return k, nil
}

// Any reports whether a field is asked for.
func (k *Stored) Any() bool { return len(k.fields) > 0 }

// Read takes a source apart: the document, or with the path of a nested field the last of
// its objects. A source that cannot be read has no values.
func (k *Stored) Read(id string, source []byte, around string) {
	k.around, k.depth, k.ignored, k.found = around, 0, k.ignored[:0], storedLevel{}
	k.push("")
	_, err := k.schema.mapping.Document(source, id, lenient, k)
	switch {
	case err != nil:
		k.found, k.ignored = storedLevel{}, k.ignored[:0]
	case around == "":
		k.found = k.levels[0]
	}
}

// Each hands out the fields of what was read that have a value: under every name that was
// asked for, the JSON of the values with a comma behind each, valid until the next Read.
func (k *Stored) Each(give func(name string, values []byte)) {
	for _, i := range k.found.order {
		for _, name := range k.fields[i].names {
			give(name, k.found.values[i])
		}
	}
}

// Passed are the paths of the fields of which a value was passed over (ignore_malformed),
// in their order, each once. Valid until the next Read.
func (k *Stored) Passed() []string {
	slices.Sort(k.ignored)
	return slices.Compact(k.ignored)
}

func (k *Stored) push(path string) {
	if k.depth == len(k.levels) {
		k.levels = append(k.levels, storedLevel{values: make([][]byte, len(k.fields))})
	}
	l := &k.levels[k.depth]
	l.path, l.order = path, l.order[:0]
	for i := range l.values {
		l.values[i] = l.values[i][:0]
	}
	k.depth++
}

// Begin is for mapping.Document.
func (k *Stored) Begin(nested *mapping.Field) { k.push(nested.Path()) }

// End is for mapping.Document: see [Writer.End].
func (k *Stored) End(nested *mapping.Field) {
	k.depth--
	child, parent, root := &k.levels[k.depth], &k.levels[k.depth-1], &k.levels[0]
	for _, i := range child.order {
		if nested.IncludedInParent() {
			parent.add(i, child.values[i])
		}
		if nested.IncludedInRoot() && (root != parent || !nested.IncludedInParent()) {
			root.add(i, child.values[i])
		}
	}
	if child.path == k.around { // an object that follows begins where this one was
		k.found = storedLevel{values: make([][]byte, len(k.fields)), order: slices.Clone(child.order)}
		for _, i := range child.order {
			k.found.values[i] = slices.Clone(child.values[i])
		}
	}
}

// add adds values of a field.
func (l *storedLevel) add(field int, values []byte) {
	if len(l.values[field]) == 0 {
		l.order = append(l.order, field)
	}
	l.values[field] = append(l.values[field], values...)
}

// Ignored is for mapping.Document.
func (k *Stored) Ignored(f *mapping.Field) { k.ignored = append(k.ignored, f.Path()) }

// Value is for mapping.Document.
func (k *Stored) Value(f *mapping.Field, v mapping.Value) {
	at, ok := k.by[f]
	if !ok {
		return
	}
	around, level := k.schema.NestedAround(f.Path()), k.depth-1
	for level > 0 && k.levels[level].path != around {
		level--
	}
	k.value = append(k.fields[at].append(k.value[:0], &v), ',')
	k.levels[level].add(at, k.value)
}

// append appends the JSON of a value.
func (f *storedField) append(dst []byte, v *mapping.Value) []byte {
	switch v.Kind {
	case mapping.Integer:
		return strconv.AppendInt(dst, v.Low, 10)
	case mapping.Unsigned:
		return strconv.AppendUint(dst, uint64(v.Low), 10)
	case mapping.Real:
		return f.appendReal(dst, v)
	case mapping.Truth:
		return strconv.AppendBool(dst, v.Low != 0)
	case mapping.Instant:
		return f.printer.Append(dst, v.Low)
	case mapping.Address:
		return AppendAddress(dst, v.Bytes)
	case mapping.Binary:
		return append(base64.StdEncoding.AppendEncode(append(dst, '"'), v.Bytes), '"')
	case mapping.Point:
		dst = java.AppendReal(append(dst, '"'), v.Float, 64)
		return append(java.AppendReal(append(dst, ", "...), v.FloatHigh, 64), '"')
	case mapping.IntegerRange, mapping.RealRange, mapping.AddressRange:
		return f.appendInterval(dst, v)
	}
	if f.normalizer != nil {
		return token.AppendString(dst, f.normalizer.Normalize(nil, v.Bytes))
	}
	return token.AppendString(dst, v.Bytes)
}

// appendReal appends a number with a fraction. The server keeps a half_float as a number
// of 32 bits, and a scaled_float times its factor, by which it divides.
func (f *storedField) appendReal(dst []byte, v *mapping.Value) []byte {
	switch f.row.name {
	case "double":
		return java.AppendReal(dst, v.Float, 64)
	case "float":
		return java.AppendReal(dst, v.Float, 32)
	case "half_float":
		return java.AppendReal(dst, v.FloatHigh, 32)
	}
	return java.AppendReal(dst, float64(round(v.Float*f.def.Scaling()))/f.def.Scaling(), 64)
}

// appendInterval appends a range as the server prints it: "[1 : 2)".
func (f *storedField) appendInterval(dst []byte, v *mapping.Value) []byte {
	told := f.Told(v)
	var low, high string
	switch v.Kind {
	case mapping.AddressRange:
		low, high = addressText(told.Bytes[:16]), addressText(told.Bytes[16:])
	case mapping.RealRange:
		low, high = f.endText(RealBits(told.Float)), f.endText(RealBits(told.FloatHigh))
	default:
		low, high = f.endText(told.Low), f.endText(told.High)
	}
	opening, closing := byte('['), byte(']')
	if v.LowOpen {
		opening = '('
	}
	if v.HighOpen {
		closing = ')'
	}
	dst = append(append(append(dst, '"', opening), low...), " : "...)
	return append(append(dst, high...), closing, '"')
}
