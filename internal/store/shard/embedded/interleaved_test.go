package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
)

// strand is work behind the scenes that is led step by step: from where it can meet other work to
// where it can again.
type strand struct {
	name  string
	do    func(context.Context) error
	self  string // its goroutine
	goOn  chan struct{}
	taken func() bool // what it takes next is somebody's
	steps int         // that it has begun
	broke bool        // in one of them nothing could be stored
	ended bool
	err   error
}

// strands are led so that one of them works at a time.
type strands struct {
	all    []*strand
	gives  bool                   // where something is given up is the end of a step, too, and not only where it is taken
	now    atomic.Pointer[strand] // that works; nil: none of them
	rested chan struct{}          // receives when it does not any more
}

// wait is where a strand waits for its next step. Others do not, such as the indexing that begins when the
// folder is opened again after a failure.
func (s *strands) wait(taken func() bool) {
	now := s.now.Load()
	if now == nil || taken == nil && !s.gives || goroutine() != now.self {
		return
	}
	now.taken = taken
	s.rested <- struct{}{}
	<-now.goOn
}

// add begins a strand, which waits.
func (s *strands) add(ctx context.Context, name string, do func(context.Context) error) {
	added := &strand{name: name, do: do, goOn: make(chan struct{})}
	s.all = append(s.all, added)
	self := make(chan string)
	go func() {
		self <- goroutine()
		<-added.goOn
		added.err = do(ctx)
		added.ended = true
		s.rested <- struct{}{}
	}()
	added.self = <-self
}

// goroutine is the name of the one that asks.
func goroutine() string {
	trace := make([]byte, 32)
	name, _, _ := strings.Cut(string(trace[:runtime.Stack(trace, false)]), " [")
	return name
}

// able are those that have something to do and need not wait for another; the one that was led last
// is the first of them.
func (s *strands) able(last *strand) (able []*strand) {
	for _, one := range s.all {
		switch {
		case one.ended || one.taken != nil && one.taken():
		case one == last:
			able = slices.Insert(able, 0, one)
		default:
			able = append(able, one)
		}
	}
	return able
}

// waited is able, once there is one: what is indexed in the background, after the folder was opened
// again, has its turn, too.
func (s *strands) waited(last *strand) (able []*strand) {
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Microsecond) {
		able = s.able(last)
		left := slices.ContainsFunc(s.all, func(one *strand) bool { return !one.ended })
		if len(able) > 0 || !left || time.Now().After(end) {
			return able
		}
	}
}

// step leads one of them to where it can meet another, or to its end.
func (s *strands) step(one *strand) error {
	s.now.Store(one)
	one.steps++
	one.goOn <- struct{}{}
	select {
	case <-s.rested:
	case <-time.After(patience):
		return fmt.Errorf("%s waits for something else than its turn", one.name)
	}
	s.now.Store(nil)
	if one.ended {
		return one.err
	}
	return nil
}

// orders are the orders in which strands can be led, one after the other, that leave one for another
// at most so many times while it could go on: each choice that there was is made otherwise in the
// next, the last choice first.
type orders struct {
	leaves int // at most
	left   int // in this order
	chosen []int
	of     []int // among how many
	at     int
	fresh  int // from here on the choices are others than in the order before
}

// choose is the next choice, of those who are able.
func (o *orders) choose(able []*strand, last *strand) *strand {
	of, goesOn := len(able), able[0] == last
	if goesOn && o.left == o.leaves {
		of = 1
	}
	if o.at == len(o.chosen) {
		o.chosen, o.of = append(o.chosen, 0), append(o.of, of)
	}
	chosen := able[min(o.chosen[o.at], of-1)] // fewer are able where the background has a turn that it had not before
	if o.at++; goesOn && chosen != last {
		o.left++
	}
	return chosen
}

// next begins another order; false when there is none.
func (o *orders) next() bool {
	for n := o.at - 1; n >= 0; n-- {
		if o.chosen[n]++; o.chosen[n] < o.of[n] {
			*o = orders{leaves: o.leaves, chosen: o.chosen[:n+1], of: o.of[:n+1], fresh: n}
			return true
		}
	}
	return false
}

// workshop is where strands are led: shards of which each kind of work behind the scenes has something
// to do, and a disk that is copied when the plug is pulled.
type workshop struct {
	*reshaped
	strands
	mem     *vfs.MemFS
	broken  atomic.Bool  // Pebble cannot write
	refused atomic.Int64 // writes of Pebble, since that is so
	rng     *rand.Rand
	did     []string // steps, by who made them
}

// copied is an index as a crash leaves it.
func (r *reshaped) copied(mem *vfs.MemFS, kept int) *reshaped {
	c := newReshaped()
	c.holds, c.doubts, c.placed, c.next = maps.Clone(r.holds), maps.Clone(r.doubts), r.placed, r.next
	c.places.Put(r.placed)
	c.memory = r.memory
	c.fs = mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: kept, RNG: rand.New(rand.NewPCG(1, 2))})
	return c
}

// laid is an index in files: two shards that came from one, and share most of them.
func laid(t *testing.T) *reshaped {
	t.Helper()
	ctx, rng, mem, r := t.Context(), rand.New(rand.NewPCG(1, 1)), vfs.NewCrashableMem(), newReshaped()
	r.still, r.memory = true, 1<<20
	err := r.open(ctx, mem)
	defer r.close()
	for round := 0; round < 5 && err == nil; round++ {
		if err = r.write(ctx, rng, 40); err == nil {
			err = embedded.Work(r.shards[0])["refresh"](ctx)
		}
		if err == nil {
			err = embedded.Work(r.shards[0])["commit"](ctx)
		}
		if round == 3 && err == nil {
			err = r.split(ctx, 0)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return r.copied(mem, 0)
}

// split halves a shard.
func (r *reshaped) split(ctx context.Context, number uint32) error {
	of, _ := r.placed.Shard(number)
	at := of.Range.From + (of.Range.To-of.Range.From)/2
	return r.hand(ctx, []uint32{number}, []shard.Incarnation{{Number: number, Term: r.term() + 1, Range: routing.Range{From: of.Range.From, To: at}},
		{Number: r.placed.Next, Term: r.term() + 1, Range: routing.Range{From: at + 1, To: of.Range.To}}}, false)
}

// merge joins all shards.
func (r *reshaped) merge(ctx context.Context, half bool) error {
	var from []uint32
	for _, s := range r.placed.Shards {
		from = append(from, s.Number)
	}
	return r.hand(ctx, from, []shard.Incarnation{{Number: 0, Term: r.term() + 1, Range: routing.Whole}}, half)
}

// openWorkshop opens a copy of what is laid, and writes what is not in files.
func openWorkshop(ctx context.Context, laid *reshaped) (*workshop, error) {
	mem := laid.fs.(*vfs.MemFS)
	w := &workshop{reshaped: laid.copied(mem, 100), rng: rand.New(rand.NewPCG(2, 2)), strands: strands{rested: make(chan struct{})}}
	w.mem, w.still, w.memory = w.fs.(*vfs.MemFS), true, 1<<20
	err := w.open(ctx, errorfs.Wrap(stepwise{w.mem}, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if w.broken.Load() && op.Kind.ReadOrWrite() == errorfs.OpIsWrite && strings.Contains(op.Path, "truth") {
			w.refused.Add(1)
			return syscall.EIO
		}
		return nil
	})))
	for n := 0; n < 6 && err == nil; n++ {
		if err = w.write(ctx, w.rng, 20); err == nil && n < 5 {
			for _, s := range w.shards {
				_, failed := s.Refresh(ctx)
				err = errors.Join(err, failed)
			}
		}
	}
	return w, err
}

// unstored is added to the names of those whose last step meets a log that cannot be written.
const unstored = ", not stored"

// work is what shard 0 does behind the scenes, and what is done with it.
func (w *workshop) work() map[string]func(context.Context) error {
	all := embedded.Work(w.shards[0])
	all["split"] = func(ctx context.Context) error { return w.split(ctx, 0) }
	all["merge"] = func(ctx context.Context) error { return w.merge(ctx, false) }
	all["rehearse"] = func(ctx context.Context) error { return w.merge(ctx, true) }
	all["commit"+unstored], all["merge files"+unstored] = all["commit"], all["merge files"]
	return all
}

// moving is what a movement does.
var moving = []string{"merge", "rehearse", "split"}

// lastStep are the steps in which something is stored, where a step ends with what is taken alone.
var lastStep = map[string]int{"commit" + unstored: 3, "merge files" + unstored: 4}

// stores reports whether the next step of a strand meets a log that cannot be written.
func (w *workshop) stores(of *strand) bool {
	last, is := lastStep[of.name]
	if w.gives { // what is chosen, and given up then, is a step, too
		last++
	}
	return is && of.steps+1 == last
}

// play leads some kinds of work in an order, with writes before each step. After each that is
// another than in the order before it pulls the plug.
func (w *workshop) play(ctx context.Context, names []string, o *orders) error {
	defer embedded.Interleave(w.wait)()
	work := w.work()
	for _, name := range names {
		w.add(ctx, name, work[name])
	}
	var last *strand
	for able := w.waited(last); len(able) > 0; able = w.waited(last) {
		last = o.choose(able, last)
		w.did = append(w.did, last.name)
		if !w.moves {
			if err := w.write(ctx, w.rng, 2); err != nil {
				return err
			}
		}
		broken := w.stores(last)
		w.broken.Store(broken)
		last.broke = last.broke || broken
		if err := w.step(last); err != nil && !last.broke && !fault.Is(err, fault.Unavailable) {
			return fmt.Errorf("%s: %w", last.name, err)
		}
		if w.broken.Store(false); broken {
			for end := time.Now().Add(patience); w.engine.Health().ReadOnly != nil && time.Now().Before(end); {
				time.Sleep(100 * time.Microsecond)
			}
		}
		if o.at > o.fresh {
			if err := w.crashed(ctx); err != nil {
				return fmt.Errorf("after a crash: %w", err)
			}
		}
	}
	for _, one := range w.all {
		if !one.ended {
			return fmt.Errorf("%s waits for ever", one.name)
		}
	}
	return w.shown(ctx)
}

// shown holds what is found to what is there, and was written. Nothing has been made again meanwhile
// because searches lacked it.
func (r *reshaped) shown(ctx context.Context) error {
	err, found, held := r.agree(ctx), 0, 0
	for number, s := range r.shards {
		if n := s.Stats().Repairs.Count; n > 0 {
			err = errors.Join(err, fmt.Errorf("shard %d lacked something %d times", number, n))
		}
		reader, failed := s.Acquire(ctx, s.Placed().Epoch)
		if failed != nil {
			return errors.Join(err, failed)
		}
		for _, v := range reader.Views() {
			for doc := range segment.Doc(v.Docs()) {
				if v.IsRoot(doc) && v.Shows(doc) {
					found++
				}
			}
		}
		err = errors.Join(err, reader.Close())
	}
	for _, source := range r.holds {
		if source != "" {
			held++
		}
	}
	if err == nil && found != held { // agree asks each shard for its own range, whatever that is
		err = fmt.Errorf("%d documents are found in all, of %d", found, held)
	}
	return err
}

// crashed looks at what a crash leaves now.
func (w *workshop) crashed(ctx context.Context) error {
	c := w.copied(w.mem, 0)
	defer c.close()
	if err := c.open(ctx, c.fs); err != nil {
		return err
	}
	return c.shown(ctx)
}

// everyOrder plays all orders of some kinds of work in which one is left so many times, and gives how
// many there are.
func everyOrder(t *testing.T, laid *reshaped, leaves int, gives bool, names ...string) (n int) {
	t.Helper()
	refused := int64(0)
	for o := (&orders{leaves: leaves}); n == 0 || o.next(); n++ {
		w, err := openWorkshop(t.Context(), laid)
		if err == nil {
			w.gives = gives
			err = w.play(t.Context(), names, o)
		}
		if err != nil {
			t.Errorf("%s, in the order %s: %v", strings.Join(names, " and "), strings.Join(w.did, " · "), err)
			return n // it may still be at work
		}
		w.close()
		refused += w.refused.Load()
	}
	if refused == 0 && slices.ContainsFunc(names, func(name string) bool { return lastStep[name] > 0 }) {
		t.Errorf("%s: nothing was stored in the step that should have failed", strings.Join(names, " and "))
	}
	return n
}

// TestEachPairOfWorkers leads each pair of kinds of work behind the scenes through the orders of
// their steps in which one is left for the other once (or INTERLEAVINGS times) before it ends, with
// writes before each step, and pulls the plug after each: what is there is found. Every shard counts
// as one at rest, so that more is merged.
func TestEachPairOfWorkers(t *testing.T) {
	defer embedded.SetTiers(3, 1<<20, 1<<20)()
	defer embedded.SetRest(0)()
	r, leaves, every := laid(t), 1, 1
	if given := os.Getenv("INTERLEAVINGS"); given != "" {
		leaves, _ = strconv.Atoi(given)
	}
	if testing.Short() {
		every = 7
	}
	w, err := openWorkshop(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Sorted(maps.Keys(w.work()))
	w.close()
	pairs, n := 0, 0
	for i, a := range names {
		for _, b := range names[i:] {
			if slices.Contains(moving, a) && slices.Contains(moving, b) {
				continue // there is one movement of an index at a time
			}
			if pairs++; pairs%every == 0 {
				n += everyOrder(t, r, leaves, leaves > 1, a, b)
			}
		}
	}
	t.Logf("%d orders of %d pairs", n, pairs/every)
}

// TestSomeThreeWorkers leads work of three kinds through all orders in which one is left twice
// before it ends.
func TestSomeThreeWorkers(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	defer embedded.SetTiers(3, 1<<20, 1<<20)()
	r := laid(t)
	for _, names := range [][]string{
		{"merge files", "mend", "commit"},
		{"merge in memory", "refresh", "commit"},
	} {
		t.Logf("%d orders of %s", everyOrder(t, r, 2, false, names...), strings.Join(names, ", "))
	}
}

// TestAForcedMergeBesideAMergeInMemory leaves as few segments as were asked for, in all orders in which
// one is left twice.
func TestAForcedMergeBesideAMergeInMemory(t *testing.T) {
	defer embedded.SetTiers(3, 1<<20, 1<<20)()
	r, o, n := laid(t), &orders{leaves: 2}, 0
	for ; n == 0 || o.next(); n++ {
		w, err := openWorkshop(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		undo, work := embedded.Interleave(w.wait), w.work()
		for _, name := range []string{"force merge", "merge in memory"} {
			w.add(t.Context(), name, work[name])
		}
		var last *strand
		for able := w.able(last); len(able) > 0; able = w.able(last) {
			last = o.choose(able, last)
			w.did = append(w.did, last.name)
			if err := w.step(last); err != nil {
				t.Fatal(strings.Join(w.did, " · "), err)
			}
		}
		undo()
		if left := w.shards[0].Stats().Segments; left != 1 {
			t.Errorf("in the order %s: %d segments", strings.Join(w.did, " · "), left)
		}
		w.close()
	}
	t.Logf("%d orders", n)
}
