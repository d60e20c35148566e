package search

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// decayValue falls with the distance of a field's values from an origin. What is nearer
// than the offset counts as 1, and so does a doc without values.
type decayValue struct {
	shape    string
	mode     string
	field    *fields.Field
	distance func(n int64) float64 // of a number of the column
	offset   float64
	scale    float64 // as the shape's formula has it
}

// newDecay works out what the texts of a decay mean for the type of its field: JSON of
// numbers; of dates and spans of time; of points and lengths.
func newDecay(index *Index, d *Decay, now int64) (valuer, error) {
	f, ok := index.Schema.Field(d.Field)
	if !ok {
		return nil, exception.New(exception.Parsing, "unknown field [%s]", d.Field)
	}
	v := &decayValue{shape: d.Shape, mode: d.Mode, field: f}
	var scale float64
	var err error
	switch f.Kind() {
	case fields.Integer, fields.Real, fields.Truth:
		scale, err = v.numbers(d)
	case fields.Date:
		scale, err = v.dates(d, now)
	case fields.GeoPoint:
		scale, err = v.points(d)
	default:
		err = exception.New(exception.Parsing, "field [%s] is of type [%s], but only numeric types are supported.", d.Field, f.Type())
	}
	if err != nil {
		return nil, err
	}
	return v, v.check(d, scale)
}

// check refuses what the formulas cannot take, and makes the scale theirs.
func (v *decayValue) check(d *Decay, scale float64) error {
	switch {
	case d.Decay <= 0 || d.Decay >= 1:
		return exception.New(exception.IllegalArgument, "function_score : decay must be in the range [0..1].")
	case scale <= 0:
		return exception.New(exception.IllegalArgument, "function_score : scale must be > 0.0.")
	case v.offset < 0:
		return exception.New(exception.IllegalArgument, "function_score : offset must be > 0.0")
	}
	switch v.shape {
	case "gauss":
		v.scale = 0.5 * (scale * scale) / math.Log(d.Decay)
	case "exp":
		v.scale = math.Log(d.Decay) / scale
	default:
		v.scale = scale / (1 - d.Decay)
	}
	return nil
}

// evaluate is the value at a distance.
func (v *decayValue) evaluate(distance float64) float64 {
	switch v.shape {
	case "gauss":
		return math.Exp(0.5 * (distance * distance) / v.scale)
	case "exp":
		return math.Exp(v.scale * distance)
	}
	return max(0, (v.scale-distance)/v.scale)
}

// bare is a JSON scalar as text.
func bare(text string) string {
	var s string
	if json.Unmarshal([]byte(text), &s) == nil {
		return s
	}
	return text
}

func decayNumber(text string, absent float64) (float64, error) {
	if text == "" {
		return absent, nil
	}
	n, err := strconv.ParseFloat(bare(text), 64)
	if err != nil {
		return 0, exception.NotNumber(bare(text))
	}
	return n, nil
}

func (v *decayValue) numbers(d *Decay) (scale float64, err error) {
	if d.Origin == "" || d.Scale == "" {
		return 0, exception.New(exception.OpenSearchParse, "both [scale] and [origin] must be set for numeric fields.")
	}
	origin, err := decayNumber(d.Origin, 0)
	if err != nil {
		return 0, err
	}
	if v.offset, err = decayNumber(d.Offset, 0); err != nil {
		return 0, err
	}
	v.distance = func(n int64) float64 { return math.Abs(v.field.Float(n) - origin) }
	return decayNumber(d.Scale, 0)
}

func (v *decayValue) dates(d *Decay, now int64) (scale float64, err error) {
	if d.Scale == "" {
		return 0, exception.New(exception.OpenSearchParse, "[scale] must be set for date fields.")
	}
	origin := float64(now)
	if d.Origin != "" {
		kind := token.Integer
		if strings.HasPrefix(d.Origin, `"`) {
			kind = token.String
		}
		m, err := v.field.Exact(fields.Value{Kind: kind, Text: bare(d.Origin)}, now)
		if err != nil {
			return 0, err
		}
		origin = v.field.Float(m.Least)
	}
	v.distance = func(n int64) float64 { return math.Abs(v.field.Float(n) - origin) }
	if v.offset, err = decaySpan(d.Offset, "DecayFunctionParser.offset"); err != nil {
		return 0, err
	}
	return decaySpan(d.Scale, "DecayFunctionParser.scale")
}

// spanUnits are the units of time values, longer names before those that they end with.
var spanUnits = []struct {
	name string
	unit time.Duration
}{
	{"nanos", time.Nanosecond}, {"micros", time.Microsecond}, {"ms", time.Millisecond},
	{"s", time.Second}, {"m", time.Minute}, {"h", time.Hour}, {"d", 24 * time.Hour},
}

// decaySpan reads a time value as milliseconds.
func decaySpan(text, setting string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	value := bare(text)
	lower := strings.ToLower(strings.TrimSpace(value))
	for _, u := range spanUnits {
		if number, ok := strings.CutSuffix(lower, u.name); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
			if err != nil {
				return 0, exception.New(exception.IllegalArgument, "failed to parse [%s]", value).CausedBy(exception.NotNumber(number))
			}
			return math.Trunc(float64(n) * (float64(u.unit) / float64(time.Millisecond))), nil
		}
	}
	if strings.Trim(lower, "0") == "" {
		return 0, nil
	}
	return 0, exception.New(exception.IllegalArgument, "failed to parse setting [%s] with value [%s] as a time value: unit is missing or unrecognized", setting, value)
}

func (v *decayValue) points(d *Decay) (scale float64, err error) {
	if d.Origin == "" || d.Scale == "" {
		return 0, exception.New(exception.OpenSearchParse, "[origin] and [scale] must be set for geo fields.")
	}
	lat, lon, err := decayPoint(d.Origin)
	if err != nil {
		return 0, err
	}
	v.distance = func(n int64) float64 {
		toLat, toLon := fields.PointOf(n)
		return arc(lat, lon, toLat, toLon)
	}
	if d.Offset != "" {
		if v.offset, err = decayLength(bare(d.Offset)); err != nil {
			return 0, err
		}
	}
	return decayLength(bare(d.Scale))
}

// decayPoint reads a point: an object, an array of longitude and latitude, a text.
func decayPoint(text string) (lat, lon float64, err error) {
	var object struct{ Lat, Lon *float64 }
	var array []float64
	switch {
	case json.Unmarshal([]byte(text), &object) == nil && object.Lat != nil && object.Lon != nil:
		return *object.Lat, *object.Lon, nil
	case json.Unmarshal([]byte(text), &array) == nil && len(array) >= 2:
		return array[1], array[0], nil
	}
	first, second, ok := strings.Cut(bare(text), ",")
	lat, err = strconv.ParseFloat(strings.TrimSpace(first), 64)
	if err == nil && ok {
		if lon, err = strconv.ParseFloat(strings.TrimSpace(second), 64); err == nil {
			return lat, lon, nil
		}
	}
	return 0, 0, exception.New(exception.OpenSearchParse, "failed to parse point [%s]", bare(text))
}

// lengthUnits are the units of lengths in meters, longer names before those that they end
// with.
var lengthUnits = []struct {
	name   string
	meters float64
}{
	{"nauticalmiles", 1852}, {"millimeters", 0.001}, {"centimeters", 0.01}, {"kilometers", 1000}, {"meters", 1},
	{"inch", 0.0254}, {"yards", 0.9144}, {"feet", 0.3048}, {"miles", 1609.344}, {"nmi", 1852}, {"NM", 1852},
	{"in", 0.0254}, {"yd", 0.9144}, {"ft", 0.3048}, {"km", 1000}, {"mm", 0.001}, {"cm", 0.01}, {"mi", 1609.344}, {"m", 1},
}

// decayLength reads a length as meters.
func decayLength(text string) (float64, error) {
	for _, u := range lengthUnits {
		if number, ok := strings.CutSuffix(text, u.name); ok {
			n, err := strconv.ParseFloat(number, 64)
			if err != nil {
				return 0, exception.NotNumber(number)
			}
			return n * u.meters, nil
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, exception.NotNumber(text)
	}
	return n, nil
}

func (v *decayValue) in(view segment.View) func(segment.Doc) (float64, error) {
	var column *segment.NumberColumn
	if held := view.Field(v.field.Name()); held != nil {
		column = held.Numbers()
	}
	if column == nil {
		return always
	}
	var numbers []int64
	var distances []float64
	return func(doc segment.Doc) (float64, error) {
		numbers, distances = column.All(numbers[:0], doc), distances[:0]
		if len(numbers) == 0 {
			return v.evaluate(0), nil
		}
		for _, n := range numbers {
			distances = append(distances, max(0, v.distance(n)-v.offset))
		}
		slices.Sort(distances)
		return v.evaluate(chosen(v.mode, distances)), nil
	}
}

// chosen is what a mode makes of some values, which ascend: at least one.
func chosen(mode string, values []float64) float64 {
	switch n := len(values); mode {
	case "max":
		return values[n-1]
	case "sum", "avg":
		sum := 0.0
		for _, v := range values {
			sum += v
		}
		if mode == "avg" {
			return sum / float64(n)
		}
		return sum
	case "median":
		if n%2 == 0 {
			return (values[n/2-1] + values[n/2]) / 2
		}
		return values[n/2]
	}
	return values[0]
}
