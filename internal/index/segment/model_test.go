package segment_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/internal/index/segment"
)

// value is one call of a FieldBuilder.
type value struct {
	kind     byte // 't'erm, 'p'osition, 'l'ength, 'n'umber, 'e'xists
	text     string
	position uint32
	number   int64
}

// record is a doc: what a builder is given of it.
type record struct {
	path   string // of a nested child; "" of a document
	id     segment.Identity
	values map[string][]value
}

// family is a document with its children before it.
type family []record

// specs are the fields of the model.
var specs = map[string]segment.Spec{
	"text":   {Postings: segment.Positions, Lengths: true},
	"plain":  {Postings: segment.Frequencies},
	"rated":  {Postings: segment.Docs, Lengths: true},
	"word":   {Postings: segment.Docs, Column: segment.Ordinals},
	"value":  {Column: segment.Ordinals},
	"number": {Column: segment.Numbers, Points: true},
	"date":   {Column: segment.Numbers},
	"point":  {Points: true},
	"flag":   {},
}

var names = func() []string {
	var n []string
	for name := range specs {
		n = append(n, name)
	}
	slices.Sort(n)
	return n
}()

// write gives the builder a family.
func write(t rapid.TB, b *segment.Builder, docs family) {
	for _, r := range docs {
		for _, name := range names {
			for _, v := range r.values[name] {
				f, err := b.Field(name, specs[name])
				if err != nil {
					t.Fatal(err)
				}
				switch v.kind {
				case 't':
					f.Term([]byte(v.text))
				case 'p':
					f.Token([]byte(v.text), v.position)
				case 'l':
					f.Length(uint32(v.number))
				case 'n':
					f.Number(v.number)
				case 'e':
					f.Exists()
				}
			}
		}
		if r.path != "" {
			b.EndChild(r.path)
		} else {
			b.EndRoot(r.id)
		}
	}
}

func build(t rapid.TB, families []family) []byte {
	b := segment.NewBuilder()
	for _, f := range families {
		write(t, b, f)
	}
	data, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func open(t rapid.TB, data []byte) *segment.Segment {
	s, err := segment.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// posting is a doc of a term.
type posting struct {
	doc    segment.Doc
	often  uint32
	places []uint32
}

// expected is what a field must answer, worked out the simple way.
type expected struct {
	postings map[string][]posting
	terms    []string
	exists   []segment.Doc
	lengths  []byte
	ordinals map[segment.Doc][]uint32
	numbers  map[segment.Doc][]int64
	stats    segment.Stats
}

// flat are the docs of all families.
func flat(families []family) (docs []record) {
	for _, f := range families {
		root := f[len(f)-1]
		for _, r := range f {
			r.id = root.id
			docs = append(docs, r)
		}
	}
	return docs
}

func expect(docs []record, name string, spec segment.Spec) *expected {
	e := &expected{postings: map[string][]posting{}, lengths: make([]byte, len(docs)),
		ordinals: map[segment.Doc][]uint32{}, numbers: map[segment.Doc][]int64{}}
	for i, r := range docs {
		doc := segment.Doc(i)
		values := r.values[name]
		if name == "_id" && r.path == "" {
			values = []value{{kind: 't', text: r.id.ID}}
		}
		if name == "_nested_path" && r.path != "" {
			values = []value{{kind: 't', text: r.path}}
		}
		if len(values) > 0 {
			e.exists = append(e.exists, doc)
		}
		terms := false
		for _, v := range values {
			switch v.kind {
			case 't', 'p':
				terms = terms || spec.Postings != segment.NoPostings || spec.Column == segment.Ordinals
				list := e.postings[v.text]
				if n := len(list); n == 0 || list[n-1].doc != doc {
					list = append(list, posting{doc: doc})
				}
				last := &list[len(list)-1]
				last.often++
				last.places = append(last.places, v.position)
				e.postings[v.text] = list
			case 'l':
				e.lengths[doc] = segment.LengthByte(uint32(v.number))
			case 'n':
				e.numbers[doc] = append(e.numbers[doc], v.number)
			}
		}
		slices.Sort(e.numbers[doc])
		if terms {
			e.stats.Docs++
		}
	}
	if spec.Postings == segment.NoPostings && spec.Column != segment.Ordinals {
		e.postings = nil
	}
	for term := range e.postings {
		e.terms = append(e.terms, term)
	}
	slices.Sort(e.terms)
	for ord, term := range e.terms {
		for _, p := range e.postings[term] {
			e.ordinals[p.doc] = append(e.ordinals[p.doc], uint32(ord))
			if spec.Postings != segment.NoPostings {
				e.stats.Postings++
				if spec.Postings >= segment.Frequencies {
					e.stats.Frequencies += int64(p.often)
				} else {
					e.stats.Frequencies++
				}
			}
		}
	}
	return e
}

func TestEveryReadIsAsTheModelSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		families := drawFamilies(t, rapid.SampledFrom([]int{3, 40, 400}).Draw(t, "most"))
		s := open(t, build(t, families))
		check(t, s, families)
	})
}
