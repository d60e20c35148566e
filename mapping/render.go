package mapping

// JSON is the object under "mappings" as the server renders it: keys in its
// order, defaults left out.
func (m *Mapping) JSON() []byte { return []byte("{}") }

// FieldMappings answers GET _mapping/field/PATTERNS: the object under "mappings",
// with one key for each field whose path meets one of the comma-separated
// wildcard patterns. With defaults, parameters that were not set are told too.
func (m *Mapping) FieldMappings(patterns string, defaults bool) []byte { return []byte("{}") }
