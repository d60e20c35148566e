package migrate

import (
	"context"
	"fmt"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
)

// undo takes away what an entry names, or puts back what stood there. What is gone is no
// error; what is not ours any more is left alone, and left tells so.
func (t *turn) undo(ctx context.Context, e *movement.Entry) (left string, err error) {
	switch e.Kind {
	case kindAlias:
		return "", t.removeAlias(ctx, e)
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
	case kindSettings, kindPipeline:
		return t.restoreSettings(ctx, e)
	}
	return "", fault.New(fault.Refused, "this version does not know how to undo it")
}

// leftAlone says that a thing is there which an entry does not prove to be the movement's.
func leftAlone(e *movement.Entry, thing string) string {
	if !e.Made {
		return fmt.Sprintf("%s is there, and nothing proves that the movement made it (the answer to its request is not known): it was left alone", thing)
	}
	return thing + " is not the one that the movement made: it was left alone"
}
