package memory_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/memory"
	"github.com/reshelve/reshelve/internal/store/shard/shardtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	shardtest.Run(t, shardtest.Case{Open: func(testing.TB) shard.Engine { return memory.New(memory.Options{}) }})
}
