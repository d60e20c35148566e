package reconcile

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
)

// Bounds of the number of buckets, as bits of the key, and how many documents a bucket is to
// hold while there are fewer than the most buckets.
const (
	minBits   = 4
	maxBits   = 17 // 2^17 buckets of 28 bytes: 3.5 MiB, and 2.5 MB where they are written down
	perBucket = 8
)

// Bits is by how many bits of their keys the buckets of about so many documents are told
// apart. Both sides need the same.
func Bits(documents int64) int {
	return min(max(bits.Len64(uint64(max(documents, 0)/perBucket)), minBits), maxBits)
}

// Sum is what is known of a set of documents: how many they are, and the sum of their
// contents' fingerprints modulo 2^128.
type Sum struct {
	Count  int64
	hi, lo uint64
}

// Bytes is the sum of the fingerprints, the highest byte first.
func (s Sum) Bytes() (b [16]byte) {
	binary.BigEndian.PutUint64(b[:8], s.hi)
	binary.BigEndian.PutUint64(b[8:], s.lo)
	return b
}

// String is the count and the sum in hexadecimal.
func (s Sum) String() string { return fmt.Sprintf("%d:%x", s.Count, s.Bytes()) }

func (s *Sum) add(o Sum) {
	var carry uint64
	s.Count += o.Count
	s.lo, carry = bits.Add64(s.lo, o.lo, 0)
	s.hi, _ = bits.Add64(s.hi, o.hi, carry)
}

func one(content [16]byte) Sum {
	return Sum{Count: 1, hi: binary.BigEndian.Uint64(content[:8]), lo: binary.BigEndian.Uint64(content[8:])}
}

// Table are the buckets of one side.
type Table struct {
	scope    *scope
	more     int // bits of a key, behind a prefix of the scope, that tell buckets apart
	buckets  []Sum
	suspects []uint32
}

// NewTable is an empty table, of 2^bits buckets; see [Bits].
func NewTable(bits int) *Table { return newTable(&everything, min(max(bits, minBits), maxBits)) }

func newTable(s *scope, more int) *Table {
	n := len(s.prefixes) << more
	return &Table{scope: s, more: more, buckets: make([]Sum, n), suspects: make([]uint32, n)}
}

// bucket is that of a key, when the table has one for it.
func (t *Table) bucket(key uint64) (n uint32, in bool) {
	at, in := t.scope.find(key)
	return uint32(at)<<t.more | uint32(key<<t.scope.bits>>(64-t.more)), in
}

// Add counts a document.
func (t *Table) Add(f document.Fingerprint) {
	if n, in := t.bucket(f.Key); in {
		t.buckets[n].add(one(f.Content))
	}
}

// suspect notes a document that cannot be read: its bucket is looked at whatever its numbers say.
func (t *Table) suspect(key uint64) {
	if n, in := t.bucket(key); in {
		t.suspects[n]++
	}
}

// take adds what another table of the same shape has counted, and empties that.
func (t *Table) take(o *Table) {
	for i := range o.buckets {
		if o.buckets[i].Count != 0 {
			t.buckets[i].add(o.buckets[i])
		}
		t.suspects[i] += o.suspects[i]
	}
	clear(o.buckets)
	clear(o.suspects)
}

// Total is the sum of all buckets: what a statement of what was proved names.
func (t *Table) Total() (s Sum) {
	for i := range t.buckets {
		s.add(t.buckets[i])
	}
	return s
}

// Group is what one second pass looks at: the unequal ones of the buckets from From to To.
type Group struct {
	From, To  uint32 // To is the one after the last
	Documents int64  // of both sides, in them

	table   *Table
	unequal bitmap // of all groups
}

// bitmap is a set of buckets.
type bitmap []uint64

func (m bitmap) set(n uint32)      { m[n/64] |= 1 << (n % 64) }
func (m bitmap) has(n uint32) bool { return m[n/64]&(1<<(n%64)) != 0 }

// Wants is whether the second pass looks at the document with key.
func (g *Group) Wants(key uint64) bool {
	n, _ := g.table.bucket(key)
	return n >= g.From && n < g.To && g.unequal.has(n)
}

// Groups are the unequal buckets from the one with number from on, cut so that no group holds
// more than limit documents unless a single bucket does; none when the sides are equal.
func Groups(expected, found *Table, from uint32, limit int64) ([]Group, error) {
	if len(expected.buckets) != len(found.buckets) {
		return nil, fault.New(fault.Bug, "%d buckets are compared with %d", len(expected.buckets), len(found.buckets))
	}
	unequal := make(bitmap, (len(expected.buckets)+63)/64)
	var groups []Group
	for n := from; int(n) < len(expected.buckets); n++ {
		e, f := expected.buckets[n], found.buckets[n]
		if e == f {
			continue
		}
		unequal.set(n)
		documents := e.Count + f.Count
		last := len(groups) - 1
		if last < 0 || groups[last].Documents+documents > limit {
			groups = append(groups, Group{From: n, table: expected, unequal: unequal})
			last++
		}
		g := &groups[last]
		g.To, g.Documents = n+1, g.Documents+documents
	}
	return groups, nil
}
