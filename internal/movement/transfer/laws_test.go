package transfer_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/transfer"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// life is an index through many reshapings, and what a test remembers of it.
type life struct {
	placed   placement.Placement
	movement string
	journal  []transfer.Event
	stood    []placement.Placement // before each event of the journal, and after the last
	numbers  map[uint32]bool       // of shards that ever were in the map or in a record
	seqNo    int64
}

func newLife(t *rapid.T) *life {
	l := &life{placed: placement.New(7, rapid.IntRange(1, 4).Draw(t, "shards"), placement.Local, change), numbers: map[uint32]bool{}}
	for _, s := range l.placed.Shards {
		l.numbers[s.Number] = true
	}
	return l
}

// plan draws a reshaping of some shards.
func (l *life) plan(t *rapid.T) placement.Plan {
	shard := rapid.SampledFrom(l.placed.Shards).Draw(t, "shard")
	var plan placement.Plan
	var err error
	switch rapid.IntRange(0, 3).Draw(t, "sort of plan") {
	case 0:
		plan, err = l.placed.SplitInto(shard.Number, rapid.IntRange(2, 4).Draw(t, "parts"), nil)
	case 1:
		plan, err = l.placed.SplitBy(rapid.IntRange(2, 3).Draw(t, "by"), nil)
	case 2:
		key := rapid.Uint64Range(uint64(shard.Range.From)+1, uint64(shard.Range.To)).Draw(t, "cut")
		plan, err = l.placed.SplitAt(shard.Number, []routing.Key{routing.Key(key)}, nil)
	default:
		at := rapid.IntRange(0, len(l.placed.Shards)-1).Draw(t, "first")
		n := rapid.IntRange(2, 4).Draw(t, "neighbours")
		var numbers []uint32
		for _, s := range l.placed.Shards[at:min(at+n, len(l.placed.Shards))] {
			numbers = append(numbers, s.Number)
		}
		plan, err = l.placed.Join(numbers, nil)
	}
	if err != nil && !fault.Is(err, fault.Refused) {
		t.Fatal(err)
	}
	return plan
}

// begin begins a reshaping, if the plan drawn is one.
func (l *life) begin(t *rapid.T) {
	plan := l.plan(t)
	if len(plan.Groups) == 0 || len(l.placed.Shards) > 40 {
		return
	}
	l.movement += "m"
	before := l.placed
	placed, err := transfer.Begin(before, plan, transfer.Asked{Movement: l.movement, Name: "books", Change: change})
	if err != nil {
		t.Fatalf("%v\n%s", err, plan)
	}
	if !reflect.DeepEqual(placed.Shards, before.Shards) || placed.Version != before.Version+1 {
		t.Fatalf("to begin has changed the map:\n%s%s", before, placed)
	}
	l.placed, l.journal, l.stood = placed, nil, []placement.Placement{placed}
	l.given(t, record(t, placed))
	if again, err := transfer.Begin(placed, plan, transfer.Asked{Movement: l.movement, Change: change}); err != nil || !reflect.DeepEqual(again, placed) {
		t.Fatalf("begun twice: %v", err)
	}
	if _, err := transfer.Begin(placed, plan, transfer.Asked{Movement: "another", Change: change}); !fault.Is(err, fault.Conflict) {
		t.Fatalf("a second reshaping began: %v", err)
	}
}

// given: the numbers of targets that are new were never given before.
func (l *life) given(t *rapid.T, r transfer.Record) {
	for _, g := range r.Groups {
		for _, target := range g.Targets {
			if g.Status != transfer.Goes || target.Shard == g.Sources[0].Shard {
				continue // given before, or of a merge
			}
			if l.numbers[target.Shard] {
				t.Fatalf("number %d is given again in\n%s", target.Shard, r)
			}
			l.numbers[target.Shard] = true
		}
	}
}

func record(t interface{ Fatal(...any) }, p placement.Placement) transfer.Record {
	r, found, err := transfer.Of(p)
	if err != nil || !found {
		t.Fatal("no record: ", err)
	}
	return r
}

// event draws what comes: mostly what is owed, else anything.
func (l *life) event(t *rapid.T, r transfer.Record) transfer.Event {
	owed := r.Owed()
	if len(owed) > 0 && rapid.IntRange(0, 4).Draw(t, "owed") > 0 {
		return l.done(t, r, rapid.SampledFrom(owed).Draw(t, "effect"))
	}
	e := transfer.Event{Happened: rapid.SampledFrom(transfer.Happenings).Draw(t, "happening"), Group: rapid.IntRange(-1, len(r.Groups)).Draw(t, "group")}
	if e.Group < 0 || e.Group >= len(r.Groups) {
		return e
	}
	g := r.Groups[e.Group]
	e.Shard = rapid.SampledFrom(append([]transfer.TargetLine{{Shard: g.Sources[0].Shard}}, g.Targets...)).Draw(t, "of").Shard
	e.Run, e.Differences = rapid.IntRange(0, 3).Draw(t, "run"), rapid.Int64Range(-1, 1).Draw(t, "differences")
	e.At = l.positions(t, g)
	return e
}

// done is the event that ends an effect.
func (l *life) done(t *rapid.T, r transfer.Record, effect transfer.Effect) transfer.Event {
	e := transfer.Event{Group: effect.Group, Shard: effect.Shard}
	g := r.Groups[e.Group]
	h := make([]transfer.Position, len(g.Sources))
	for i := range h {
		h[i] = g.Sources[i].H
	}
	switch effect.Do {
	case transfer.MakeClone:
		e.Happened, e.At = transfer.WasCloned, l.positions(t, g)
	case transfer.Compare:
		e.Happened, e.At, e.Run = transfer.Verified, l.positions(t, g), g.Cloned.Run+1
		e.Differences = rapid.SampledFrom([]int64{0, 0, 0, 2}).Draw(t, "differences")
	case transfer.HandOff:
		e.Happened, e.At = transfer.WasHanded, l.positions(t, g)
	case transfer.OpenTarget:
		e.Happened, e.At = transfer.Opened, h
	case transfer.CompareAtH:
		e.Happened, e.At, e.Run = transfer.VerifiedAtH, h, g.AtH.Run+1
		e.Differences = rapid.SampledFrom([]int64{0, 0, 0, 1}).Draw(t, "differences at H")
	case transfer.Shed:
		e.Happened = transfer.WasShed
	case transfer.Retire:
		e.Happened = transfer.Retired
	case transfer.Drop:
		e.Happened = transfer.WasDropped
	}
	return e
}

// positions are later than all that were drawn before.
func (l *life) positions(t *rapid.T, g transfer.Group) (at []transfer.Position) {
	l.seqNo += rapid.Int64Range(0, 3).Draw(t, "writes")
	for i := range g.Sources {
		at = append(at, transfer.Position{Shard: g.Sources[i].Shard, Term: g.Sources[i].Before.Term, SeqNo: l.seqNo - 1})
	}
	return at
}

// step applies e and holds the result to the invariants.
func (l *life) step(t *rapid.T, e transfer.Event) {
	before, was := l.placed, record(t, l.placed)
	text := was.String()
	after, effects, err := transfer.Advance(before, l.movement, e, change)
	again, effects2, err2 := transfer.Advance(before, l.movement, e, change)
	if !reflect.DeepEqual(after, again) || !reflect.DeepEqual(effects, effects2) || (err == nil) != (err2 == nil) {
		t.Fatalf("%s gives one thing, then another", e)
	}
	if now := record(t, before); now.String() != text {
		t.Fatalf("%s changed what it was given", e)
	}
	if err != nil {
		if k := fault.KindOf(err); k != fault.Refused && k != fault.Conflict && k != fault.Usage {
			t.Fatalf("%s: %v", e, err)
		}
		if k := fault.KindOf(err); k != fault.Usage && fault.Next(err) == "" {
			t.Fatalf("%s: %v, and no word of what to do", e, err)
		}
	}
	if err != nil || after.Version == before.Version {
		if !reflect.DeepEqual(after, before) {
			t.Fatalf("%s was refused, and changed the placement", e)
		}
		return
	}
	if after.Version != before.Version+1 {
		t.Fatalf("%s: version %d, then %d", e, before.Version, after.Version)
	}
	now := record(t, after)
	forward(t, e, was, now)
	moved(t, e, before, after)
	for _, effect := range effects {
		if !slices.Contains(now.Owed(), effect) {
			t.Fatalf("%s: to do is %s, and the record does not owe it", e, effect)
		}
	}
	if e.Happened == transfer.Reverse {
		l.given(t, now)
	}
	l.journal, l.placed = append(l.journal, e), after
	l.stood = append(l.stood, after)
}

var order = map[transfer.TargetState]int{transfer.Clone: 0, transfer.Handoff: 1, transfer.InSplit: 2, transfer.Done: 3}

// forward: each state went at most one edge, by the event that is for it, and the gates held.
func forward(t *rapid.T, e transfer.Event, was, now transfer.Record) {
	if e.Happened == transfer.Reverse {
		for i, g := range now.Groups {
			old := now.Past[i]
			if old.HandedOff() != (g.Status == transfer.Goes) {
				t.Fatalf("group %d was in %s, and is %q", i, old.Targets[0].State, g.Status)
			}
		}
		return
	}
	for i := range was.Groups {
		a, b := was.Groups[i], now.Groups[i]
		for j := range a.Targets {
			edge := order[b.Targets[j].State] - order[a.Targets[j].State]
			if edge != 0 && (edge != 1 || i != e.Group) {
				t.Fatalf("%s took target %d from %s to %s", e, a.Targets[j].Shard, a.Targets[j].State, b.Targets[j].State)
			}
		}
		if b.HandedOff() && !a.HandedOff() && !a.Cloned.Equal() {
			t.Fatalf("%s handed off what was not compared: %+v", e, a.Cloned)
		}
		for j := range a.Sources {
			if a.Sources[j].State != b.Sources[j].State {
				for _, target := range b.Targets {
					if target.State != transfer.Done {
						t.Fatalf("%s: source %d is DONE before target %d", e, a.Sources[j].Shard, target.Shard)
					}
				}
			}
		}
	}
	if now.Course == transfer.Finishing && was.Course != now.Course {
		for i, g := range now.Groups {
			if g.Status == transfer.Goes && !g.AtH.Equal() {
				t.Fatalf("finished with group %d at %+v", i, g.AtH)
			}
		}
	}
}

// moved: the map changed by a hand-off alone; then who owns a key got it from who owned
// it, with a higher epoch and term, and what another group's is stayed as it was.
func moved(t *rapid.T, e transfer.Event, before, after placement.Placement) {
	if err := after.Check(); err != nil {
		t.Fatal(err)
	}
	if reflect.DeepEqual(before.Shards, after.Shards) {
		if e.Happened == transfer.WasHanded {
			t.Fatalf("%s changed no map", e)
		}
		return
	}
	g := record(t, before).Groups[e.Group]
	if e.Happened != transfer.WasHanded {
		t.Fatalf("%s changed the map", e)
	}
	numbers := map[uint32]bool{}
	for i := range g.Sources {
		numbers[g.Sources[i].Shard] = true
	}
	for range 50 {
		key := routing.Key(rapid.Uint64().Draw(t, "key"))
		a, b := before.Owner(key), after.Owner(key)
		if !numbers[a.Number] {
			if a != b {
				t.Fatalf("%s: key %s went from %v to %v", e, key, a, b)
			}
			continue
		}
		numbers2 := b.Number == g.Sources[0].Shard || slices.ContainsFunc(g.Targets, func(l transfer.TargetLine) bool { return l.Shard == b.Number })
		if !numbers2 || b.Epoch != after.Version || b.Term <= a.Term || b.Node != a.Node {
			t.Fatalf("%s: key %s went from %v to %v", e, key, a, b)
		}
	}
}

// again: whatever prefix of the journal is told once more, nothing changes.
func (l *life) again(t *rapid.T) {
	for _, e := range l.journal {
		after, _, err := transfer.Advance(l.placed, l.movement, e, change)
		if !reflect.DeepEqual(after, l.placed) {
			t.Fatalf("%s came again and changed the record: %v\n%s", e, err, record(t, after))
		}
	}
	last := len(l.journal) - 1
	if last < 0 {
		return
	}
	// Who does not know whether the last was stored tells it again: no error.
	if _, _, err := transfer.Advance(l.placed, l.movement, l.journal[last], change); err != nil {
		t.Fatalf("%s was told twice: %v", l.journal[last], err)
	}
}

func TestLawsOfReshapings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLife(t)
		for range rapid.IntRange(10, 80).Draw(t, "steps") {
			if len(l.placed.Transfer) == 0 {
				l.begin(t)
				continue
			}
			r := record(t, l.placed)
			readBack(t, r)
			if r.Over() {
				placed, err := transfer.Clear(l.placed, l.movement, change)
				if err != nil || len(placed.Transfer) > 0 || !reflect.DeepEqual(placed.Shards, l.placed.Shards) {
					t.Fatalf("%v\n%s", err, placed)
				}
				l.ended(t, r)
				l.placed = placed
				continue
			}
			if _, err := transfer.Clear(l.placed, l.movement, change); !fault.Is(err, fault.Conflict) {
				t.Fatalf("cleared before its end: %v", err)
			}
			l.step(t, l.event(t, r))
			l.again(t)
		}
		l.settle(t)
	})
}

// ended: an aborted or reversed one has led back to the ranges of before.
func (l *life) ended(t *rapid.T, r transfer.Record) {
	if r.Course == transfer.Finishing && !r.Kind.Back() {
		if len(l.placed.Shards) != r.After {
			t.Fatalf("finished with %d shards:\n%s", len(l.placed.Shards), r)
		}
		return
	}
	for i, s := range l.stood[0].Shards {
		if now := l.placed.Shards[i]; now.Range != s.Range {
			t.Fatalf("led back to %v from %v", now, s)
		}
	}
	if r.Course == transfer.Aborting && !reflect.DeepEqual(l.stood[0].Shards, l.placed.Shards) {
		t.Fatalf("aborted, and the map is another:\n%s", l.placed)
	}
}

// settle: from anywhere, a worker that only does what is owed, and a patient operator,
// bring a reshaping to its end.
func (l *life) settle(t *rapid.T) {
	for steps := 0; len(l.placed.Transfer) > 0; steps++ {
		r := record(t, l.placed)
		if r.Over() {
			return
		}
		if steps > 1000 {
			t.Fatalf("it never ends:\n%s", r)
		}
		owed := r.Owed()
		switch {
		case len(owed) > 0:
			e := l.done(t, r, owed[0])
			e.Differences = 0
			l.step(t, e)
		case l.different(r) >= 0:
			g := r.Groups[l.different(r)]
			e := transfer.Event{Happened: transfer.Verified, Group: l.different(r), At: l.positions(t, g), Run: g.Cloned.Run + 1}
			if g.HandedOff() {
				e.Happened, e.Run, e.At = transfer.VerifiedAtH, g.AtH.Run+1, g.AtH.At
			}
			l.step(t, e)
		default:
			l.step(t, transfer.Event{Happened: transfer.Finish})
		}
	}
}

// different is a group that waits because it was found different; -1 for none.
func (l *life) different(r transfer.Record) int {
	return slices.IndexFunc(r.Groups, func(g transfer.Group) bool {
		return g.Status == transfer.Goes && (g.Cloned.Differences > 0 || g.AtH.Differences > 0)
	})
}

// readBack: the text and the JSON hold everything.
func readBack(t interface{ Fatalf(string, ...any) }, r transfer.Record) {
	back, err := transfer.ParseRecord(r.String())
	if err != nil || back.String() != r.String() {
		t.Fatalf("text: %v\n%s", err, r)
	}
	fromJSON, err := transfer.Decode(r.Encode())
	if err != nil || fromJSON.String() != r.String() || string(back.Encode()) != string(r.Encode()) {
		t.Fatalf("JSON: %v\n%s", err, r.Encode())
	}
}

func seeds(f *testing.F) (records []transfer.Record) {
	p := placement.New(7, 3, placement.Local, change)
	split, _ := p.SplitBy(2, nil)
	merge, _ := p.Join([]uint32{1, 2}, nil)
	for _, plan := range []placement.Plan{split, merge} {
		placed, err := transfer.Begin(p, plan, transfer.Asked{Movement: "m 1", Name: "bücher", Change: change})
		if err != nil {
			f.Fatal(err)
		}
		records = append(records, record(f, placed))
	}
	return records
}

func FuzzDecode(f *testing.F) {
	for _, r := range seeds(f) {
		f.Add(r.Encode())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := transfer.Decode(data)
		if err != nil {
			if !fault.Is(err, fault.Corrupt) {
				t.Fatal(err)
			}
			return
		}
		back, err := transfer.Decode(r.Encode())
		if err != nil || back.String() != r.String() {
			t.Fatalf("%v\n%s", err, data)
		}
		r.Owed()
	})
}

func FuzzParseRecord(f *testing.F) {
	for _, r := range seeds(f) {
		f.Add(r.String())
	}
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := transfer.ParseRecord(text); err == nil {
			readBack(t, r)
		}
	})
}

func FuzzParseEvent(f *testing.F) {
	for _, line := range []string{"cloned 0 at 0/1:57,1/1:-1", "verified 3 run 1 differences 0 at 0/1:60", "handed-off 0 version 4 at 0/1:64", "opened 0 shard 2 at 0/1:64", "retired 0 shard 0", "finish"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		e, err := transfer.ParseEvent(line)
		if err == nil && e.String() != line {
			t.Fatalf("%q is read as %q", line, e)
		}
	})
}

// TestARecordIsReadableAsJSON holds the names of the fields: programs read them.
func TestARecordIsReadableAsJSON(t *testing.T) {
	p := placement.New(7, 1, placement.Local, change)
	plan, err := p.SplitInto(0, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err = transfer.Begin(p, plan, transfer.Asked{Movement: "m1", Name: "books", Change: change})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"cloned 0 at 0/1:-1", "verified 0 run 1 differences 0 at 0/1:3", "handed-off 0 version 0 at 0/1:5"} {
		e, err := transfer.ParseEvent(line)
		if err != nil {
			t.Fatal(err)
		}
		if p, _, err = transfer.Advance(p, "m1", e, change); err != nil {
			t.Fatal(err)
		}
	}
	want := `{"movement":"m1","kind":"split","index":7,"name":"books","before":1,"after":2,"next":2,"by":"ann","why":"it is too big","at":"2026-03-01T03:00:00Z","course":"onward",` +
		`"groups":[{"sources":[{"shard":0,"state":"SOURCE","before":{"range":{"from":"0000000000000000","to":"ffffffffffffffff"},"epoch":1,"term":1},` +
		`"keeps":{"range":{"from":"0000000000000000","to":"7fffffffffffffff"},"epoch":5,"term":2},"s":{"shard":0,"term":1,"seqNo":-1},"h":{"shard":0,"term":1,"seqNo":5}}],` +
		`"targets":[{"shard":1,"state":"HANDOFF","range":{"from":"8000000000000000","to":"ffffffffffffffff"},"epoch":5,"term":2}],` +
		`"cloned":{"run":1,"at":[{"shard":0,"term":1,"seqNo":3}],"differences":0}}]}`
	if got := string(p.Transfer); got != want {
		t.Errorf("got %s", got)
	}
	var fields map[string]any
	if err := json.Unmarshal(p.Encode(), &fields); err != nil || fields["transfer"] == nil {
		t.Errorf("%v: %s", err, p.Encode())
	}
}

// TestDamageIsFound: each bit of damage that a record can be read with is found by its
// check, or leaves a record that can be.
func TestDamageIsFound(t *testing.T) {
	p := placement.New(7, 2, placement.Local, change)
	plan, _ := p.SplitBy(2, nil)
	p, err := transfer.Begin(p, plan, transfer.Asked{Movement: "m1", Name: "books", Change: change})
	if err != nil {
		t.Fatal(err)
	}
	for _, damage := range []func(r *transfer.Record){
		func(r *transfer.Record) { r.Kind = "squash" },
		func(r *transfer.Record) { r.Kind = transfer.Merge },
		func(r *transfer.Record) { r.Kind = transfer.SplitBack },
		func(r *transfer.Record) { r.Course = transfer.Finishing },
		func(r *transfer.Record) { r.Course = transfer.Aborting },
		func(r *transfer.Record) { r.Groups = nil },
		func(r *transfer.Record) { r.Movement = "" },
		func(r *transfer.Record) { r.Next = 3 },
		func(r *transfer.Record) { slices.Reverse(r.Groups) },
		func(r *transfer.Record) { r.Groups[1].Targets[0].Shard = 2 },
		func(r *transfer.Record) { r.Groups[0].Targets[0].Range.From++ },
		func(r *transfer.Record) { r.Groups[0].Targets[0].Epoch = 1 },
		func(r *transfer.Record) { r.Groups[0].Targets[0].State = transfer.Handoff },
		func(r *transfer.Record) { r.Groups[0].Sources[0].State = transfer.SourceDone },
		func(r *transfer.Record) { r.Groups[0].Sources[0].Keeps = nil },
		func(r *transfer.Record) { r.Groups[0].Sources[0].Before.Term = 0 },
		func(r *transfer.Record) { r.Groups[0].Sources[0].H = transfer.Position{Shard: 0, Term: 1} },
		func(r *transfer.Record) { r.Groups[0].Sources[0].S = transfer.Position{Shard: 9, Term: 1} },
		func(r *transfer.Record) { r.Groups[0].Cloned.Run = 1 },
		func(r *transfer.Record) { r.Groups[0].Cloned.Differences = 1 },
		func(r *transfer.Record) { r.Groups[0].Status = transfer.Dropping },
		func(r *transfer.Record) { r.Past = r.Groups },
	} {
		r := record(t, p)
		damage(&r)
		if _, err := transfer.Decode(r.Encode()); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%v of\n%s", err, r)
		}
	}
	// What the map does not say is found too.
	other := p
	other.Shards = slices.Clone(p.Shards)
	other.Shards[1].Term++
	if _, _, err := transfer.Of(other); !fault.Is(err, fault.Corrupt) {
		t.Errorf("a map that does not fit: %v", err)
	}
}
