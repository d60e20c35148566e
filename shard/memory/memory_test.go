package memory_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/reshelve/reshelve/shard"
	"github.com/reshelve/reshelve/shard/memory"
	"github.com/reshelve/reshelve/shard/shardtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	shardtest.Run(t, shardtest.Case{Open: func(testing.TB) shard.Engine { return memory.New(memory.Options{}) }})
}
