package reconcile_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
	"pgregory.net/rapid"
)

var printer document.Fingerprinter

// copied is a document as a test puts it on a side.
type copied struct {
	reconcile.Entry
}

// doc is a document whose content and version are v; negative: without a version.
func doc(n int, routing string, v int64) copied {
	id := fmt.Sprintf("%d", n)
	f := printer.Of([]byte(id), []byte(routing), fmt.Appendf(nil, `{"v":%d}`, v))
	return copied{Entry: reconcile.Entry{Fingerprint: f, ID: []byte(id), Routing: []byte(routing), Version: v, Number: int64(n)}}
}

// sides are what a run reads, in some order.
type sides [reconcile.Sides][]copied

type fataler interface{ Fatal(...any) }

// again is the run after another process has read it.
func again(t fataler, r *reconcile.Run) *reconcile.Run {
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

// run reads the sides until the run has ended; other processes go on every now and then. It
// tells how often a side was read.
func (s sides) run(t fataler, documents int64, b reconcile.Bounds) (r *reconcile.Run, reads int) {
	r = reconcile.NewRun("books", documents, b)
	for len(r.Sides()) > 0 {
		for _, side := range r.Sides() {
			p := r.Part(side)
			for n, e := range s[side] {
				if p.Wants(e.Key) {
					p.Add(e.Entry)
				}
				if n == len(s[side])/2 {
					if err := r.Take(p); err != nil {
						t.Fatal(err)
					}
					r = again(t, r)
					p = r.Part(side)
				}
			}
			if err := r.Take(p); err != nil {
				t.Fatal(err)
			}
			reads++
			r.Whole(side)
			r = again(t, r)
		}
	}
	return r, reads
}

// TestEachDifferenceHasItsClass builds the two sides from the differences that are to be
// found.
func TestEachDifferenceHasItsClass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s sides
		want := map[reconcile.Class]int64{}
		expect := func(e copied) { s[reconcile.Expected] = append(s[reconcile.Expected], e) }
		find := func(e copied) { s[reconcile.Found] = append(s[reconcile.Found], e) }
		before := func(e copied) { s[reconcile.Before] = append(s[reconcile.Before], e) }
		number := rapid.IntRange(0, 120).Draw(t, "documents")
		for n := range number {
			routing := rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "routing")
			one := func(v int64) copied { return doc(n, routing, v) }
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
				before(one(1))
				find(one(1))
			case 6, 7: // a second copy, beside the right one or instead of it
				class = reconcile.Misplaced
				expect(one(2))
				find(one(1))
				if find(one(2)); kind == 7 {
					find(one(2))
					want[class]++
				}
			case 8:
				class = reconcile.Unreadable
				bad, there := one(2), one(2)
				side := rapid.Bool().Draw(t, "side")
				bad.Unreadable, there.Unreadable = side, !side
				expect(bad)
				find(there)
			case 9: // deleted, and gone
				before(one(1))
			case 10: // the same id under another routing is another document
				class = reconcile.Missing
				expect(doc(n, "c", 2))
				expect(one(2))
				find(one(2))
			case 11: // it was there before, and is there again
				before(one(1))
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
		// A bucket that alone holds more than a look may hold would be told as rest.
		limit := rapid.Int64Range(60, 100).Draw(t, "limit")
		r, _ := s.run(t, rapid.Int64Range(0, 5000).Draw(t, "estimate"), reconcile.Bounds{Documents: limit, Looks: 100, Examples: 3, Before: true})
		if r.Report.Rest != nil {
			t.Fatalf("something was not compared: %s", r.Report.Rest)
		}
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
		if len(want) == 0 && r.Totals[0] != r.Totals[1] {
			t.Fatal("equal sides have other sums")
		}
	})
}

// TestGroupsAreBounded: what a delta compares, group by group.
func TestGroupsAreBounded(t *testing.T) {
	expected, found := reconcile.NewTable(reconcile.Bits(5000)), reconcile.NewTable(reconcile.Bits(5000))
	for n := range 5000 {
		expected.Add(doc(n, "", 1).Fingerprint)
	}
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
		for n := range 5000 {
			if g.Wants(doc(n, "", 1).Key) {
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
	if _, err := reconcile.Groups(expected, reconcile.NewTable(5), 0, 1); !fault.Is(err, fault.Bug) {
		t.Errorf("tables of two sizes were compared: %v", err)
	}
}

// TestFewDifferencesAreFoundAmongMany: a look holds far fewer documents than the buckets of the
// first pass, and all that differs is named, because they are narrowed first.
func TestFewDifferencesAreFoundAmongMany(t *testing.T) {
	var s sides
	for n := range 20_000 {
		s[reconcile.Expected] = append(s[reconcile.Expected], doc(n, "", 2))
		switch n % 2000 {
		case 7: // missing
		case 9:
			s[reconcile.Found] = append(s[reconcile.Found], doc(n, "", 1))
		default:
			s[reconcile.Found] = append(s[reconcile.Found], doc(n, "", 2))
		}
	}
	// Thought to be small, it has 16 buckets of 2,500 documents of both sides.
	r, reads := s.run(t, 0, reconcile.Bounds{Documents: 100, Looks: 1, Examples: 3})
	if got := r.Report.Counts; r.Report.Rest != nil || got[reconcile.Missing] != 10 || got[reconcile.Stale] != 10 || len(got) != 2 {
		t.Errorf("%s", r.Report)
	}
	if reads > 6 {
		t.Errorf("sides were read %d times", reads)
	}
}

// TestWhatIsNotComparedIsSaid: nearly all differs, and the looks do not suffice. The sides are
// read a number of times that does not grow with them, and what was not looked at is told.
func TestWhatIsNotComparedIsSaid(t *testing.T) {
	for _, number := range []int{2_000, 40_000} {
		var s sides
		for n := range number {
			s[reconcile.Expected] = append(s[reconcile.Expected], doc(n, "", 2))
			if n%2 == 0 {
				s[reconcile.Found] = append(s[reconcile.Found], doc(n, "", 1))
			}
		}
		r, reads := s.run(t, int64(number), reconcile.Bounds{Documents: 300, Looks: 2, Examples: 3})
		rest, counts := r.Report.Rest, r.Report.Counts
		if reads > 2*(1+3+2) || rest == nil {
			t.Fatalf("%d sides were read; %s", reads, r.Report)
		}
		looked := counts[reconcile.Missing] + counts[reconcile.Stale]
		if looked == 0 || looked+rest.Expected != int64(number) || counts[reconcile.Stale]+rest.Found != int64(number/2) {
			t.Errorf("of %d documents %d were looked at: %s", number, looked, r.Report)
		}
		if missing := counts[reconcile.Missing] + rest.Missing; missing > int64(number/2) || missing < int64(number/3) {
			t.Errorf("at least %d of %d are said to be missing", missing, number/2)
		}
	}
}

// TestMend: what a run of one look tells to be written again is all that is missing, stale or
// different, and what was not looked at.
func TestMend(t *testing.T) {
	var s sides
	for n := range 3000 {
		s[reconcile.Expected] = append(s[reconcile.Expected], doc(n, "", 2))
		if n >= 1000 {
			s[reconcile.Found] = append(s[reconcile.Found], doc(n, "", int64(1+n/1000))) // stale, equal... newer
		}
	}
	gone := doc(5000, "", 1)
	s[reconcile.Before], s[reconcile.Found] = append(s[reconcile.Before], gone), append(s[reconcile.Found], gone)
	for _, limit := range []int64{10_000, 500, 1} {
		r, _ := s.run(t, 3000, reconcile.Bounds{Documents: limit, Looks: 1, Examples: 3, Before: true})
		again := 0
		for n := range 3000 {
			mend := r.Mend(doc(n, "", 2).Key, 0, int64(n), false)
			if mend {
				again++
			}
			if !mend && n < 1000 {
				t.Fatalf("%d documents in a look: %d is missing, and not mended", limit, n)
			}
			if r.Mend(doc(n, "", 2).Key, 1, int64(n), false) && limit == 10_000 {
				t.Fatal("an older copy in another shard is brought")
			}
		}
		if limit == 10_000 && (again != 1000 || !r.Delete(gone.Key) || r.Delete(doc(0, "", 2).Key)) {
			t.Errorf("%d are mended, deleted %v", again, r.Delete(gone.Key))
		}
	}
}

// TestSaw: what was found in the place of a document that is to be written again is told from
// another that comes later.
func TestSaw(t *testing.T) {
	wrong := doc(1, "", 1)
	s := sides{reconcile.Expected: {doc(0, "", 2), doc(1, "", 2), doc(2, "", 2)}, reconcile.Found: {wrong, doc(2, "", 2)}}
	r, _ := s.run(t, 3, reconcile.Bounds{Documents: 100, Looks: 1, Examples: 3})
	for n, want := range []uint64{0, binary.BigEndian.Uint64(wrong.Content[:8])} {
		if found, compared := r.Saw(doc(n, "", 2).Key); found != want || !compared {
			t.Errorf("%d: %x %v, want %x", n, found, compared, want)
		}
	}
	if _, compared := r.Saw(doc(2, "", 2).Key); compared {
		t.Error("what is equal is to be written again")
	}
}

// TestSights: a look gives once what it has found that is not as expected, in its content; and what is newer is
// recognised also by a run that was written down.
func TestSights(t *testing.T) {
	stale, newer, ghost := doc(1, "", 1), doc(3, "", 5), doc(4, "", 1)
	s := sides{reconcile.Expected: {doc(0, "", 2), doc(1, "", 2), doc(2, "", 2), doc(3, "", 2)}, reconcile.Found: {stale, doc(2, "", 2), newer, ghost}}
	r := reconcile.NewRun("books", 4, reconcile.Bounds{Documents: 100, Looks: 1, Examples: 3})
	for len(r.Sides()) > 0 {
		for _, side := range r.Sides() {
			p := r.Part(side)
			for _, e := range s[side] {
				if p.Wants(e.Key) {
					p.Add(e.Entry)
				}
			}
			if err := r.Take(p); err != nil {
				t.Fatal(err)
			}
			r.Whole(side)
		}
	}
	content := func(d copied) uint64 { return binary.BigEndian.Uint64(d.Content[:8]) }
	var want []reconcile.Sight
	for _, d := range []copied{stale, newer, ghost} {
		want = append(want, reconcile.SightOf(d.Key, content(d)))
	}
	slices.Sort(want)
	got := r.Sights()
	slices.Sort(got)
	if !slices.Equal(got, want) || len(r.Sights()) != 0 {
		t.Errorf("%x, want %x", got, want)
	}
	if found, compared := again(t, r).Saw(newer.Key); found != content(newer) || !compared {
		t.Errorf("%x %v, want %x", found, compared, content(newer))
	}
}

// TestASideThatCannotBeReadOn is read again: in the first pass that side alone, later all.
func TestASideThatCannotBeReadOn(t *testing.T) {
	r := reconcile.NewRun("books", 100, reconcile.Bounds{Documents: 100, Looks: 1, Examples: 3})
	read := func(side reconcile.Side, all ...copied) {
		p := r.Part(side)
		for _, e := range all {
			if p.Wants(e.Key) {
				p.Add(e.Entry)
			}
		}
		if err := r.Take(p); err != nil {
			t.Fatal(err)
		}
		r.Whole(side)
	}
	read(reconcile.Found, doc(1, "", 1), doc(2, "", 1))
	r.Again()
	if got := r.Sides(); len(got) != 2 || r.Pass() != 0 {
		t.Fatal(got)
	}
	read(reconcile.Expected, doc(1, "", 1), doc(2, "", 2))
	r.Again()
	if got := r.Sides(); len(got) != 1 || got[0] != reconcile.Found {
		t.Fatal(got)
	}
	read(reconcile.Found, doc(1, "", 1), doc(2, "", 1))
	read(reconcile.Expected, doc(1, "", 1), doc(2, "", 2))
	r.Again() // in the second pass
	if got := r.Sides(); len(got) != 2 || r.Pass() != 0 {
		t.Fatal(got)
	}
	for range 2 {
		if sides := r.Sides(); len(sides) > 0 {
			read(reconcile.Expected, doc(1, "", 1), doc(2, "", 2))
			read(reconcile.Found, doc(1, "", 1), doc(2, "", 1))
		}
	}
	if len(r.Sides()) != 0 || r.Report.Counts[reconcile.Stale] != 1 || r.Report.Differences() != 1 {
		t.Errorf("%v %s", r.Sides(), r.Report)
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
	for documents, want := range map[int64]int{-1: 4, 0: 4, 100: 4, 1000: 7, 1 << 20: 17, 1 << 40: 17} {
		if got := reconcile.Bits(documents); got != want {
			t.Errorf("%d documents: 2^%d buckets, want 2^%d", documents, got, want)
		}
	}
}

func TestTheReportForPeople(t *testing.T) {
	var s sides
	torn := doc(5, "", 1)
	torn.Unreadable = true
	s[0] = []copied{doc(1, "a", 3), doc(2, "", 2), doc(3, "", 1), torn}
	s[1] = []copied{doc(2, "", 1), doc(3, "", 1), doc(4, "", reconcile.UnknownVersion)}
	run, _ := s.run(t, 100, reconcile.Bounds{Documents: 100, Looks: 1, Examples: 5})
	r := run.Report
	r.Rest = &reconcile.Rest{Buckets: 2, Expected: 9, Found: 8, Missing: 1}
	want := `missing 1, stale 1, ghost 1, unreadable 1; of 9 documents in 2 more buckets, where 8 were found, some differ and were not compared one by one; at least 1 of them are missing
stale "2" version 2 at books/0/2; found version 1
ghost "4"
unreadable version 1 at books/0/5
missing version 3 at books/0/1`
	if r.String() != want {
		t.Errorf("%s", r)
	}
	if r.Differences() != 4 {
		t.Errorf("%d differ", r.Differences())
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
	for _, b := range []reconcile.Bounds{{Documents: 20, Looks: 2, Examples: 2}, {Documents: 100, Looks: 2, Examples: 2}} {
		r := reconcile.NewRun("books", 50, b)
		for len(r.Sides()) > 0 {
			data, _ := r.AppendBinary(nil)
			f.Add(data)
			p := r.Part(reconcile.Expected)
			for _, e := range s[0] {
				if p.Wants(e.Key) {
					p.Add(e.Entry)
				}
			}
			if r.Sides()[0] == reconcile.Expected {
				if err := r.Take(p); err != nil {
					f.Fatal(err)
				}
			}
			data, _ = r.AppendBinary(nil)
			f.Add(data)
			r.Whole(r.Sides()[0])
		}
		data, _ := r.AppendBinary(nil)
		f.Add(data)
	}
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
	t := reconcile.NewTable(17)
	f := doc(1, "", 1).Fingerprint
	for b.Loop() {
		f.Key += 0x9e3779b97f4a7c15
		t.Add(f)
	}
}
