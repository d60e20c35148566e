package segment

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"slices"
)

// termState is a term of a field that is being built.
type termState struct {
	text  uint64 // where its bytes begin
	size  uint32
	docs  uint32
	doc   Doc    // the last one, not yet in the chain of docs
	often uint32 // how often it is in that
	place uint32 // the last position
	base  Doc    // the last doc in the chain
	chain chain  // docs and frequencies, as in short lists
	where chain  // positions
}

// termTable finds the terms of a field: open addressing, by hash.
type termTable struct {
	slots  []uint64 // high half: of the hash; low half: number of the term + 1
	states []termState
	text   []byte
}

var hashSeed = maphash.MakeSeed()

// find gives the number of a term, which is new when it is the number of states.
func (t *termTable) find(term []byte) (n uint32, isNew bool) {
	if 2*len(t.states) >= len(t.slots) {
		t.grow()
	}
	h := maphash.Bytes(hashSeed, term)
	mask := uint64(len(t.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		slot := t.slots[i]
		if slot == 0 {
			t.slots[i] = h&^0xffffffff | uint64(len(t.states)+1)
			t.states = append(t.states, termState{text: uint64(len(t.text)), size: uint32(len(term)), base: End})
			t.text = append(t.text, term...)
			return uint32(len(t.states) - 1), true
		}
		if (slot^h)>>32 == 0 {
			n := uint32(slot) - 1
			if s := &t.states[n]; string(t.text[s.text:s.text+uint64(s.size)]) == string(term) {
				return n, false
			}
		}
	}
}

// grow doubles the slots.
func (t *termTable) grow() {
	t.slots = make([]uint64, max(16, 2*len(t.slots)))
	mask := uint64(len(t.slots) - 1)
	for n := range t.states {
		h := maphash.Bytes(hashSeed, t.term(uint32(n)))
		i := h & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = h&^0xffffffff | uint64(n+1)
	}
}

// term is the n-th term.
func (t *termTable) term(n uint32) []byte {
	s := &t.states[n]
	return t.text[s.text : s.text+uint64(s.size)]
}

// reset forgets all terms, and keeps the memory.
func (t *termTable) reset() {
	clear(t.slots)
	t.states, t.text = t.states[:0], t.text[:0]
}

// sorted gives the numbers of the terms in the order of their bytes.
func (t *termTable) sorted() []uint32 {
	type key struct {
		head uint64 // eight bytes behind what all terms share
		n    uint32
	}
	if len(t.states) == 0 {
		return nil
	}
	share := len(t.term(0))
	for n := range t.states {
		share = commonPrefix(t.term(0)[:share], t.term(uint32(n)))
	}
	keys := make([]key, len(t.states))
	for n := range keys {
		var head [8]byte
		copy(head[:], t.term(uint32(n))[share:])
		keys[n] = key{binary.BigEndian.Uint64(head[:]), uint32(n)}
	}
	slices.SortFunc(keys, func(a, b key) int {
		switch {
		case a.head < b.head:
			return -1
		case a.head > b.head:
			return 1
		}
		return bytes.Compare(t.term(a.n), t.term(b.n))
	})
	order := make([]uint32, len(keys))
	for i, k := range keys {
		order[i] = k.n
	}
	return order
}
