package worker

import (
	"context"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// closing is the prefix of all closing keys.
const closing = "closing/"

// ClosingKey is the key of the piece by which one worker at a time ends a movement, and the
// prefix of what it keeps meanwhile. It is not among the movement's pieces, which are removed.
func ClosingKey(id string) string { return closing + id }

// Closing lets one worker at a time end a movement, and then removes its pieces. End does what
// the end asks of the lane, and stores the lane's report under the key reported, by
// drive.Driver.Make, before it takes away what that is made of: what an attempt before has
// reported stands. The outcome carries the report.
func Closing(ctx context.Context, s Slot, m *movement.Record, p work.Policy, end func(ctx context.Context, reported string) error) (Outcome, error) {
	reported := ClosingKey(m.ID) + "/report"
	outcome, err := Single(ctx, s, m, ClosingKey(m.ID), p, func(ctx context.Context) error {
		if err := end(ctx, reported); err != nil {
			return err
		}
		return s.Driver.RemoveAll(ctx, work.Prefix(m.ID))
	})
	if err != nil || !outcome.Done {
		return outcome, err
	}
	record, err := s.Driver.Store().Get(ctx, reported)
	if fault.Is(err, fault.NotFound) { // somebody else has told the end, and tidied up
		return Outcome{}, nil
	}
	outcome.Report = record.Value
	return outcome, err
}
