package local_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/reshelve/reshelve/internal/coord/local"
)

func BenchmarkSwap(b *testing.B) {
	for _, writers := range []int{1, 16} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			s, err := local.Open(b.Context(), b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			swapAll(b, s, writers)
		})
	}
}

// swapAll makes b.N synced swaps by so many writers, each on a record of its own of
// 1 KB.
func swapAll(b *testing.B, s *local.Store, writers int) {
	value := make([]byte, 1024)
	revisions := make([]int64, writers)
	for w := range writers {
		var err error
		if revisions[w], err = s.Create(b.Context(), fmt.Sprintf("record/%d", w), value); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	var running sync.WaitGroup
	for w := range writers {
		running.Go(func() {
			for range b.N / writers {
				var err error
				if revisions[w], err = s.Swap(b.Context(), fmt.Sprintf("record/%d", w), revisions[w], value); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	running.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "swaps/s")
}
