package mapping

// Document takes a source apart: it checks every value by the type of its field
// and hands it to sink (nil: only check). id is told in errors. additions is the
// update that dynamic mapping asks for, to be given to Merge, or nil; the values
// of fields that are only in the additions are not handed out: take the document
// apart again with the merged mapping. Errors are exceptions; what sink received
// before one is void.
func (m *Mapping) Document(source []byte, id string, l Limits, sink Sink) (additions []byte, err error) {
	return nil, nil
}
