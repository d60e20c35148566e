package migrate

import (
	"context"

	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/movement"
)

// undo takes away what an entry names, or puts back what stood there. What is gone is no
// error; what is not ours any more is left alone, and left tells so.
func (t *turn) undo(ctx context.Context, e *movement.Entry) (left string, err error) {
	switch e.Kind {
	case kindIndex:
		return t.removeIndex(ctx, e)
	case string(ComponentTemplate), string(ComposableTemplate), string(LegacyTemplate):
		return t.removeTemplate(ctx, e)
	case kindSnapshot, kindRepository:
		return "", t.removeFromSource(ctx, e)
	case kindStream:
		return t.removeStream(ctx, e)
	case KindClaim:
		return "", t.removeClaim(ctx)
	case kindSettings:
		return t.restoreSettings(ctx, e)
	}
	return "", fault.New(fault.Refused, "this version does not know how to undo it")
}
