package segment_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// sample is some documents with something of everything.
func sample(t testing.TB, documents int) []byte {
	b := segment.NewBuilder()
	field := func(name string) *segment.FieldBuilder {
		f, err := b.Field(name, specs[name])
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	text, word, number, date, value := field("text"), field("word"), field("number"), field("date"), field("value")
	for i := range documents {
		if i%4 == 1 {
			word.Term([]byte("child"))
			b.EndChild("items")
		}
		n := uint32(0)
		for _, w := range []string{"the", "quick", fmt.Sprint("fox", i%7), "the", fmt.Sprint("only", i)} {
			text.Token([]byte(w), n*uint32(1+i%3*100))
			n++
		}
		text.Length(n)
		word.Term(fmt.Appendf(nil, "w%d", i%5))
		if i%3 == 0 {
			word.Term([]byte("third"))
			value.Term([]byte("v"))
			date.Number(int64(i) * 1000)
		}
		number.Number(int64(i*i) - 3)
		b.EndRoot(segment.Identity{Key: routing.Key(uint64(i) << 58), ID: fmt.Sprint("id", i), SeqNo: int64(i * 2)})
	}
	data, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// read opens a segment and gives its text form, or the error.
func read(data []byte, lines int) (text string, err error) {
	s, err := segment.Open(data)
	if err != nil {
		return "", err
	}
	err = segment.Guard(func() error {
		text = dump(s, lines)
		return nil
	})
	return text, err
}

func isDamaged(err error) bool {
	var d *segment.Damaged
	return errors.As(err, &d) && fault.Is(err, fault.Corrupt)
}

func TestEveryDamagedByteIsFoundOrMeansNothing(t *testing.T) {
	for _, documents := range []int{0, 1, 30} {
		good := sample(t, documents)
		want, err := read(good, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		for i := range good {
			for _, flip := range []byte{1, 0x80, 0xff} {
				bad := bytes.Clone(good)
				bad[i] ^= flip
				if text, err := read(bad, 1<<20); err == nil && text != want || err != nil && !isDamaged(err) {
					t.Fatalf("byte %d of %d with %x: %v\n%s", i, len(good), flip, err, text)
				}
			}
		}
	}
}

func TestEveryCutFileIsDamaged(t *testing.T) {
	good := sample(t, 20)
	for n := range good {
		if _, err := read(good[:n], 1<<20); !isDamaged(err) {
			t.Fatalf("%d of %d bytes: %v", n, len(good), err)
		}
		if _, err := read(good[n+1:], 1<<20); !isDamaged(err) {
			t.Fatalf("%d of %d bytes at the end: %v", n, len(good), err)
		}
	}
}

func TestAVersionThatIsNotKnownIsRefused(t *testing.T) {
	data := sample(t, 1)
	data[len(data)-16]++
	foot := data[len(data)-48:]
	binary.LittleEndian.PutUint32(foot[36:], crc32.Checksum(foot[:36], crc32.MakeTable(crc32.Castagnoli)))
	if _, err := segment.Open(data); !fault.Is(err, fault.Refused) {
		t.Fatal(err)
	}
}

// reseal makes the checksums of a file right again, as far as it has the form of one: what
// is behind them is then trusted by no reader either.
func reseal(data []byte) {
	if len(data) < 72 {
		return
	}
	table := crc32.MakeTable(crc32.Castagnoli)
	foot := data[len(data)-48:]
	body, tail := binary.LittleEndian.Uint64(foot), binary.LittleEndian.Uint64(foot[8:])
	if size := uint64(len(data)); body > size || tail > size || body+tail+48 != size {
		return
	}
	for p := uint64(0); p*32768 < body && 4*p+4 <= tail; p++ {
		page := data[p*32768 : min(body, (p+1)*32768)]
		binary.LittleEndian.PutUint32(data[body+4*p:], crc32.Checksum(page, table))
	}
	binary.LittleEndian.PutUint32(foot[24:], crc32.Checksum(data[body:body+tail], table))
	binary.LittleEndian.PutUint32(foot[36:], crc32.Checksum(foot[:36], table))
}

// survive opens and merges a hostile file. Only errors may come of it.
func survive(t testing.TB, data []byte) {
	s, err := segment.Open(data)
	if err != nil {
		if !isDamaged(err) && !fault.Is(err, fault.Refused) {
			t.Fatalf("%v", err)
		}
		return
	}
	err = segment.Guard(func() error {
		dump(s, 2000)
		return nil
	})
	if err != nil && !isDamaged(err) {
		t.Fatalf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	views := []segment.View{{Segment: s}, {Segment: s, Hidden: segment.NewBits(s.Docs())}}
	if s.Docs() > 0 {
		views[1].Hidden.Set(0)
	}
	to := &limited{left: 1 << 22, full: cancel}
	if err := segment.Merge(ctx, to, views); err != nil && !isDamaged(err) && !fault.Is(err, fault.Limit) &&
		!errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
}

// limited takes so many bytes, and then ends the merge.
type limited struct {
	left int
	full func()
}

func (l *limited) Write(b []byte) (int, error) {
	if l.left -= len(b); l.left < 0 {
		l.full()
	}
	return len(b), nil
}

func TestBytesWithGoodChecksumsAreNotTrusted(t *testing.T) {
	good := sample(t, 12)
	flips := []byte{1, 2, 0x7f, 0x80, 0xff}
	if testing.Short() {
		flips = flips[2:4]
	}
	for i := range good {
		for _, flip := range flips {
			bad := bytes.Clone(good)
			bad[i] ^= flip
			reseal(bad)
			survive(t, bad)
		}
	}
}

// FuzzOpen changes single bytes of good files: each three of the patches say where, and
// what to. With the greatest base the patches are the file.
func FuzzOpen(f *testing.F) {
	var bases [][]byte
	for i, n := range []int{0, 1, 5, 140} {
		bases = append(bases, sample(f, n))
		f.Add(byte(i), []byte{0, 20, 1, 200, 1, 255})
		f.Add(byte(255), sample(f, n))
	}
	f.Fuzz(func(t *testing.T, base byte, patches []byte) {
		if base == 255 {
			survive(t, patches)
			reseal(patches)
			survive(t, patches)
			return
		}
		data := bytes.Clone(bases[int(base)%len(bases)])
		for ; len(patches) >= 3; patches = patches[3:] {
			data[int(binary.LittleEndian.Uint16(patches))%len(data)] = patches[2]
		}
		reseal(data)
		survive(t, data)
	})
}

func FuzzReadBits(f *testing.F) {
	for _, n := range []int{0, 1, 100, 100_000} {
		b := segment.NewBits(n)
		for i := 0; i < n; i += 1 + i/7 {
			b.Set(segment.Doc(i))
		}
		f.Add(b.AppendTo(nil), n)
	}
	f.Fuzz(func(t *testing.T, data []byte, docs int) {
		docs = max(0, min(docs, 1<<20))
		if len(data) > 4 {
			body := data[:len(data)-4]
			binary.LittleEndian.PutUint32(data[len(body):], crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
		}
		b, err := segment.ReadBits(data, docs)
		if err != nil {
			if !isDamaged(err) {
				t.Fatal(err)
			}
			return
		}
		again, err := segment.ReadBits(b.AppendTo(nil), docs)
		if err != nil || fmt.Sprint(again.Words()) != fmt.Sprint(b.Words()) {
			t.Fatalf("read again: %v", err)
		}
	})
}

func TestGuardLetsOtherPanicsPass(t *testing.T) {
	for _, what := range []any{"else", errors.New("else")} {
		func() {
			defer func() {
				if p := recover(); p != what {
					t.Fatalf("%v", p)
				}
			}()
			_ = segment.Guard(func() error { panic(what) })
		}()
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Fatal("a mistake of ours was taken for damage")
			}
		}()
		var none []int
		_ = segment.Guard(func() error { return fmt.Errorf("%d", none[len(none)]) })
	}()
	want := errors.New("mine")
	if err := segment.Guard(func() error { return want }); err != want {
		t.Fatal(err)
	}
}
