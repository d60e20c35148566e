package fields_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/index/analysis"
	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/date"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// line is one line of testdata/queries.jsonl: a mapping, a document, or a query with its
// answer.
type line struct {
	Mapping json.RawMessage `json:"mapping,omitempty"`
	ID      string          `json:"id,omitempty"`
	Routing string          `json:"routing,omitempty"`
	Source  json.RawMessage `json:"source,omitempty"`
	Ask     json.RawMessage `json:"ask,omitempty"`
	Found   *string         `json:"found,omitempty"` // ids, ascending
	Scored  bool            `json:"scored,omitempty"`
	Error   *told           `json:"error,omitempty"`
}

// told is the innermost error that is of the query.
type told struct {
	Type   string `json:"type"`
	Reason string `json:"reason"`
}

// readLines gives the lines of the file, those that begin with # too.
func readLines(t testing.TB) (texts []string, lines []line) {
	data, err := os.ReadFile("testdata/queries.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for text := range strings.Lines(string(data)) {
		text = strings.TrimSpace(text)
		var l line
		if !strings.HasPrefix(text, "#") {
			d := json.NewDecoder(strings.NewReader(text))
			if err := d.Decode(&l); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
		texts, lines = append(texts, text), append(lines, l)
	}
	return texts, lines
}

// tester is a *testing.T, or rapid's.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// store is documents in a segment.
type store struct {
	schema *fields.Schema
	seg    *segment.Segment
	now    int64
}

// newStore writes the documents of the lines.
func newStore(t tester, lines []line) *store {
	s := &store{now: time.Now().UnixMilli()}
	b := segment.NewBuilder()
	w := fields.NewWriter(b)
	seqNo := int64(0)
	for _, l := range lines {
		switch {
		case l.Mapping != nil:
			s.schema = schemaOf(t, string(l.Mapping))
		case l.Source != nil:
			id := segment.Identity{Key: routing.Key(seqNo), ID: l.ID, SeqNo: seqNo}
			seqNo++
			if err := w.Add(s.schema, id, l.Routing, l.Source); err != nil {
				t.Fatalf("%s: %v", l.ID, err)
			}
		}
	}
	s.seg = built(t, b)
	return s
}

func schemaOf(t tester, definition string) *fields.Schema {
	t.Helper()
	a, err := analysis.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mapping.Parse([]byte(definition), mapping.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	return fields.New(m, a)
}

func built(t tester, b *segment.Builder) *segment.Segment {
	t.Helper()
	data, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	seg, err := segment.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	return seg
}

// docs finds what a match means in the field of that name: as package search does, but
// slowly.
func (s *store) docs(name string, spec segment.Spec, m fields.Match) *segment.Bits {
	found := segment.NewBits(s.seg.Docs())
	f := s.seg.Field(name)
	switch {
	case m.All:
		for doc := range found.Len() {
			found.Set(segment.Doc(doc))
		}
	case m.None || f == nil:
	case m.Terms && spec.Postings != segment.NoPostings:
		for t := f.From(m.LeastTerm); t.Valid(); t.Next() {
			if m.GreatestTerm != nil && bytes.Compare(t.Term(), m.GreatestTerm) > 0 {
				break
			}
			if m.Where == nil || m.Where(t.Term()) {
				p := f.Postings(t.Entry(), segment.Docs, nil)
				for doc := p.Next(); doc != segment.End; doc = p.Next() {
					found.Set(doc)
				}
			}
		}
	case m.Numbers && spec.Points:
		f.Points().Within(m.Least, m.Greatest, found)
	default:
		return m.Column(f, s.seg.Docs())
	}
	return found
}

// existing are the docs that have a field.
func (s *store) existing(name string) *segment.Bits {
	found := segment.NewBits(s.seg.Docs())
	f := s.seg.Field(name)
	if f == nil {
		return found
	}
	for doc := range found.Len() {
		if e := f.Existing(); e == nil || e.Has(segment.Doc(doc)) {
			found.Set(segment.Doc(doc))
		}
	}
	return found
}

// ask answers a query.
func (s *store) ask(query json.RawMessage) (*segment.Bits, bool, error) {
	var kinds map[string]map[string]json.RawMessage
	if err := json.Unmarshal(query, &kinds); err != nil {
		return nil, false, err
	}
	for kind, body := range kinds {
		switch kind {
		case "nested":
			return s.askNested(body)
		case "exists":
			var name string
			if err := json.Unmarshal(body["field"], &name); err != nil {
				return nil, false, err
			}
			docs, err := s.askExists(name)
			return docs, false, err
		}
		for path, value := range body {
			return s.askField(kind, path, value)
		}
	}
	return nil, false, nil
}

// askField answers a term or a range.
func (s *store) askField(kind, path string, value json.RawMessage) (*segment.Bits, bool, error) {
	f, ok := s.schema.Field(path)
	if !ok {
		return segment.NewBits(s.seg.Docs()), false, nil
	}
	if kind == "term" {
		m, err := f.Exact(scalar(value), s.now)
		return s.docs(f.Name(), f.Spec(), m), f.Scored() && !m.All, err
	}
	asked, err := rangeOf(value)
	if err == nil && asked.From == nil && asked.To == nil {
		docs, err := s.askExists(path)
		return docs, false, err
	}
	if err != nil {
		return nil, false, err
	}
	m, err := f.Range(asked, s.now)
	return s.docs(f.Name(), f.Spec(), m), false, err
}

func (s *store) askExists(path string) (*segment.Bits, error) {
	found := segment.NewBits(s.seg.Docs())
	leaves := s.schema.Matching(path + ".*")
	if f, ok := s.schema.Field(path); ok {
		leaves = append(leaves, f)
	}
	for _, f := range leaves {
		name, m, err := f.Exists()
		if err != nil {
			return nil, err
		}
		docs := s.existing(name)
		if m.Terms || m.All {
			docs = s.docs(name, segment.Spec{Postings: segment.Docs}, m)
		}
		for doc := range found.Len() {
			if docs.Has(segment.Doc(doc)) {
				found.Set(segment.Doc(doc))
			}
		}
	}
	return found, nil
}

// askNested finds roots by the children of a path.
func (s *store) askNested(body map[string]json.RawMessage) (*segment.Bits, bool, error) {
	var path string
	if err := json.Unmarshal(body["path"], &path); err != nil {
		return nil, false, err
	}
	inner, _, err := s.ask(body["query"])
	if err != nil {
		return nil, false, err
	}
	found := segment.NewBits(s.seg.Docs())
	children := s.docs("_nested_path", segment.Spec{Postings: segment.Docs}, fields.Match{Terms: true, LeastTerm: []byte(path), GreatestTerm: []byte(path)})
	for doc := range found.Len() {
		if d := segment.Doc(doc); inner.Has(d) && children.Has(d) {
			found.Set(s.seg.Root(d))
		}
	}
	return found, false, nil
}

// scalar is a value of a query.
func scalar(literal json.RawMessage) fields.Value {
	r := token.New(literal)
	kind, _ := r.Next()
	return fields.Value{Kind: kind, Text: string(r.Text())}
}

// rangeOf reads the parameters of a range.
func rangeOf(body json.RawMessage) (a fields.Asked, err error) {
	var params map[string]json.RawMessage
	if err := json.Unmarshal(body, &params); err != nil {
		return a, err
	}
	for name, value := range params {
		text := scalar(value).Text
		bound := &fields.Bound{Value: scalar(value), Include: strings.HasSuffix(name, "e")}
		if bound.Value.Kind == token.Null {
			continue
		}
		switch name {
		case "gt", "gte":
			a.From = bound
		case "lt", "lte":
			a.To = bound
		case "format":
			a.Format = text
		case "relation":
			a.Relation = text
		case "time_zone":
			if a.Zone, err = date.ParseZone(text, time.LoadLocation); err != nil {
				return a, err
			}
		}
	}
	return a, nil
}

// ids are those of the roots, ascending.
func (s *store) ids(docs *segment.Bits) string {
	var ids []string
	for doc := range docs.Len() {
		if d := segment.Doc(doc); docs.Has(d) && s.seg.IsRoot(d) {
			ids = append(ids, s.seg.ID(d))
		}
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

// TestAnswers asks the queries of testdata, and compares with what the server said.
func TestAnswers(t *testing.T) {
	texts, lines := readLines(t)
	s := newStore(t, lines)
	asked := 0
	for i, l := range lines {
		if l.Ask == nil {
			continue
		}
		asked++
		docs, scored, err := s.ask(l.Ask)
		switch {
		case err != nil && l.Error != nil:
			e := exception.From(err)
			if string(e.Type) != l.Error.Type || e.Reason != l.Error.Reason {
				t.Errorf("%d: %s\n got %v", i+1, texts[i], e)
			}
		case err != nil || l.Error != nil:
			t.Errorf("%d: %s\n got %v", i+1, texts[i], err)
		case l.Found == nil:
			t.Errorf("%d: %s: no answer", i+1, texts[i])
		case s.ids(docs) != *l.Found:
			t.Errorf("%d: %s\n found %s", i+1, texts[i], s.ids(docs))
		case *l.Found != "" && scored != l.Scored && bytes.Contains(l.Ask, []byte(`{"term"`)) && !bytes.Contains(l.Ask, []byte("nested")):
			t.Errorf("%d: %s: scored %v", i+1, texts[i], scored)
		}
	}
	t.Logf("%d queries", asked)
}
