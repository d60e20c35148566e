package segment_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/internal/index/segment"
)

func TestBitsAreASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(t, "docs")
		b, want := segment.NewBits(n), map[segment.Doc]bool{}
		for range rapid.IntRange(0, 2*n).Draw(t, "changes") {
			doc := segment.Doc(rapid.IntRange(0, n-1).Draw(t, "doc"))
			if rapid.IntRange(0, 2).Draw(t, "set") > 0 {
				b.Set(doc)
				want[doc] = true
			} else {
				b.Clear(doc)
				delete(want, doc)
			}
		}
		if b.Len() != n || b.Count() != len(want) {
			t.Fatalf("%d of %d, want %d of %d", b.Count(), b.Len(), len(want), n)
		}
		var listed []segment.Doc
		for doc := b.Next(0); doc != segment.End; doc = b.Next(doc + 1) {
			listed = append(listed, doc)
		}
		for doc := range segment.Doc(n) {
			if b.Has(doc) != want[doc] || slices.Contains(listed, doc) != want[doc] {
				t.Fatalf("%d is in the set: %v, in the list: %v", doc, b.Has(doc), slices.Contains(listed, doc))
			}
		}
		data := b.AppendTo([]byte("before"))
		again, err := segment.ReadBits(data[6:], n)
		if err != nil || !slices.Equal(again.Words(), b.Words()) {
			t.Fatalf("%v, want %v: %v", again, b, err)
		}
		if _, err := segment.ReadBits(data[6:], n+1); !isDamaged(err) {
			t.Fatalf("a set for another segment: %v", err)
		}
		for i := range data[6:] {
			data[6+i] ^= 4
			if _, err := segment.ReadBits(data[6:], n); !isDamaged(err) {
				t.Fatalf("byte %d: %v", i, err)
			}
			data[6+i] ^= 4
		}
	})
}

func TestSetsAreJoinedAndMet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "docs")
		draw := func(label string) *segment.Bits {
			b := segment.NewBits(n)
			for _, doc := range rapid.SliceOf(rapid.IntRange(0, n-1)).Draw(t, label) {
				b.Set(segment.Doc(doc))
			}
			return b
		}
		one, other := draw("one"), draw("other")
		joined, met := one.Clone(), one.Clone()
		joined.Add(other)
		met.Keep(other)
		for doc := range segment.Doc(n) {
			if joined.Has(doc) != (one.Has(doc) || other.Has(doc)) || met.Has(doc) != (one.Has(doc) && other.Has(doc)) {
				t.Fatalf("%d is in one: %v, in the other: %v, joined: %v, met: %v", doc, one.Has(doc), other.Has(doc), joined.Has(doc), met.Has(doc))
			}
		}
		common := segment.Common(one, other)
		if common == nil && met.Next(0) != segment.End || common != nil && !slices.Equal(common.Words(), met.Words()) {
			t.Fatalf("%v is common, expected %v", common, met)
		}
		if segment.Common(one, other) != common {
			t.Fatal("it is made a second time")
		}
		if alone := segment.Common(one, one); alone != nil && !slices.Equal(alone.Words(), one.Words()) {
			t.Fatal("what it has in common with another set is told of this one")
		}
		rest := one.Rest()
		if rest != one.Rest() {
			t.Fatal("the rest is made a second time")
		}
		for doc := range segment.Doc(n) {
			if rest.Has(doc) == one.Has(doc) {
				t.Fatalf("%d is in the set, and in the rest: %v", doc, rest.Has(doc))
			}
		}
		if rest.Count() != n-one.Count() {
			t.Fatalf("%d of %d are in the set, and %d in the rest", one.Count(), n, rest.Count())
		}
	})
}

// The facts of SmallFloat.intToByte4: exact up to 40, all bytes used up to the greatest int.
func TestLengthsAreRoundedAsLuceneDoes(t *testing.T) {
	for n := range uint32(41) {
		if got := segment.Length(segment.LengthByte(n)); got != n {
			t.Errorf("%d is rounded to %d", n, got)
		}
	}
	for b := range 256 {
		if got := segment.LengthByte(segment.Length(byte(b))); got != byte(b) {
			t.Errorf("the byte %d stands for %d, whose byte is %d", b, segment.Length(byte(b)), got)
		}
		if b > 0 && segment.Length(byte(b)) <= segment.Length(byte(b-1)) {
			t.Errorf("the byte %d does not stand for more than the one before", b)
		}
	}
	for n, want := range map[uint32]byte{41: 40, 42: 41, 120: 60, 1000: 87, 100_000: 140, math.MaxInt32: 255, math.MaxUint32: 255} {
		if got := segment.LengthByte(n); got != want {
			t.Errorf("the byte of %d is %d, want %d", n, got, want)
		}
	}
}
