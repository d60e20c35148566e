package inflate

// useFixed makes the tables those of blocks with fixed codes (RFC 1951, 3.2.6).
func (z *Decoder) useFixed() {
	if z.fixed {
		return
	}
	var lengths [288]uint8
	for i := range lengths {
		switch {
		case i < 144:
			lengths[i] = 8
		case i < 256:
			lengths[i] = 9
		case i < 280:
			lengths[i] = 7
		default:
			lengths[i] = 8
		}
	}
	buildTable(z.literals[:], literalBits, lengths[:], literalEntries[:])
	for i := range 32 {
		lengths[i] = 5
	}
	buildTable(z.distances[:], distanceBits, lengths[:32], distanceEntries[:])
	z.fixed = true
}

// lengthBits is the size of the table for code lengths: their codes have at most
// seven bits.
const lengthBits = 7

// lengthOrder is the order in which the lengths of those codes are written.
var lengthOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// lengthEntries gives each symbol its number as a value, and no extra bits.
var lengthEntries = func() (all [19]entry) {
	for i := range all {
		all[i] = literal | entry(i)<<16
	}
	return all
}()

// readCodes reads the two codes of a block and builds their tables: the lengths
// of the codes are themselves coded (RFC 1951, 3.2.7).
func (z *Decoder) readCodes() error {
	z.fixed = false
	counts, ok := z.take(14)
	if !ok {
		return ErrShort
	}
	nLiterals, nDistances, nLengths := int(counts&31)+257, int(counts>>5&31)+1, int(counts>>10)+4
	if nLiterals > literals || nDistances > distances {
		return ErrCorrupt
	}
	var lengthLengths [19]uint8
	for _, symbol := range lengthOrder[:nLengths] {
		n, ok := z.take(3)
		if !ok {
			return ErrShort
		}
		lengthLengths[symbol] = uint8(n)
	}
	var table [1 << lengthBits]entry
	if !buildTable(table[:], lengthBits, lengthLengths[:], lengthEntries[:]) {
		return ErrCorrupt
	}
	var lengths [literals + distances]uint8
	if err := z.readLengths(lengths[:nLiterals+nDistances], &table); err != nil {
		return err
	}
	if !buildTable(z.literals[:], literalBits, lengths[:nLiterals], literalEntries[:]) ||
		!buildTable(z.distances[:], distanceBits, lengths[nLiterals:nLiterals+nDistances], distanceEntries[:]) {
		return ErrCorrupt
	}
	return nil
}

// readLengths fills lengths: a symbol below 16 is a length, 16 repeats the one
// before, 17 and 18 repeat 0.
func (z *Decoder) readLengths(lengths []uint8, table *[1 << lengthBits]entry) error {
	for i := 0; i < len(lengths); {
		z.refill()
		e := table[z.bits&(1<<lengthBits-1)]
		if e.used() > z.n {
			return ErrShort
		}
		if e&literal == 0 {
			return ErrCorrupt
		}
		z.bits >>= e.used()
		z.n -= e.used()
		symbol := uint8(e >> 16)
		if symbol < 16 {
			lengths[i] = symbol
			i++
			continue
		}
		repeated, base, extra := uint8(0), 3, uint(3)
		switch symbol {
		case 16:
			if i == 0 {
				return ErrCorrupt
			}
			repeated, extra = lengths[i-1], 2
		case 18:
			base, extra = 11, 7
		}
		more, ok := z.take(extra)
		if !ok {
			return ErrShort
		}
		n := base + int(more)
		if n > len(lengths)-i {
			return ErrCorrupt
		}
		for range n {
			lengths[i] = repeated
			i++
		}
	}
	return nil
}
