package highlight

// cutter finds the passage around a place. It is asked for ascending places.
type cutter struct {
	text  *Text
	style Style

	within           value // whose boundaries are known
	sentences, words boundaries
	from, to         int // sentences that are cut; to < from: none
	end              int // of the passage before
}

func newCutter(t *Text, s Style) *cutter {
	return &cutter{text: t, style: s, within: value{-1, -1}, to: -1}
}

// around gives the ends of the passage that a place is in.
func (c *cutter) around(at int) (start, end int) {
	v := c.text.valueAt(at)
	if c.style.Whole || c.style.Fragments == 0 {
		return v.from, min(v.to+1, len(c.text.units)) // the separator counts as part of it
	}
	if v != c.within {
		c.within, c.from, c.to = v, 0, -1
		c.sentences, c.words = nil, nil
	}
	start, end = c.cut(c.text.units[v.from:v.to], at-v.from)
	return v.from + start, v.from + end
}

func (c *cutter) cut(units []uint16, at int) (start, end int) {
	if c.style.ByWord {
		return between(c.wordsOf(units), at, len(units))
	}
	if c.sentences == nil {
		c.sentences = sentences.all(units)
	}
	if c.style.Size == 0 {
		return between(c.sentences, at, len(units))
	}
	return c.bounded(units, at, c.style.Size)
}

func (c *cutter) wordsOf(units []uint16) boundaries {
	if c.words == nil {
		c.words = words.all(units)
	}
	return c.words
}

// between are the boundaries around a place.
func between(b boundaries, at, length int) (start, end int) {
	end, ok := b.after(at)
	if !ok {
		end = length
	}
	return b.before(at + 1), end
}

// bounded takes as many whole sentences as have room in a size. A sentence that is longer
// is cut between words: as much before the place as goes, then behind it.
func (c *cutter) bounded(units []uint16, at, size int) (start, end int) {
	if at+1 > c.from && at+1 < c.to {
		start, end = c.end, c.to // the rest of what was cut before
	} else {
		start, end = between(c.sentences, at, len(units))
		for end-start < size {
			next, ok := c.sentences.after(end)
			if !ok || next-start > size {
				break
			}
			end = next
		}
		c.from, c.to = start, end
	}
	if end-start > size {
		if at+1-size > start {
			start = max(start, c.wordsOf(units).before(at+1-size))
		}
		if left := max(0, size-(at+1-start)); at+1+left < c.to {
			if next, ok := c.wordsOf(units).after(at + 1 + left); ok {
				end = min(c.to, next)
			}
		}
	}
	c.end = end
	return start, end
}
