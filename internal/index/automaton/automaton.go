package automaton

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unicode/utf8"
)

// nfa is an automaton over characters that may go several ways at once. State 0 is where
// it starts. It is built by words.go, regexp.go and algebra.go, and then
// made one that goes one way, a dfa.
type nfa struct {
	edges [][]edge
	free  [][]int // where a state goes without a character
	value []uint8 // of a state in which a term may end: not 0; the least one counts
}

// edge goes on with the characters from least to greatest.
type edge struct {
	least, greatest rune
	to              int
}

// add makes a state.
func (a *nfa) add() int {
	a.edges, a.free, a.value = append(a.edges, nil), append(a.free, nil), append(a.value, 0)
	return len(a.edges) - 1
}

func (a *nfa) link(from int, least, greatest rune, to int) {
	a.edges[from] = append(a.edges[from], edge{least, greatest, to})
}

func (a *nfa) skip(from, to int) { a.free[from] = append(a.free[from], to) }

// dfa is an automaton over characters that goes one way. State 0 is where it starts.
type dfa struct {
	edges [][]edge // of a state: ascending, apart from each other
	value []uint8
}

// subset is the making of a dfa: each of its states is a set of states of the nfa.
type subset struct {
	from   *nfa
	made   *dfa
	sets   [][]int
	known  map[string]int
	effort int
}

// determine makes an automaton one that goes one way. Limit is how much work may be done,
// as the server counts it: ten states of the nfa in the sets for each.
func (a *nfa) determine(limit int) (*dfa, error) {
	s := &subset{from: a, made: &dfa{}, known: map[string]int{}}
	s.state([]int{0})
	for next := 0; next < len(s.sets); next++ {
		if s.effort += len(s.sets[next]); s.effort >= 10*limit {
			return nil, &tooComplex{limit}
		}
		s.expand(next)
	}
	return s.made, nil
}

// tooComplex is the error of an automaton that takes more work than the limit. Who asked for
// it tells it as the server does.
type tooComplex struct{ limit int }

func (e *tooComplex) Error() string {
	return fmt.Sprintf("determinizing would require more than %d effort", e.limit)
}

// state is that of a set, after what the set reaches without a character.
func (s *subset) state(set []int) int {
	set = s.from.closure(set)
	var key []byte
	value := uint8(0)
	for _, n := range set {
		key = binary.AppendUvarint(key, uint64(n))
		if v := s.from.value[n]; v != 0 && (value == 0 || v < value) {
			value = v
		}
	}
	if n, ok := s.known[string(key)]; ok {
		return n
	}
	n := len(s.sets)
	s.known[string(key)] = n
	s.sets = append(s.sets, set)
	s.made.edges, s.made.value = append(s.made.edges, nil), append(s.made.value, value)
	return n
}

// closure is a set with what it reaches without a character, ascending, without the states
// from which nothing goes on but that.
func (a *nfa) closure(set []int) []int {
	slices.Sort(set)
	set = slices.Compact(set)
	in := make(map[int]bool, len(set))
	for _, n := range set {
		in[n] = true
	}
	for i := 0; i < len(set); i++ {
		for _, to := range a.free[set[i]] {
			if !in[to] {
				in[to] = true
				set = append(set, to)
			}
		}
	}
	set = slices.DeleteFunc(set, func(n int) bool { return len(a.edges[n]) == 0 && a.value[n] == 0 })
	slices.Sort(set)
	return set
}

// expand finds the edges of a state: between two ends of edges of its set, all characters
// lead to the same set.
func (s *subset) expand(state int) {
	var edges []edge
	var cuts []rune
	for _, n := range s.sets[state] {
		for _, e := range s.from.edges[n] {
			edges = append(edges, e)
			cuts = append(cuts, e.least, e.greatest+1)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	slices.SortFunc(edges, func(a, b edge) int { return int(a.least) - int(b.least) })
	var open []edge
	for i := 0; i+1 < len(cuts); i++ {
		for len(edges) > 0 && edges[0].least == cuts[i] {
			open, edges = append(open, edges[0]), edges[1:]
		}
		open = slices.DeleteFunc(open, func(e edge) bool { return e.greatest < cuts[i] })
		if len(open) == 0 {
			continue
		}
		to := make([]int, len(open))
		for j, e := range open {
			to[j] = e.to
		}
		s.made.link(state, cuts[i], cuts[i+1]-1, s.state(to))
	}
}

// link adds an edge behind the others of its state.
func (d *dfa) link(from int, least, greatest rune, to int) {
	list := d.edges[from]
	if n := len(list); n > 0 && list[n-1].to == to && list[n-1].greatest == least-1 {
		list[n-1].greatest = greatest
		return
	}
	d.edges[from] = append(list, edge{least, greatest, to})
}

// Words is a dfa over the bytes of terms in UTF-8: a state is one of the dfa, and what has been seen of a
// character's bytes. Safe for concurrent use.
type Words struct {
	dfa    *dfa
	common []byte
}

// The bits of a state of words, from the lowest: the part of the character, how many of
// its bytes are missing, the state of the dfa.
const (
	partBits    = 24
	missingBits = 2
)

func newWords(d *dfa) *Words {
	d.trim()
	w := &Words{dfa: d}
	for state := 0; d.value[state] == 0 && len(d.edges[state]) == 1; {
		e := d.edges[state][0]
		if e.least != e.greatest || len(w.common) > 1<<16 {
			break
		}
		w.common = utf8.AppendRune(w.common, e.least)
		state = e.to
	}
	return w
}

// trim takes away edges to states from which no end is reached.
func (d *dfa) trim() {
	back := make([][]int, len(d.edges))
	var live []int
	alive := make([]bool, len(d.edges))
	for from, edges := range d.edges {
		for _, e := range edges {
			back[e.to] = append(back[e.to], from)
		}
		if d.value[from] != 0 {
			alive[from] = true
			live = append(live, from)
		}
	}
	for i := 0; i < len(live); i++ {
		for _, from := range back[live[i]] {
			if !alive[from] {
				alive[from] = true
				live = append(live, from)
			}
		}
	}
	for from := range d.edges {
		d.edges[from] = slices.DeleteFunc(d.edges[from], func(e edge) bool { return !alive[e.to] })
	}
}

// Start is the state before the first byte.
func (w *Words) Start() int { return 0 }

// Prefix is what all terms that are accepted begin with. It is not a copy.
func (w *Words) Prefix() []byte { return w.common }

// Accepts reports whether a term may end in a state.
func (w *Words) Accepts(state int) bool { return w.Worth(state) != 0 }

// Worth is the value of a state; 0 where no term may end.
func (w *Words) Worth(state int) uint8 {
	if state&(1<<(partBits+missingBits)-1) != 0 {
		return 0
	}
	return w.dfa.value[state>>(partBits+missingBits)]
}

// Meets reports whether a text is accepted.
func (w *Words) Meets(text string) bool {
	state := w.Start()
	for i := 0; i < len(text) && state >= 0; i++ {
		state = w.Step(state, text[i])
	}
	return state >= 0 && w.Accepts(state)
}

// Step is the state after b; negative: no term goes on like this. It follows the edge of a character at
// its last byte, and before that it looks whether there is one that the character may become.
func (w *Words) Step(state int, b byte) int {
	at, missing, part := state>>(partBits+missingBits), state>>partBits&(1<<missingBits-1), rune(state&(1<<partBits-1))
	switch {
	case missing > 0 && b&0xc0 == 0x80:
		missing, part = missing-1, part<<6|rune(b&0x3f)
	case missing > 0 || b&0xc0 == 0x80 || b >= 0xf8:
		return -1
	case b >= 0xf0:
		missing, part = 3, rune(b&0x07)
	case b >= 0xe0:
		missing, part = 2, rune(b&0x0f)
	case b >= 0xc0:
		missing, part = 1, rune(b&0x1f)
	default:
		part = rune(b)
	}
	least := part << (6 * missing)
	greatest := least | (1<<(6*missing) - 1)
	edges := w.dfa.edges[at]
	i, _ := slices.BinarySearchFunc(edges, least, func(e edge, least rune) int { return int(e.greatest) - int(least) })
	if i == len(edges) || edges[i].least > greatest {
		return -1
	}
	if missing == 0 {
		return edges[i].to << (partBits + missingBits)
	}
	return at<<(partBits+missingBits) | missing<<partBits | int(part)
}
