package mapping

import (
	"math"

	"github.com/reshelve/reshelve/internal/opensearch/date"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// finish works out what taking documents apart needs, and refuses parameters that
// do not go together.
func (f *Field) finish() error {
	f.ignoreAbove = math.MaxInt
	if i := f.kind.index("ignore_above"); i >= 0 {
		f.ignoreAbove = int(f.param(i).(int64))
	}
	f.coerce, f.ignoreMalformed = f.tristate("coerce"), f.tristate("ignore_malformed")
	if f.kind.final == nil {
		return nil
	}
	return f.kind.final(f)
}

// tristate is a boolean parameter, or unset.
func (f *Field) tristate(name string) tristate {
	if i := f.kind.index(name); i >= 0 && f.params[i] != nil {
		if f.params[i] == true {
			return yes
		}
		return no
	}
	return unset
}

// nullParam is null_value, or nil.
func (f *Field) nullParam() any { return f.params[f.kind.index("null_value")] }

func finishText(f *Field) error {
	if text, ok := f.nullParam().(string); ok {
		f.hasNull, f.null = true, Value{Kind: Text, Bytes: []byte(text)}
	}
	return nil
}

func finishNull(f *Field) (err error) {
	switch v := f.nullParam().(type) {
	case bool:
		f.hasNull, f.null = true, truth(v)
	case literal:
		f.hasNull = true
		f.null, err = readLoose(f, number(v))
		if f.kind.name == "half_float" {
			f.null.FloatHigh = f.null.Float
			f.null.Float = half(float32(f.null.Float))
		}
	case string: // of ip
		f.null, f.hasNull = parseNullIP(v) // one that is none is ignored, as the server does
	}
	return err
}

func truth(v bool) Value {
	if v {
		return Value{Kind: Truth, Low: 1}
	}
	return Value{Kind: Truth}
}

func finishScaled(f *Field) error {
	scaling, ok := f.params[f.kind.index("scaling_factor")].(float64)
	if !ok {
		return exception.New(exception.IllegalArgument, "Field [scaling_factor] is required")
	}
	f.scaling = scaling
	return finishNull(f)
}

func finishDate(f *Field) (err error) {
	if f.format, err = date.ParseFormat(f.Text("format")); err != nil {
		return noFormat(f, err)
	}
	printed, err := date.ParseFormat(f.Text("print_format"))
	if err != nil {
		cause := exception.From(err)
		return noFormat(f, exception.New(exception.IllegalArgument, "Invalid print format: %s", cause.Reason).CausedBy(cause))
	}
	if f.params[f.kind.index("print_format")] != nil {
		f.format = f.format.PrintedAs(printed)
	}
	if text, ok := f.nullParam().(string); ok {
		f.null, err = parseNullDate(f, text)
		f.hasNull = err == nil // one that is none is ignored, as the server does
	}
	return nil
}

func noFormat(f *Field, err error) error {
	cause := exception.From(err)
	return exception.New(exception.IllegalArgument, "Error parsing [format] on field [%s]: %s", f.name, cause.Reason).CausedBy(cause)
}

func finishRange(f *Field) (err error) {
	if f.kind.name == "date_range" {
		f.format, err = date.ParseFormat(f.Text("format"))
		return err
	}
	if f.params[f.kind.index("format")] != nil {
		return exception.New(exception.IllegalArgument, "field [%s] of type [range] should not define a dateTimeFormatter unless it is a DATE type", f.name)
	}
	return nil
}

// finishAnalyzed refuses combinations that text cannot have.
func finishAnalyzed(f *Field) error {
	refuse := func(format string) error { return exception.New(exception.IllegalArgument, format, f.name) }
	options := f.Text("index_options")
	positions := options == "positions" || options == "offsets"
	prefixes := f.params[f.kind.index("index_prefixes")] != nil
	switch {
	case !f.Indexed() && f.flag("fielddata"):
		return refuse("Cannot enable fielddata on a [text] field that is not indexed: [%s]")
	case f.params[f.kind.index("position_increment_gap")] != nil && !positions:
		return refuse("Cannot set position_increment_gap on field [%s] without positions enabled")
	case prefixes && !f.Indexed():
		return refuse("Cannot set index_prefixes on unindexed field [%s]")
	case f.flag("index_phrases") && !f.Indexed():
		return refuse("Cannot set index_phrases on unindexed field [%s]")
	case f.flag("index_phrases") && !positions:
		return refuse("Cannot set index_phrases on field [%s] if positions are not enabled")
	}
	return nil
}

func finishGeo(f *Field) error {
	f.ignoreZ = f.tristate("ignore_z_value") != no
	p, ok := f.nullParam().(point)
	if !ok {
		return nil
	}
	p, err := finishNullPoint(f, p)
	if err != nil {
		return err
	}
	f.params[f.kind.index("null_value")] = p
	f.hasNull, f.null = true, Value{Kind: Point, Float: p.Lat, FloatHigh: p.Lon}
	return nil
}

func finishConstant(f *Field) error {
	if f.params[0] == nil {
		return exception.New(exception.OpenSearchParse, "Field [%s] is missing required parameter [value]", f.name)
	}
	return nil
}
