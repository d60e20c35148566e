package work

import "slices"

// Sweep is what a worker has seen of the items of a movement, bucket by bucket, so that it
// need not list all of them to find work, or to see that there is none left. What it has seen
// may be old: an item that has ended stays so, and an item ends after its successor was
// created; so when every bucket was seen ended, and with each successor that was named, all
// items have ended. Not safe for concurrent use.
type Sweep struct {
	digits  int
	open    []string // buckets that may hold work
	seen    map[string]tally
	awaited map[string]bool // successors that were named, and not seen ended
	settled map[string]bool // those that were
}

// tally counts the items of a bucket.
type tally struct{ all, failed int }

// NewSweep knows nothing yet of items in buckets of so many digits.
func NewSweep(digits int) *Sweep {
	s := &Sweep{digits: digits, seen: map[string]tally{}, awaited: map[string]bool{}, settled: map[string]bool{}}
	for n := range 1 << (4 * min(max(digits, 0), maxDigits)) {
		s.open = append(s.open, BucketAt(uint(n), digits))
	}
	return s
}

// Bucket is the nth of those that may hold work, n taken modulo their number; "" when all
// items have ended.
func (s *Sweep) Bucket(n uint) string {
	if len(s.open) == 0 {
		return ""
	}
	return s.open[n%uint(len(s.open))]
}

// Open are the buckets that may hold work; none when all items have ended.
func (s *Sweep) Open() []string { return slices.Clone(s.open) }

// Saw tells what a bucket holds.
func (s *Sweep) Saw(bucket string, items map[string]Item) {
	t, ended := tally{all: len(items)}, true
	var named []string
	for _, item := range items {
		switch item.State {
		case Waiting:
			ended = false
			continue
		case Failed:
			t.failed++
		}
		named = append(named, item.SuccessorWorkItems...)
		if name := item.Name(); s.awaited[name] {
			delete(s.awaited, name)
			s.settled[name] = true
		}
	}
	at := slices.Index(s.open, bucket)
	switch {
	case ended && at >= 0:
		s.open = slices.Delete(s.open, at, at+1)
	case !ended && at < 0:
		s.open = append(s.open, bucket)
	}
	s.seen[bucket] = t
	slices.Sort(named)
	for _, name := range named {
		s.await(name)
	}
}

// await makes a bucket open that holds, or will hold, a successor which was not seen ended.
func (s *Sweep) await(name string) {
	if s.settled[name] || s.awaited[name] {
		return
	}
	s.awaited[name] = true
	if bucket := Bucket(name, s.digits); !slices.Contains(s.open, bucket) {
		s.open = append(s.open, bucket)
	}
}

// Counts are how many items there are and how many of them failed, as seen.
func (s *Sweep) Counts() (all, failed int) {
	for _, t := range s.seen {
		all, failed = all+t.all, failed+t.failed
	}
	return all, failed
}
