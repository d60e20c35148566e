package aggregate

import (
	"maps"
	"math"
	"net/netip"
	"slices"
	"strconv"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/date"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
)

// class is how values are compared and told.
type class uint8

const (
	nothing class = iota // no index knows the field
	texts                // terms
	wholes               // int64; dates in milliseconds, truth as 0 and 1
	reals                // float64
	counts               // uint64, with the highest bit turned over
	others               // only counted: points, ranges, bytes
	spans                // ranges, for aggregations over what is between their ends
)

// values are the values of one field over all indices, and how they are told.
type values struct {
	of     Values
	now    int64
	fields []*fields.Field // by index; nil: not known there
	class  class
	field  *fields.Field // the first of fields that is known
	format format

	missing      bool
	missingWhole int64 // of wholes and counts
	missingReal  float64
	missingText  []byte
}

// takes is a set of classes that an aggregation works with.
type takes uint8

const (
	takesTexts   = takes(1 << texts)
	takesNumbers = takes(1<<wholes | 1<<reals | 1<<counts)
	takesSpans   = takes(1 << spans)
	takesAll     = takes(0xff) &^ takesSpans
)

// resolve finds the field in all indices. The error is the server's.
func (v *values) resolve(kind string, all []search.Index, take takes, dated bool) error {
	v.fields = make([]*fields.Field, len(all))
	var first *search.Index
	classes := map[class]int{} // the first index in which values are of it
	for i := range all {
		f, ok := all[i].Schema.Field(v.of.Field)
		if !ok {
			continue
		}
		c, err := v.classFor(kind, f, take)
		if err != nil {
			return err
		}
		if v.fields[i] = f; first == nil || all[i].Name < first.Name {
			first, v.field = &all[i], f // the server asks them in this order
		}
		if _, ok := classes[c]; !ok {
			classes[c] = i
		}
	}
	var err error
	if v.class, err = v.join(classes, kind, all); err != nil {
		return err
	}
	if v.field != nil || v.of.Type != "" || take != takesAll {
		if v.format, err = formatOf(v.field, first, &v.of, dated); err != nil {
			return err
		}
	}
	return v.resolveMissing(take, dated)
}

// classFor says how the values of a field are kept, and refuses those that an aggregation does not
// take. The error is the server's.
func (v *values) classFor(kind string, f *fields.Field, take takes) (class, error) {
	c, err := classOf(f)
	if err == nil && c == others && f.Kind() == fields.Interval && take&takesSpans != 0 {
		c, err = spans, spansOf(kind, f)
	}
	switch {
	case err != nil:
		return c, err
	case take&(1<<c) == 0 || c == texts && kind == "ip_range" && f.Kind() != fields.Address:
		return c, exception.New(exception.IllegalArgument, "Field [%s] of type [%s] is not supported for aggregation [%s]", f.Path(), f.Type(), kind)
	case v.of.Type != "" && c == texts && f.Kind() != fields.Address && numeric(v.of.Type):
		return c, exception.New(exception.IllegalArgument, "Expected numeric type on field [%s], but got [%s]", f.Path(), f.Type())
	}
	return c, nil
}

// numeric reports whether a value_type is one of numbers.
func numeric(valueType string) bool {
	return valueType != "string" && valueType != "ip"
}

// classOf says how the values of a field are kept, and refuses those that cannot be read
// by doc.
func classOf(f *fields.Field) (class, error) {
	switch f.Type() {
	case "_id", "_index", "constant_keyword":
		return texts, nil
	case "_seq_no":
		return wholes, nil
	case "binary":
		return others, nil
	}
	if own(f) || f.Spec().Column == segment.NoColumn {
		return 0, unreadable(f)
	}
	switch f.Kind() {
	case fields.Integer:
		switch f.Type() {
		case "scaled_float":
			return reals, nil
		case "unsigned_long":
			return counts, nil
		}
		return wholes, nil
	case fields.Real:
		return reals, nil
	case fields.Date, fields.Truth:
		return wholes, nil
	case fields.GeoPoint, fields.Interval:
		return others, nil
	}
	return texts, nil
}

// own reports whether a field is one of the server's own: some have columns, for other
// ends.
func own(f *fields.Field) bool { return f.Path() == f.Type() && f.Path()[0] == '_' }

// unreadable is about a field whose values cannot be read by doc.
func unreadable(f *fields.Field) error {
	switch {
	case f.Kind() == fields.Text:
		return exception.New(exception.IllegalArgument, "Text fields are not optimised for operations that require per-document "+
			"field data like aggregations and sorting, so these operations are disabled by default. Please use a keyword field instead. "+
			"Alternatively, set fielddata=true on [%s] in order to load field data by uninverting the inverted index. "+
			"Note that this can use significant memory.", f.Path())
	case own(f):
		return exception.New(exception.IllegalArgument, "Fielddata is not supported on field [%s] of type [%s]", f.Path(), f.Type())
	case f.Type() == "flat_object" && f.Prefix() == "":
		return exception.New(exception.IllegalArgument, "Field [%s] of type [flat_object] does not support doc_value in root field", f.Path())
	case f.Type() == "flat_object":
		return exception.New(exception.IllegalArgument, "aggregating [%s] of type [flat_object] is not supported by this version of reshelve", f.Path())
	}
	return exception.New(exception.IllegalArgument, "Can't load fielddata on [%s] because fielddata is unsupported on fields of type [%s]. Use doc values instead.", f.Path(), f.Type())
}

// join is the class of values that are of several in different indices: reals where one is,
// since terms of the server are doubles then. Whole numbers and unsigned ones alone have no
// key in common, and neither have numbers and texts: the server fails when it joins the
// answers of its shards, which is refused here.
func (v *values) join(classes map[class]int, kind string, all []search.Index) (class, error) {
	if len(classes) > 1 {
		delete(classes, spans) // each view is read by what it has
	}
	seen := slices.Sorted(maps.Keys(classes))
	has := func(c class) bool { return slices.Contains(seen, c) }
	switch {
	case len(seen) == 0:
		return nothing, nil
	case len(seen) == 1:
		return seen[0], nil
	case kind != "terms" && kind != "composite" && (has(texts) || has(others)):
		return others, nil // only counted
	case kind != "terms" && kind != "composite", has(reals) && !has(texts):
		return reals, nil
	}
	a, b := classes[seen[0]], classes[seen[1]]
	return nothing, exception.New(exception.IllegalArgument, "Field [%s] is of type [%s] in index [%s] and of type [%s] in index [%s]: "+
		"aggregation [%s] cannot have keys of both; ask each of the indices by itself",
		v.of.Field, v.fields[a].Type(), all[a].Name, v.fields[b].Type(), all[b].Name, kind)
}

// resolveMissing reads what stands for a value where there is none.
func (v *values) resolveMissing(take takes, dated bool) error {
	if v.of.Missing == nil {
		if v.class == nothing {
			v.class = v.unknownClass(take, dated)
		}
		return nil
	}
	v.missing = true
	if v.class == nothing {
		v.class = v.unknownClass(take, dated)
	}
	var err error
	switch v.class {
	case texts:
		v.missingText, err = v.term(v.of.Missing.Text)
		return err
	case others, spans:
		if v.field.Kind() == fields.Interval {
			return exception.New(exception.IllegalArgument, "Can't apply missing values on a class org.opensearch.search.aggregations.support.ValuesSource$Range")
		}
		return nil
	}
	v.missingWhole, v.missingReal, err = v.number(*v.of.Missing)
	if v.class == wholes && v.missingReal != math.Trunc(v.missingReal) {
		v.class = reals
	}
	return err
}

// unknownClass is the class of the values of a field that no index knows: they are all
// what stands for missing ones.
func (v *values) unknownClass(take takes, dated bool) class {
	switch {
	case dated || v.of.Type == "date" || v.of.Type == "boolean" || v.of.Type == "long" || v.of.Type == "double":
		return wholes
	case v.of.Type == "" && take&takesTexts != 0, v.of.Type == "string", v.of.Type == "ip":
		return texts
	}
	return reals
}

// term is a text as the field's terms have it.
func (v *values) term(text string) ([]byte, error) {
	if v.of.Type != "ip" && (v.field == nil || v.field.Kind() != fields.Address) {
		return []byte(text), nil
	}
	a, err := address(text)
	if err != nil {
		return nil, err
	}
	return a[:], nil
}

// address reads an IP address.
func address(text string) ([16]byte, error) {
	a, err := netip.ParseAddr(text)
	if err != nil || a.Zone() != "" {
		return [16]byte{}, exception.New(exception.IllegalArgument, "'%s' is not an IP string literal.", text)
	}
	return a.As16(), nil
}

// number reads a value of a request: both forms of it.
func (v *values) number(value fields.Value) (whole int64, real float64, err error) {
	text := value.Text
	switch v.format.kind {
	case dates:
		whole, err = v.day(text)
		return whole, float64(whole), err
	case truth:
		switch text {
		case "true":
			return 1, 1, nil
		case "false":
			return 0, 0, nil
		}
		return 0, 0, exception.New(exception.IllegalArgument, "Cannot parse boolean [%s], expected either [true] or [false]", text)
	}
	if v.class == counts {
		n, err := strconv.ParseUint(text, 10, 64)
		if err == nil {
			return int64(n ^ 1<<63), float64(n), nil
		}
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, float64(n), nil
	}
	real, bad := strconv.ParseFloat(text, 64)
	if bad != nil {
		return 0, 0, exception.NotNumber(text)
	}
	return java.Long(real), real, nil
}

// day reads a date, of the format of the field or of the request.
func (v *values) day(text string) (int64, error) {
	format := v.format.dates
	if format == nil {
		format = date.MustFormat(isoFormat)
	}
	millis, _, err := format.ParseMath(text, v.now, false, v.of.Zone)
	return millis, err
}
