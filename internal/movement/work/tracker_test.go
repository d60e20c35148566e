package work_test

import (
	"testing"

	"github.com/reshelve/reshelve/internal/movement/work"
	"pgregory.net/rapid"
)

// TestTheCursorIsAPositionAndNoCount: the peer counts documents that it has sent, and goes on
// at that number as a document number of the shard. Here 100 positions hold 10 documents.
func TestTheCursorIsAPositionAndNoCount(t *testing.T) {
	tracker := work.NewTracker(0, work.Counts{})
	tracker.Done(tracker.Begin(100), work.Counts{Read: 10, Acknowledged: 10})
	if cursor, counts := tracker.Position(); cursor != 100 || counts.Read != 10 {
		t.Errorf("at %d after %d documents", cursor, counts.Read)
	}
}

// TestTheCursorNeverRunsAheadOfAcknowledgedData: the peer adds up what is answered in any
// order, and so begins behind a batch that is still on its way.
func TestTheCursorNeverRunsAheadOfAcknowledgedData(t *testing.T) {
	tracker := work.NewTracker(1000, work.Counts{Read: 7, Acknowledged: 7})
	first, second, third := tracker.Begin(1100), tracker.Begin(1200), tracker.Begin(1300)
	for _, step := range []struct {
		done   work.Ticket
		counts int64
		cursor int64
		read   int64
	}{
		{third, 100, 1000, 7}, {second, 100, 1000, 7}, {second, 999, 1000, 7}, {first, 100, 1300, 307}, {first, 999, 1300, 307},
	} {
		tracker.Done(step.done, work.Counts{Read: step.counts, Acknowledged: step.counts})
		if cursor, counts := tracker.Position(); cursor != step.cursor || counts.Read != step.read {
			t.Errorf("after batch %d: at %d with %d documents, want %d with %d", step.done, cursor, counts.Read, step.cursor, step.read)
		}
	}
}

// TestTracker compares it with a list of all positions.
func TestTracker(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.Int64Range(0, 50).Draw(t, "start")
		tracker := work.NewTracker(start, work.Counts{})
		answered := map[int64]bool{}
		type batch struct {
			ticket   work.Ticket
			from, to int64
		}
		var all []batch
		end := start
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(all) == 0 || rapid.Bool().Draw(t, "begin") {
				to := end + rapid.Int64Range(1, 5).Draw(t, "length")
				all = append(all, batch{tracker.Begin(to), end, to})
				end = to
			} else {
				b := all[rapid.IntRange(0, len(all)-1).Draw(t, "batch")]
				tracker.Done(b.ticket, work.Counts{Read: b.to - b.from})
				for p := b.from; p < b.to; p++ {
					answered[p] = true
				}
			}
			cursor, counts := tracker.Position()
			for p := start; p < cursor; p++ {
				if !answered[p] {
					t.Fatalf("at %d, and %d is not answered", cursor, p)
				}
			}
			if cursor < end && answered[cursor] {
				t.Fatalf("at %d, which is answered", cursor)
			}
			if counts.Read != cursor-start {
				t.Fatalf("at %d from %d with %d documents", cursor, start, counts.Read)
			}
		}
	})
}
