package aggregate

import "math/bits"

// numbering gives numbers to buckets: one for each pair of the bucket around it and a
// key, in the order in which they are first seen. It is a hash table with open
// addressing; memory is that of 12 bytes a bucket and about 8 of the table.
type numbering struct {
	around []uint32
	keys   []uint64
	table  []uint32 // number + 1; 0: free
	shift  uint8

	ended  bool
	firsts []uint32 // where the buckets of each bucket around begin in sorted
	sorted []uint32
}

// number finds a bucket or makes it.
func (n *numbering) number(around uint32, key uint64) (bucket uint32, made bool) {
	if len(n.keys) >= len(n.table)/2 {
		n.grow()
	}
	for at := n.place(around, key); ; at = (at + 1) & uint32(len(n.table)-1) {
		b := n.table[at]
		if b == 0 {
			n.around, n.keys = append(n.around, around), append(n.keys, key)
			n.table[at] = uint32(len(n.keys))
			return uint32(len(n.keys) - 1), true
		}
		if n.keys[b-1] == key && n.around[b-1] == around {
			return b - 1, false
		}
	}
}

// push makes a bucket that is not yet there, without a place in the table: number must not
// be asked any more.
func (n *numbering) push(around uint32, key uint64) {
	n.around, n.keys = append(n.around, around), append(n.keys, key)
}

// place mixes by multiplication: the high bits depend on all bits below them.
func (n *numbering) place(around uint32, key uint64) uint32 {
	h := (key ^ key>>32 ^ uint64(around)*0x9e3779b97f4a7c15) * 0x9e3779b97f4a7c15
	return uint32(h >> n.shift)
}

func (n *numbering) grow() {
	size := max(16, 2*len(n.table))
	n.table, n.shift = make([]uint32, size), uint8(64-bits.TrailingZeros(uint(size)))
	for i, key := range n.keys {
		at := n.place(n.around[i], key)
		for n.table[at] != 0 {
			at = (at + 1) & uint32(size-1)
		}
		n.table[at] = uint32(i + 1)
	}
}

// len is how many buckets there are.
func (n *numbering) len() int { return len(n.keys) }

// end sorts the buckets by the bucket around them, once there are no more.
func (n *numbering) end() {
	if n.ended || len(n.keys) == 0 {
		n.ended = true
		return
	}
	n.ended = true
	most := uint32(0)
	for _, a := range n.around {
		most = max(most, a)
	}
	n.firsts = make([]uint32, most+2)
	for _, a := range n.around {
		n.firsts[a+1]++
	}
	for i := range most + 1 {
		n.firsts[i+1] += n.firsts[i]
	}
	next := append([]uint32(nil), n.firsts...)
	n.sorted = make([]uint32, len(n.keys))
	for b, a := range n.around {
		n.sorted[next[a]] = uint32(b)
		next[a]++
	}
}

// within are the buckets in a bucket around, in the order in which they were made.
func (n *numbering) within(around uint32) []uint32 {
	n.end()
	if uint64(around)+1 >= uint64(len(n.firsts)) {
		return nil
	}
	return n.sorted[n.firsts[around]:n.firsts[around+1]]
}

// tally counts docs by bucket; buckets that it has not seen have none.
type tally []int64

// add counts docs for a bucket.
func (t *tally) add(bucket uint32, docs int64) {
	if int(bucket) >= len(*t) {
		*t = grown(*t, int(bucket)+1)
	}
	(*t)[bucket] += docs
}

// of is how many docs a bucket has.
func (t tally) of(bucket uint32) int64 {
	if int(bucket) >= len(t) {
		return 0
	}
	return t[bucket]
}

// grown makes room for n elements; new ones are zero.
func grown[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	bigger := make([]T, n, max(n, 2*cap(s), 16))
	copy(bigger, s)
	return bigger
}
