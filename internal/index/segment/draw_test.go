package segment_test

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// drawFamilies makes documents.
func drawFamilies(t *rapid.T, most int) []family {
	n := rapid.IntRange(0, most).Draw(t, "documents")
	shape := drawShape(t)
	r := newRandom(rapid.Uint64().Draw(t, "seed"))
	families := make([]family, n)
	seqNo := int64(0)
	for i := range families {
		children := 0
		if shape.nested && r.below(3) == 0 {
			children = r.below(4)
		}
		for range children {
			families[i] = append(families[i], record{path: []string{"items", "items.parts"}[r.below(2)], values: shape.values(r)})
		}
		seqNo += 1 + int64(r.below(3))
		if shape.unordered {
			seqNo = int64(r.below(1 << 20))
		}
		id := segment.Identity{Key: routing.Key(r.next()), ID: fmt.Sprintf("d%d", r.below(4*most+8)), SeqNo: seqNo}
		families[i] = append(families[i], record{id: id, values: shape.values(r)})
	}
	return families
}

// random is a cheap source of numbers: rapid's own would make big examples slow.
type random struct{ state uint64 }

func newRandom(seed uint64) *random { return &random{seed} }

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *random) below(n int) int { return int(r.next() % uint64(n)) }

// shape is what the docs of one example are like.
type shape struct {
	nested, unordered bool
	vocabulary        int
	tokens            int
	presence          map[string]int // one doc of how many has the field; 0: none
	several           bool
	step, spread      uint64 // of numbers
}

func drawShape(t *rapid.T) shape {
	s := shape{
		nested: rapid.Bool().Draw(t, "nested"), unordered: rapid.Bool().Draw(t, "unordered"),
		vocabulary: rapid.SampledFrom([]int{1, 3, 50, 1000}).Draw(t, "vocabulary"),
		tokens:     rapid.SampledFrom([]int{1, 6, 300}).Draw(t, "tokens"),
		several:    rapid.Bool().Draw(t, "several"),
		step:       rapid.SampledFrom([]uint64{1, 1000, 86400000}).Draw(t, "step"),
		spread:     rapid.SampledFrom([]uint64{1, 2, 1000, 1 << 40, 1 << 63}).Draw(t, "spread"),
		presence:   map[string]int{},
	}
	for _, name := range names {
		s.presence[name] = rapid.SampledFrom([]int{0, 1, 1, 2, 50}).Draw(t, "presence of "+name)
	}
	return s
}

func (s *shape) word(r *random) string {
	n := min(r.below(s.vocabulary), r.below(s.vocabulary))
	w := ""
	for n++; n > 0; n /= 4 {
		w += string("abcd"[n%4])
	}
	return w
}

func (s *shape) values(r *random) map[string][]value {
	all := map[string][]value{}
	for _, name := range names {
		p := s.presence[name]
		if p == 0 || r.below(p) != 0 {
			continue
		}
		n := 1
		if s.several {
			n = 1 + r.below(3)
		}
		var values []value
		switch name {
		case "text", "rated":
			position, count := uint32(0), 1+r.below(s.tokens)
			for range count {
				position += uint32(r.below(3))
				if r.below(40) == 0 {
					position += uint32(r.below(1 << 18))
				}
				values = append(values, value{kind: 'p', text: s.word(r), position: position})
			}
			if r.below(9) > 0 {
				values = append(values, value{kind: 'l', number: int64(count)})
			}
		case "plain", "word", "value":
			for range n {
				values = append(values, value{kind: 't', text: s.word(r)})
			}
		case "number", "date", "point":
			for range n {
				values = append(values, value{kind: 'n', number: int64(s.step * (r.next() % s.spread))})
			}
		}
		if name == "flag" || r.below(20) == 0 {
			values = append(values, value{kind: 'e'})
		}
		all[name] = values
	}
	return all
}
