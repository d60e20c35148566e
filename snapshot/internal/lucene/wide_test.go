package lucene

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
)

// wideColumns are the columns of the test indexes in testdata/wide, 200,000
// documents that fill several blocks of each kind: what document doc has.
var wideColumns = map[string]func(doc int) (int64, bool){
	// Two dense blocks and half a one; values in blocks of different bits, all
	// divisible by 1000.
	"third": func(doc int) (int64, bool) {
		k := doc / 3
		switch {
		case k < 16384:
			k = 5
		case k < 32768:
			k %= 2
		default:
			k %= 4096
		}
		return int64(1000 * k), doc%3 == 1
	},
	// A full block, a missing one before it, sparse ones after it.
	"run": func(doc int) (int64, bool) {
		return int64(doc % 2), doc >= 65536 && doc < 131072 || doc == 150001 || doc == 199999
	},
	// Few documents, at uneven distances, ascending values.
	"rare": func(doc int) (int64, bool) { return int64(doc), doc%300 == doc/300*doc/300%250 },
}

func openWide(t *testing.T, folder string) (noted, *Segment, []string) {
	t.Helper()
	m := loadIndex(t, folder)
	_, segments, err := openIndex(context.Background(), m)
	if err != nil || len(segments) != 1 {
		t.Fatal(segments, err)
	}
	var names []string
	for _, f := range segments[0].Fields {
		names = append(names, f.Name)
	}
	return m, segments[0], names
}

// readWide compares the columns of every step-th document.
func readWide(t *testing.T, s *Segment, names []string, step int) error {
	columns, err := s.Columns(context.Background(), names...)
	for doc := 0; err == nil && doc < s.MaxDoc; doc += step {
		got := map[string]int64{}
		err = columns.At(doc, func(i int, v int64) { got[names[i]] = v })
		for _, name := range names {
			want, ok := wideColumns[name](doc)
			v, has := got[name]
			if err == nil && (has != ok || (ok && v != want)) {
				t.Errorf("document %d: %s is %d (%v), want %d (%v)", doc, name, v, has, want, ok)
				return nil
			}
		}
	}
	if err == nil {
		err = columns.Finish()
	}
	return err
}

func TestColumnsOfManyBlocks(t *testing.T) {
	folders, _ := filepath.Glob("testdata/wide/*")
	if len(folders) == 0 {
		t.Fatal("no test data")
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			_, s, names := openWide(t, folder)
			for _, step := range []int{1, 7, 40_001, 70_000} {
				if err := readWide(t, s, names, step); err != nil {
					t.Error(err)
				}
			}
			withLongFiles(t, 128)
			for _, step := range []int{1, 7, 40_001, 70_000} {
				if err := readWide(t, s, names, step); err != nil {
					t.Error("in windows:", err)
				}
			}
		})
	}
}

func TestABlockThatPromisesOtherDocumentsIsCorrupt(t *testing.T) {
	for _, folder := range []string{"testdata/wide/lucene-7.7.3", "testdata/wide/lucene-8.11.3", "testdata/wide/lucene-10.3.2"} {
		m, s, _ := openWide(t, folder)
		field, _ := s.Field("third")
		d, err := s.openDocValues(context.Background(), field)
		if err != nil {
			t.Fatal(err)
		}
		n, err := d.numeric(field)
		if err != nil {
			t.Fatal(err)
		}
		dense := append([]byte{}, m.files[d.name]...)
		dense[n.presence.docs.offset+5000] ^= 1 // a bit of the first block
		broken := *s
		broken.inner = m.with(d.name, refoot(dense))
		if err := readWide(t, &broken, []string{"third"}, 1); !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), d.name+": offset ") {
			t.Errorf("%s: %v", folder, err)
		}
	}
}
