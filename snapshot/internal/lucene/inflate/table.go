package inflate

import "math/bits"

// An entry of a decoding table. Tables are looked up with the next bits of the
// source; a code longer than the table's bits leads to a second table behind the
// first one.
//
//	literal    bit 31; value in bits 16–23
//	length,    base in bits 16–30; length of the code in bits 8–11,
//	distance   that and the number of extra bits together in bits 0–5
//	second     bits 15 and 14; place of the second table in bits 16–30,
//	           its bits in bits 8–11
//	end        bits 15 and 13
//	no code    bit 15
//
// Bits 0–5 are always how many bits to consume.
type entry uint32

const (
	literal  entry = 1 << 31
	special  entry = 1 << 15
	second   entry = 1<<14 | special
	endBlock entry = 1<<13 | special
	noCode         = special
)

// used is how many bits of the source the entry stands for.
func (e entry) used() uint { return uint(e & 63) }

// value is the base and the extra bits, which are in source, before consuming.
func (e entry) value(source uint64) int {
	return int(e>>16) + int(source&(1<<e.used()-1)>>(e>>8&15))
}

const (
	maxCode      = 15 // bits in the longest code
	literalBits  = 11 // of the first table for literals and lengths
	distanceBits = 8
	// Sizes with room for all second tables: each has at least two codes, so there
	// are at most 143 of 16 entries, or 15 of 128.
	literalSize  = 1<<literalBits + 143<<(maxCode-literalBits)
	distanceSize = 1<<distanceBits + 15<<(maxCode-distanceBits)

	literals  = 286 // symbols for literals, lengths and the end
	distances = 30
	endSymbol = 256
)

var (
	literalEntries  = makeLiteralEntries()
	distanceEntries = makeDistanceEntries()
)

// makeLiteralEntries returns what a symbol's entry says but for its code length:
// lengths 3 to 258 in steps that double (RFC 1951, 3.2.5).
func makeLiteralEntries() (all [288]entry) {
	for i := range endSymbol {
		all[i] = literal | entry(i)<<16
	}
	all[endSymbol] = endBlock
	length := 3
	for i := endSymbol + 1; i < 285; i++ {
		extra := max(0, (i-257)/4-1)
		all[i] = entry(length)<<16 | entry(extra)
		length += 1 << extra
	}
	all[285] = 258 << 16
	all[286], all[287] = noCode, noCode // have codes in fixed blocks, but no meaning
	return all
}

// makeDistanceEntries is makeLiteralEntries for distances 1 to 32768.
func makeDistanceEntries() (all [32]entry) {
	distance := 1
	for i := range distances {
		extra := max(0, i/2-1)
		all[i] = entry(distance)<<16 | entry(extra)
		distance += 1 << extra
	}
	all[30], all[31] = noCode, noCode
	return all
}

// buildTable fills table for the canonical Huffman code in which symbol i has a
// code of lengths[i] bits, 0 for none. symbols says what each one's entry is.
// It is false when the lengths are no code: too many codes, or too few unless
// there is none at all, or one of one bit.
func buildTable(table []entry, tableBits int, lengths []uint8, symbols []entry) bool {
	var count [maxCode + 1]int
	longest := 0
	for _, n := range lengths {
		count[n]++
		longest = max(longest, int(n))
	}
	var next [maxCode + 2]int // place in sorted of the next symbol with that length
	free := 1                 // codes of that length that are left
	for n := 1; n <= longest; n++ {
		if free = free<<1 - count[n]; free < 0 {
			return false
		}
		next[n+1] = next[n] + count[n]
	}
	first := table[:1<<tableBits]
	if free > 0 || longest == 0 {
		for i := range first {
			first[i] = noCode | 1
		}
		if longest > 1 {
			return false
		}
	}
	var sorted [288]uint16
	for symbol, n := range lengths {
		if n > 0 {
			sorted[next[n]] = uint16(symbol)
			next[n]++
		}
	}
	fillTable(table, tableBits, longest, sorted[:len(lengths)-count[0]], lengths, symbols)
	return true
}

// fillTable puts the symbols, sorted by code, into the table: each wherever the
// bits begin with its code, whose first bit is the lowest.
func fillTable(table []entry, tableBits, longest int, sorted []uint16, lengths []uint8, symbols []entry) {
	code, last := uint16(0), 0
	prefix, start, end := -1, 0, 1<<tableBits // of the current second table
	for _, symbol := range sorted {
		n := int(lengths[symbol])
		code <<= n - last
		last = n
		reversed := int(bits.Reverse16(code) >> (16 - n))
		code++
		e := symbols[symbol]
		if n <= tableBits {
			e = withCode(e, n)
			for i := reversed; i < 1<<tableBits; i += 1 << n {
				table[i] = e
			}
			continue
		}
		secondBits := longest - tableBits
		if p := reversed & (1<<tableBits - 1); p != prefix {
			prefix, start = p, end
			end += 1 << secondBits
			table[p] = second | entry(start)<<16 | entry(secondBits)<<8 | entry(tableBits)
		}
		e = withCode(e, n-tableBits)
		for i := reversed >> tableBits; i < 1<<secondBits; i += 1 << (n - tableBits) {
			table[start+i] = e
		}
	}
}

// withCode adds the length of the code to an entry that has its extra bits.
func withCode(e entry, n int) entry {
	if e&(literal|special) != 0 {
		return e | entry(n)
	}
	return e + entry(n) + entry(n)<<8
}
