package segment

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"slices"
)

// termState is a term of a field that is being built: 64 bytes, a line of the processor's
// cache.
type termState struct {
	head, tail uint64 // the term, when it is not long: see words
	text       uint32 // where its bytes begin
	size       uint16
	doc        Doc    // the last one
	place      uint32 // the last position in it
	chain      chain  // its postings
	_          [12]byte
}

// words are a term of at most 16 bytes as two words, different for different terms of one
// size: bytes may be in both.
func words(term []byte) (head, tail uint64) {
	switch n := len(term); {
	case n >= 8:
		return binary.LittleEndian.Uint64(term), binary.LittleEndian.Uint64(term[n-8:])
	case n >= 4:
		return uint64(binary.LittleEndian.Uint32(term)), uint64(binary.LittleEndian.Uint32(term[n-4:]))
	case n > 0:
		return uint64(term[0]) | uint64(term[n/2])<<8 | uint64(term[n-1])<<16, 0
	}
	return 0, 0
}

// short is the greatest size of a term that words tells whole.
const short = 16

// termTable finds the terms of a field: open addressing, by hash.
type termTable struct {
	slots  []uint64 // high half: of the hash; low half: number of the term + 1
	states []termState
	text   []byte
}

// hashSeed makes hashes different in each process, so that nobody can prepare terms that
// have the same.
var (
	hashSeed = maphash.MakeSeed()
	hashHead = maphash.Bytes(hashSeed, []byte("head"))
	hashTail = maphash.Bytes(hashSeed, []byte("tail"))
)

// hash is that of a term; head and tail tell it when it is not long.
func hash(term []byte) (h, head, tail uint64) {
	if len(term) > short {
		return maphash.Bytes(hashSeed, term), 0, 0
	}
	head, tail = words(term)
	high, low := bits.Mul64(head^hashHead, tail^hashTail^uint64(len(term)))
	high, low = bits.Mul64(high^low^hashTail, hashHead|1)
	return high ^ low, head, tail
}

// find gives the number of a term, which is new when it is the number of states.
func (t *termTable) find(term []byte) (n uint32, isNew bool) {
	if 2*len(t.states) >= len(t.slots) {
		t.grow()
	}
	h, head, tail := hash(term)
	mask := uint64(len(t.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		slot := t.slots[i]
		if slot == 0 {
			t.slots[i] = h&^0xffffffff | uint64(len(t.states)+1)
			t.states = append(t.states, termState{
				head: head, tail: tail, text: uint32(len(t.text)), size: uint16(len(term)), doc: End,
			})
			t.text = append(t.text, term...)
			return uint32(len(t.states) - 1), true
		}
		if (slot^h)>>32 == 0 {
			n := uint32(slot) - 1
			s := &t.states[n]
			if s.head == head && s.tail == tail && int(s.size) == len(term) && (len(term) <= short || bytes.Equal(t.term(n), term)) {
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
		h, _, _ := hash(t.term(uint32(n)))
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
	return t.text[s.text : s.text+uint32(s.size)]
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
