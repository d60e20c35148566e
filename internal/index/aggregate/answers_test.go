package aggregate_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/index/aggregate"
	"github.com/reshelve/reshelve/internal/index/analysis"
	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// The files testdata/*.txt and *.txt.gz are conversations with OpenSearch 2.19.0, all indices of one
// shard:
//
//	index NAME MAPPINGS         an index is made
//	doc NAME SOURCE             a document is added; the id counts them
//	search NAMES BODY           a search, with typed_keys
//	200 AGGREGATIONS            what it said, or
//	400 TYPE: REASON @LINE:COLUMN <- CAUSE …

// failing is a test, or a property of one.
type failing interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// conversation is a file of them.
type conversation struct {
	indices map[string]*described
	order   []string
	asked   []question
}

type described struct {
	name, mappings string
	docs           []string
}

type question struct {
	line         int
	names        []string
	body, answer string
}

func readConversation(t failing, path string) *conversation {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var from io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if from, err = gzip.NewReader(file); err != nil {
			t.Fatal(err)
		}
	}
	c := &conversation{indices: map[string]*described{}}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<24)
	for n := 1; lines.Scan(); n++ {
		verb, rest, _ := strings.Cut(lines.Text(), " ")
		name, rest2, _ := strings.Cut(rest, " ")
		switch verb {
		case "", "#":
		case "index":
			c.indices[name] = &described{name: name, mappings: rest2}
			c.order = append(c.order, name)
		case "doc":
			c.indices[name].docs = append(c.indices[name].docs, rest2)
		case "search":
			c.asked = append(c.asked, question{line: n, names: strings.Split(name, ","), body: rest2})
		default:
			c.asked[len(c.asked)-1].answer = lines.Text()
		}
	}
	return c
}

// layout says how documents lie in segments.
type layout struct {
	name    string
	segment int   // documents in each
	deleted bool  // there are others that are hidden
	lexica  int64 // how many bytes each may take; 0: as ever
}

var layouts = []layout{
	{"one segment", 1 << 30, false, 0}, {"segments of two, with deletes", 2, true, 0}, {"one segment, with deletes", 1 << 30, true, 0},
	{"segments of two without lexica", 2, true, 1}, {"segments of two with small lexica", 2, true, 600},
}

// index builds the segments of an index.
func (d *described) index(t failing, number int, l layout) search.Index {
	t.Helper()
	m, err := mapping.Parse([]byte(d.mappings), mapping.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	a, err := analysis.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	aggregate.BoundLexica(l.lexica)
	index := search.Index{Number: uint32(number), Name: d.name, Schema: fields.New(m, a)}
	source := search.Source{}
	for at := 0; at == 0 || at < len(d.docs); at += l.segment {
		source.Views = append(source.Views, d.view(t, index.Schema, d.docs[min(at, len(d.docs)):min(at+l.segment, len(d.docs))], at, l.deleted))
		if l.segment > len(d.docs) {
			break
		}
	}
	index.Sources = []search.Source{source}
	return index
}

func (d *described) view(t failing, schema *fields.Schema, docs []string, first int, deleted bool) segment.View {
	t.Helper()
	b := segment.NewBuilder()
	w := fields.NewWriter(b)
	var hidden []int
	add := func(n int, source string) {
		id := fmt.Sprint(n)
		if err := w.Add(schema, segment.Identity{Key: routing.KeyOf(id, "", 1), ID: id, SeqNo: int64(n)}, "", []byte(source)); err != nil {
			t.Fatalf("%s: %v", source, err)
		}
	}
	for i, source := range docs {
		if deleted && i%2 == 0 {
			from := b.Docs()
			add(1000+first+i, d.docs[(i*7+3)%len(d.docs)])
			for doc := from; doc < b.Docs(); doc++ {
				hidden = append(hidden, doc)
			}
		}
		add(first+i, source)
	}
	data, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	s, err := segment.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	v := segment.View{Segment: s}
	if len(hidden) > 0 {
		v.Hidden = segment.NewBits(s.Docs())
		for _, doc := range hidden {
			v.Hidden.Set(segment.Doc(doc))
		}
	}
	return v
}

// ask gives the answer to a search in the form of the files.
func ask(indices []search.Index, body string) string {
	out, err := answer(indices, body)
	if err != nil {
		e := exception.From(err)
		return fmt.Sprint(e.Status(), " ", told(e))
	}
	return "200 " + string(out)
}

func answer(indices []search.Index, body string) ([]byte, error) {
	c, err := collect(indices, body, aggregate.Options{})
	if err != nil {
		return nil, err
	}
	return c.AppendJSON(nil, true, appendFound)
}

func answerUntyped(indices []search.Index, body string) ([]byte, error) {
	c, err := collect(indices, body, aggregate.Options{})
	if err != nil {
		return nil, err
	}
	return c.AppendJSON(nil, false, appendFound)
}

// collect runs a search.
func collect(indices []search.Index, body string, o aggregate.Options) (*aggregate.Collector, error) {
	s, err := query.ReadSearch([]byte(body))
	if err != nil {
		return nil, err
	}
	const now = 1_700_000_000_000
	o.Now = now
	c, err := aggregate.New(s.Aggs, o)
	if err != nil {
		return nil, err
	}
	r := search.NewRequest()
	r.Size, r.TrackTotal, r.Now = 0, -1, now
	if s.Query != nil {
		r.Query = s.Query
	}
	r.Collectors = []search.Collector{c}
	_, err = search.Run(context.Background(), indices, r)
	return c, err
}

// appendFound tells the hits of top_hits without what package query fetches.
func appendFound(dst []byte, of *aggregate.TopHits, path string, found search.Result) ([]byte, error) {
	dst = append(dst, '{')
	if path != "" {
		dst = fmt.Appendf(dst, `"path":%q,`, path)
	}
	dst = fmt.Appendf(dst, `"total":%d,"hits":[`, found.Total)
	for i, h := range found.Hits[min(of.From, len(found.Hits)):] {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = fmt.Appendf(dst, `{"id":%q`, h.ID)
		if found.Scored {
			dst = fmt.Appendf(dst, `,"score":%v`, h.Score)
		}
		for _, v := range h.Sort {
			dst = fmt.Appendf(dst, `,"sort":%v`, v.N)
		}
		dst = append(dst, '}')
	}
	return append(dst, "]}"...), nil
}

// told is an error with its causes.
func told(e *exception.Error) string {
	out := string(e.Type) + ": " + strings.ReplaceAll(e.Reason, "\n", "⏎")
	for _, f := range e.Fields {
		switch f.Name {
		case "line":
			out += fmt.Sprint(" @", f.Value)
		case "col":
			out += fmt.Sprint(":", f.Value)
		}
	}
	if e.Cause != nil {
		out += " <- " + told(e.Cause)
	}
	return out
}

// TestAnswersOfTheServer asks the package what the server was asked.
func TestAnswersOfTheServer(t *testing.T) {
	paths, _ := filepath.Glob("testdata/*.txt*")
	for _, path := range paths {
		c := readConversation(t, path)
		for _, l := range layouts {
			t.Run(filepath.Base(path)+"/"+l.name, func(t *testing.T) { c.replay(t, path, l) })
		}
	}
}

// joinFails is how the server fails when it joins terms of two types; here they are refused
// before, by name.
const joinFails = "500 aggregation_execution_exception: Merging/Reducing the aggregations failed"

var namesBoth = regexp.MustCompile(`^400 illegal_argument_exception: Field \[\w+\] is of type \[(\w+)\] in index \[\w+\] and of type \[(\w+)\] in index \[\w+\]: `)

func (c *conversation) replay(t *testing.T, path string, l layout) {
	built := map[string]search.Index{}
	for i, name := range c.order {
		built[name] = c.indices[name].index(t, i, l)
	}
	for _, q := range c.asked {
		var indices []search.Index
		for _, name := range q.names {
			indices = append(indices, built[name])
		}
		// -1 is what the server says where it does not know that its counts are exact.
		q.answer = strings.ReplaceAll(q.answer, `"doc_count_error_upper_bound":-1`, `"doc_count_error_upper_bound":0`)
		got := ask(indices, q.body)
		if strings.HasPrefix(q.answer, joinFails) && namesBoth.MatchString(got) {
			continue
		}
		if got != q.answer {
			t.Errorf("%s:%d: %s\n got %s\nwant %s", path, q.line, q.body, got, q.answer)
		}
	}
}
