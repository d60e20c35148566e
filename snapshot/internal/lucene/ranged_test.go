package lucene

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
)

// withLongFiles makes every file one that is read in windows of the given size.
func withLongFiles(t testing.TB, window int64) {
	whole, size := wholeFile, windowSize
	wholeFile, windowSize = -1, window
	t.Cleanup(func() { wholeFile, windowSize = whole, size })
}

func TestLongFilesGiveTheSameColumns(t *testing.T) {
	for _, window := range []int64{3, 1000} {
		withLongFiles(t, window)
		TestColumnsHoldTheVersionsThatTheServerTold(t)
		TestSegmentsHaveTheDocumentsThatTheServerCounted(t)
		TestColumnsAreThoseThatLuceneWrote(t)
	}
}

func TestColumnsReadEachByteOfALongFileOnce(t *testing.T) {
	ctx := context.Background()
	withLongFiles(t, 64)
	for _, folder := range testFolders(t) {
		m := loadIndex(t, folder)
		m.reads = new([]readNote)
		_, segments, err := openIndex(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range segments {
			columns, err := s.Columns(ctx, "_version", "_seq_no", "_primary_term")
			if err != nil {
				t.Fatal(err)
			}
			*m.reads = nil
			for doc := range s.MaxDoc {
				if err := columns.At(doc, func(int, int64) {}); err != nil {
					t.Fatal(err)
				}
			}
			if err := columns.Finish(); err != nil {
				t.Fatal(err)
			}
			// The header was read when the columns were opened.
			file := columns.files[0]
			name, from := file.name, int64(0)
			if c, ok := file.dir.(*compound); ok {
				name, from = c.file, c.members[name].offset
			}
			checkOnce(t, *m.reads, name, span{from + file.content, file.info.Length - file.content})
		}
	}
}

// checkOnce fails unless the notes cover the range of the file exactly once.
func checkOnce(t *testing.T, notes []readNote, name string, whole span) {
	t.Helper()
	slices.SortFunc(notes, func(a, b readNote) int { return cmp.Compare(a.offset, b.offset) })
	at := whole.offset
	for _, n := range notes {
		if n.file != name {
			continue
		}
		if n.offset != at {
			t.Fatalf("%s: after byte %d comes %d+%d", name, at, n.offset, n.length)
		}
		at = n.end()
	}
	if at != whole.end() {
		t.Errorf("%s: read up to %d of %d", name, at, whole.end())
	}
}

func TestAFlippedBitIsNotConfirmed(t *testing.T) {
	withLongFiles(t, 256)
	ctx := context.Background()
	random := rand.New(rand.NewPCG(3, 4))
	for _, folder := range testFolders(t) {
		m := loadIndex(t, folder)
		_, segments, err := openIndex(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range segments {
			for range 20 {
				name, at, err := flipColumns(ctx, t, m, s, random)
				switch {
				case err == nil:
					t.Errorf("%s: byte %d of %s was changed, and confirmed", folder, at, name)
				case !fault.Is(err, fault.Corrupt) && !fault.Is(err, fault.Refused):
					t.Errorf("%s: byte %d of %s: %v", folder, at, name, err)
				case !strings.Contains(err.Error(), "file "):
					t.Errorf("%v: names no file", err)
				}
			}
		}
	}
}

// flipColumns flips a bit of the file that holds the segment's columns and reads
// them all.
func flipColumns(ctx context.Context, t *testing.T, m noted, s *Segment, random *rand.Rand) (name string, at int, err error) {
	field, ok := s.Field("_version")
	if !ok {
		t.Fatal("no _version")
	}
	_, stem, _, err := s.docValuesFiles(field)
	if err != nil {
		t.Fatal(err)
	}
	name, offset, length := stem+".dvd", int64(0), int64(0)
	if c, ok := s.inner.(*compound); ok {
		offset, length = c.members[name].offset, c.members[name].length
		name = c.file
	} else {
		length = int64(len(m.files[name]))
	}
	changed := slices.Clone(m.files[name])
	at = int(offset + random.Int64N(length))
	changed[at] ^= 1 << random.IntN(8)
	broken, err := OpenSegment(ctx, m.with(name, changed), s.Commit)
	if err != nil {
		return name, at, err
	}
	columns, err := broken.Columns(ctx, "_version", "_seq_no", "_primary_term")
	for doc := 0; err == nil && doc < s.MaxDoc; doc++ {
		err = columns.At(doc, func(int, int64) {})
	}
	if err == nil {
		err = columns.Finish()
	}
	return name, at, err
}
