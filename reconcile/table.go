package reconcile

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/reshelve/reshelve/document"
	"github.com/reshelve/reshelve/fault"
)

// Bounds of the number of buckets, as bits of the key, and how many documents a bucket is to
// hold while there are fewer than the most buckets.
const (
	minBits   = 4
	maxBits   = 19 // 2^19 buckets of 24 bytes: 12 MiB
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
	bits    int
	buckets []Sum
	suspect bitmap
}

// NewTable is an empty table, of 2^bits buckets; see [Bits].
func NewTable(bits int) *Table {
	bits = min(max(bits, minBits), maxBits)
	return &Table{bits: bits, buckets: make([]Sum, 1<<bits), suspect: make(bitmap, (1<<bits+63)/64)}
}

// bucket is that of a key: its first bits.
func bucket(key uint64, bits int) uint32 { return uint32(key >> (64 - bits)) }

// Add counts a document.
func (t *Table) Add(f document.Fingerprint) { t.buckets[bucket(f.Key, t.bits)].add(one(f.Content)) }

// Suspect lets the second pass look at the bucket of key whatever its numbers say: there is
// something wrong with a document in it, such as that it cannot be read, or stands where it
// does not belong.
func (t *Table) Suspect(key uint64) { t.suspect.set(bucket(key, t.bits)) }

// Merge adds what another worker has counted of the same side.
func (t *Table) Merge(o *Table) error {
	if t.bits != o.bits {
		return fault.New(fault.Bug, "a table of 2^%d buckets is added to one of 2^%d", o.bits, t.bits)
	}
	for i := range t.buckets {
		t.buckets[i].add(o.buckets[i])
	}
	for i := range t.suspect {
		t.suspect[i] |= o.suspect[i]
	}
	return nil
}

// Total is the sum of all buckets: what a statement of what was proved names.
func (t *Table) Total() (s Sum) {
	for i := range t.buckets {
		s.add(t.buckets[i])
	}
	return s
}

// bitmap is a set of buckets.
type bitmap []uint64

func (m bitmap) set(n uint32)      { m[n/64] |= 1 << (n % 64) }
func (m bitmap) has(n uint32) bool { return m[n/64]&(1<<(n%64)) != 0 }

// Group is what one second pass looks at: the unequal ones of the buckets from From to To.
type Group struct {
	From, To  uint32 // To is the one after the last
	Buckets   int    // that are unequal
	Documents int64  // of both sides, in them

	bits    int
	unequal bitmap // of all groups
}

// Wants is whether the second pass looks at the document with key.
func (g *Group) Wants(key uint64) bool {
	n := bucket(key, g.bits)
	return n >= g.From && n < g.To && g.unequal.has(n)
}

// Groups are the unequal buckets from the one with number from on, cut so that no group holds
// more than limit documents unless a single bucket does; none when the sides are equal.
func Groups(expected, found *Table, from uint32, limit int64) ([]Group, error) {
	if expected.bits != found.bits {
		return nil, fault.New(fault.Bug, "2^%d buckets are compared with 2^%d", expected.bits, found.bits)
	}
	unequal := make(bitmap, len(expected.suspect))
	var groups []Group
	for n := from; int(n) < len(expected.buckets); n++ {
		e, f := expected.buckets[n], found.buckets[n]
		if e == f && !expected.suspect.has(n) && !found.suspect.has(n) {
			continue
		}
		unequal.set(n)
		documents := e.Count + f.Count
		last := len(groups) - 1
		if last < 0 || groups[last].Documents+documents > limit {
			groups = append(groups, Group{From: n, bits: expected.bits, unequal: unequal})
			last++
		}
		g := &groups[last]
		g.To, g.Buckets, g.Documents = n+1, g.Buckets+1, g.Documents+documents
	}
	return groups, nil
}
