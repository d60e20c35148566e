package lucene

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// zstdFrame is content as one frame, with the raw dictionary if there is one.
func zstdFrame(t testing.TB, content, dictionary []byte, options ...zstd.EOption) []byte {
	if len(dictionary) > 0 {
		options = append(options, zstd.WithEncoderDictRaw(0, dictionary))
	}
	e, err := zstd.NewWriter(nil, append(options, zstd.WithEncoderConcurrency(1))...)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	return e.EncodeAll(content, nil)
}

// words is text of n bytes that repeats itself here and there.
func words(n int) []byte {
	random := rand.New(rand.NewPCG(5, 6))
	var text []byte
	for len(text) < n {
		text = fmt.Appendf(text, "word%d ", random.IntN(3000))
	}
	return text[:n]
}

func TestZstdFramesWithAndWithoutDictionary(t *testing.T) {
	text := words(5<<20 + 300_000)
	z := &zstdDecoder{}
	defer z.close()
	for _, dictionary := range [][]byte{nil, text[:1], text[:8000], text[:300_000]} {
		z.useDictionary(dictionary)
		for _, n := range []int{1, 100, 48_000, 200_000, 5 << 20} {
			for _, checksum := range []bool{false, true} {
				start, end := len(dictionary), len(dictionary)+n
				content := text[start:end]
				frame := zstdFrame(t, content, dictionary, zstd.WithEncoderCRC(checksum))
				dst, err := z.decode(bytes.Clone(dictionary), start, end, frame)
				if err != nil || !bytes.Equal(dst[start:end], content) || !bytes.Equal(dst[:start], dictionary) {
					t.Fatalf("dictionary of %d, frame of %d, checksum %v: %v", start, n, checksum, err)
				}
				for _, other := range []int{-1, 1} {
					if _, err := z.decode(bytes.Clone(dictionary), start, end+other, frame); err == nil {
						t.Fatalf("dictionary of %d, frame of %d: %d more bytes were had from it", start, n, other)
					}
				}
				if _, err := z.decode(bytes.Clone(dictionary), start, end, frame[:len(frame)-5]); err == nil {
					t.Fatalf("dictionary of %d, frame of %d: a cut frame was accepted", start, n)
				}
				if _, err := z.decode(bytes.Clone(dictionary), start, end, append(frame, 1)); err == nil {
					t.Fatalf("dictionary of %d, frame of %d: a longer frame was accepted", start, n)
				}
			}
		}
	}
}

func TestAFrameForAnotherDictionaryIsNotAccepted(t *testing.T) {
	text := words(10_000)
	e, err := zstd.NewWriter(nil, zstd.WithEncoderDictRaw(7, text[:5000]))
	if err != nil {
		t.Fatal(err)
	}
	frame := e.EncodeAll(text[5000:], nil)
	z := &zstdDecoder{}
	defer z.close()
	z.useDictionary(text[:5000])
	if _, err := z.decode(bytes.Clone(text[:5000]), 5000, 10_000, frame); err == nil {
		t.Fatal("accepted")
	}
}
