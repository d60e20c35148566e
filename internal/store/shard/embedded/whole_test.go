package embedded_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
)

// lacks is what a reader of now says.
func (l *library) lacks() error {
	l.Helper()
	r, err := l.shard.Acquire(l.Context(), 1)
	l.must(err)
	defer r.Close()
	return r.Lacks()
}

// healed waits until the shard shows what there is.
func (l *library) healed() {
	l.Helper()
	for end := time.Now().Add(20 * time.Second); l.lacks() != nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			l.Fatalf("it is not healed: %v", l.lacks())
		}
	}
	l.agrees()
}

// noticed checks that the shard has seen, told once and counted that it lacks something.
func (l *library) noticed() {
	l.Helper()
	if err := l.lacks(); !fault.Is(err, fault.Corrupt) {
		l.Errorf("a reader says %v", err)
	}
	if n := len(l.heard.of("do not show what there is")); n != 1 {
		l.Errorf("it was told %d times", n)
	}
	if n := l.shard.Stats().Repairs.Count; n != 1 {
		l.Errorf("it was counted %d times", n)
	}
}

// TestWhatIsNotWholeIsNoticedAndHealed spoils what an open shard shows in each way: readers say so,
// no commit stores it, nothing is staged of it, and the shard indexes what is missing, and that
// alone.
func TestWhatIsNotWholeIsNoticedAndHealed(t *testing.T) {
	pristine := shelved(t)
	for _, how := range embedded.Spoils {
		t.Run(how, func(t *testing.T) {
			l := openLibrary(t, copied(t, pristine))
			release := l.engine.HoldRepairs()
			l.must(embedded.Spoil(l.shard, how))
			l.noticed()
			was := embedded.Committed(l.shard)
			rng := rand.New(rand.NewPCG(5, 6))
			l.write(words(rng, 10)...)
			l.refresh()
			l.noticed() // and by what was made out of it
			if err := embedded.Commit(l.shard); !fault.Is(err, fault.Corrupt) {
				t.Errorf("a commit says %v", err)
			}
			if is := embedded.Committed(l.shard); is != was {
				t.Errorf("a manifest of number %d was stored", is)
			}
			to := []shard.Incarnation{{Number: first.Number, Range: routing.Whole, Term: 2}}
			if staged, err := l.engine.Stage(t.Context(), first.Index, []uint32{first.Number}, to); !fault.Is(err, fault.Unavailable) {
				t.Errorf("staging says %v", err)
				l.must(staged.Close())
			}
			l.noticed()
			release()
			l.healed()
			if n := l.indexed.Load(); n > 500 {
				t.Errorf("%d documents were indexed again", n)
			}
			l.must(embedded.Commit(l.shard))
			l.close()
			l = openLibrary(t, l.dir)
			l.agrees()
			if n := l.indexed.Load(); n != 0 || l.lacks() != nil {
				t.Errorf("%d documents were indexed once more: %v", n, l.lacks())
			}
		})
	}
}

// TestWhatIsStoredNotWholeIsNoticedByOpening spoils what is stored, with a gap behind it and
// without one.
func TestWhatIsStoredNotWholeIsNoticedByOpening(t *testing.T) {
	pristine := shelved(t)
	for _, mask := range []bool{true, false} {
		t.Run(fmt.Sprint("mask ", mask), func(t *testing.T) {
			dir := copied(t, pristine)
			e := open(t, dir)
			if err := e.SpoilStored(first, mask); err != nil {
				t.Fatal(err)
			}
			e.Close()
			l := openLibrary(t, dir)
			l.healed()
			if n := l.shard.Stats().Repairs.Count; n != 1 {
				t.Errorf("it was counted %d times", n)
			}
			if n := l.indexed.Load(); n == 0 || n > 500 {
				t.Errorf("%d documents were indexed again", n)
			}
			l.close()
			l = openLibrary(t, dir)
			l.agrees()
			if n := l.indexed.Load(); n != 0 || l.lacks() != nil {
				t.Errorf("%d documents were indexed once more: %v", n, l.lacks())
			}
		})
	}
}

// TestACountThatIsWrong is corrected, and nothing is indexed.
func TestACountThatIsWrong(t *testing.T) {
	l := openLibrary(t, shelved(t))
	docs := l.shard.Stats().Docs
	embedded.Miscount(l.shard, 3)
	l.write(shard.Op{ID: "one more", Source: []byte(`{}`), Condition: document.Always})
	l.refresh()
	l.healed()
	if is := l.shard.Stats().Docs; is != docs+1 || len(l.heard.of("the count of documents was wrong")) != 1 {
		t.Errorf("%d documents are counted instead of %d", is, docs+1)
	}
}

// TestWhatIsEstimatedIsNotJudged has a shard whose documents were counted by segments alone, wrongly:
// it is noticed when the rows have been counted.
func TestWhatIsEstimatedIsNotJudged(t *testing.T) {
	l := openLibrary(t, shelved(t))
	embedded.Estimate(l.shard)
	embedded.Miscount(l.shard, -1)
	l.write(shard.Op{ID: "one more", Source: []byte(`{}`), Condition: document.Always})
	l.refresh()
	l.must(embedded.Spoil(l.shard, embedded.MaskHidesMore))
	if err := l.lacks(); err != nil {
		t.Errorf("an estimate is taken for a count: %v", err)
	}
	release := l.engine.HoldRepairs()
	l.must(embedded.Count(l.shard))
	l.noticed()
	release()
	l.healed()
}

// TestReindexing makes all segments again, while documents are written.
func TestReindexing(t *testing.T) {
	l := openLibrary(t, shelved(t))
	rng := rand.New(rand.NewPCG(5, 6))
	told, docs := int64(0), l.shard.Stats().Docs
	l.must(l.shard.Reindex(t.Context(), func(rows int64) {
		if told == 0 {
			l.write(words(rng, 50)...)
			l.refresh()
		}
		told = rows
	}))
	l.agrees()
	if told != docs {
		t.Errorf("it told of %d rows of %d", told, docs)
	}
	if n := l.indexed.Load(); n < docs || n > docs+150 {
		t.Errorf("%d of %d documents were indexed again", n, docs)
	}
	if r := l.shard.Stats().Repairs; r != (shard.Repairs{Order: 1}) {
		t.Errorf("%+v are counted", r)
	}
	l.close()
	l = openLibrary(t, l.dir)
	l.agrees()
	if n := l.indexed.Load(); n != 0 {
		t.Errorf("%d documents were indexed once more", n)
	}
	if r, err := l.shard.Acquire(t.Context(), 1); err != nil || len(r.Views()) > 1 {
		t.Errorf("there are still %d segments: %v", len(r.Views()), err)
	} else {
		l.must(r.Close())
	}
}

// TestMendCounts lets a shard see that an entry says another number of documents than it shows.
func TestMendCounts(t *testing.T) {
	l := openLibrary(t, shelved(t))
	l.must(embedded.Lie(l.shard))
	if err := l.lacks(); err != nil {
		t.Fatalf("the lie is seen before: %v", err)
	}
	l.must(l.shard.Mend(t.Context()))
	l.healed()
	if n := l.shard.Stats().Repairs.Count; n != 1 {
		t.Errorf("it was counted %d times", n)
	}
}
