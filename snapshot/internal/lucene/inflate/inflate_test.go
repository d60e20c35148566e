package inflate

import (
	"bytes"
	"compress/flate"
	"io"
	"math/rand/v2"
	"testing"

	library "github.com/klauspost/compress/flate"

	"github.com/reshelve/reshelve/snapshot/internal/lucene/lucenetest"
)

// standard inflates by compress/flate: the output, and how many bytes it took.
func standard(src, dictionary []byte) ([]byte, int, error) {
	in := bytes.NewReader(src)
	out, err := io.ReadAll(io.LimitReader(flate.NewReaderDict(in, dictionary), 1<<20))
	return out, len(src) - in.Len(), err
}

// check decodes src as a Decoder does that has the promise of length bytes, and
// compares it with compress/flate.
func check(t *testing.T, z *Decoder, src, dictionary []byte, length, room int) {
	t.Helper()
	want, wantUsed, wantErr := standard(src, dictionary)
	end := len(dictionary) + length
	dst := append(bytes.Clone(dictionary), make([]byte, length+room)...)
	used, err := z.Decode(dst, len(dictionary), end, src)
	if wantErr != nil || len(want) != length {
		if err == nil {
			t.Fatalf("accepted, but compress/flate makes %d of %d bytes, %v", len(want), length, wantErr)
		}
		return
	}
	if err != nil || used != wantUsed {
		t.Fatalf("%d bytes used, compress/flate %d; %v", used, wantUsed, err)
	}
	if !bytes.Equal(dst[len(dictionary):end], want) || !bytes.Equal(dst[:len(dictionary)], dictionary) {
		t.Fatal("different bytes")
	}
}

func TestBlocksOfLuceneInflateAsByTheStandardLibrary(t *testing.T) {
	z := new(Decoder)
	for _, b := range lucenetest.Blocks(t) {
		for _, room := range []int{0, 64} {
			check(t, z, b.Data, b.Dictionary, b.Length, room)
			check(t, z, append(bytes.Clone(b.Data), "what follows"...), b.Dictionary, b.Length, room)
			check(t, z, b.Data, b.Dictionary, b.Length-1, room)
			check(t, z, b.Data, b.Dictionary, b.Length+1, room)
			check(t, z, b.Data[:len(b.Data)-1], b.Dictionary, b.Length, room)
		}
	}
}

func TestContentsOfEveryKindAtEveryLevel(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 70_000)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	few := bytes.Clone(noise)
	for i := range few {
		few[i] = few[i] >> 6 * few[i] >> 7
	}
	z := new(Decoder)
	for name, content := range map[string][]byte{
		"nothing":    nil,
		"one byte":   {7},
		"one letter": bytes.Repeat([]byte{'a'}, 100_000),
		"two":        bytes.Repeat([]byte("ab"), 50_000),
		"seven":      bytes.Repeat([]byte("abcdefg"), 9000),
		"noise":      noise,
		"few":        few,
		"text":       bytes.Repeat([]byte(`{"name":"a value","number":12345,"list":[true,false,null]}`+"\n"), 999),
		"mixed":      append(bytes.Repeat([]byte("text "), 8000), noise...),
	} {
		for level := -2; level <= 9; level++ {
			for _, dictionary := range [][]byte{nil, []byte(`"number":12345`), noise[:40_000]} {
				var packed bytes.Buffer
				w, err := flate.NewWriterDict(&packed, level, dictionary)
				if err != nil {
					t.Fatal(err)
				}
				w.Write(content[:len(content)/3])
				w.Flush()
				w.Write(content[len(content)/3:])
				w.Close()
				t.Run(name, func(t *testing.T) { check(t, z, packed.Bytes(), dictionary, len(content), level&1*64) })
			}
		}
	}
}

func TestDamageIsFoundWhereTheStandardLibraryFindsIt(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	z := new(Decoder)
	all := lucenetest.Blocks(t)
	for range 3000 {
		b := all[random.IntN(len(all))]
		src := bytes.Clone(b.Data[:min(len(b.Data), 1+random.IntN(2000))])
		for range 1 + random.IntN(3) {
			src[random.IntN(min(len(src), 1+random.IntN(400)))] ^= 1 << random.IntN(8)
		}
		length := b.Length
		if out, _, err := standard(src, b.Dictionary); err == nil {
			length = len(out)
		}
		check(t, z, src, b.Dictionary, length, 0)
	}
}

// FuzzInflate compares with compress/flate, both for validity and for output.
func FuzzInflate(f *testing.F) {
	for _, b := range lucenetest.Blocks(f) {
		if len(b.Data) < 8000 {
			f.Add(b.Data, b.Dictionary[:min(len(b.Dictionary), 2000)])
		}
	}
	for _, src := range []string{"\x03\x00", "\x01\x01\x00\xfe\xffa", "\x4b\x84\x00\x00", "\x05\xc0\x81\x00\x00\x00\x00\x00\x90\xff\x6b\x04"} {
		f.Add([]byte(src), []byte("dictionary"))
	}
	z := new(Decoder)
	f.Fuzz(func(t *testing.T, src, dictionary []byte) {
		want, _, _ := standard(src, dictionary)
		if len(want) == 1<<20 {
			return
		}
		check(t, z, src, dictionary, len(want), len(src)%80)
	})
}

func BenchmarkInflate(b *testing.B) {
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
		z := new(Decoder)
		for b.Loop() {
			for _, x := range all {
				copy(dst, x.Dictionary)
				if _, err := z.Decode(dst, len(x.Dictionary), len(x.Dictionary)+x.Length, x.Data); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("klauspost", func(b *testing.B) {
		b.SetBytes(total)
		z := library.NewReader(nil)
		for b.Loop() {
			for _, x := range all {
				z.(library.Resetter).Reset(bytes.NewReader(x.Data), x.Dictionary)
				if _, err := io.ReadFull(z, dst[:x.Length]); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
