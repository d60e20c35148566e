package work_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/work"
	"pgregory.net/rapid"
)

// fleet is a store of items with revisions, and workers that do one small step at a time:
// they may stop between any two, for ever or past their leases, and go on with what they
// had read.
type fleet struct {
	policy  work.Policy
	now     time.Time
	items   map[string]work.Item
	version map[string]int
	length  int64
	// acked are the positions that the target has acknowledged.
	acked   []bool
	workers []*hand
}

// hand is a worker: what it has read, and what it wants to do next.
type hand struct {
	name    string
	key     string // of the item that it believes to hold
	item    work.Item
	version int
	sent    int64 // positions before it are acknowledged
	step    string
	next    work.Item // the successor that it will create
	starts  int
}

func (f *fleet) swap(h *hand, i work.Item) bool {
	if f.version[h.key] != h.version {
		h.drop()
		return false
	}
	f.items[h.key] = i
	f.version[h.key]++
	h.item, h.version = i, f.version[h.key]
	return true
}

func (h *hand) drop() { h.key, h.step = "", "" }

// crash ends the process; another start has another name.
func (h *hand) crash() {
	h.drop()
	h.starts++
	h.name = fmt.Sprintf("%s.%d", h.name[:2], h.starts)
}

func (f *fleet) keys() []string {
	var keys []string
	for key := range f.items {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// act does the next step of h; choose picks a number below n.
func (f *fleet) act(t *rapid.T, h *hand, choose func(n int) int) {
	switch h.step {
	case "":
		f.claim(h, choose)
	case "work":
		f.work(t, h, choose)
	case "name":
		named, next, err := h.item.Successor(f.policy, h.name, f.now, time.Duration(choose(200))*time.Second)
		if err != nil {
			f.refused(t, h, err)
			return
		}
		if h.next = next; f.swap(h, named) {
			h.step = "create"
		}
	case "create":
		if _, there := f.items[h.next.Name()]; !there {
			f.items[h.next.Name()] = h.next
		}
		h.step = "complete"
	case "complete":
		done, err := h.item.Complete(h.name, f.now)
		if err != nil {
			f.refused(t, h, err)
			return
		}
		if f.swap(h, done) {
			h.drop()
		}
	}
}

// refused: a lease that is gone, or nothing to hand over, is part of the game.
func (f *fleet) refused(t *rapid.T, h *hand, err error) {
	switch {
	case fault.Is(err, fault.LostLease):
		h.drop()
	case fault.Is(err, fault.Refused):
		if back, err := h.item.Release(h.name, f.now, ""); err == nil {
			i := h.item
			i.Lease = back
			f.swap(h, i)
		}
		h.drop()
	default:
		t.Fatalf("%s: %v", h.name, err)
	}
}

func (f *fleet) claim(h *hand, choose func(n int) int) {
	keys := f.keys()
	h.key = keys[choose(len(keys))]
	i := f.items[h.key]
	lease, ours, err := i.Claim(f.policy, h.name, f.now)
	if err != nil {
		h.drop()
		return
	}
	h.version = f.version[h.key]
	i.Lease = lease
	if !f.swap(h, i) || !ours {
		h.drop()
		return
	}
	h.sent, h.step = i.Cursor, "work"
	if i.Named() {
		h.step = "name" // gives the same successor again
	}
}

// work sends some positions, stores how far it has come, or begins to hand over.
func (f *fleet) work(t *rapid.T, h *hand, choose func(n int) int) {
	switch choose(4) {
	case 0, 1: // a worker that has lost its lease may still send: that does no harm
		end := min(h.item.End, h.sent+int64(choose(5)))
		for p := h.sent; p < end; p++ {
			f.acked[p] = true
		}
		h.sent = end
	case 2:
		i, err := h.item.Advance(h.name, f.now, h.sent, work.Counts{Read: h.sent - h.item.Start})
		if err != nil {
			f.refused(t, h, err)
			return
		}
		if f.swap(h, i) && i.Cursor == i.End {
			h.step = "complete"
		}
	case 3:
		h.step = "name"
	}
}

// check: the items cover every position once, no cursor passes what is not acknowledged, and
// what is done is acknowledged.
func (f *fleet) check(t *rapid.T, held map[string]string) {
	covered := make([]int, f.length)
	for key, i := range f.items {
		if err := i.Check(); err != nil {
			t.Fatal(err)
		}
		to := i.End
		if i.Named() {
			to = i.Cursor
			if _, there := f.items[i.SuccessorWorkItems[0]]; !there {
				to = i.End // nobody has created it yet: this item still answers for the rest
				if i.State == work.Done {
					t.Fatalf("%s is done before its successor is there", i)
				}
			}
		} else if i.State == work.Done && i.Cursor != i.End {
			t.Fatalf("%s is done at %d", i, i.Cursor)
		}
		for p := i.Start; p < to; p++ {
			covered[p]++
		}
		for p := i.Start; p < i.Cursor; p++ {
			if !f.acked[p] {
				t.Fatalf("%s: position %d is not acknowledged", i, p)
			}
		}
		if i.Read != i.Cursor-i.Start {
			t.Fatalf("%s counts %d documents", i, i.Read)
		}
		_ = key
	}
	for p, n := range covered {
		if n != 1 {
			t.Fatalf("position %d belongs to %d items", p, n)
		}
	}
	for key, i := range f.items {
		before := held[key]
		if before != "" && i.LeaseHolderID != "" && i.LeaseHolderID != before && f.living(before, key) {
			t.Fatalf("%s was taken from %s", i, before)
		}
		held[key] = ""
		if i.Leased(f.policy, f.now) {
			held[key] = i.LeaseHolderID
		}
	}
}

// living tells whether name, a step ago, held key and still could say so.
func (f *fleet) living(name, key string) bool {
	for _, h := range f.workers {
		if h.name == name && h.key == key && h.step != "" && h.item.Leased(f.policy, f.now) && f.version[key] == h.version {
			return true
		}
	}
	return false
}

func TestEveryPositionIsDoneOnceWhateverHappens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &fleet{policy: work.Default, now: time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC), items: map[string]work.Item{}, version: map[string]int{}, length: 40}
		f.policy.MaxAttempts = 1000
		f.acked = make([]bool, f.length)
		cut := rapid.Int64Range(0, f.length).Draw(t, "cut")
		for _, r := range [][2]int64{{0, cut}, {cut, f.length}} {
			if i := (work.Item{Index: "books", Start: r[0], End: r[1], Cursor: r[0]}); r[0] < r[1] {
				f.items[i.Name()] = i
			}
		}
		for n := range 3 {
			f.workers = append(f.workers, &hand{name: fmt.Sprintf("w%d", n)})
		}
		held := map[string]string{}
		for range rapid.IntRange(10, 150).Draw(t, "steps") {
			h := f.workers[rapid.IntRange(0, 2).Draw(t, "worker")]
			switch rapid.IntRange(0, 19).Draw(t, "what") {
			case 0:
				h.crash()
			case 1: // everyone is paused: leases end
				f.now = f.now.Add(time.Duration(rapid.IntRange(1, 3000).Draw(t, "seconds")) * time.Second)
			default:
				f.now = f.now.Add(time.Second)
				f.act(t, h, func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") })
			}
			f.check(t, held)
		}
		// From anywhere, one worker that lives brings everything to its end.
		last, n := &hand{name: "zz"}, uint64(1)
		f.workers = append(f.workers, last)
		for steps := 0; f.left() > 0; steps++ {
			if steps > 20000 {
				t.Fatalf("it never ends: %v", f.items)
			}
			f.now = f.now.Add(20 * time.Second)
			f.act(t, last, func(of int) int {
				n = n*6364136223846793005 + 1442695040888963407
				return int(n>>33) % of
			})
			f.check(t, held)
		}
	})
}

func (f *fleet) left() (n int) {
	for _, i := range f.items {
		if i.State == work.Waiting {
			n++
		}
	}
	return n
}
