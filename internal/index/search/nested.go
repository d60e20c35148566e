package search

import (
	"math"
	"math/bits"

	"github.com/reshelve/reshelve/internal/index/segment"
)

// nestedNode is the docs that have an object of a nested field around which another node
// finds: objects stand before the doc that they are of. Its score is made of those of the
// objects.
type nestedNode struct {
	objects node
	of      *segment.Bits // the objects of the field that are shown
	parents *segment.Bits
	mode    string // avg, sum, min, max; "none" and "": no scores
	current segment.Doc
	found   bool // the current doc has been looked at, and matches
	tried   bool // the current doc has been looked at
	value   float32
}

// nested makes the node.
func (r *reader) nested(p *nestedPlan, scored bool) node {
	of := r.objects(p.path)
	parents := r.view.RootSet()
	if p.around != "" {
		parents = r.objects(p.around)
	}
	if of == nil || parents == nil {
		return nil
	}
	inside := *r
	inside.scope, inside.lead = of, math.MaxInt
	n := &nestedNode{of: of, parents: parents, mode: p.mode}
	if !scored {
		n.mode = ""
	}
	n.objects = inside.node(p.of, scored && p.mode != "none")
	if n.objects == nil || n.settle() == end {
		return nil
	}
	return n
}

// objects are those of a nested field that the view shows; nil: there are none.
func (r *reader) objects(path string) *segment.Bits {
	f := r.view.Field("_nested_path")
	if f == nil {
		return nil
	}
	e, ok := f.Lookup([]byte(path))
	if !ok {
		return nil
	}
	set := segment.NewBits(r.view.Docs())
	u := union{r: r, field: f, set: set}
	u.pour(e)
	if r.view.Hidden != nil {
		return without(set, r.view.Hidden)
	}
	return set
}

// settle goes to the doc of the first object from where the objects stand.
func (n *nestedNode) settle() segment.Doc {
	n.tried, n.current = false, end
	d := n.objects.doc()
	for d != end && !n.of.Has(d) {
		if next := n.of.Next(d); next == end {
			d = end
		} else {
			d = n.objects.advance(next)
		}
	}
	if d != end {
		n.current = n.parents.Next(d)
	}
	return n.current
}

func (n *nestedNode) doc() segment.Doc { return n.current }
func (n *nestedNode) cost() int        { return n.objects.cost() }
func (n *nestedNode) exact() bool      { return false }
func (n *nestedNode) next() segment.Doc {
	at(n.objects, n.current+1)
	return n.settle()
}

func (n *nestedNode) advance(to segment.Doc) segment.Doc {
	at(n.objects, behind(n.parents, to)) // the first object of the first doc from to on
	return n.settle()
}

// behind is the doc behind the last one of a set that is before doc; 0 when there is none.
func behind(set *segment.Bits, doc segment.Doc) segment.Doc {
	if doc == 0 {
		return 0
	}
	words := set.Words()
	i := min(int(doc-1)>>6, len(words)-1)
	w := words[i]
	if i == int(doc-1)>>6 {
		w &= math.MaxUint64 >> (63 - (doc-1)&63)
	}
	for w == 0 && i > 0 {
		i--
		w = words[i]
	}
	if w == 0 {
		return 0
	}
	return segment.Doc(i<<6 + bits.Len64(w))
}

func (n *nestedNode) matches() bool {
	if !n.tried {
		n.tried, n.found = true, n.gather()
	}
	return n.found
}

// gather goes through the objects of the current doc, and makes a score of theirs.
func (n *nestedNode) gather() bool {
	scores, sum := 0, 0.0
	for d := n.objects.doc(); d < n.current; d = n.objects.next() {
		if !n.of.Has(d) || !n.objects.matches() {
			continue
		}
		scores++
		switch {
		case n.mode == "" || n.mode == "none":
			at(n.objects, n.current)
			n.value = 0
			return true
		case scores == 1:
			sum = float64(n.objects.score())
		case n.mode == "min":
			sum = min(sum, float64(n.objects.score()))
		case n.mode == "max":
			sum = max(sum, float64(n.objects.score()))
		default:
			sum += float64(n.objects.score())
		}
	}
	if n.mode == "avg" && scores > 0 {
		sum /= float64(scores)
	}
	n.value = float32(sum)
	return scores > 0
}

func (n *nestedNode) score() float32 { return n.value }

func (n *nestedNode) bound(segment.Doc) (segment.Doc, float32) {
	if n.mode == "" || n.mode == "none" {
		return end, 0
	}
	return end, math.MaxFloat32
}

func (n *nestedNode) ceiling() float32 {
	_, most := n.bound(0)
	return most
}

func (n *nestedNode) demand(float32) {}
