package search

import (
	"cmp"
	"math"
	"slices"

	"github.com/reshelve/reshelve/internal/index/segment"
)

// sloppy finds the words of a phrase near their places. What counts as a match, and how
// much, is as in Lucene's SloppyPhraseMatcher, whose results depend on its order of steps:
//
//   - each word has a pointer to one of its places, less its own place in the phrase, so
//     that an exact phrase has all pointers at the same number; the length of a match is
//     the distance from the least to the greatest pointer;
//   - the least pointer moves on until it is no longer the least; the shortest length on
//     this way is the match, which counts 1 / (1 + length) when the length is not above slop;
//   - words that have terms in common are a group: no two of them may stand at one place of
//     the doc, so one of them moves on.
type sloppy struct {
	slop   int
	words  []*pointer
	groups [][]*pointer // by offset
	many   bool         // a word of a group has several terms
	queue  []*pointer   // the least first
	end    int32        // the greatest pointer
}

// pointer is a word at one of its places.
type pointer struct {
	*wordPlaces
	ord   int
	left  []uint32 // places behind the current one
	at    int32    // the current one, less the offset
	group int      // -1: of none
	rank  int      // in its group
}

func newSloppy(words []*wordPlaces, slop int) *sloppy {
	s := &sloppy{slop: slop}
	for i, w := range words {
		s.words = append(s.words, &pointer{wordPlaces: w, ord: i, group: -1})
	}
	s.group()
	return s
}

// group finds the words that have terms in common, directly or by way of others.
func (s *sloppy) group() {
	for i, w := range s.words {
		for _, o := range s.words[i+1:] {
			if w.shares(o) {
				s.join(w, o)
			}
		}
	}
	for _, g := range s.groups {
		slices.SortStableFunc(g, func(a, b *pointer) int { return cmp.Compare(a.offset, b.offset) })
		for i, w := range g {
			w.rank = i
			s.many = s.many || len(w.word.terms) > 1
		}
	}
}

func (p *pointer) shares(o *pointer) bool {
	return slices.ContainsFunc(p.word.terms, func(term []byte) bool {
		return slices.ContainsFunc(o.word.terms, func(other []byte) bool { return string(term) == string(other) })
	})
}

// join puts two words into one group.
func (s *sloppy) join(w, o *pointer) {
	switch {
	case w.group < 0 && o.group < 0:
		w.group, o.group = len(s.groups), len(s.groups)
		s.groups = append(s.groups, []*pointer{w, o})
	case w.group < 0:
		w, o = o, w
		fallthrough
	case o.group < 0:
		o.group = w.group
		s.groups[w.group] = append(s.groups[w.group], o)
	case w.group != o.group:
		gone := o.group
		for _, p := range s.groups[gone] {
			p.group = w.group
			s.groups[w.group] = append(s.groups[w.group], p)
		}
		s.groups[gone] = nil
	}
}

// frequency is the sum of what the matches in a doc count; one is enough when how often
// does not matter.
func (s *sloppy) frequency(doc segment.Doc, often bool) float32 {
	sum := float32(0)
	for more := s.begin(doc); more && (often || sum == 0); {
		var length int32
		var found bool
		if length, found, more = s.next(); found {
			sum += 1 / (1 + float32(length))
		}
	}
	return sum
}

// begin puts all pointers to their first places; false when there are too few of them.
func (s *sloppy) begin(doc segment.Doc) bool {
	s.end, s.queue = math.MinInt32, s.queue[:0]
	for _, w := range s.words {
		w.left = w.wordPlaces.at(doc)
		w.step()
	}
	for _, g := range s.groups {
		if !s.part(g) {
			return false
		}
	}
	for _, w := range s.words {
		s.end = max(s.end, w.at)
		s.push(w)
	}
	return true
}

// part moves the words of a group apart.
func (s *sloppy) part(g []*pointer) bool {
	if !s.many {
		for i, w := range g { // their first place is the same
			for range i {
				if !w.step() {
					return false
				}
			}
		}
		return true
	}
	for i := 0; i < len(g); {
		again := false
		for {
			o := s.collides(g[i])
			if o == nil {
				break
			}
			less := lesser(g[i], o)
			if !s.advance(less) {
				return false
			}
			if less.rank < i {
				again = true
				break
			}
		}
		if !again {
			i++
		}
	}
	return true
}

// step goes to the next place.
func (p *pointer) step() bool {
	if len(p.left) == 0 {
		return false
	}
	p.at, p.left = int32(p.left[0])-p.offset, p.left[1:]
	return true
}

func (s *sloppy) advance(p *pointer) bool {
	if !p.step() {
		return false
	}
	s.end = max(s.end, p.at)
	return true
}

// lesser is the pointer that is moved when two collide.
func lesser(p, o *pointer) *pointer {
	if p.at < o.at || p.at == o.at && p.offset < o.offset {
		return p
	}
	return o
}

// collides is a word of the same group that stands at the same place of the doc, or nil.
func (s *sloppy) collides(p *pointer) *pointer {
	for _, o := range s.groups[p.group] {
		if o != p && o.at+o.offset == p.at+p.offset {
			return o
		}
	}
	return nil
}

// next is the length of the next match, whether it is one, and whether there may be more.
func (s *sloppy) next() (length int32, found, more bool) {
	p := s.pop()
	length = s.end - p.at
	behind := s.behind()
	for s.advance(p) && s.apart(p) {
		if p.at <= behind {
			length = min(length, s.end-p.at)
			continue
		}
		s.push(p)
		if int(length) <= s.slop {
			return length, true, true
		}
		p = s.pop()
		behind, length = s.behind(), s.end-p.at
	}
	return length, int(length) <= s.slop, false
}

// behind is the least pointer of the queue.
func (s *sloppy) behind() int32 {
	if len(s.queue) == 0 {
		return math.MaxInt32
	}
	return s.queue[0].at
}

// apart moves words on as long as the one that was moved collides with another of its
// group; false when one has no more places.
func (s *sloppy) apart(p *pointer) bool {
	if p.group < 0 {
		return true
	}
	o := s.collides(p)
	if o == nil {
		return true
	}
	for ; o != nil; o = s.collides(p) {
		p = lesser(p, o)
		if !s.advance(p) {
			return false
		}
	}
	slices.SortFunc(s.queue, (*pointer).compare)
	return true
}

func (p *pointer) compare(o *pointer) int {
	return cmp.Or(cmp.Compare(p.at, o.at), cmp.Compare(p.offset, o.offset), cmp.Compare(p.ord, o.ord))
}

func (s *sloppy) push(p *pointer) {
	i, _ := slices.BinarySearchFunc(s.queue, p, (*pointer).compare)
	s.queue = slices.Insert(s.queue, i, p)
}

func (s *sloppy) pop() *pointer {
	p := s.queue[0]
	s.queue = slices.Delete(s.queue, 0, 1)
	return p
}
