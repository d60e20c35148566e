package memory_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/coord/coordtest"
	"github.com/reshelve/reshelve/internal/coord/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheContract(t *testing.T) {
	coordtest.Run(t, coordtest.Case{Open: func(*testing.T) coord.Store { return memory.New() }})
}
