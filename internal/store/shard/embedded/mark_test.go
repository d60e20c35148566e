package embedded

import (
	"errors"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
)

// TestANumberGivenOutAgainIsAnother: who read number 10 before the store was opened again
// without it is not told that it is synced, when it is another write's.
func TestANumberGivenOutAgainIsAnother(t *testing.T) {
	ctx := t.Context()
	var m mark
	m.reset(8)
	life := m.life.Load()
	waiting := make(chan error)
	go func() { waiting <- m.awaitIn(ctx, life, 10) }()
	m.fail(errors.New("the disk"))
	m.reset(8)
	if err := <-waiting; !fault.Is(err, fault.Unavailable) {
		t.Errorf("who waited is told %v", err)
	}
	m.reach(10)
	if err := m.awaitIn(ctx, life, 10); !fault.Is(err, fault.Unavailable) {
		t.Errorf("who comes late is told %v", err)
	}
	if err := m.await(ctx, 10); err != nil {
		t.Error(err)
	}
}
