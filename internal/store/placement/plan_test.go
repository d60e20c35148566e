package placement_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// weights are n documents of 100 bytes under ids that routing spreads, and heavy ones of one
// routing value.
func weights(n, heavy int) placement.Weights {
	random := rand.New(rand.NewPCG(1, 2))
	var w placement.Weights
	for range n {
		w = append(w, placement.Weight{Key: routing.Key(random.Uint64()), Documents: 1, Bytes: 100})
	}
	for range heavy {
		w = append(w, placement.Weight{Key: 0x2dc50d42<<32 | routing.Key(random.Uint32()), Documents: 1, Bytes: 100})
	}
	slices.SortFunc(w, func(a, b placement.Weight) int {
		if a.Key < b.Key {
			return -1
		}
		return 1
	})
	return w
}

func TestAPlanIsPrinted(t *testing.T) {
	p := placement.New(7, 2, placement.Local, creation)
	split, err := p.SplitInto(0, 3, weights(1000, 12))
	if err != nil {
		t.Fatal(err)
	}
	join, err := p.Join([]uint32{1, 0}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `index 7, version 1: 2 to 4 shards
shard  becomes  from              to                documents  size
0      0        0000000000000000  2aaaaaaaffffffff  165        16500 bytes
       2 new    2aaaaaab00000000  55555555ffffffff  167        16700 bytes
       3 new    5555555600000000  7fffffffffffffff  167        16700 bytes
the heaviest routing hash is 0x2dc50d42: 12 documents, 1200 bytes
index 7, version 1: 2 to 1 shards
shard  becomes  from              to                documents  size
0,1    0        0000000000000000  ffffffffffffffff  -          -
`
	if got := split.String() + join.String(); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestEqualShardsBecomeEqualShards(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 7, 12, 100} {
		for _, m := range []int{2, 3, 5, 7} {
			plan, err := placement.New(7, n, placement.Local, creation).SplitBy(m, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []routing.Range
			for _, g := range plan.Groups {
				for _, part := range g.To {
					got = append(got, part.Range)
				}
			}
			if !slices.Equal(got, routing.Equal(n*m)) {
				t.Errorf("%d shards by %d", n, m)
			}
		}
	}
	// One of them alone, too, and a part of it again.
	p := placement.New(7, 3, placement.Local, creation)
	plan, err := p.SplitInto(1, 2, nil)
	if err != nil || plan.Groups[0].To[1].Range != routing.Equal(6)[3] {
		t.Errorf("%v\n%s", err, plan)
	}
	p.Shards[1].Range = plan.Groups[0].To[0].Range
	again, err := p.SplitInto(1, 3, nil)
	if err != nil || again.Groups[0].To[2].Range != routing.Equal(18)[8] {
		t.Errorf("%v\n%s", err, again)
	}
}

// tiles: the parts of each group are the keys of its shards, each once, in order.
func tiles(t *rapid.T, plan placement.Plan) {
	for _, g := range plan.Groups {
		next, first := g.From[0].Range.From, true
		for _, part := range g.To {
			if part.Range.From != next || part.Range.To < part.Range.From || (!first && next == 0) {
				t.Fatalf("the parts do not tile:\n%s", plan)
			}
			next, first = part.Range.To+1, false
		}
		if next != g.From[len(g.From)-1].Range.To+1 {
			t.Fatalf("the parts end elsewhere:\n%s", plan)
		}
	}
}

func TestPartsAreTheKeysOfTheShard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := placement.New(7, 1, placement.Local, creation)
		at := rapid.SliceOfNDistinct(rapid.Uint64Range(1, 1<<64-1), 2, 6, rapid.ID).Draw(t, "bounds")
		slices.Sort(at)
		p.Shards, p.Next = nil, uint32(len(at)+1)
		from := routing.Key(0)
		for i, bound := range append(at, 0) {
			p.Shards = append(p.Shards, placement.Shard{Number: uint32(i), Range: routing.Range{From: from, To: routing.Key(bound) - 1}, Epoch: 1, Term: 1})
			from = routing.Key(bound)
		}
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		k := rapid.IntRange(2, 9).Draw(t, "parts")
		shard := uint32(rapid.IntRange(0, len(at)).Draw(t, "shard"))
		w := weights(rapid.IntRange(0, 200).Draw(t, "documents"), rapid.IntRange(0, 50).Draw(t, "heavy"))
		for name, try := range map[string]func() (placement.Plan, error){
			"into":          func() (placement.Plan, error) { return p.SplitInto(shard, k, nil) },
			"by":            func() (placement.Plan, error) { return p.SplitBy(k, nil) },
			"evenly":        func() (placement.Plan, error) { return p.SplitEvenly(shard, k, w) },
			"halve largest": func() (placement.Plan, error) { return p.HalveLargest(w) },
		} {
			plan, err := try()
			if err != nil {
				if !fault.Is(err, fault.Refused) || fault.Next(err) == "" {
					t.Fatalf("%s: %v", name, err)
				}
				continue
			}
			tiles(t, plan)
			between(t, name, plan)
			if name == "into" {
				alike(t, plan, k)
			}
			if plan.Weighed {
				counted(t, plan, w)
			}
			if name == "halve largest" || name == "evenly" {
				full(t, plan)
			}
			if plan.After != len(p.Shards)+len(plan.Groups)*(len(plan.Groups[0].To)-1) {
				t.Fatalf("%s counts %d shards:\n%s", name, plan.After, plan)
			}
		}
	})
}

// between: no cut is inside of a routing value.
func between(t *rapid.T, name string, plan placement.Plan) {
	for _, g := range plan.Groups {
		for _, part := range g.To[1:] {
			if uint32(part.Range.From) != 0 {
				t.Fatalf("%s cuts at %s", name, part.Range.From)
			}
		}
	}
}

// full: where documents decide on the cuts, no part is empty.
func full(t *rapid.T, plan placement.Plan) {
	for _, g := range plan.Groups {
		for _, part := range g.To {
			if part.Documents == 0 {
				t.Fatalf("a part is empty:\n%s", plan)
			}
		}
	}
}

// counted: each part weighs what lies in it, and those that are empty are noted.
func counted(t *rapid.T, plan placement.Plan, w placement.Weights) {
	empty := false
	for _, g := range plan.Groups {
		for _, part := range g.To {
			documents, bytes := int64(0), int64(0)
			for _, one := range w {
				if part.Range.Contains(one.Key) {
					documents, bytes = documents+one.Documents, bytes+one.Bytes
				}
			}
			if part.Documents != documents || part.Bytes != bytes {
				t.Fatalf("a part has %d documents, %d bytes:\n%s", documents, bytes, plan)
			}
			empty = empty || documents == 0
		}
	}
	if empty != (len(plan.Notes) > 0) {
		t.Fatalf("empty parts are noted as %q:\n%s", plan.Notes, plan)
	}
}

// TestEmptyPartsAreNoted, and are no reason to refuse a plan: an index is best cut before it is loaded.
func TestEmptyPartsAreNoted(t *testing.T) {
	p := placement.New(7, 2, placement.Local, creation)
	half := p.Shards[0].Range.Middle()
	plan := func(plan placement.Plan, err error) placement.Plan {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return plan
	}
	one, none := placement.Weights{{Key: half, Documents: 1, Bytes: 1}}, placement.Weights{}
	for _, c := range []struct {
		plan placement.Plan
		note string
	}{
		{plan(p.SplitBy(2, none)), "none of the 4 parts holds documents now: they are filled by what is written"},
		{plan(p.SplitInto(1, 5, one)), "none of the 5 parts holds documents now: they are filled by what is written"},
		{plan(p.SplitBy(2, one)), "3 of the 4 parts hold no documents now, the first of them shard 0, 0000000000000000-3fffffffffffffff"},
		{plan(p.SplitAt(0, []routing.Key{half}, one)), "shard 0, 0000000000000000-3fffffffffffffff, holds no documents now"},
		{plan(p.SplitAt(0, []routing.Key{half}, placement.Weights{{Key: half, Documents: 9, Bytes: 9}})), "shard 0, 0000000000000000-3fffffffffffffff, holds no documents as far as the sample of them shows"},
		{plan(p.Join([]uint32{0, 1}, none)), "the part holds no documents now"},
		{plan(p.Join([]uint32{0, 1}, one)), ""},
		{plan(p.SplitBy(2, nil)), ""}, // nobody knows
	} {
		if strings.Join(c.plan.Notes, "") != c.note || !strings.Contains(c.plan.String(), c.note) {
			t.Errorf("got %q, expected %q", c.plan.Notes, c.note)
		}
	}
}

// alike: equal parts differ by no more than the routing values that are not whole.
func alike(t *rapid.T, plan placement.Plan, k int) {
	parts := plan.Groups[0].To
	if len(parts) != k {
		t.Fatalf("%d parts, not %d", len(parts), k)
	}
	least, most := ^uint64(0), uint64(0)
	for _, part := range parts {
		width := uint64(part.Range.To - part.Range.From)
		least, most = min(least, width), max(most, width)
	}
	if most-least > 3<<32 {
		t.Fatalf("the parts are between %x and %x wide:\n%s", least, most, plan)
	}
}

func TestPartsWeighAlike(t *testing.T) {
	p := placement.New(7, 2, placement.Local, creation)
	for _, k := range []int{2, 3, 7} {
		plan, err := p.SplitEvenly(1, k, weights(10000, 0))
		if err != nil {
			t.Fatal(err)
		}
		var total int64
		for _, part := range plan.Groups[0].To {
			total += part.Bytes
		}
		for _, part := range plan.Groups[0].To {
			if d := part.Bytes*int64(k) - total; d > 100*int64(k) || d < -100*int64(k) { // one document
				t.Errorf("%d parts:\n%s", k, plan)
			}
		}
	}
	// One value is most of the shard: it stands alone, as far as cuts can part it.
	plan, err := p.SplitEvenly(0, 3, weights(100, 1000))
	if err != nil || plan.Groups[0].To[1].Documents < 1000 || plan.Hottest.Hash != 0x2dc50d42 || plan.Hottest.Documents != 1000 {
		t.Errorf("%v\n%s", err, plan)
	}
	halves, err := p.HalveLargest(weights(100, 1000))
	if err != nil || halves.Groups[0].From[0].Number != 0 || len(halves.Groups[0].To) != 2 {
		t.Errorf("%v\n%s", err, halves)
	}
}

func TestNeighboursBecomeOne(t *testing.T) {
	p := placement.New(7, 5, placement.Local, creation)
	plan, err := p.Join([]uint32{3, 1, 2}, weights(100, 0))
	if err != nil {
		t.Fatal(err)
	}
	want := placement.Part{Shard: 1, Range: routing.Range{From: p.Shards[1].Range.From, To: p.Shards[3].Range.To}, Documents: 60, Bytes: 6000}
	if len(plan.Groups) != 1 || len(plan.Groups[0].To) != 1 || plan.After != 3 || !reflect.DeepEqual(plan.Groups[0].From, p.Shards[1:4]) {
		t.Fatalf("\n%s", plan)
	}
	if got := plan.Groups[0].To[0]; got.Shard != want.Shard || got.Range != want.Range || got.Documents < 40 {
		t.Errorf("%+v", got)
	}
}

// TestWhatCannotBePlanned: each refusal says why, and what to do instead.
func TestWhatCannotBePlanned(t *testing.T) {
	p := placement.New(7, 2, placement.Local, creation)
	many := placement.New(7, 1000, placement.Local, creation)
	hot := placement.New(7, 1, placement.Local, creation)
	hot.Shards = []placement.Shard{
		{Number: 0, Range: routing.Range{From: 0, To: 0x2dc50d41ffffffff}, Epoch: 1, Term: 1, Node: "local"},
		{Number: 1, Range: routing.Range{From: 0x2dc50d4200000000, To: 0x2dc50d42ffffffff}, Epoch: 1, Term: 1, Node: "local"},
		{Number: 2, Range: routing.Range{From: 0x2dc50d4300000000, To: routing.MaxKey}, Epoch: 1, Term: 1, Node: "away"},
	}
	hot.Next = 3
	half := p.Shards[0].Range.To/2 + 1
	ignore := func(_ placement.Plan, err error) error { return err }
	for _, c := range []struct {
		err        error
		kind       fault.Kind
		says, next string
	}{
		{ignore(p.SplitInto(9, 2, nil)), fault.NotFound, "no shard 9", "name one of 0,1"},
		{ignore(p.SplitInto(0, 1, nil)), fault.Refused, "1 parts of a shard are no split", "two parts or more"},
		{ignore(p.SplitInto(0, 0, nil)), fault.Refused, "0 parts", "two parts or more"},
		{ignore(p.SplitInto(0, 1<<40, nil)), fault.Refused, "1099511627776 parts", "ask for fewer"},
		{ignore(p.SplitInto(0, 1024, nil)), fault.Refused, "1025 shards, more than 1024", "join shards"},
		{ignore(many.SplitBy(2, nil)), fault.Refused, "2000 shards, more than 1024", "make fewer parts"},
		{ignore(p.SplitBy(1, nil)), fault.Refused, "1 parts", "two parts or more"},
		{ignore(p.SplitBy(1<<62, nil)), fault.Refused, "parts are more than", "ask for fewer"},
		{ignore(p.SplitAt(0, nil, nil)), fault.Refused, "one part of shard 0", "two parts or more"},
		{ignore(p.SplitAt(0, []routing.Key{0}, nil)), fault.Refused, "not inside of shard 0", "behind its first key"},
		{ignore(p.SplitAt(0, []routing.Key{p.Shards[0].Range.To + 1}, nil)), fault.Refused, "not inside of shard 0", "not behind its last"},
		{ignore(p.SplitAt(0, []routing.Key{half, half}, nil)), fault.Refused, "would be nothing", "name each cut once"},
		{ignore(p.SplitAt(0, []routing.Key{half, half + 1}, nil)), fault.Refused, "narrower than", "wider parts"},
		{ignore(p.HalveLargest(placement.Weights{})), fault.Refused, "nothing to halve: shard 0, the largest, holds no documents", "split shard 0 into 2"},
		{ignore(p.HalveLargest(weights(1, 0))), fault.Refused, "holds 1 document", "split shard "},
		{ignore(p.HalveLargest(weights(0, 9))), fault.Refused, "have the routing hash 2dc50d42", "split shard 0 at 2dc50d42"},
		{ignore(p.SplitEvenly(0, 2, nil)), fault.Refused, "the 0 routing hashes", "equal parts"},
		{ignore(p.SplitEvenly(1, 2, weights(0, 9))), fault.Refused, "the 0 routing hashes", "equal parts"},
		{ignore(p.SplitEvenly(0, 2, weights(0, 9))), fault.Refused, "all in 0000000000000000-7fffffffffffffff has the routing hash 2dc50d42", "low half is not zero"},
		{ignore(hot.SplitInto(1, 2, nil)), fault.Refused, "1 whole routing values", "low half is not zero"},
		{ignore(hot.SplitBy(2, nil)), fault.Refused, "1 whole routing values", "low half is not zero"},
		{ignore(p.Join([]uint32{0}, nil)), fault.Refused, "1 shards make no merge", "two neighbours"},
		{ignore(p.Join(nil, nil)), fault.Refused, "0 shards make no merge", "two neighbours"},
		{ignore(p.Join([]uint32{0, 0}, nil)), fault.Refused, "named twice", "once"},
		{ignore(p.Join([]uint32{0, 7}, nil)), fault.NotFound, "no shard 7", "name one of"},
		{ignore(many.Join([]uint32{4, 6}, nil)), fault.Refused, "no neighbours", "all between"},
		{ignore(hot.Join([]uint32{1, 2}, nil)), fault.Refused, "on away", "move one of them"},
	} {
		if !fault.Is(c.err, c.kind) || !strings.Contains(c.err.Error(), c.says) || !strings.Contains(fault.Next(c.err), c.next) {
			t.Errorf("want %s: %s → %s\ngot %v → %s", c.kind, c.says, c.next, c.err, fault.Next(c.err))
		}
	}
	// A value that is too hot can be cut inside when a key says so.
	plan, err := hot.SplitAt(1, []routing.Key{0x2dc50d4280000000}, weights(0, 100))
	if err != nil || plan.Groups[0].To[0].Documents < 30 || plan.Groups[0].To[1].Documents < 30 {
		t.Errorf("%v\n%s", err, plan)
	}
}
