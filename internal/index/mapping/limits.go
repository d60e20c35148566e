package mapping

import "math"

// Limits bound mappings and documents, and tell what else of an index's settings
// a mapping depends on. They are settings of an index, named beside each.
type Limits struct {
	TotalFields     int  // index.mapping.total_fields.limit
	Depth           int  // index.mapping.depth.limit
	NestedFields    int  // index.mapping.nested_fields.limit
	NestedObjects   int  // index.mapping.nested_objects.limit
	FieldNameLength int  // index.mapping.field_name_length.limit
	IgnoreMalformed bool // index.mapping.ignore_malformed
	Coerce          bool // index.mapping.coerce

	Analysis Analysis
}

// Analysis are the names that the settings of an index define beside the server's
// own (index.analysis.*, index.similarity.*). Nil sets define none.
type Analysis struct {
	Analyzers, Normalizers, Similarities map[string]bool
	Any                                  bool // every name is known: mappings that were accepted before
}

// DefaultLimits are the server's.
var DefaultLimits = Limits{TotalFields: 1000, Depth: 20, NestedFields: 50, NestedObjects: 10000, FieldNameLength: math.MaxInt32, Coerce: true}

// Unlimited are limits for a mapping that was accepted before: it is read again
// whatever the settings say now.
func Unlimited(l Limits) Limits {
	l.TotalFields, l.Depth, l.NestedFields, l.FieldNameLength = math.MaxInt, math.MaxInt, math.MaxInt, math.MaxInt
	l.Analysis.Any = true
	return l
}
