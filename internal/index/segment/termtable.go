package segment

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"slices"
)

// termKey is what a term is found by.
type termKey struct {
	head, tail uint64 // the term, when it is short: bytes may be in both; else 0
	hash       uint64
	size       uint32
}

// short is the greatest size of a term that a key tells whole.
const short = 16

// termState is a term of a field that is being built: 64 bytes, a line of the processor's
// cache.
type termState struct {
	key   termKey
	text  uint32 // where its bytes begin
	doc   Doc    // the last one
	place uint32 // the last position in it
	chain chain  // its postings
	_     [8]byte
}

// hashSeed makes hashes different in each process, so that nobody can prepare terms that
// have the same.
var (
	hashSeed = maphash.MakeSeed()
	hashHead = maphash.Bytes(hashSeed, []byte("head"))
	hashTail = maphash.Bytes(hashSeed, []byte("tail"))
)

// keyOf is the key of a term.
func keyOf(term []byte) termKey {
	n := len(term)
	k := termKey{size: uint32(n)}
	switch {
	case n > short:
		k.hash = maphash.Bytes(hashSeed, term)
		return k
	case n >= 8:
		k.head, k.tail = binary.LittleEndian.Uint64(term), binary.LittleEndian.Uint64(term[n-8:])
	case n >= 4:
		k.head, k.tail = uint64(binary.LittleEndian.Uint32(term)), uint64(binary.LittleEndian.Uint32(term[n-4:]))
	case n > 0:
		k.head = uint64(term[0]) | uint64(term[n/2])<<8 | uint64(term[n-1])<<16
	}
	high, low := bits.Mul64(k.head^hashHead, k.tail^hashTail^uint64(n))
	high, low = bits.Mul64(high^low^hashTail, hashHead|1)
	k.hash = high ^ low
	return k
}

// appendTo appends the term of the key, which is short.
func (k *termKey) appendTo(dst []byte) []byte {
	var b [8]byte
	switch n := k.size; {
	case n >= 8:
		dst = binary.LittleEndian.AppendUint64(dst, k.head)
		binary.LittleEndian.PutUint64(b[:], k.tail)
		return append(dst, b[16-n:]...)
	case n >= 4:
		dst = binary.LittleEndian.AppendUint32(dst, uint32(k.head))
		binary.LittleEndian.PutUint32(b[:], uint32(k.tail))
		return append(dst, b[8-n:4]...)
	case n == 2: // its middle is its end
		return append(dst, byte(k.head), byte(k.head>>8))
	default:
		binary.LittleEndian.PutUint64(b[:], k.head)
		return append(dst, b[:n]...)
	}
}

// termTable finds the terms of a field: open addressing, by hash.
type termTable struct {
	slots  []uint64 // high half: of the hash; low half: number of the term + 1
	states []termState
	text   []byte
}

// slot is the first slot that a term of a hash may have.
func (t *termTable) slot(hash uint64) uint64 {
	if len(t.slots) == 0 {
		return 0
	}
	return t.slots[hash&uint64(len(t.slots)-1)]
}

// find gives the number of a term, which may be new.
func (t *termTable) find(term []byte, key termKey) (n uint32, isNew bool) {
	if 2*len(t.states) >= len(t.slots) {
		t.grow()
	}
	mask := uint64(len(t.slots) - 1)
	for i := key.hash & mask; ; i = (i + 1) & mask {
		slot := t.slots[i]
		if slot == 0 {
			t.slots[i] = key.hash&^0xffffffff | uint64(len(t.states)+1)
			t.states = append(t.states, termState{key: key, text: uint32(len(t.text)), doc: End})
			t.text = append(t.text, term...)
			return uint32(len(t.states) - 1), true
		}
		if (slot^key.hash)>>32 == 0 {
			n := uint32(slot) - 1
			if t.states[n].key == key && (key.size <= short || bytes.Equal(t.term(n), term)) {
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
		h := t.states[n].key.hash
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
	return t.text[s.text : s.text+s.key.size]
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
