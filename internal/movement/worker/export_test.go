package worker

import (
	"context"

	"github.com/reshelve/reshelve/internal/movement"
)

// GiveUp is what a slot does that knows of a piece that has failed.
func GiveUp(ctx context.Context, s Slot, m *movement.Record, phase string, o Outcome) error {
	return s.giveUp(ctx, m, phase, o)
}

// Tell is how a slot lets a happening happen.
func Tell(ctx context.Context, s Slot, m *movement.Record, e movement.Event) error {
	return s.tell(ctx, m, e)
}
