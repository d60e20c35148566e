package aggregate

import (
	"strconv"

	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/index/segment"
)

// singleBucket are workers with one bucket in each bucket around: it has the same number.
type singleBucket interface {
	worker
	docs(bucket uint32) int64
}

// single is what they have in common.
type single struct {
	n     *node
	count tally
}

func (s *single) prepare([]search.Index) error { return nil }
func (s *single) end() error                   { return nil }
func (s *single) typed() string                { return s.n.kind }
func (s *single) docs(bucket uint32) int64     { return s.count.of(bucket) }

// keep counts a doc of a batch, and gives it to what is below.
func (s *single) keep(b *batch, i int32) error {
	s.count.add(b.around[i], 1)
	return s.n.subs.add(b, i, b.around[i])
}

func (s *single) append(t *telling, dst []byte, around uint32) ([]byte, error) {
	dst = strconv.AppendInt(member(dst, "doc_count"), s.docs(around), 10)
	return s.n.subs.append(t, dst, around)
}

// matching finds what a query means in views.
type matching struct {
	query   search.Query
	around  string // the nested field whose objects are looked at; "": documents
	index   int
	matcher search.Matcher
}

// begin gives the docs of a view.
func (m *matching) begin(at search.Place) (*segment.Bits, error) {
	if m.matcher == nil || m.index != at.Index {
		var err error
		if m.matcher, err = at.Context.Matcher(at.Index, m.around, m.query); err != nil {
			return nil, err
		}
		m.index = at.Index
	}
	return m.matcher.Docs(at.View)
}

// filterWorker is filter.
type filterWorker struct {
	single
	of       *Filter
	matching matching
	found    *segment.Bits
}

func (w *filterWorker) begin(at search.Place) (err error) {
	w.matching.query, w.matching.around = w.of.Query, w.n.scope()
	w.found, err = w.matching.begin(at)
	return err
}

func (w *filterWorker) collect(b batch) error {
	for i, doc := range b.docs {
		if w.found.Has(doc) {
			if err := w.keep(&b, int32(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// missingWorker is missing.
type missingWorker struct {
	single
	values
	there *segment.Bits // nil: none is
	every bool          // there is a value in every doc
}

func (w *missingWorker) prepare(all []search.Index) error {
	return w.resolve(w.n.kind, all, takesAll, false)
}

func (w *missingWorker) begin(at search.Place) error {
	w.there, w.every = nil, w.missing
	here := w.fields[at.Index]
	if here == nil {
		return nil
	}
	if name := here.Type(); name == "_id" || name == "_index" || name == "_seq_no" || name == "constant_keyword" {
		w.every = true
		return nil
	}
	if f := at.View.Field(here.Name()); f != nil {
		w.there = f.Existing()
		w.every = w.every || w.there == nil
	}
	return nil
}

func (w *missingWorker) collect(b batch) error {
	if w.every {
		return nil
	}
	for i, doc := range b.docs {
		if w.there == nil || !w.there.Has(doc) {
			if err := w.keep(&b, int32(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// globalWorker is global: it does not look at the docs of the search.
type globalWorker struct {
	single
	filter matching
}

func (w *globalWorker) begin(at search.Place) error {
	var narrowed *segment.Bits
	if filter := at.Context.Index(at.Index).Filter; filter != nil {
		w.filter.query = filter
		var err error
		if narrowed, err = w.filter.begin(at); err != nil {
			return err
		}
	}
	b := batch{docs: make([]segment.Doc, 1), around: noBuckets[:1]}
	if w.n.subs.scored {
		b.scores = []float32{1}
	}
	for doc := range segment.Doc(at.View.Docs()) {
		if !at.View.IsRoot(doc) || !at.View.Shows(doc) || narrowed != nil && !narrowed.Has(doc) {
			continue
		}
		b.docs[0] = doc
		if err := w.keep(&b, 0); err != nil {
			return err
		}
	}
	return nil
}

func (w *globalWorker) collect(batch) error { return nil }
