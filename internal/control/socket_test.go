package control

import (
	"context"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
)

// TestAFolderThatIsJustBeingOpenedIsWaitedFor: who finds it taken tries again, and only then.
func TestAFolderThatIsJustBeingOpenedIsWaitedFor(t *testing.T) {
	taken, damaged := fault.New(fault.Conflict, "another process serves this folder"), fault.New(fault.Corrupt, "damaged")
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, c := range []struct {
		name    string
		ctx     context.Context
		answers []error
		want    error
	}{
		{"taken twice, then reached", t.Context(), []error{taken, taken, nil}, nil},
		{"taken, then damaged", t.Context(), []error{taken, damaged}, damaged},
		{"free", t.Context(), []error{nil}, nil},
		{"damaged", t.Context(), []error{damaged}, damaged},
		{"nobody waits any more", stopped, []error{taken}, taken},
	} {
		tries := 0
		err := untilOpen(c.ctx, func() error { tries++; return c.answers[tries-1] })
		if err != c.want || tries != len(c.answers) {
			t.Errorf("%s: %v after %d tries", c.name, err, tries)
		}
	}
}
