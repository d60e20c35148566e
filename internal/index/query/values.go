package query

import (
	"cmp"
	"encoding/base64"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"unicode/utf16"

	"github.com/reshelve/reshelve/internal/index/analysis"
	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/opensearch/date"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// values takes sources apart as their mapping does, and shows the values of some fields:
// in the order of the source, as they were understood.
type values struct {
	schema *fields.Schema
	shown  []*shownValue
	by     map[string][]*shownValue // of a field's path
	tokens []analysis.Token
}

// shownValue is a field that is shown under a name.
type shownValue struct {
	name     string // as asked: a field's path or an alias's
	field    *fields.Field
	kind     string
	dates    *date.Format // of dates
	wellText bool         // of points: in well-known text
	fold     bool         // a normalizer changes texts
	longest  int64        // ignore_above
	scaling  float64      // of scaled_float

	json      []byte       // of the current source, with a comma behind each
	at        []valuePlace // of its values
	malformed bool         // and one was passed over: nothing is shown
}

// valuePlace is where a value stands among those of a field, the path that it comes from, and
// how many arrays it is in.
type valuePlace struct {
	start, end, arrays int
	from               string
}

func newValues(schema *fields.Schema) *values {
	return &values{schema: schema, by: map[string][]*shownValue{}}
}

// add adds what a name or a pattern means. The last format of a name counts.
func (v *values) add(want FieldFormat) error {
	single := true
	for i, name := range named(v.schema, want.Field) {
		single = single && i == 0 && name == want.Field
		f, ok := v.schema.Field(name)
		if !ok {
			continue
		}
		def, ok := v.schema.Mapping().Field(f.Path())
		switch {
		case !ok, f.Type() == "constant_keyword": // the server's own fields, and what is in no source
			continue
		case f.Type() == "flat_object" && single:
			return exception.New(exception.IllegalArgument, "[fields] of type [flat_object] is not supported by this version of reshelve")
		case f.Type() == "flat_object":
			continue
		}
		s := &shownValue{name: name, field: f, kind: f.Type(), longest: math.MaxInt32, scaling: def.Scaling()}
		if err := s.format(def, want.Format); err != nil {
			return err
		}
		if f.Kind() == fields.Keyword {
			s.fold = def.Text("normalizer") != ""
			if above := def.Count("ignore_above"); above > 0 {
				s.longest = above
			}
		}
		v.put(s)
	}
	return nil
}

func (v *values) put(s *shownValue) {
	path := s.field.Path()
	for _, known := range v.by[path] {
		if known.name == s.name {
			*known = *s
			return
		}
	}
	v.by[path] = append(v.by[path], s)
	v.shown = append(v.shown, s)
}

// format takes the format that values are shown in.
func (s *shownValue) format(def *mapping.Field, format string) (err error) {
	switch s.kind {
	case "date", "date_nanos", "date_range":
		if s.dates = def.Format(); format != "" {
			s.dates, err = date.ParseFormat(format)
		}
		return err
	case "geo_point":
		if s.wellText = format == "wkt"; !s.wellText && format != "" && format != "geojson" {
			return exception.New(exception.IllegalArgument, "Unrecognized geometry format [%s].", format)
		}
		return nil
	}
	if format != "" {
		return exception.New(exception.IllegalArgument, "Field [%s] of type [%s] doesn't support formats.", s.name, s.kind)
	}
	return nil
}

// lenient limits take apart whatever was accepted before.
var lenient = func() mapping.Limits {
	l := mapping.Unlimited(mapping.DefaultLimits)
	l.NestedObjects, l.Coerce = math.MaxInt, true
	return l
}()

// read takes a source apart. One that cannot be read shows nothing.
func (v *values) read(id string, source []byte) {
	v.forget()
	if _, err := v.schema.Mapping().Document(source, id, lenient, v); err != nil {
		v.forget()
	}
}

func (v *values) forget() {
	for _, s := range v.shown {
		s.json, s.at, s.malformed = s.json[:0], s.at[:0], false
	}
}

// shows reports whether the current source shows something under a name.
func (v *values) shows(name string) bool {
	for _, s := range v.shown {
		if s.name == name {
			return !s.malformed && len(s.json) > 0
		}
	}
	return false
}

// members appends the members of the current source.
func (v *values) members(dst []shownMember) []shownMember {
	for _, s := range v.shown {
		if !s.malformed && len(s.json) > 0 {
			dst = append(dst, shownMember{s.name, s.ordered()})
		}
	}
	return dst
}

// ordered are the values in the order of the server: the field's own and those of each field
// that is copied into it by the order of its set of their paths, and arrays taken apart
// level by level: [1, [2], 3] is 1, 3, 2.
func (s *shownValue) ordered() []byte {
	compare := func(a, b valuePlace) int {
		if a.from != b.from {
			return java.Bucket(a.from, usualTable) - java.Bucket(b.from, usualTable)
		}
		return a.arrays - b.arrays
	}
	if slices.IsSortedFunc(s.at, compare) {
		return s.json
	}
	slices.SortStableFunc(s.at, compare)
	out := make([]byte, 0, len(s.json))
	for _, p := range s.at {
		out = append(out, s.json[p.start:p.end]...)
	}
	return out
}

// usualTable is how many buckets the server's maps have at first.
const usualTable = 16

// Value is for mapping.Document.
func (v *values) Value(f *mapping.Field, value mapping.Value) {
	for _, s := range v.by[f.Path()] {
		before := len(s.json)
		if s.json = v.append(s, value); len(s.json) > before {
			s.json = append(s.json, ',')
			s.at = append(s.at, valuePlace{before, len(s.json), value.Arrays, cmp.Or(value.Copied, f.Path())})
		}
	}
}

// Begin and End are for mapping.Document: objects of nested fields are not told apart.
func (v *values) Begin(*mapping.Field) {}

// End is as Begin.
func (v *values) End(*mapping.Field) {}

// Ignored is for mapping.Document: a field with a malformed value shows none at all.
func (v *values) Ignored(f *mapping.Field) {
	for _, s := range v.by[f.Path()] {
		s.malformed = true
	}
}

// append appends the JSON of a value, or nothing when it is not shown.
func (v *values) append(s *shownValue, value mapping.Value) []byte {
	dst := s.json
	switch value.Kind {
	case mapping.Text:
		return v.appendText(s, value.Bytes)
	case mapping.Integer:
		return strconv.AppendInt(dst, value.Low, 10)
	case mapping.Unsigned:
		return strconv.AppendUint(dst, uint64(value.Low), 10)
	case mapping.Real:
		return s.appendReal(value.Float, value.FloatHigh)
	case mapping.Truth:
		return strconv.AppendBool(dst, value.Low != 0)
	case mapping.Instant:
		return s.appendInstant(dst, value.Low)
	case mapping.Address:
		return s.field.AppendTerm(dst, value.Bytes)
	case mapping.Binary:
		return append(base64.StdEncoding.AppendEncode(append(dst, '"'), value.Bytes), '"')
	case mapping.Point:
		return s.appendPoint(value.Float, value.FloatHigh)
	}
	return s.appendRange(value)
}

func (v *values) appendText(s *shownValue, text []byte) []byte {
	if s.longest < math.MaxInt32 && int64(len(text)) > s.longest && int64(len(utf16.Encode([]rune(string(text))))) > s.longest {
		return s.json
	}
	if s.fold {
		v.tokens = s.field.SearchAnalyzer(false).Analyze(v.tokens[:0], text)
		if len(v.tokens) > 0 {
			text = v.tokens[0].Term
		}
	}
	return token.AppendString(s.json, text)
}

func (s *shownValue) appendReal(f, wide float64) []byte {
	switch s.kind {
	case "float":
		return java.AppendReal(s.json, float64(float32(f)), 32)
	case "half_float": // as the server shows it: not rounded to 16 bits
		return java.AppendReal(s.json, wide, 32)
	case "scaled_float":
		return java.AppendReal(s.json, math.Floor(f*s.scaling+0.5)/s.scaling, 64)
	}
	return java.AppendReal(s.json, f, 64)
}

func (s *shownValue) appendInstant(dst []byte, n int64) []byte {
	millis, nanos := n, 0
	if s.kind == "date_nanos" {
		millis = n / 1_000_000
		if n%1_000_000 < 0 {
			millis--
		}
		nanos = int(n - millis*1_000_000)
	}
	return append(s.dates.AppendFormat(append(dst, '"'), millis, nanos, nil), '"')
}

// appendPoint appends a point as GeoJSON, or in well-known text.
func (s *shownValue) appendPoint(lat, lon float64) []byte {
	if s.wellText {
		dst := java.AppendReal(append(s.json, `"POINT (`...), lon, 64)
		return append(java.AppendReal(append(dst, ' '), lat, 64), `)"`...)
	}
	dst := java.AppendReal(append(s.json, `{"coordinates":[`...), lon, 64)
	return append(java.AppendReal(append(dst, ','), lat, 64), `],"type":"Point"}`...)
}

// appendRange appends a range by its ends as they were told. One that is as far as the type
// goes is none. A net is shown as one.
func (s *shownValue) appendRange(value mapping.Value) []byte {
	if net, err := netip.ParsePrefix(string(value.Net)); err == nil {
		return token.AppendString(s.json, net.String())
	}
	told := s.field.Told(&value)
	noLow, noHigh := s.field.Widest(&told)
	dst := append(s.json, '{')
	if !noHigh && value.HighOpen { // members in the order of the server's map
		dst = s.appendEnd(dst, "lt", &told, true)
	}
	if !noHigh && !value.HighOpen {
		dst = s.appendEnd(dst, "lte", &told, true)
	}
	if !noLow && value.LowOpen {
		dst = s.appendEnd(dst, "gt", &told, false)
	}
	if !noLow && !value.LowOpen {
		dst = s.appendEnd(dst, "gte", &told, false)
	}
	return append(dst, '}')
}

// appendEnd appends the member of one end.
func (s *shownValue) appendEnd(dst []byte, name string, told *mapping.Value, high bool) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = append(token.AppendString(dst, name), ':')
	whole, real, address := told.Low, told.Float, told.Bytes
	if high {
		whole, real = told.High, told.FloatHigh
	}
	switch {
	case told.Kind == mapping.AddressRange && high:
		return fields.AppendAddress(dst, address[16:])
	case told.Kind == mapping.AddressRange:
		return fields.AppendAddress(dst, address[:16])
	case told.Kind == mapping.RealRange && s.kind == "float_range":
		return java.AppendReal(dst, real, 32)
	case told.Kind == mapping.RealRange:
		return java.AppendReal(dst, real, 64)
	case s.dates != nil:
		return s.appendInstant(dst, whole)
	}
	return strconv.AppendInt(dst, whole, 10)
}
