package migrate_test

import (
	"net/http"
	"testing"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
)

// TestWhatNoRefreshHasShown is compared, and mended: an index of the target may refresh never.
func TestWhatNoRefreshHasShown(t *testing.T) {
	r := newRig(t, "elasticsearch-7.10.2-basic", "second")
	id := r.start(r.plan("shelves"))
	r.work(id)
	r.do(http.MethodPut, []string{"shelves", "_settings"}, `{"index":{"refresh_interval":"-1"}}`, nil)

	r.do(http.MethodDelete, []string{"shelves", "_doc", "b-1"}, "", nil)
	r.tell(id, movement.Verify)
	if m, p := r.work(id); m.State != movement.Held || p.Verified[0].Result.Counts[reconcile.Missing] != 1 {
		t.Errorf("without b-1 it is %s: %+v", m.State, p.Verified)
	}

	r.do(http.MethodPut, []string{"shelves", "_doc", "b-1"}, `{}`, nil)
	r.do(http.MethodDelete, []string{"shelves", "_doc", "b-3"}, "", nil)
	r.tell(id, movement.Repair)
	if m, p := r.work(id); m.State != movement.Held || p.Verified[0].Result.Counts[reconcile.Missing] != 1 || p.Verified[0].Result.Counts[reconcile.Newer] != 1 {
		t.Errorf("with another b-1 and without b-3 it is %s: %+v", m.State, p.Verified)
	}
}
