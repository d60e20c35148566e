package reshard_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// TestAPointInTimeHoldsUpNoMovement, though shards that have gone are read in it: neither a merge,
// nor the way back, nor what comes next on the index.
func TestAPointInTimeHoldsUpNoMovement(t *testing.T) {
	h := newHouse(t, 2)
	for i := range 40 {
		h.write(document.Index, fmt.Sprint(i))
	}
	point := func() {
		_, err := h.store.OpenPoint(h.ctx, catalog.Expression{Names: []string{"books"}}, "", time.Hour)
		h.must(err)
	}
	point()
	h.work(h.begin(false, joinAll), movement.Finished)
	id := h.begin(true, by(3))
	h.work(id, movement.Switched)
	point()
	h.tell(id, movement.Reverse)
	h.work(id, movement.Reversed)
	if n := h.shards(); n != 1 {
		t.Errorf("%d shards", n)
	}
}
