package work_test

import (
	"testing"

	"github.com/reshelve/reshelve/internal/movement/work"
)

// TestAFailedItemsSuccessorIsNotWaitedForForEver: an item may fail between the name of its successor and
// its making, and then nobody makes it. One that was made is waited for, as any item is.
func TestAFailedItemsSuccessorIsNotWaitedForForEver(t *testing.T) {
	failed := work.Item{Index: "books", End: 100, Cursor: 40, SuccessorWorkItems: []string{"books__0__40"}}
	failed.State = work.Failed
	next := work.Item{Index: "books", Start: 40, End: 100, Cursor: 40}
	all := map[string]work.Item{failed.Name(): failed}

	s := work.NewSweep(0)
	s.Saw("-", all)
	if s.Bucket(0) == "" {
		t.Error("the list that showed the failure was perhaps made before the successor was")
	}
	s.Saw("-", all)
	if s.Bucket(0) != "" {
		t.Error("nobody makes the successor any more, and it is waited for")
	}
	if n, bad := s.Counts(); n != 1 || bad != 1 {
		t.Errorf("%d items, %d failed", n, bad)
	}

	s = work.NewSweep(0)
	s.Saw("-", all)
	all[next.Name()] = next
	s.Saw("-", all)
	if s.Bucket(0) == "" {
		t.Error("the successor is there, and not waited for")
	}
	next.State = work.Done
	all[next.Name()] = next
	s.Saw("-", all)
	if s.Bucket(0) != "" {
		t.Error("all have ended")
	}
	failed.State = work.Waiting // somebody has opened it again, to be tried once more
	all[failed.Name()] = failed
	delete(all, next.Name())
	s.Saw("-", all)
	if s.Bucket(0) == "" {
		t.Error("an item waits")
	}
}
