package lucene

import (
	"context"

	"github.com/reshelve/reshelve/internal/fault"
)

// softDeletes returns the documents that have a value in the segment's
// soft-deletes field; nil when there are none. What it reads is confirmed,
// because these bits decide which documents exist.
func (s *Segment) softDeletes(ctx context.Context) (*Bits, error) {
	field, ok := s.softDeletesField()
	if !ok || field.DocValues == NoDocValues {
		return nil, nil
	}
	if s.Commit.SoftDelCount == 0 && field.DocValuesGen == noGeneration {
		return nil, nil
	}
	if len(s.Commit.Overlays[field.Number]) > 0 {
		return nil, fault.WithNext(fault.New(fault.Refused, "the soft deletes are updates laid over each other (Lucene 10.6), which is not supported"),
			"force-merge the index and take a new snapshot")
	}
	file, err := s.openDocValues(ctx, field)
	if err != nil {
		return nil, err
	}
	column, err := file.numeric(field)
	if err != nil {
		return nil, err
	}
	return column.presence.confirmedBits(ctx, file)
}

// softDeletesField is the field with the soft-deletes mark.
func (s *Segment) softDeletesField() (FieldInfo, bool) {
	for _, f := range s.Fields {
		if f.SoftDeletes {
			return f, true
		}
	}
	return FieldInfo{}, false
}
