package migrate

import (
	"context"
	"fmt"

	"github.com/reshelve/reshelve/movement"
	"github.com/reshelve/reshelve/worker"
)

// verify compares what the snapshot holds with what the target holds.
func (t *turn) verify(ctx context.Context, phase *movement.Phase) (worker.Outcome, error) {
	var text string
	outcome, err := worker.Single(ctx, t.Slot, t.movement, t.key("phase", phase.Key()), t.plan.Policy, func(ctx context.Context) error {
		for _, index := range t.plan.Indices {
			n, err := t.target.Count(ctx, index.Target)
			if err != nil {
				return err
			}
			text += fmt.Sprintf("%s: %d of %d; ", index.Target, n, index.Documents)
		}
		return nil
	})
	outcome.Text = text
	return outcome, err
}
