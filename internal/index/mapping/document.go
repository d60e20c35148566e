package mapping

import (
	"math"
	"strconv"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
	json "github.com/reshelve/reshelve/internal/opensearch/token"
)

// Document takes a source apart: it checks every value by the type of its field
// and hands it to sink (nil: only check). id is told in errors. additions is the
// update that dynamic mapping asks for, to be given to Merge, or nil; when there
// are some, what sink received is void: take the document apart again with the
// merged mapping. It is void too after an error. Errors are exceptions.
func (m *Mapping) Document(source []byte, id string, l Limits, sink Sink) (additions []byte, err error) {
	w := walk{m: m, settings: l, id: id, sink: sink}
	w.limits = &w.settings
	err = w.document(source)
	switch {
	case w.deep != nil:
		return nil, w.deep
	case err != nil:
		return nil, failed(err)
	}
	if w.conflict != nil {
		return nil, w.conflict.told
	}
	if w.additions == nil && w.immense != nil {
		return nil, w.immense
	}
	if w.additions == nil {
		return nil, nil
	}
	w.additions.seal()
	first := true
	additions = w.additions.appendProperties([]byte{'{'}, &first)
	return append(additions, '}'), nil
}

// walk is one source being taken apart.
type walk struct {
	m      *Mapping
	limits *Limits // the settings
	id     string
	sink   Sink // nil when nobody wants values, or once there are additions
	r      json.Reader

	settings Limits

	source []byte
	name   []byte // of the value being read; nil in an array
	at     int    // where the value begins
	depth  int    // of objects that are open
	arrays int    // that are open
	nested int    // nested objects so far
	stamps int    // values of the data stream's timestamp

	additions *Field // the root of what dynamic mapping adds; nil: nothing
	known     *Field // the root that they will be merged into
	lowest    string // path of the additions, by name
	atLowest  int    // how many of them have it
	conflict  *conflict
	deep      error            // an addition beyond a limit: not wrapped like other errors
	fresh     int              // how many fields the additions are, at least
	immense   *exception.Error // a text that is too long to be a term

	copied  string  // path of the field whose value is being copied
	preview *string // what a reader says of a value that it refuses; nil: all of it
	scratch []byte  // for readers of values
	address address
	ranges  *rangeReader
	points  *pointReader
}

func (w *walk) document(source []byte) error {
	if len(source) == 0 {
		return exception.New(exception.MapperParsing, "failed to parse, document is empty")
	}
	if !startsObject(source) {
		return exception.NotContent()
	}
	w.source = source
	w.r.Reset(source)
	if _, err := w.r.Next(); err != nil {
		return err
	}
	var err error
	if w.m.root.disabled {
		_, err = w.r.Whole(json.Object)
	} else {
		err = w.fields(w.m.root)
	}
	if err != nil {
		return err
	}
	kind, err := w.r.Next()
	if err == nil && kind != json.End {
		err = exception.New(exception.IllegalArgument, "Malformed content, found extra data after parsing: %s", kind)
	}
	if err == nil {
		err = w.checkTimestamp()
	}
	return err
}

// failed is the error as the server tells it: what is not of a field's type is a
// failure to parse the document.
func failed(err error) error {
	e := exception.From(err)
	if e.Type == exception.MapperParsing || e.Type == exception.StrictDynamicMapping {
		return e
	}
	return exception.New(exception.MapperParsing, "failed to parse").CausedBy(e)
}

// checkTimestamp holds a data stream's documents to their one timestamp.
func (w *walk) checkTimestamp() error {
	path := w.m.Timestamp()
	if path == "" || w.stamps == 1 {
		return nil
	}
	return exception.New(exception.IllegalArgument, "documents must contain a single-valued timestamp field '%s' of date type", path)
}

// fields reads the rest of an object of the source into the object o.
func (w *walk) fields(o *Field) error {
	if w.depth++; w.depth > w.limits.Depth {
		return exception.New(exception.OpenSearchParse, "The depth of the field has exceeded the allowed limit of [%d]."+
			" This limit can be set by changing the [index.mapping.depth.limit] index level setting.", w.limits.Depth)
	}
	for {
		kind, err := w.r.Next()
		if err != nil {
			return err
		}
		if kind == json.ObjectEnd {
			w.depth--
			return nil
		}
		name := w.r.Text() // a key stays valid
		w.name = name
		if kind, err = w.r.Next(); err != nil {
			return err
		}
		if f := o.children[string(name)]; f != nil {
			err = w.value(f, kind)
		} else {
			err = w.unknown(o, string(name), kind)
		}
		if err != nil {
			return err
		}
	}
}

// value reads the value that begins with a token of this kind into f.
func (w *walk) value(f *Field, kind json.Kind) error {
	switch {
	case kind == json.Array && (!f.kind.whole || w.arrays == w.limits.Depth):
		return w.array(func(kind json.Kind) error { return w.value(f, kind) })
	case f.disabled:
		_, err := w.r.Whole(kind)
		return err
	case f.IsObject():
		return w.object(f, kind)
	case f.kind == aliasType:
		return exception.New(exception.IllegalArgument, "Cannot write to a field alias [%s].", f.path)
	}
	t, err := w.token(kind)
	if err != nil {
		return w.unfinished(f, kind, err)
	}
	if err := w.leaf(f, t); err != nil {
		return err
	}
	for _, path := range f.copyTo {
		w.copied = f.path
		if err := w.copy(path, t); err != nil {
			return err
		}
	}
	w.copied = ""
	return nil
}

// array reads the rest of an array, element by element.
func (w *walk) array(element func(kind json.Kind) error) error {
	if w.arrays++; w.arrays > w.limits.Depth {
		return exception.New(exception.OpenSearchParse, "The depth of the nested array field has exceeded the allowed limit of [%d]."+
			" This limit can be set by changing the [index.mapping.depth.limit] index level setting.", w.limits.Depth)
	}
	for {
		kind, err := w.r.Next()
		if err != nil {
			return err
		}
		if kind == json.ArrayEnd {
			w.arrays--
			return nil
		}
		w.name = nil
		if err := element(kind); err != nil {
			return err
		}
	}
}

// object reads a value into an object of the mapping.
func (w *walk) object(f *Field, kind json.Kind) error {
	switch {
	case kind == json.Null:
		return nil
	case kind != json.Object:
		name := "null"
		if w.name != nil {
			name = string(w.name)
		}
		return exception.New(exception.MapperParsing, "object mapping for [%s] tried to parse field [%s] as object, but found a concrete value", f.path, name)
	case f.kind != nestedType:
		return w.fields(f)
	}
	if w.nested++; w.nested > w.limits.NestedObjects {
		return exception.New(exception.MapperParsing, "The number of nested documents has exceeded the allowed limit of [%d]."+
			" This limit can be set by changing the [index.mapping.nested_objects.limit] index level setting.", w.limits.NestedObjects)
	}
	if w.sink != nil {
		w.sink.Begin(f)
	}
	err := w.fields(f)
	if w.sink != nil {
		w.sink.End(f)
	}
	return err
}

// token is the whole value that begins with a token of this kind.
func (w *walk) token(kind json.Kind) (token, error) {
	w.at = w.r.Offset()
	if kind == json.Object || kind == json.Array {
		whole, err := w.r.Whole(kind)
		return token{kind, whole}, err
	}
	return token{kind, w.r.Text()}, nil
}

// leaf gives a value to a field and its multi-fields.
func (w *walk) leaf(f *Field, t token) error {
	if err := f.kind.read(w, f, t); err != nil && (f.kind.whole || !w.limits.IgnoreMalformed) {
		return w.unreadable(f, t, err)
	}
	if f.kind.whole {
		return nil // which has given its multi-fields what is theirs
	}
	for _, multi := range f.multi {
		if err := w.leaf(multi, t); err != nil {
			return err
		}
	}
	return nil
}

// unreadable tells which field could not take which value.
func (w *walk) unreadable(f *Field, t token, err error) error {
	if f.kind.whole {
		return exception.New(exception.MapperParsing, "failed to parse field [%s] of type [%s]", f.path, f.kind.name).CausedBy(exception.From(err))
	}
	preview := javaText(t.tree())
	if t.kind == json.Float && (f.kind.name == "float" || f.kind.name == "half_float") {
		if v, err := strconv.ParseFloat(string(t.text), 32); err != nil && math.IsInf(v, 0) {
			preview = java.Double(v) // the server shows what it has read: a number of 32 bits
		}
	}
	switch {
	case w.preview == &noPreview:
		return w.unquoted(f, err)
	case w.preview != nil:
		preview = *w.preview
	}
	return exception.New(exception.MapperParsing, "failed to parse field [%s] of type [%s] in document with id '%s'. Preview of field's value: '%s'",
		f.path, f.kind.name, w.id, preview).CausedBy(exception.From(err))
}

// unfinished is an object or array for a field that ends in malformed JSON.
func (w *walk) unfinished(f *Field, kind json.Kind, malformed error) error {
	if f.kind.whole {
		return w.unreadable(f, token{}, malformed)
	}
	t := token{kind: kind}
	err := f.kind.read(w, f, t)
	if err == nil {
		return malformed
	}
	return w.unquoted(f, err)
}

// unquoted is unreadable without the value.
func (w *walk) unquoted(f *Field, err error) error {
	return exception.New(exception.MapperParsing, "failed to parse field [%s] of type [%s] in document with id '%s'. Could not parse field value preview,",
		f.path, f.kind.name, w.id).CausedBy(exception.From(err))
}

// here is the place of the value being read.
func (w *walk) here() place { return place{w.source, w.at} }

// emit hands a value out.
func (w *walk) emit(f *Field, v Value) {
	if w.m.stamp != "" && f.path == w.m.stamp && (f.Indexed() || f.DocValues()) {
		w.stamps++
	}
	if w.sink != nil {
		v.Arrays, v.Copied = w.arrays, w.copied
		w.sink.Value(f, v)
	}
}

// copy gives a value to the field of copy_to.
func (w *walk) copy(path string, t token) error {
	f, ok := w.m.Field(path)
	switch {
	case !ok:
		parts, err := splitPath(path)
		if err != nil {
			return err
		}
		return w.addValue(w.m.root, parts, t, true)
	case f.kind == aliasType:
		return exception.New(exception.IllegalArgument, "Cannot copy to a field alias [%s].", f.path)
	case f.IsObject():
		return exception.New(exception.IllegalArgument, "Cannot copy to field [%s] since it is mapped as an object", f.path)
	}
	return w.leaf(f, t)
}

// tree is the value as a tree, for messages.
func (t token) tree() any {
	switch t.kind {
	case json.String:
		return string(t.text)
	case json.Integer, json.Float:
		return number(t.text)
	case json.True, json.False:
		return t.kind == json.True
	case json.Null:
		return nil
	}
	r := json.New(t.text)
	kind, _ := r.Next()
	value, _ := readTree(r, kind)
	return value
}
