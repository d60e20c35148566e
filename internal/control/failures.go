package control

import (
	"context"
	"errors"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/migrate"
)

// FailuresRequest asks for what a movement could not bring.
type FailuresRequest struct {
	At, ID string
	Index  string // the only index, of the source; "": all
	Limit  int64  // documents that are told one by one; negative: all
}

// Failed is a document that a movement could not bring.
type Failed struct {
	Index string `json:"index"`
	Shard int    `json:"shard"`
	migrate.Failure
}

// FailureSummary is what a movement could not bring, by cause.
type FailureSummary struct {
	Documents int64           `json:"total"`  // that failed one by one
	Causes    []migrate.Cause `json:"causes"` // of those, the most frequent first
	// Pieces are the indices and items that failed whole.
	Pieces []migrate.FailedPiece `json:"pieces"`
}

// errEnough ends a list.
var errEnough = errors.New("there are enough")

// Failures tells what a movement could not bring: first the whole by cause, then, to each,
// the documents one by one, in the order of indices, shards and positions. In memory is never
// more than one batch of them. Of a movement that has ended the report holds the causes.
func (c *Control) Failures(ctx context.Context, req FailuresRequest, summary func(*FailureSummary) error, each func(Failed) error) error {
	return c.with(ctx, req.At, func(ctx context.Context, d *drive.Driver, side *side) error {
		m, err := movementOf(ctx, d, side, req.ID, req.At)
		if err != nil {
			return ordered(err, req.ID, req.At)
		}
		if m.Progress == nil {
			err := fault.WithNext(fault.New(fault.Refused, "movement %s is of kind %s: it sends no documents that could fail", m.ID, m.Kind), "reshelve movement status")
			return ordered(err, req.ID, req.At)
		}
		s := &FailureSummary{Causes: []migrate.Cause{}, Pieces: []migrate.FailedPiece{}}
		for _, cause := range m.Progress.Failures {
			if req.Index == "" || cause.Index == req.Index {
				s.Causes = append(s.Causes, cause)
				s.Documents += cause.Documents
			}
		}
		pieces, err := migrate.FailedPieces(ctx, d, req.ID)
		if err != nil {
			return err
		}
		for _, piece := range pieces {
			if req.Index == "" || piece.Index == req.Index {
				s.Pieces = append(s.Pieces, piece)
			}
		}
		if err := summary(s); err != nil {
			return err
		}
		left := req.Limit
		err = migrate.Failures(ctx, d, req.ID, req.Index, func(index string, shard int, f migrate.Failure) error {
			if left == 0 {
				return errEnough
			}
			left--
			return each(Failed{index, shard, f})
		})
		if errors.Is(err, errEnough) {
			return nil
		}
		return err
	})
}
