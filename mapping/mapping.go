package mapping

// Limits bound mappings and documents. They are settings of an index, named
// beside each.
type Limits struct {
	TotalFields     int  // index.mapping.total_fields.limit
	Depth           int  // index.mapping.depth.limit
	NestedFields    int  // index.mapping.nested_fields.limit
	NestedObjects   int  // index.mapping.nested_objects.limit
	FieldNameLength int  // index.mapping.field_name_length.limit
	IgnoreMalformed bool // index.mapping.ignore_malformed
	Coerce          bool // index.mapping.coerce
}

// DefaultLimits are the server's.
var DefaultLimits = Limits{TotalFields: 1000, Depth: 20, NestedFields: 50, NestedObjects: 10000, FieldNameLength: 1 << 30, Coerce: true}
