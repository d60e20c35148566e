package aggregate

import (
	"math"
	"math/bits"
)

// distinct counts different hashes of 64 bits: exactly up to a threshold, beyond it by
// HyperLogLog with as many registers as the server has for the same threshold. The
// estimate is O. Ertl's (New cardinality estimation algorithms for HyperLogLog sketches),
// which needs no tables of biases; its standard error is 1.04 / √registers.
type distinct struct {
	precision uint8
	exact     hashSet
	registers []uint8 // nil: exact
}

// newDistinct counts exactly at least up to threshold. The precision is the one that the
// server derives from it.
func newDistinct(threshold int) *distinct {
	entries := int(math.Ceil(float64(threshold) / 0.75))
	return &distinct{precision: uint8(min(max(bits.Len(uint(entries*4)), 4), 18))}
}

// most is how many hashes are kept as they are: as many as the server keeps, and some
// more where it keeps few.
func (d *distinct) most() int { return max(1<<d.precision/4*3/4, 64) }

func (d *distinct) add(hash uint64) {
	if d.registers != nil {
		d.register(hash)
		return
	}
	if d.exact.add(hash); d.exact.n <= d.most() {
		return
	}
	d.registers = make([]uint8, 1<<d.precision)
	d.exact.each(d.register)
	d.exact = hashSet{}
}

func (d *distinct) register(hash uint64) {
	at := hash >> (64 - d.precision)
	run := uint8(bits.LeadingZeros64(hash<<d.precision|1<<(d.precision-1))) + 1
	d.registers[at] = max(d.registers[at], run)
}

func (d *distinct) count() int64 {
	if d.registers == nil {
		return int64(d.exact.n)
	}
	q := 64 - int(d.precision)
	have := make([]float64, q+2)
	for _, r := range d.registers {
		have[r]++
	}
	m := float64(len(d.registers))
	z := m * tau(1-have[q+1]/m)
	for k := q; k >= 1; k-- {
		z = (z + have[k]) / 2
	}
	z += m * sigma(have[0]/m)
	return int64(math.Round(m * m / (2 * math.Ln2 * z)))
}

// sigma and tau are series of the estimate for registers that are empty, and full.
func sigma(x float64) float64 {
	if x == 1 {
		return math.Inf(1)
	}
	for y, z := 1.0, x; ; y += y {
		x *= x
		before := z
		if z += x * y; z == before {
			return z
		}
	}
}

func tau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	for y, z := 1.0, 1-x; ; {
		x = math.Sqrt(x)
		before := z
		y /= 2
		if z -= (1 - x) * (1 - x) * y; z == before {
			return z / 3
		}
	}
}

// hashSet is a set of hashes.
type hashSet struct {
	table []uint64 // 0: free
	n     int
	zero  bool // 0 is in the set
}

func (s *hashSet) add(hash uint64) {
	if hash == 0 {
		if !s.zero {
			s.zero = true
			s.n++
		}
		return
	}
	if s.n*2 >= len(s.table) {
		old := s.table
		s.table = make([]uint64, max(16, 2*len(old)))
		for _, h := range old {
			if h != 0 {
				s.table[s.place(h)] = h
			}
		}
	}
	if at := s.place(hash); s.table[at] == 0 {
		s.table[at] = hash
		s.n++
	}
}

// place is where a hash is, or where it may go.
func (s *hashSet) place(hash uint64) uint64 {
	mask := uint64(len(s.table) - 1)
	at := hash & mask
	for s.table[at] != 0 && s.table[at] != hash {
		at = (at + 1) & mask
	}
	return at
}

func (s *hashSet) each(do func(hash uint64)) {
	if s.zero {
		do(0)
	}
	for _, h := range s.table {
		if h != 0 {
			do(h)
		}
	}
}
