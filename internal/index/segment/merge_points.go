package segment

import "math"

// pointCursor steps through the points of an input that are shown.
type pointCursor struct {
	in    *input
	block pointReader
	i     int
	next  uint64 // block
	now   point  // with what its doc becomes
	last  int64  // number, hidden ones too
}

// step goes to the next point; false behind the last.
func (c *pointCursor) step() bool {
	for {
		if c.i == c.block.n {
			if c.next == c.in.points.blocks() {
				return false
			}
			c.block, c.i = c.in.points.block(c.next), 0
			c.next++
		}
		doc, n := c.block.doc(c.i), c.block.number(c.i)
		c.i++
		if n < c.last {
			panic(damaged("points are not in order"))
		}
		if c.last = n; !c.in.moves.hides(doc) {
			c.now = point{n, c.in.moves.to(doc)}
			return true
		}
	}
}

func (c *pointCursor) before(o *pointCursor) bool {
	return c.now.n < o.now.n || c.now.n == o.now.n && c.now.doc < o.now.doc
}

// mergePoints merges the points of the inputs.
func (m *merger) mergePoints(inputs []*input) *PointIndex {
	w := &pointWriter{file: m.file}
	var queue []*pointCursor // a heap: the least comes first
	for _, in := range inputs {
		if c := (&pointCursor{in: in, last: math.MinInt64}); c.step() {
			queue = append(queue, c)
		}
	}
	for i := len(queue)/2 - 1; i >= 0; i-- {
		sink(queue, i)
	}
	for len(queue) > 0 {
		m.tick(1)
		w.add(queue[0].now)
		if !queue[0].step() {
			queue[0] = queue[len(queue)-1]
			queue = queue[:len(queue)-1]
		}
		sink(queue, 0)
	}
	return w.close()
}

// sink brings the i-th of a heap to where it belongs.
func sink(heap []*pointCursor, i int) {
	for {
		least := i
		for k := 2*i + 1; k <= 2*i+2 && k < len(heap); k++ {
			if heap[k].before(heap[least]) {
				least = k
			}
		}
		if least == i {
			return
		}
		heap[i], heap[least] = heap[least], heap[i]
		i = least
	}
}
