package aggregate

// paged is an array of numbers, zero at first, that takes memory where it is not: pages
// are made when they are first written. Ordinals of a large dictionary of which a search
// finds few need no more than those few pages.
type paged struct {
	pages []*page
	spare []*page
	made  int // pages
}

const pageShift = 9

type page [1 << pageShift]uint32

// reset makes it n zeros.
func (p *paged) reset(n int) {
	for i, pg := range p.pages {
		if pg != nil {
			*pg = page{}
			p.spare = append(p.spare, pg)
			p.pages[i] = nil
		}
	}
	if pages := (n + len(page{}) - 1) >> pageShift; cap(p.pages) < pages {
		p.pages = make([]*page, pages)
	} else {
		p.pages = p.pages[:pages]
	}
}

// at is where the i-th number is.
func (p *paged) at(i uint32) *uint32 {
	pg := p.pages[i>>pageShift]
	if pg == nil {
		if n := len(p.spare); n > 0 {
			pg, p.spare = p.spare[n-1], p.spare[:n-1]
		} else {
			pg = &page{}
			p.made++
		}
		p.pages[i>>pageShift] = pg
	}
	return &pg[i&(1<<pageShift-1)]
}

// next is the first number from i on that is not zero; ok is false when there is none.
func (p *paged) next(i uint32) (at, value uint32, ok bool) {
	for number := int(i >> pageShift); number < len(p.pages); number++ {
		if pg := p.pages[number]; pg != nil {
			for j := int(i & (1<<pageShift - 1)); j < len(pg); j++ {
				if pg[j] != 0 {
					return uint32(number<<pageShift + j), pg[j], true
				}
			}
		}
		i = 0
	}
	return 0, 0, false
}

// arena keeps texts.
type arena struct {
	free []byte
	kept int64 // bytes, with those that are free
}

// keep gives a copy.
func (a *arena) keep(text []byte) []byte {
	if len(text) > len(a.free) {
		a.free = make([]byte, max(1<<14, len(text)))
		a.kept += int64(len(a.free))
	}
	n := copy(a.free, text)
	kept := a.free[:n:n]
	a.free = a.free[n:]
	return kept
}
