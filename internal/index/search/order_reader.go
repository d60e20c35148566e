package search

import (
	"bytes"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/segment"
)

// in is the key in a view.
func (k *orderKey) in(v *visited) (keyReader, error) {
	switch k.kind {
	case byPlace:
		return placeReader{}, nil
	case byScore:
		return scoreReader{}, nil
	}
	one := k.indices[v.index]
	children, err := one.nested.in(v.view)
	if err != nil {
		return nil, err
	}
	if k.Field == "_index" {
		return constantReader{[]byte(one.name)}, nil
	}
	if one.kind == byTerm {
		r := k.terms(one, v, children)
		if one.objects && k.Field == "_id" {
			r = rootReader{r, v.view}
		}
		return r, nil
	}
	return k.numbers(one, v, children), nil
}

// placeReader is of the key that is compared by where docs stand: see comparePlace.
type placeReader struct{}

func (placeReader) rank(segment.Doc, float32) int64  { return 0 }
func (placeReader) rankOf(*value) int64              { return 0 }
func (placeReader) value(segment.Doc, float32) value { return value{} }

// rootReader reads what the documents of objects have.
type rootReader struct {
	keyReader
	view segment.View
}

func (r rootReader) rank(doc segment.Doc, score float32) int64 {
	return r.keyReader.rank(r.view.Root(doc), score)
}

func (r rootReader) value(doc segment.Doc, score float32) value {
	return r.keyReader.value(r.view.Root(doc), score)
}

// scoreReader is of _score.
type scoreReader struct{}

func (scoreReader) rank(_ segment.Doc, score float32) int64 { return fields.RealBits(float64(score)) }
func (scoreReader) rankOf(v *value) int64                   { return v.n }
func (scoreReader) value(_ segment.Doc, score float32) value {
	return value{n: fields.RealBits(float64(score))}
}

// constantReader is of _index.
type constantReader struct{ text []byte }

func (c constantReader) rank(segment.Doc, float32) int64  { return 0 }
func (c constantReader) rankOf(v *value) int64            { return int64(bytes.Compare(v.text, c.text)) }
func (c constantReader) value(segment.Doc, float32) value { return value{text: c.text} }

// termReader reads a column of ordinals. The rank of a term is 4 × ordinal + 3; the three
// ranks below are of what lies before it and behind the term before: what is less than the
// value for docs without one, that value, and what is greater.
type termReader struct {
	key      *orderKey
	field    *segment.Field         // nil: no doc has a term
	column   *segment.OrdinalColumn // nil: no doc has a term
	missing  value
	absent   int64 // the rank of missing
	most     bool  // of several the last one counts
	children *children
	all      []uint32
}

func (k *orderKey) terms(one *indexKey, v *visited, nested *children) keyReader {
	r := &termReader{key: k, missing: one.missing, children: nested, most: k.Mode == "max" || k.Mode == "" && k.Descending}
	if one.field != nil {
		if r.field = v.view.Field(one.field.Name()); r.field != nil {
			r.column = r.field.Ordinals()
		}
	}
	r.absent = r.rankOf(&r.missing)
	return r
}

func (r *termReader) ordinal(doc segment.Doc) (uint32, bool) {
	switch {
	case r.column == nil:
		return 0, false
	case r.children != nil:
		return r.ofChildren(doc)
	}
	return r.own(doc)
}

// own is the ordinal of a doc itself.
func (r *termReader) own(doc segment.Doc) (uint32, bool) {
	if !r.most || r.column.Single() {
		return r.column.First(doc)
	}
	if r.all = r.column.All(r.all[:0], doc); len(r.all) == 0 {
		return 0, false
	}
	return r.all[len(r.all)-1], true
}

// ofChildren is the least, or the greatest, ordinal of the nested objects of a doc.
func (r *termReader) ofChildren(root segment.Doc) (best uint32, any bool) {
	r.children.each(root, func(doc segment.Doc) {
		ord, ok := r.own(doc)
		if ok && (!any || r.most && ord > best || !r.most && ord < best) {
			best, any = ord, true
		}
	})
	return best, any
}

func (r *termReader) rank(doc segment.Doc, _ float32) int64 {
	ord, ok := r.ordinal(doc)
	if !ok {
		return r.absent
	}
	return 4*int64(ord) + 3
}

func (r *termReader) ranks(dst []int64, docs []segment.Doc) []int64 {
	if r.column == nil || r.children != nil || !r.column.Single() {
		for _, doc := range docs {
			dst = append(dst, r.rank(doc, 0))
		}
		return dst
	}
	var ords [batch]uint32
	var has [batch]bool
	r.column.Read(docs, ords[:len(docs)], has[:len(docs)])
	for i := range docs {
		if has[i] {
			dst = append(dst, 4*int64(ords[i])+3)
		} else {
			dst = append(dst, r.absent)
		}
	}
	return dst
}

func (r *termReader) rankOf(v *value) int64 {
	if v.null {
		return r.key.nulls()
	}
	gap, exact := r.gap(v.text)
	if exact {
		return 4*gap + 3
	}
	if r.missing.null {
		return 4 * gap
	}
	if missing, exact := r.gap(r.missing.text); exact || missing != gap {
		return 4 * gap
	}
	return 4*gap + 1 + int64(bytes.Compare(v.text, r.missing.text))
}

// gap is how many terms are before a text, and whether it is one itself.
func (r *termReader) gap(text []byte) (before int64, exact bool) {
	if r.field == nil {
		return 0, false
	}
	t := r.field.From(text)
	if !t.Valid() {
		return int64(r.field.Terms()), false
	}
	return int64(t.Entry().Ord), bytes.Equal(t.Term(), text)
}

func (r *termReader) value(doc segment.Doc, _ float32) value {
	ord, ok := r.ordinal(doc)
	if !ok {
		return r.missing
	}
	return value{text: r.field.Term(nil, ord)}
}
