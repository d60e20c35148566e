package lucene

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
)

// written is what a program that used Lucene itself said of the index that it
// wrote: for each document, by its column id, whether it is live, and all columns.
type written struct {
	names  []string
	state  []string
	values [][]string // "-": none
}

func readWritten(t testing.TB, folder string) written {
	t.Helper()
	f, err := os.Open(filepath.Join(folder, "expected.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var w written
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if w.names == nil {
			w.names = words[1:]
			continue
		}
		w.state, w.values = append(w.state, words[0]), append(w.values, words[1:])
	}
	return w
}

// unread names the doc values of test indexes that are too old to read.
var unread = map[string]string{"lucene-4.2.0": "Lucene42DocValuesMetadata"}

func TestColumnsAreThoseThatLuceneWrote(t *testing.T) {
	for _, folder := range writtenFolders(t) {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			w := readWritten(t, folder)
			_, segments, err := openIndex(context.Background(), loadIndex(t, folder))
			if err != nil {
				t.Fatal(err)
			}
			w.count(t, segments)
			if codec := unread[filepath.Base(folder)]; codec != "" {
				_, err := segments[0].Columns(context.Background(), "id")
				if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), codec) {
					t.Errorf("columns in an old format: %v, want a refusal that names %s", err, codec)
				}
				return
			}
			if len(w.names) == 0 {
				return
			}
			for _, s := range segments {
				w.compare(t, s)
			}
			for id, state := range w.state {
				if state != "seen" && state != "deleted" {
					t.Errorf("document %d (%s) was not found", id, state)
				}
			}
		})
	}
}

// count compares the numbers of live documents; a soft-deleted one was replaced.
func (w written) count(t *testing.T, segments []*Segment) {
	t.Helper()
	got, want := 0, 0
	for _, s := range segments {
		live, err := s.Live(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		got += s.MaxDoc - live.Deleted - live.SoftDeleted
	}
	for _, state := range w.state {
		if state != "deleted" {
			want++
		}
	}
	if got != want {
		t.Errorf("%d documents are live, Lucene wrote %d", got, want)
	}
}

// compare reads a segment and marks its documents seen.
func (w written) compare(t *testing.T, s *Segment) {
	t.Helper()
	ctx := context.Background()
	live, err := s.Live(ctx)
	if err != nil {
		t.Fatal(err)
	}
	columns, err := s.Columns(ctx, w.names...)
	if err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for doc := range s.MaxDoc {
		got := make([]string, len(w.names))
		for i := range got {
			got[i] = "-"
		}
		if err := columns.At(doc, func(i int, v int64) { got[i] = strconv.FormatInt(v, 10) }); err != nil {
			t.Fatal(err)
		}
		id, err := strconv.Atoi(got[0])
		if err != nil {
			continue // a document that replaced another has no columns
		}
		if live.Docs.Has(doc) != (w.state[id] == "live") {
			t.Errorf("%s: document %d, which is %s, is taken for live: %v", s.Name, id, w.state[id], live.Docs.Has(doc))
		}
		if w.state[id] == "deleted" {
			continue // later updates pass it by
		}
		w.state[id] = "seen"
		for i, v := range w.values[id] {
			if got[i] != v && wrong < 20 {
				wrong++
				t.Errorf("%s: document %d: %s is %s, Lucene wrote %s", s.Name, id, w.names[i], got[i], v)
			}
		}
	}
	if err := columns.Finish(); err != nil {
		t.Error(err)
	}
}
