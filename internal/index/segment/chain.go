package segment

const (
	chainPage  = 1 << 16 // bytes of a page of the arena
	chainFirst = 16      // bytes of the first chunk of a chain
	chainLast  = 512     // and the most of one
)

// arena holds chains: sequences of bytes that grow side by side. A chain is made of chunks,
// each of which ends with the place of the next one.
type arena struct {
	pages []*[chainPage]byte
	used  int // of the last page
	last  int // the number of the last page; those behind it are to be used again
}

// chain is where a sequence begins and goes on. The zero value is empty.
type chain struct {
	head, at, end uint32 // end is where the chunk's link is
}

// reset forgets all chains, and keeps the pages.
func (a *arena) reset() { a.used, a.last = 0, 0 }

// chunk takes n bytes, and gives where they are.
func (a *arena) chunk(n int) uint32 {
	if len(a.pages) == 0 {
		a.pages = append(a.pages, new([chainPage]byte))
	}
	if a.used+n > chainPage {
		a.last, a.used = a.last+1, 0
		if a.last == len(a.pages) {
			a.pages = append(a.pages, new([chainPage]byte))
		}
	}
	at := uint32(a.last*chainPage + a.used)
	a.used += n
	return at
}

// bytes is how much is taken.
func (a *arena) bytes() int { return a.last*chainPage + a.used }

// varint appends a number to a chain.
func (a *arena) varint(c *chain, v uint64) {
	for c.at == c.end || v >= 0x80 {
		if c.at == c.end {
			a.grow(c)
			continue
		}
		a.pages[c.at/chainPage][c.at%chainPage] = byte(v) | 0x80
		c.at++
		v >>= 7
	}
	a.pages[c.at/chainPage][c.at%chainPage] = byte(v)
	c.at++
}

// grow puts another chunk behind the last one. The size of a chunk follows from how many
// there are before it.
func (a *arena) grow(c *chain) {
	size := chainFirst
	if c.end != 0 {
		size = a.sizeBehind(c.end)
	}
	at := a.chunk(size)
	if c.end == 0 {
		c.head = at
	} else {
		link := a.pages[c.end/chainPage][c.end%chainPage:]
		link[0], link[1], link[2], link[3] = byte(at), byte(at>>8), byte(at>>16), byte(at>>24)
	}
	c.at, c.end = at, at+uint32(size)-5
	a.pages[at/chainPage][(at+uint32(size)-1)%chainPage] = byte(size / chainFirst)
}

// sizeBehind is the size of the chunk behind the one whose link is at end: its last byte
// tells its own.
func (a *arena) sizeBehind(end uint32) int {
	return min(2*chainFirst*int(a.pages[end/chainPage][end%chainPage+4]), chainLast)
}

// appendTo appends what a chain holds to dst.
func (a *arena) appendTo(dst []byte, c chain) []byte {
	if c.end == 0 {
		return dst
	}
	at, size := c.head, uint32(chainFirst)
	for {
		page := a.pages[at/chainPage][at%chainPage:]
		if at+size-5 == c.end {
			return append(dst, page[:c.at-at]...)
		}
		dst = append(dst, page[:size-5]...)
		link := page[size-5:]
		next := uint32(link[0]) | uint32(link[1])<<8 | uint32(link[2])<<16 | uint32(link[3])<<24
		at, size = next, min(2*size, chainLast)
	}
}
