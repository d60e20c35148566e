package mapping

import (
	"math"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// fieldType is what is known of a type, one for all its fields.
type fieldType struct {
	name   string
	params []param // as they are rendered
	// multiAt is how many parameters are rendered before multi-fields and copy_to;
	// negative: the type takes neither.
	multiAt int
	// merged are the names of parameters in the order in which conflicts are told;
	// nil: that of params.
	merged []string
	// old types are checked like objects: what they do not know is refused in one
	// list, and conflicts are told in another form.
	old bool
	// whole: arrays are given to the type as one value, it gives values to its
	// multi-fields itself, and its errors tell neither document nor value.
	whole bool
	// final completes a field out of its parameters, and refuses what does not go
	// together.
	final func(f *Field) error
	// read gives the value of a token to a sink.
	read reader
}

// index is the place of a parameter, or -1.
func (t *fieldType) index(name string) int {
	for i := range t.params {
		if t.params[i].name == name {
			return i
		}
	}
	return -1
}

// param is one parameter of a type.
type param struct {
	name     string
	value    any                                                         // default; nil: null
	read     func(r *reading, f *Field, name string, v any) (any, error) // nil result: not set
	update   func(from, to any) bool                                     // may a merge change it? nil: never
	null     bool                                                        // null may be given, and is the same as nothing
	explicit bool                                                        // rendered whenever it was set
	always   bool                                                        // rendered even when it was not
	keep     bool                                                        // a merge that does not set it keeps it
	hidden   bool                                                        // never rendered, …
	defaults bool                                                        // … but where defaults are
	follows  string                                                      // the parameter whose value is the default
	leads    bool                                                        // another one follows it
}

func changes(any, any) bool { return true }

// fixed is a parameter that cannot be set, and is told where defaults are.
func fixed(p param) param {
	p.read, p.hidden, p.defaults = nil, true, true
	return p
}

// The parameters that types share.
var (
	indexParam     = param{name: "index", value: true, read: readBool}
	storeParam     = param{name: "store", value: false, read: readBool}
	docValues      = param{name: "doc_values", value: true, read: readBool}
	noDocValues    = param{name: "doc_values", value: false, read: readBool}
	boostParam     = param{name: "boost", value: float32(1), read: readBoost, update: changes}
	metaParam      = param{name: "meta", value: map[string]string{}, read: readMeta, update: changes}
	coerceParam    = param{name: "coerce", value: true, read: readBool, update: changes, explicit: true}
	malformedParam = param{name: "ignore_malformed", value: false, read: readBool, update: changes, explicit: true}
	similarity     = param{name: "similarity", read: readSimilarity, null: true}
	ordinals       = param{name: "eager_global_ordinals", value: false, read: readBool, update: changes}
	ignoreAbove    = param{name: "ignore_above", value: int64(math.MaxInt32), read: readInt, update: changes}
	normalizer     = param{name: "normalizer", value: "default", read: readNormalizer}
	formatParam    = param{name: "format", value: defaultDateFormat, read: readText}
	localeParam    = param{name: "locale", value: "", read: readLocale}
	nullText       = param{name: "null_value", read: readNullText, null: true}
	nullNumber     = param{name: "null_value", read: readNullNumber, null: true}
)

const defaultDateFormat = "strict_date_optional_time||epoch_millis"

var (
	objectType = &fieldType{name: "object", multiAt: -1, old: true}
	nestedType = &fieldType{name: "nested", multiAt: -1, old: true}
	aliasType  = &fieldType{name: "alias", multiAt: -1, old: true}

	textType          = text("text")
	matchOnlyTextType = matchOnly(text("match_only_text"))

	keywordType = &fieldType{name: "keyword", multiAt: 13, final: finishText, read: readKeyword, params: []param{
		indexParam, docValues, storeParam, nullText, ordinals, ignoreAbove,
		{name: "index_options", value: "docs", read: choice("docs", "freqs")},
		{name: "norms", value: false, read: readBool, update: onlyOff},
		similarity, normalizer,
		{name: "split_queries_on_whitespace", value: false, read: readBool, update: changes},
		boostParam, metaParam,
	}}
	wildcardType = &fieldType{name: "wildcard", multiAt: 5, final: finishText, read: readKeyword, params: []param{
		nullText, ignoreAbove, normalizer,
		{name: "doc_values", value: false, read: readBool, always: true},
		metaParam,
	}}
	constantType = &fieldType{name: "constant_keyword", multiAt: -1, old: true, read: readConstant, params: []param{
		{name: "value", read: readConstantValue},
	}, final: finishConstant}
	booleanType = &fieldType{name: "boolean", multiAt: 6, final: finishNull, read: readBoolean, params: []param{
		metaParam, boostParam, docValues, indexParam,
		{name: "null_value", read: readBool, null: true},
		storeParam,
	}}
	scaledType = &fieldType{name: "scaled_float", multiAt: 8, final: finishScaled, read: readNumber, params: []param{
		indexParam, docValues, storeParam, malformedParam, metaParam,
		{name: "scaling_factor", read: readScaling},
		coerceParam, nullNumber,
	}}
	dateType      = dateLike("date")
	dateNanosType = dateLike("date_nanos")
	ipType        = &fieldType{name: "ip", multiAt: 6, final: finishNull, read: readIP, params: []param{
		indexParam, docValues, storeParam, malformedParam, nullText, metaParam,
	}}
	binaryType = &fieldType{name: "binary", multiAt: 3, read: readBinary, params: []param{metaParam, storeParam, noDocValues}}
	geoType    = &fieldType{name: "geo_point", multiAt: 4, old: true, whole: true, final: finishGeo, read: readGeo,
		merged: []string{"index", "store", "doc_values", "boost", "meta", "ignore_malformed", "ignore_z_value", "null_value", "similarity", "index_options"},
		params: []param{
			{name: "boost", value: float32(1), read: readBoost, update: changes, hidden: true, defaults: true},
			{name: "index", value: true, read: readBool, hidden: true, defaults: true},
			docValues, storeParam, metaParam,
			{name: "ignore_malformed", value: false, read: readBool, update: changes, explicit: true, keep: true},
			{name: "ignore_z_value", value: true, read: readBool, update: changes, explicit: true, keep: true},
			{name: "null_value", read: readNullPoint, update: changes, null: true, keep: true},
			{name: "similarity", read: readAnything, hidden: true, update: changes, null: true},
			{name: "index_options", read: readIndexOptions, hidden: true, update: changes},
		}}
	flatType = &fieldType{name: "flat_object", multiAt: -1, old: true, read: readFlat, params: []param{
		fixed(boostParam), fixed(indexParam), fixed(docValues), fixed(storeParam), fixed(metaParam),
	}}
)

// types are the types that a definition may name.
var types = map[string]*fieldType{}

func init() {
	for _, t := range []*fieldType{
		objectType, nestedType, aliasType, textType, matchOnlyTextType, keywordType, wildcardType, constantType,
		booleanType, scaledType, dateType, dateNanosType, ipType, binaryType, geoType, flatType,
		numeric("byte"), numeric("short"), numeric("integer"), numeric("long"), numeric("unsigned_long"),
		numeric("half_float"), numeric("float"), numeric("double"),
		ranged("integer_range"), ranged("long_range"), ranged("float_range"), ranged("double_range"),
		ranged("date_range"), ranged("ip_range"),
	} {
		types[t.name] = t
	}
}

func numeric(name string) *fieldType {
	return &fieldType{name: name, multiAt: 7, final: finishNull, read: readNumber, params: []param{
		indexParam, docValues, storeParam, malformedParam, coerceParam, nullNumber, metaParam,
	}}
}

func dateLike(name string) *fieldType {
	return &fieldType{name: name, multiAt: 10, final: finishDate, read: readDate, params: []param{
		indexParam, docValues, storeParam, formatParam,
		{name: "print_format", value: "strict_date_optional_time", read: readText},
		localeParam, nullText, malformedParam, boostParam, metaParam,
	}}
}

// ranged is a type of ranges; those of dates alone have a format.
func ranged(name string) *fieldType {
	format, locale := formatParam, localeParam
	if name != "date_range" {
		format.hidden, locale.hidden = true, true // and so a merge cannot tell them
		format.update, locale.update = changes, changes
	}
	return &fieldType{name: name, multiAt: 9, final: finishRange, read: readRange, params: []param{
		indexParam, docValues, storeParam, coerceParam, format, locale, boostParam, metaParam, malformedParam,
	}}
}

// text is a type of analyzed text.
func text(name string) *fieldType {
	return &fieldType{
		name: name, multiAt: 3, final: finishAnalyzed, read: readString,
		merged: []string{"index", "store", "index_options", "norms", "term_vector", "analyzer", "search_analyzer", "search_quote_analyzer",
			"similarity", "position_increment_gap", "fielddata", "fielddata_frequency_filter", "eager_global_ordinals",
			"index_phrases", "index_prefixes", "boost", "meta"},
		params: []param{
			boostParam, indexParam, storeParam, metaParam,
			{name: "index_options", value: "positions", read: choice("positions", "docs", "freqs", "offsets")},
			{name: "term_vector", value: "no", read: choice("no", "yes", "with_positions", "with_offsets", "with_positions_offsets",
				"with_positions_payloads", "with_positions_offsets_payloads")},
			{name: "norms", value: true, read: readBool, update: onlyOff},
			{name: "analyzer", value: "default", read: readAnalyzer, leads: true},
			{name: "search_analyzer", follows: "analyzer", leads: true, read: readAnalyzer, update: changes},
			{name: "search_quote_analyzer", follows: "search_analyzer", read: readAnalyzer, update: changes},
			similarity, ordinals,
			{name: "position_increment_gap", value: int64(-1), read: readInt},
			{name: "fielddata", value: false, read: readBool, update: changes},
			{name: "fielddata_frequency_filter", value: frequencies{Max: math.MaxInt32}, read: readFrequencies, update: changes},
			{name: "index_prefixes", read: readPrefixes, null: true},
			{name: "index_phrases", value: false, read: readBool},
		},
	}
}

// onlyOff lets norms be switched off and never on.
func onlyOff(from, to any) bool { return from == to || from == true }

// matchOnly takes away what text has for scoring and positions: the parameters
// are known, may only say so, and are not kept.
func matchOnly(t *fieldType) *fieldType {
	refuse := func(param, reason string) {
		p := &t.params[t.index(param)]
		p.hidden, p.defaults, p.null = true, true, false
		read := p.read
		p.read = func(r *reading, f *Field, name string, v any) (any, error) {
			on, err := read(r, f, name, v)
			if err == nil && on != false {
				err = exception.New(exception.MapperParsing, "%s", reason)
			}
			return nil, err
		}
	}
	refuse("norms", "Norms cannot be enabled on for match_only_text field")
	refuse("index_phrases", "Index phrases cannot be enabled on for match_only_text field. Use text field instead")
	refuse("index_prefixes", "Index prefixes cannot be enabled on for match_only_text field. Use text field instead")
	options := &t.params[t.index("index_options")]
	options.hidden, options.defaults = true, true
	options.read = func(r *reading, f *Field, name string, v any) (any, error) {
		_, err := choice("docs")(r, f, name, v)
		return nil, err
	}
	return t
}
