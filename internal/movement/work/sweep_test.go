package work_test

import (
	"fmt"
	"testing"

	"github.com/reshelve/reshelve/internal/movement/work"
	"pgregory.net/rapid"
)

// TestASweepEndsWhenAllHasEnded: items end one by one, some with a successor, which is there
// before they end; a sweep that looks at one bucket now and then never sees the end too early,
// and sees it when everything has ended.
func TestASweepEndsWhenAllHasEnded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.IntRange(0, 1).Draw(t, "digits")
		buckets := map[string]map[string]work.Item{}
		waiting := []work.Item{}
		put := func(i work.Item) {
			b := work.Bucket(i.Name(), digits)
			if buckets[b] == nil {
				buckets[b] = map[string]work.Item{}
			}
			buckets[b][i.Name()] = i
		}
		for n := range rapid.IntRange(0, 12).Draw(t, "items") {
			i := work.Item{Index: fmt.Sprint("i", n), End: 100}
			waiting = append(waiting, i)
			put(i)
		}
		s, all, failed := work.NewSweep(digits), len(waiting), 0
		end := func() {
			n := rapid.IntRange(0, len(waiting)-1).Draw(t, "which")
			i := waiting[n]
			waiting = append(waiting[:n], waiting[n+1:]...)
			i.State = work.Done
			switch rapid.IntRange(0, 3).Draw(t, "how") {
			case 0:
				i.State = work.Failed
				failed++
			case 1:
				if i.Start < 5 {
					next := work.Item{Index: i.Index, Start: i.Start + 1, Cursor: i.Start + 1, End: 100}
					i.SuccessorWorkItems = []string{next.Name()}
					waiting = append(waiting, next)
					all++
					put(next)
				}
			}
			put(i)
		}
		look := func() bool {
			b := s.Bucket(rapid.UintRange(0, 50).Draw(t, "bucket"))
			if b == "" {
				return false
			}
			s.Saw(b, buckets[b])
			return true
		}
		for len(waiting) > 0 {
			if rapid.Bool().Draw(t, "end one") {
				end()
			} else if !look() {
				t.Fatalf("the sweep has ended, and %d items have not", len(waiting))
			}
		}
		for n := 0; look(); n++ {
			if n > 4000 {
				t.Fatal("the sweep does not end")
			}
		}
		if a, f := s.Counts(); a != all || f != failed {
			t.Fatalf("it counts %d items, %d failed; there are %d, %d failed", a, f, all, failed)
		}
	})
}
