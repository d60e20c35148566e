package mapping

// Merge is the mapping after update, the body of a put-mapping request or the
// additions of a document, has been merged into it. Errors are exceptions.
func (m *Mapping) Merge(update []byte, l Limits) (*Mapping, error) { return m, nil }

// MergeTemplate is Merge by the rules of templates: a later definition of a field
// replaces an earlier one where it cannot be merged with it.
func (m *Mapping) MergeTemplate(update []byte, l Limits) (*Mapping, error) { return m, nil }
