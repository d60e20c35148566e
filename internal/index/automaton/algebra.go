package automaton

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// What a regular expression makes of its parts. A part is what was built last: its states
// are those from first on.

// either is one of some parts. Characters alone are one edge beside the other, not a way
// for each.
func (p *regexpParser) either(parts []part, first int) part {
	if ranges, ok := p.characters(parts); ok {
		p.cut(first)
		return p.anyOf(ranges, false)
	}
	whole := part{p.built.add(), p.built.add()}
	for _, of := range parts {
		p.built.skip(whole.start, of.start)
		p.built.skip(of.end, whole.end)
	}
	return whole
}

// characters tells the ranges of parts that are one character each.
func (p *regexpParser) characters(parts []part) (ranges []edge, ok bool) {
	for _, of := range parts {
		if len(p.built.free[of.start]) > 0 || len(p.built.edges[of.end]) > 0 || len(p.built.free[of.end]) > 0 {
			return nil, false
		}
		for _, e := range p.built.edges[of.start] {
			if e.to != of.end {
				return nil, false
			}
			ranges = append(ranges, e)
		}
	}
	return ranges, true
}

// repeat is a part from least to most times; most negative: without end. The part itself
// is used as one of them.
func (p *regexpParser) repeat(of part, first, least, most int) (part, error) {
	if most >= 0 && least > most {
		return part{}, exception.New(exception.IllegalArgument, "invalid repetition range(out of order): %d..%d", least, most)
	}
	last := len(p.built.edges)
	if effort := (last - first) / 2 * max(least, most); effort > MaxEffort {
		return part{}, &tooComplex{effort} // told before it is tried
	}
	whole := part{p.built.add(), p.built.add()}
	at := whole.start
	used := false
	again := func() part {
		if !used {
			used = true
			return of
		}
		return p.copy(of, first, last)
	}
	if err := p.room(max(least, most, 1) * (last - first + 1)); err != nil {
		return part{}, err
	}
	for range least {
		next := again()
		p.built.skip(at, next.start)
		at = next.end
	}
	p.built.skip(at, whole.end)
	if most < 0 {
		next := again()
		loop := p.built.add()
		p.built.skip(at, loop)
		p.built.skip(loop, next.start)
		p.built.skip(next.end, loop)
		p.built.skip(loop, whole.end)
		return whole, nil
	}
	for range most - least {
		next := again()
		p.built.skip(at, next.start)
		p.built.skip(next.end, whole.end)
		at = next.end
	}
	return whole, nil
}

// copy makes the states from first to last once more. They lead to one another alone.
func (p *regexpParser) copy(of part, first, last int) part {
	by := len(p.built.edges) - first
	for n := first; n < last; n++ {
		p.built.add()
		for _, e := range p.built.edges[n] {
			if e.to < last {
				p.built.link(n+by, e.least, e.greatest, e.to+by)
			}
		}
		for _, to := range p.built.free[n] {
			if to < last {
				p.built.skip(n+by, to+by)
			}
		}
	}
	return part{of.start + by, of.end + by}
}

// alone is a part as an automaton of its own that goes one way.
func (p *regexpParser) alone(of part, first, last int) (*dfa, error) {
	a := &nfa{}
	a.skip(a.add(), of.start-first+1)
	for n := first; n < last; n++ {
		a.add()
		for _, e := range p.built.edges[n] {
			a.link(n-first+1, e.least, e.greatest, e.to-first+1)
		}
		for _, to := range p.built.free[n] {
			a.skip(n-first+1, to-first+1)
		}
	}
	a.value[of.end-first+1] = 1
	return a.determine(p.limit)
}

// cut forgets the states from first on.
func (p *regexpParser) cut(first int) {
	p.built.edges, p.built.free, p.built.value = p.built.edges[:first], p.built.free[:first], p.built.value[:first]
}

// put adds a dfa as a part.
func (p *regexpParser) put(d *dfa) (part, error) {
	if err := p.room(len(d.edges)); err != nil {
		return part{}, err
	}
	by := len(p.built.edges)
	end := by + len(d.edges)
	for n := range d.edges {
		p.built.add()
		for _, e := range d.edges[n] {
			p.built.link(by+n, e.least, e.greatest, by+e.to)
		}
		if d.value[n] != 0 {
			p.built.skip(by+n, end)
		}
	}
	return part{by, p.built.add()}, nil
}

// not accepts all that a part does not.
func (p *regexpParser) not(of part, first int) (part, error) {
	d, err := p.alone(of, first, len(p.built.edges))
	if err != nil {
		return part{}, err
	}
	p.cut(first)
	rest := len(d.edges) // where all goes that has no edge
	d.edges, d.value = append(d.edges, nil), append(d.value, 0)
	for n := range d.edges {
		for _, gap := range outside(d.edges[n]) {
			d.edges[n] = append(d.edges[n], edge{gap.least, gap.greatest, rest})
		}
		d.value[n] = 1 - min(d.value[n], 1)
	}
	return p.put(d)
}

// both accepts what two parts do: their states are from first, and from second on.
func (p *regexpParser) both(a, b part, first, second int) (part, error) {
	one, err := p.alone(a, first, second)
	if err != nil {
		return part{}, err
	}
	two, err := p.alone(b, second, len(p.built.edges))
	if err != nil {
		return part{}, err
	}
	p.cut(first)
	made := &dfa{}
	known := map[[2]int]int{}
	var pairs [][2]int
	state := func(x, y int) int {
		n, ok := known[[2]int{x, y}]
		if !ok {
			n = len(pairs)
			known[[2]int{x, y}] = n
			pairs = append(pairs, [2]int{x, y})
			made.edges, made.value = append(made.edges, nil), append(made.value, min(one.value[x], two.value[y]))
		}
		return n
	}
	state(0, 0)
	for n := 0; n < len(pairs); n++ {
		if n > 10*p.limit {
			return part{}, &tooComplex{p.limit}
		}
		for _, e := range one.edges[pairs[n][0]] {
			for _, f := range two.edges[pairs[n][1]] {
				if least, greatest := max(e.least, f.least), min(e.greatest, f.greatest); least <= greatest {
					to := state(e.to, f.to)
					made.edges[n] = append(made.edges[n], edge{least, greatest, to})
				}
			}
		}
	}
	return p.put(made)
}

// sortedRanges are ranges by their least character.
func sortedRanges(ranges []edge) []edge {
	ranges = slices.Clone(ranges)
	slices.SortFunc(ranges, func(a, b edge) int { return cmp.Compare(a.least, b.least) })
	return ranges
}

// decimals accepts the numbers from least to greatest: written with so many digits, or,
// when width is 0, with any number of zeros before them.
func (p *regexpParser) decimals(least, greatest int64, width int) part {
	whole := part{p.built.add(), p.built.add()}
	if width > 0 {
		p.digitsBetween(whole.start, whole.end, padded(least, width), padded(greatest, width))
		return whole
	}
	p.built.link(whole.start, '0', '0', whole.start)
	start := p.built.add()
	p.built.skip(whole.start, start)
	low := int64(0) // of the numbers with so many digits
	for width := 1; width <= 10; width++ {
		high := low*10 + 9
		if width > 1 {
			low, high = max(low, 1)*10, max(low, 1)*100-1
		}
		if from, to := max(least, low), min(greatest, high); from <= to {
			p.digitsBetween(start, whole.end, padded(from, width), padded(to, width))
		}
	}
	return whole
}

func padded(n int64, width int) string {
	text := strconv.FormatInt(n, 10)
	return strings.Repeat("0", max(width-len(text), 0)) + text
}

// digitsBetween links two states by the texts of digits from least to greatest, which are
// of one length.
func (p *regexpParser) digitsBetween(from, to int, least, greatest string) {
	low, high := from, from // where all digits so far are those of least, of greatest
	inside := -1            // where they are between
	for i := range len(least) {
		state := func() int {
			if i == len(least)-1 {
				return to
			}
			return p.built.add()
		}
		l, g := rune(least[i]), rune(greatest[i])
		nextInside := state()
		if inside >= 0 {
			p.built.link(inside, '0', '9', nextInside)
		}
		if low == high && l == g {
			next := state()
			p.built.link(low, l, l, next)
			low, high, inside = next, next, nextInside
			continue
		}
		nextLow, nextHigh := state(), state()
		p.built.link(low, l, l, nextLow)
		p.built.link(high, g, g, nextHigh)
		if low == high {
			p.linkDigits(low, l+1, g-1, nextInside)
		} else {
			p.linkDigits(low, l+1, '9', nextInside)
			p.linkDigits(high, '0', g-1, nextInside)
		}
		low, high, inside = nextLow, nextHigh, nextInside
	}
}

func (p *regexpParser) linkDigits(from int, least, greatest rune, to int) {
	if least <= greatest {
		p.built.link(from, least, greatest, to)
	}
}
