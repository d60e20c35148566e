package embedded

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// TestSourcesArePackedWhereItIsWorthIt packs sources of many sorts in one group.
func TestSourcesArePackedWhereItIsWorthIt(t *testing.T) {
	text := strings.Repeat("the quick brown fox jumps over a lazy dog; ", 20)
	noise := make([]byte, 4000)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	varied := func(n int) []byte { // letters without repetition
		b := make([]byte, n)
		for i := range b {
			b[i] = "etaoin shrdlu"[rand.IntN(13)]
		}
		return b
	}
	cases := []struct {
		name   string
		source []byte
		delete bool
		packed bool
	}{
		{"repetitions", []byte(text), false, true},
		{"letters", varied(1000), false, true},
		{"many letters", varied(3 << 20), false, true},
		{"noise", noise, false, false},
		{"small", []byte(text[:minPacked-1]), false, false},
		{"nothing", nil, false, false},
		{"nothing but one letter", bytes.Repeat([]byte("a"), 1<<20), false, false},
		{"a delete", []byte(text), true, false},
		{"the last one", []byte(text), false, true},
	}
	var ops []shard.Op
	for _, c := range cases {
		ops = append(ops, shard.Op{Source: c.source, Delete: c.delete})
	}
	p := pack(ops)
	defer p.release()
	for i, c := range cases {
		stored := p.of(i)
		if c.packed != (len(stored) > 0) || c.packed && len(stored)*8 > len(c.source)*7 {
			t.Errorf("%s: %d bytes are stored of %d", c.name, len(stored), len(c.source))
		}
		if !c.packed {
			continue
		}
		if back, err := unpack(nil, stored, len(c.source)); err != nil || !bytes.Equal(back, c.source) {
			t.Errorf("%s: %d bytes come back: %v", c.name, len(back), err)
		}
		for what, torn := range map[string][]byte{"torn": stored[:len(stored)-1], "more": append(bytes.Clone(stored), 0)} {
			if _, err := unpack(nil, torn, len(c.source)); !fault.Is(err, fault.Corrupt) {
				t.Errorf("%s: %s: %v", c.name, what, err)
			}
		}
		for _, size := range []int{len(c.source) - 1, len(c.source) + 1, 1 << 40} {
			if _, err := unpack(nil, stored, size); !fault.Is(err, fault.Corrupt) {
				t.Errorf("%s: %d bytes are expected: %v", c.name, size, err)
			}
		}
	}
}

// FuzzUnpack: what is no packed source is damage, and takes no more memory than its
// length allows.
func FuzzUnpack(f *testing.F) {
	p := pack([]shard.Op{{Source: []byte(strings.Repeat("some words, ", 100))}})
	f.Add(bytes.Clone(p.of(0)), 1200)
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, 100)
	f.Fuzz(func(t *testing.T, data []byte, size int) {
		if size < 0 {
			return
		}
		source, err := unpack(nil, data, size)
		if !torn(t, err) && len(source) != size {
			t.Errorf("%d bytes of %d", len(source), size)
		}
	})
}
