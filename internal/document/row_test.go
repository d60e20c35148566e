package document_test

import (
	"bytes"
	"testing"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
)

func TestRowsComeBackFromTheirPage(t *testing.T) {
	rows := []document.Row{
		{Key: 0, Version: 0, ID: []byte("a"), Source: []byte(`{"n":1}`)},
		{Key: 1<<64 - 1, Version: 1<<63 - 1, ID: []byte("\x00\xff"), Routing: []byte("r\n"), Source: []byte("{\r\n}")},
		{Key: 7, Version: -1, ID: []byte("no source")},
	}
	var page []byte
	for i := range rows {
		page = rows[i].Append(page)
	}
	page = document.EndRows(page)
	left := page
	for i := range rows {
		var got document.Row
		var err error
		if left, err = got.Read(left); err != nil || !same(&got, &rows[i]) {
			t.Fatalf("row %d is %+v: %v", i, got, err)
		}
		key, id, err := document.ParsePlace(got.Place())
		if key != rows[i].Key || id != string(rows[i].ID) || err != nil {
			t.Errorf("its place is %x %q: %v", key, id, err)
		}
	}
	var end document.Row
	if left, err := end.Read(left); left != nil || err != nil || end.ID != nil {
		t.Errorf("the end is %+v, with %d bytes left: %v", end, len(left), err)
	}
	for cut := range page { // wherever it is cut
		if n, err := count(page[:cut]); !fault.Is(err, fault.Corrupt) {
			t.Fatalf("of %d bytes %d rows are a whole page: %v", cut, n, err)
		}
	}
	for _, text := range []string{"", "AAAAAAAAAAA", "AAAAAAAAAAA*", "not a place", "AAAAAAAAAAB="} {
		if _, _, err := document.ParsePlace(text); !fault.Is(err, fault.Usage) {
			t.Errorf("%q is a place: %v", text, err)
		}
	}
}

func same(a, b *document.Row) bool {
	return a.Key == b.Key && a.Version == b.Version && bytes.Equal(a.ID, b.ID) && bytes.Equal(a.Routing, b.Routing) && bytes.Equal(a.Source, b.Source)
}

// count reads a page to its end.
func count(page []byte) (n int, err error) {
	var r document.Row
	for ; ; n++ {
		if page, err = r.Read(page); err != nil || page == nil {
			return n, err
		}
	}
}

// FuzzRow: what is read as a row is written as the same bytes.
func FuzzRow(f *testing.F) {
	row := document.Row{Key: 3, Version: 9, ID: []byte("id"), Routing: []byte("r"), Source: []byte("{}")}
	f.Add(document.EndRows(row.Append(nil)))
	f.Add(document.EndRows(nil))
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff0123456789abcdef"))
	f.Fuzz(func(t *testing.T, page []byte) {
		var r document.Row
		left, err := r.Read(page)
		if err != nil || left == nil {
			return
		}
		if again := append(r.Append(nil), left...); !bytes.Equal(again, page) {
			t.Fatalf("% x is read as % x", page, again)
		}
	})
}
