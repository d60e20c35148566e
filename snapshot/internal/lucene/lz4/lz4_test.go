package lz4

import (
	"bytes"
	"testing"

	oracle "github.com/pierrec/lz4/v4"

	"github.com/reshelve/reshelve/snapshot/internal/lucene/lucenetest"
)

func TestBlocksOfLuceneDecodeAsByTheReferenceLibrary(t *testing.T) {
	for i, b := range lucenetest.Blocks(t) {
		want := make([]byte, b.Length)
		n := 0
		if b.Length > 0 {
			var err error
			if n, err = oracle.UncompressBlockWithDict(b.Data, want, b.Dictionary); err != nil || n != b.Length {
				t.Fatalf("block %d: the reference: %d, %v", i, n, err)
			}
		}
		for _, room := range []int{0, 1, 7, 64} {
			for _, trailing := range []int{0, 1, 100} {
				dst := make([]byte, len(b.Dictionary)+b.Length+room)
				copy(dst, b.Dictionary)
				used, err := Decode(dst, len(b.Dictionary), len(b.Dictionary)+b.Length, append(b.Data[:len(b.Data):len(b.Data)], make([]byte, trailing)...))
				if err != nil || used != len(b.Data) {
					t.Fatalf("block %d, room %d, %d trailing bytes: %d of %d bytes used, %v", i, room, trailing, used, len(b.Data), err)
				}
				if !bytes.Equal(dst[len(b.Dictionary):][:b.Length], want) || !bytes.Equal(dst[:len(b.Dictionary)], b.Dictionary) {
					t.Fatalf("block %d, room %d: wrong bytes", i, room)
				}
			}
		}
		if used, err := Measure(b.Data, b.Length); err != nil || used != len(b.Data) {
			t.Fatalf("block %d: measured %d of %d, %v", i, used, len(b.Data), err)
		}
	}
}

func TestDamagedBlocks(t *testing.T) {
	for _, tc := range []struct {
		name  string
		src   string
		n     int
		want  error
		match string
	}{
		{"no bytes take a token", "\x00", 0, nil, ""},
		{"no bytes and no token", "", 0, ErrShort, ""},
		{"literals", "\x40abcd", 4, nil, "abcd"},
		{"literals cut", "\x40abc", 4, ErrShort, ""},
		{"too many literals", "\x40abcd", 3, ErrLong, ""},
		{"overlapping match", "\x10a\x01\x00\x30xyz", 8, nil, "aaaaaxyz"},
		{"match to the end", "\x10a\x01\x00", 5, nil, "aaaaa"},
		{"match behind the end", "\x10a\x01\x00", 4, ErrLong, ""},
		{"offset zero", "\x10a\x00\x00\x30xyz", 8, ErrOffset, ""},
		{"offset before the beginning", "\x10a\x02\x00\x30xyz", 8, ErrOffset, ""},
		{"offset cut", "\x10a\x01", 8, ErrShort, ""},
		{"long literals without length", "\xf0", 99, ErrShort, ""},
		{"long literals with endless length", "\xf0\xff\xff", 9999, ErrShort, ""},
		{"long match without length", "\x1fa\x01\x00", 99, ErrShort, ""},
		{"long match", "\x1fa\x01\x00\x01\x10b", 22, nil, "aaaaaaaaaaaaaaaaaaaaab"},
	} {
		for _, room := range []int{0, 100} {
			dst := make([]byte, tc.n+room)
			_, err := Decode(dst, 0, tc.n, []byte(tc.src))
			if err != tc.want || err == nil && string(dst[:tc.n]) != tc.match {
				t.Errorf("%s, room %d: %q, %v; want %q, %v", tc.name, room, dst[:tc.n], err, tc.match, tc.want)
			}
		}
		if _, err := Measure([]byte(tc.src), tc.n); err != tc.want && tc.want != ErrOffset {
			t.Errorf("%s: measured %v, want %v", tc.name, err, tc.want)
		}
	}
}

// FuzzLZ4 compares Decode with and without room, Measure, and a plain decoder of
// the format.
func FuzzLZ4(f *testing.F) {
	for _, b := range lucenetest.Blocks(f) {
		f.Add(b.Data, uint16(len(b.Dictionary)), uint16(b.Length), uint8(64))
	}
	f.Add([]byte("\x1fa\x01\x00\x01\x10b"), uint16(0), uint16(22), uint8(3))
	f.Fuzz(func(t *testing.T, src []byte, history, length uint16, room uint8) {
		history, length = history%4096, length%16384 // small enough to be fast
		start, end := int(history), int(history)+int(length)
		begin := make([]byte, end+int(room))
		for i := range begin {
			begin[i] = byte(i * 7)
		}
		want := bytes.Clone(begin)
		wantUsed, wantErr := plainDecode(want, start, end, src)
		got := bytes.Clone(begin)
		used, err := Decode(got, start, end, src)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%v, plainly %v", err, wantErr)
		}
		measured, measureErr := Measure(src, int(length))
		if err != nil {
			if measureErr == nil && err != ErrOffset {
				t.Fatalf("%v, but measured", err)
			}
			return
		}
		if used != wantUsed || measured != used || measureErr != nil {
			t.Fatalf("%d bytes used, plainly %d, measured %d, %v", used, wantUsed, measured, measureErr)
		}
		if !bytes.Equal(got[:end], want[:end]) {
			t.Fatal("different bytes")
		}
	})
}

// plainDecode is the format, byte by byte.
func plainDecode(dst []byte, start, end int, src []byte) (int, error) {
	d, s := start, 0
	next := func() int {
		if s++; s > len(src) {
			return -1
		}
		return int(src[s-1])
	}
	number := func(n int) int {
		for more := 255; n >= 15 && more == 255; n += more {
			if more = next(); more < 0 {
				return -1
			}
		}
		return n
	}
	for {
		token := next()
		if token < 0 {
			return s, ErrShort
		}
		literals := number(token >> 4)
		if literals < 0 || literals > end-d || literals > len(src)-s {
			return s, ErrShort
		}
		d += copy(dst[d:], src[s:s+literals])
		if s += literals; d == end {
			return s, nil
		}
		low, high := next(), next()
		match := number(token&15) + minMatch
		offset := low | high<<8
		if low < 0 || high < 0 || match < minMatch || match > end-d || offset == 0 || offset > d {
			return s, ErrShort
		}
		for range match {
			dst[d] = dst[d-offset]
			d++
		}
		if d == end {
			return s, nil
		}
	}
}

func BenchmarkLZ4(b *testing.B) {
	all := lucenetest.Blocks(b)
	var total int64
	largest := 0
	for _, x := range all {
		total += int64(x.Length)
		largest = max(largest, len(x.Dictionary)+x.Length)
	}
	dst := make([]byte, largest+64)
	b.Run("Decode", func(b *testing.B) {
		b.SetBytes(total)
		for b.Loop() {
			for _, x := range all {
				copy(dst, x.Dictionary)
				if _, err := Decode(dst, len(x.Dictionary), len(x.Dictionary)+x.Length, x.Data); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("pierrec", func(b *testing.B) {
		b.SetBytes(total)
		for b.Loop() {
			for _, x := range all {
				if _, err := oracle.UncompressBlockWithDict(x.Data, dst[:x.Length], x.Dictionary); err != nil && x.Length > 0 {
					b.Fatal(err)
				}
			}
		}
	})
}
