package memory_test

import (
	"testing"

	"github.com/reshelve/reshelve/snapshot/blob/blobtest"
	"github.com/reshelve/reshelve/snapshot/blob/memory"
)

func TestMemoryKeepsTheContract(t *testing.T) {
	contents := blobtest.Contents()
	blobtest.Run(t, blobtest.Case{Bucket: memory.Bucket(contents), Contents: contents})
}
