package memory_test

import (
	"testing"

	"github.com/reshelve/reshelve/shard"
	"github.com/reshelve/reshelve/shard/memory"
	"github.com/reshelve/reshelve/shard/shardtest"
)

func TestConformance(t *testing.T) {
	shardtest.Run(t, shardtest.Case{Open: func(testing.TB) shard.Engine { return memory.New(memory.Options{}) }})
}
