package cluster_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// rowed is a store of ours with documents by number, that gives them in pages of two rows. The
// page behind cut is torn.
type rowed struct {
	docs int
	cut  string
}

func (s rowed) RoundTrip(r *http.Request) (*http.Response, error) {
	switch {
	case strings.Contains(r.URL.Path, "_settings"):
		return answer(r, 200, `{"a":{"settings":{"index.number_of_shards":"3"}}}`), nil
	case strings.HasSuffix(r.URL.Path, "point_in_time"):
		return answer(r, 200, `{"pit_id":"p1"}`), nil
	case r.URL.Path == "/_search":
		return answer(r, 200, `{"pit_id":"p1","hits":{"total":{"value":`+fmt.Sprint(s.docs)+`}}}`), nil
	case r.URL.Path != "/_reshelve/rows":
		return answer(r, 200, `{"version":{"distribution":"opensearch","number":"2.19.0","build_type":"reshelve"}}`), nil
	}
	first := 0
	after := r.URL.Query().Get("after")
	if after != "" {
		key, _, err := document.ParsePlace(after)
		if err != nil {
			return nil, err
		}
		first = int(key) + 1
	}
	var page []byte
	for i := first; i < min(first+2, s.docs); i++ {
		row := document.Row{Key: uint64(i), ID: fmt.Append(nil, i), Version: 3, Source: []byte(`{}`)}
		page = row.Append(page)
	}
	page = document.EndRows(page)
	if s.cut != "" && after == s.cut {
		page = page[:len(page)-1]
	}
	return &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: int64(len(page)), Body: io.NopCloser(bytes.NewReader(page)), Request: r}, nil
}

// TestRowsGoOnBehindEachDocument: at the end of a page too, and in its midst.
func TestRowsGoOnBehindEachDocument(t *testing.T) {
	c := cluster.Via(rowed{docs: 5}, "x")
	scan, err := c.OpenScan(t.Context(), "a", cluster.ScanOptions{Slices: 4})
	must(t, err)
	if scan.Slices() != 4 {
		t.Errorf("%d slices: rows need not be parted by shards", scan.Slices())
	}
	for stops := range 7 {
		slice := scan.Slice(0, "")
		var got []string
		for n := 0; ; n++ {
			if n == stops {
				slice = scan.Slice(0, slice.Cursor())
			}
			doc, err := slice.Next(t.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			must(t, err)
			got = append(got, string(doc.ID))
		}
		if strings.Join(got, " ") != "0 1 2 3 4" {
			t.Errorf("gone on with behind %d: %q", stops, got)
		}
		if slice.Cursor() != (&document.Row{Key: 4, ID: []byte("4")}).Place() {
			t.Errorf("gone on with behind %d it stands at %q", stops, slice.Cursor())
		}
	}
	if n, err := scan.Shown(t.Context()); n != 5 || err != nil {
		t.Errorf("searches find %d: %v", n, err)
	}
}

// TestAPageOfRowsThatIsTorn is no page, and what was before it counts.
func TestAPageOfRowsThatIsTorn(t *testing.T) {
	c := cluster.Via(rowed{docs: 5, cut: (&document.Row{Key: 3, ID: []byte("3")}).Place()}, "x")
	scan, err := c.OpenScan(t.Context(), "a", cluster.ScanOptions{})
	must(t, err)
	n, err := walk(t, scan.Slice(0, ""))
	if n != 5 || !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "a page of a is not what a store answers") {
		t.Errorf("%d documents: %v", n, err)
	}
}
