package reconcile_test

import (
	"bytes"
	"fmt"
	"maps"
	"testing"

	"github.com/reshelve/reshelve/document"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/reconcile"
	"pgregory.net/rapid"
)

var printer document.Fingerprinter

// doc is a document whose content and version are v; negative: without a version.
func doc(n int, routing string, v int64) reconcile.Entry {
	id := fmt.Sprintf("%d", n)
	f := printer.Of([]byte(id), []byte(routing), fmt.Appendf(nil, `{"v":%d}`, v))
	return reconcile.Entry{Fingerprint: f, ID: id, Routing: routing, Version: v, Where: "books/0/" + id}
}

// sides are what a run reads: both as entries in some order.
type sides [2][]reconcile.Entry

// sum is the first pass over one side; what is only known to have been deleted is no document.
func (s sides) sum(side reconcile.Side, t *reconcile.Table) {
	for _, e := range s[side] {
		switch {
		case e.Deleted:
		case e.Unreadable || e.Misplaced:
			t.Suspect(e.Key)
		default:
			t.Add(e.Fingerprint)
		}
	}
}

// again is the run after another process has read it.
func again(t interface{ Fatal(...any) }, r *reconcile.Run) *reconcile.Run {
	data, err := r.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	back, err := reconcile.ReadRun(data)
	if err != nil {
		t.Fatal(err)
	}
	twice, _ := back.AppendBinary([]byte("x"))
	if !bytes.Equal(twice[1:], data) {
		t.Fatal("the state did not come back as it was")
	}
	return back
}

func (s sides) run(t interface{ Fatal(...any) }, limit int64, examples int) *reconcile.Run {
	r := reconcile.NewRun(int64(len(s[0])), limit, examples)
	for side := range s {
		r.Marks[side] = []byte("half")
		r = again(t, r)
		s.sum(reconcile.Side(side), r.Tables[side])
		r.Summed[side], r.Marks[side] = true, nil
	}
	for {
		r = again(t, r)
		groups, err := r.Groups()
		if err != nil {
			t.Fatal(err)
		}
		if len(groups) == 0 {
			return r
		}
		g := groups[0]
		c := reconcile.NewCollector(g, len(s[0])+len(s[1]))
		for side := range s {
			for _, e := range s[side] {
				if err := c.Add(reconcile.Side(side), e); err != nil {
					t.Fatal(err)
				}
			}
		}
		r.Looked(g, c.Compare(examples))
	}
}

// TestEachDifferenceHasItsClass builds the two sides from the differences that are to be
// found.
func TestEachDifferenceHasItsClass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s sides
		want := map[reconcile.Class]int64{}
		expect := func(e reconcile.Entry) { s[0] = append(s[0], e) }
		find := func(e reconcile.Entry) { s[1] = append(s[1], e) }
		number := rapid.IntRange(0, 120).Draw(t, "documents")
		for n := range number {
			routing := rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "routing")
			one := func(v int64) reconcile.Entry { return doc(n, routing, v) }
			class := reconcile.Class("")
			switch kind := rapid.IntRange(0, 30).Draw(t, "kind"); kind {
			case 0:
				class = reconcile.Missing
				expect(one(2))
			case 1:
				class = reconcile.Stale
				expect(one(2))
				find(one(1))
			case 2:
				class = reconcile.Newer
				expect(one(2))
				find(one(3))
			case 3:
				class = reconcile.Different
				expect(one(2))
				other := one(3)
				other.Version = rapid.SampledFrom([]int64{reconcile.UnknownVersion, 2}).Draw(t, "version")
				find(other)
			case 4:
				class = reconcile.Ghost
				find(one(1))
			case 5:
				class = reconcile.Zombie
				gone := one(2)
				gone.Deleted = true
				expect(gone)
				find(one(1))
			case 6, 7: // a second copy, beside the right one or instead of it
				class = reconcile.Misplaced
				expect(one(2))
				copied := one(2)
				copied.Misplaced = rapid.Bool().Draw(t, "known")
				if find(copied); kind == 6 {
					find(one(2))
				} else if copied.Misplaced {
					want[reconcile.Missing]++
				} else {
					class = ""
				}
			case 8:
				class = reconcile.Unreadable
				bad, there := one(2), one(2)
				side := rapid.Bool().Draw(t, "side")
				bad.Unreadable, there.Unreadable = side, !side
				expect(bad)
				find(there)
			case 9: // deleted, and gone
				gone := one(2)
				gone.Deleted = true
				expect(gone)
			case 10: // the same id under another routing is another document
				class = reconcile.Missing
				expect(doc(n, "c", 2))
				expect(one(2))
				find(one(2))
			case 11: // deleted, and written again
				gone := one(2)
				gone.Deleted = true
				expect(gone)
				expect(one(3))
				find(one(3))
			default:
				expect(one(2))
				find(one(2))
			}
			if class != "" {
				want[class]++
			}
		}
		for side := range s {
			s[side] = rapid.Permutation(s[side]).Draw(t, "order")
		}
		limit := rapid.Int64Range(1, 100).Draw(t, "limit")
		r := s.run(t, limit, 3)
		if !maps.Equal(r.Report.Counts, want) && len(r.Report.Counts)+len(want) > 0 {
			t.Fatalf("found %v, want %v", r.Report.Counts, want)
		}
		for class, n := range want {
			shown := int64(0)
			for _, e := range r.Report.Examples {
				if e.Class == class {
					shown++
				}
			}
			if shown != min(n, 3) {
				t.Fatalf("%d examples of %d %s", shown, n, class)
			}
		}
		if len(want) == 0 && r.Tables[0].Total() != r.Tables[1].Total() {
			t.Fatal("equal sides have other sums")
		}
	})
}

func TestGroupsAreBounded(t *testing.T) {
	var s sides
	for n := range 5000 {
		s[0] = append(s[0], doc(n, "", 1))
	}
	expected, found := reconcile.NewTable(reconcile.Bits(5000)), reconcile.NewTable(reconcile.Bits(5000))
	s.sum(reconcile.Expected, expected)
	groups, err := reconcile.Groups(expected, found, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	wanted := 0
	for i := range groups {
		g := &groups[i]
		if g.Documents > 100 {
			t.Errorf("a group of %d documents", g.Documents)
		}
		held := 0
		for _, e := range s[0] {
			if g.Wants(e.Key) {
				held++
			}
		}
		if int64(held) != g.Documents {
			t.Errorf("a group wants %d documents, and says %d", held, g.Documents)
		}
		wanted += held
	}
	if wanted != 5000 {
		t.Errorf("the groups want %d documents of 5000", wanted)
	}
	c := reconcile.NewCollector(groups[0], 3)
	for _, e := range s[0] {
		err = c.Add(reconcile.Expected, e)
		if err != nil {
			break
		}
	}
	if !fault.Is(err, fault.Limit) {
		t.Errorf("the collector took all: %v", err)
	}
}

func TestTablesAddUp(t *testing.T) {
	whole, left, right := reconcile.NewTable(4), reconcile.NewTable(4), reconcile.NewTable(4)
	for n := range 100 {
		f := doc(n, "", 1).Fingerprint
		whole.Add(f)
		[]*reconcile.Table{left, right}[n%2].Add(f)
	}
	right.Suspect(1 << 63)
	if err := left.Merge(right); err != nil {
		t.Fatal(err)
	}
	if left.Total() != whole.Total() || left.Total().Count != 100 {
		t.Errorf("the halves are %s, the whole is %s", left.Total(), whole.Total())
	}
	groups, _ := reconcile.Groups(whole, left, 0, 10)
	if len(groups) != 1 || groups[0].Buckets != 1 || !groups[0].Wants(1<<63) || groups[0].Wants(1<<62) {
		t.Errorf("the suspect is lost: %+v", groups)
	}
	if err := left.Merge(reconcile.NewTable(5)); !fault.Is(err, fault.Bug) {
		t.Errorf("tables of two sizes were added: %v", err)
	}
	if _, err := reconcile.Groups(left, reconcile.NewTable(5), 0, 1); !fault.Is(err, fault.Bug) {
		t.Errorf("tables of two sizes were compared: %v", err)
	}
	if _, err := reconcile.NewRun(0, 0, 0).Groups(); !fault.Is(err, fault.Bug) {
		t.Errorf("sides that nobody summed were compared: %v", err)
	}
}

// TestSwappedSourcesAreNotEqual: a sum of sources alone would not notice.
func TestSwappedSourcesAreNotEqual(t *testing.T) {
	of := func(id, source string) document.Fingerprint { return printer.Of([]byte(id), nil, []byte(source)) }
	one, two := reconcile.NewTable(4), reconcile.NewTable(4)
	one.Add(of("a", `1`))
	one.Add(of("b", `2`))
	two.Add(of("a", `2`))
	two.Add(of("b", `1`))
	if one.Total() == two.Total() {
		t.Error("they are equal")
	}
}

func TestTheNumberOfBuckets(t *testing.T) {
	for documents, want := range map[int64]int{-1: 4, 0: 4, 100: 4, 1000: 7, 1 << 20: 18, 1 << 40: 19} {
		if got := reconcile.Bits(documents); got != want {
			t.Errorf("%d documents: 2^%d buckets, want 2^%d", documents, got, want)
		}
	}
}

func TestTheReportForPeople(t *testing.T) {
	var s sides
	s[0] = []reconcile.Entry{doc(1, "a", 3), doc(2, "", 2), doc(3, "", 1)}
	old := doc(2, "", 1)
	old.Where = "shard 4"
	s[1] = []reconcile.Entry{old, doc(3, "", 1), doc(4, "", reconcile.UnknownVersion)}
	r := s.run(t, 100, 5).Report
	r.AddUnreadable(7, "books/3 from 4200 on")
	want := `missing 1, stale 1, ghost 1, unreadable 7
ghost "4" at books/0/4
stale "2" version 2 at books/0/2; found version 1 at shard 4
missing "1" routing "a" version 3 at books/0/1
unreadable at books/3 from 4200 on`
	if r.String() != want {
		t.Errorf("%s", r)
	}
	if r.Differences() != 10 || r.Equal != 0 {
		t.Errorf("%d differ, %d are equal", r.Differences(), r.Equal)
	}
	if got := (reconcile.Report{}).String(); got != "no differences" {
		t.Error(got)
	}
}

func FuzzReadRun(f *testing.F) {
	var s sides
	for n := range 50 {
		s[0] = append(s[0], doc(n, "", 1))
	}
	r := s.run(f, 20, 2)
	data, _ := r.AppendBinary(nil)
	f.Add(data)
	r.Tables[1].Suspect(1 << 60)
	data, _ = r.AppendBinary(nil)
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		// A state whose checksum was made to fit is read without fear, too.
		for _, candidate := range [][]byte{data, reconcile.Sealed(data)} {
			r, err := reconcile.ReadRun(candidate)
			if err != nil {
				if !fault.Is(err, fault.Corrupt) {
					t.Fatal(err)
				}
				continue
			}
			again(t, r)
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	t := reconcile.NewTable(19)
	f := doc(1, "", 1).Fingerprint
	for b.Loop() {
		f.Key += 0x9e3779b97f4a7c15
		t.Add(f)
	}
}
