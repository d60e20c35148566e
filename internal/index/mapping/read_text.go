package mapping

import (
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	json "github.com/reshelve/reshelve/internal/opensearch/token"
)

// reader reads the value of a token into a field, hands it to the walk's sink, or
// says why it cannot.
type reader func(w *walk, f *Field, t token) error

// nothing is what a null is, unless null_value tells another value.
func (w *walk) nothing(f *Field) error {
	if f.hasNull {
		w.emit(f, f.null)
	}
	return nil
}

// readString reads analyzed text: any scalar.
func readString(w *walk, f *Field, t token) error {
	switch {
	case t.kind == json.Null:
		return nil
	case !t.kind.IsScalar():
		return w.here().noText(t.kind)
	}
	w.emit(f, Value{Kind: Text, Bytes: t.text})
	return nil
}

// readKeyword reads text that is not analyzed; too long text is ignored.
func readKeyword(w *walk, f *Field, t token) error {
	switch {
	case t.kind == json.Null:
		return w.nothing(f)
	case !t.kind.IsScalar():
		return w.here().noText(t.kind)
	}
	if len(t.text) > f.ignoreAbove && (len(t.text)/3 > f.ignoreAbove || units(string(t.text)) > f.ignoreAbove) { // a unit takes three bytes at most
		return nil
	}
	if len(t.text) > longestTerm && w.immense == nil {
		w.immense = immense(f, t.text)
	}
	w.emit(f, Value{Kind: Text, Bytes: t.text})
	return nil
}

// readConstant accepts the one text of the field.
func readConstant(w *walk, f *Field, t token) error {
	if t.kind != json.Null && t.kind.IsScalar() && string(t.text) == f.params[0] {
		w.emit(f, Value{Kind: Text, Bytes: t.text})
		return nil
	}
	switch {
	case t.kind == json.Null:
		return exception.New(exception.IllegalArgument, "constant keyword field [%s] must have a value", f.path)
	case !t.kind.IsScalar():
		return w.here().noText(t.kind)
	}
	return exception.New(exception.IllegalArgument, "constant keyword field [%s] must have a value of [%s]", f.path, f.params[0])
}

// readFlat reads a whole object as it is.
func readFlat(w *walk, f *Field, t token) error {
	switch t.kind {
	case json.Null:
		return nil
	case json.Object:
		w.emit(f, Value{Kind: Text, Bytes: t.text})
		return nil
	}
	line, column := w.here().lineColumn(w.at)
	return exception.New(exception.Parsing, "[%s] unexpected token [%s] in flat_object field value", f.path, t.kind).With("line", line).With("col", column)
}

// readBoolean reads true, false, and their names.
func readBoolean(w *walk, f *Field, t token) error {
	switch t.kind {
	case json.Null:
		return w.nothing(f)
	case json.True, json.False:
		w.emit(f, truth(t.kind == json.True))
		return nil
	case json.String:
		switch string(t.text) {
		case "true", "false":
			w.emit(f, truth(t.text[0] == 't'))
			return nil
		case "":
			w.emit(f, truth(false))
			return nil
		}
		return exception.NotBoolean(string(t.text))
	}
	return w.here().refuse(exception.JSONParse, "Current token (%s) not of boolean type", kindName(t.kind))
}
