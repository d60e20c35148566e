package gateway

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

var books = []column{
	{"index", "i,idx", "index name", 0},
	{"docs.count", "dc,docsCount", "available docs", right},
	{"segments.count", "sc", "number of segments", right | hidden},
	{"pri.segments.count", "", "number of segments", right | hidden},
	{"store.size", "ss,storeSize", "store size", right},
	{"took", "t,i", "how long", hidden},
}

func booksTable() table {
	return table{books, [][]any{
		{"longer-name", int64(0), 0, 0, size(208), time.Duration(0)},
		{"c1", int64(30), 1, 1, size(4531), 1500 * time.Millisecond},
		{"closed", nil, nil, nil, nil, nil},
	}}
}

func TestATableAsText(t *testing.T) {
	for _, tc := range []struct {
		about string
		view  tableView
		want  string
	}{
		{"all that is not hidden", tableView{}, "longer-name  0  208b\nc1          30 4.4kb\nclosed              \n"},
		{"headings", tableView{headings: true},
			"index       docs.count store.size\nlonger-name          0       208b\nc1                  30      4.4kb\nclosed                           \n"},
		{"aliases show as they were asked for", tableView{headings: true, named: true, h: "dc,idx"},
			"dc idx\n 0 longer-name\n30 c1\n   closed\n"},
		{"a pattern means names and aliases, once", tableView{headings: true, named: true, h: "index,*.count,index"},
			"index       docs.count segments.count pri.segments.count\nlonger-name          0              0                  0\n" +
				"c1                  30              1                  1\nclosed                                                  \n"},
		{"unknown columns are left out", tableView{named: true, h: "nope,index"}, "longer-name\nc1\nclosed\n"},
		{"no known column at all", tableView{headings: true, named: true, h: ""}, "\n\n\n\n"},
		{"of several columns with an alias the last counts", tableView{named: true, h: "i"}, "0s\n1.5s\n\n"},
		{"units", tableView{named: true, h: "ss,took", bytes: "kb", time: "ms"}, "0 0\n4 1500\n  \n"},
		{"an unknown unit is none", tableView{named: true, h: "ss", bytes: "nope"}, " 208b\n4.4kb\n     \n"},
		{"siblings", tableView{named: true, h: "sc", siblings: true}, "0 0\n1 1\n   \n"},
		{"sorted, nothing first", tableView{named: true, h: "index", sorted: true, s: "dc"}, "closed\nlonger-name\nc1\n"},
		{"sorted by size, not by letters", tableView{named: true, h: "index", sorted: true, s: "ss:desc,index"}, "c1\nlonger-name\nclosed\n"},
		{"sorted by name", tableView{named: true, h: "index", sorted: true, s: "index:asc"}, "c1\nclosed\nlonger-name\n"},
	} {
		books := booksTable()
		if err := books.sort(tc.view); err != nil {
			t.Errorf("%s: %v", tc.about, err)
			continue
		}
		if got := string(books.appendText(nil, tc.view)); got != tc.want {
			t.Errorf("%s:\n%q, want\n%q", tc.about, got, tc.want)
		}
	}
}

func TestAnUnknownSortKeyIsRefused(t *testing.T) {
	books := booksTable()
	err := books.sort(tableView{sorted: true, s: "index,index:nope"})
	if err == nil || !strings.Contains(err.Error(), "Unable to sort by unknown sort key `index:nope`") {
		t.Error(err)
	}
}

func TestATableAsJSON(t *testing.T) {
	books := booksTable()
	got := string(appendJSON(nil, books.rowsJSON(tableView{named: true, h: "i*,dc"})))
	want := `[{"index":"longer-name","took":"0s","dc":"0"},{"index":"c1","took":"1.5s","dc":"30"},{"index":"closed","took":null,"dc":null}]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestHelpAlignsItsColumns(t *testing.T) {
	help := table{columns: []column{{"epoch", "t,time", "seconds since 1970-01-01 00:00:00", 0}, {"count", "dc,docs.count,docsCount", "the document count", right}}}
	want := "epoch | t,time                  | seconds since 1970-01-01 00:00:00\n" +
		"count | dc,docs.count,docsCount | the document count               \n"
	if got := string(help.appendHelp(nil)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// FuzzTable asks for any columns in any order: every line has all columns, and
// nothing panics.
func FuzzTable(f *testing.F) {
	f.Add("index,dc", "dc:desc", "b", "ms", true)
	f.Add("*", "index", "kb", "s", false)
	f.Add("i*,*.count,,ss", "nope", "", "", true)
	f.Fuzz(func(t *testing.T, h, s, bytes, unit string, headings bool) {
		books := booksTable()
		v := tableView{h: h, s: s, named: true, sorted: true, bytes: bytes, time: unit, headings: headings, siblings: true}
		if err := books.sort(v); err != nil {
			return
		}
		text := string(books.appendText(nil, v))
		lines := len(books.rows)
		if headings {
			lines++
		}
		if strings.Count(text, "\n") < lines {
			t.Errorf("%d rows gave %q", lines, text)
		}
		if utf8.ValidString(h) && !utf8.ValidString(text) {
			t.Errorf("not UTF-8: %q", text)
		}
		if len(books.rowsJSON(v)) != len(books.rows) {
			t.Error("rows were lost")
		}
	})
}
