package embedded_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/store/shard/embedded"
)

// TestAShardAtRestHasOneSmallSegment: small segments that are too few to be merged beside writes become
// one when nothing is written any more. What is shown stays the same, and nothing is indexed again.
func TestAShardAtRestHasOneSmallSegment(t *testing.T) {
	defer embedded.SetCommit(time.Millisecond)()
	dir := shelved(t)
	undo := embedded.SetRest(time.Hour)
	l := openLibrary(t, dir)
	time.Sleep(100 * time.Millisecond) // for what must not happen
	if n := len(l.files()); n != 3 {
		t.Errorf("%d files of a shard that is not at rest, expected 3", n)
	}
	l.close()
	undo()

	defer embedded.SetRest(100 * time.Millisecond)()
	l = openLibrary(t, dir)
	began := time.Now()
	for len(l.files()) > 1 {
		if time.Since(began) > 30*time.Second {
			t.Fatalf("%d files of a shard at rest", len(l.files()))
		}
		time.Sleep(time.Millisecond)
	}
	if took := time.Since(began); took < 50*time.Millisecond {
		t.Errorf("merged after %v", took)
	}
	if n := l.indexed.Load(); n != 0 {
		t.Errorf("%d documents were indexed again", n)
	}
	l.agrees()
	l.write(words(rand.New(rand.NewPCG(5, 6)), 10)...)
	l.refresh()
	l.agrees()
	l.close() // before restAfter is what it was
}

// TestALargeSegmentIsNotMergedWithLittle: a shard that gets few documents now and then does not write all
// of them again for each.
func TestALargeSegmentIsNotMergedWithLittle(t *testing.T) {
	for _, c := range []struct {
		shown []int
		want  bool
	}{{nil, false}, {[]int{3000, 374}, false}, {[]int{3000, 375}, true}, {[]int{100, 3000, 100, 200}, true}, {[]int{100, 3000, 100, 100}, false}, {[]int{1, 1}, true}} {
		if got := embedded.Balanced(c.shown...); got != c.want {
			t.Errorf("that segments of %v documents become one is %v, expected %v", c.shown, got, c.want)
		}
	}
}

// TestAShardAtRestKeepsALargeSegment: a document more leaves the file that was there as it is, until enough
// have come.
func TestAShardAtRestKeepsALargeSegment(t *testing.T) {
	defer embedded.SetCommit(time.Millisecond)()
	defer embedded.SetRest(10 * time.Millisecond)()
	l, next := openLibrary(t, t.TempDir()), 0
	defer l.close() // before the times are what they were
	add := func(n int) {
		ops := words(rand.New(rand.NewPCG(7, uint64(next))), n)
		for i := range ops {
			ops[i].ID = fmt.Sprint(next)
			next++
		}
		l.write(ops...)
		l.refresh()
	}
	await := func(files int) {
		t.Helper()
		for began := time.Now(); len(l.files()) != files; time.Sleep(time.Millisecond) {
			if time.Since(began) > 30*time.Second {
				t.Fatalf("%d files, expected %d", len(l.files()), files)
			}
		}
	}
	add(800)
	await(1)
	large := l.files()[0]
	add(1)
	await(2)
	time.Sleep(200 * time.Millisecond) // for what must not happen
	if files := l.files(); len(files) != 2 || !slices.Contains(files, large) {
		t.Fatalf("%v, expected two files with %s", files, large)
	}
	add(200)
	await(1)
	l.agrees()
}
