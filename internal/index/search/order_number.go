package search

import (
	"math"
	"slices"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/segment"
)

// numberReader reads a column of numbers, or the distances of points. Ranks are the numbers
// as they are compared.
type numberReader struct {
	key      *orderKey
	one      *indexKey
	column   *segment.NumberColumn // nil: no doc has a number
	seqNo    *segment.View         // instead of a column
	convert  func(int64) int64     // from the column; nil: as it is
	mode     string
	children *children
	all      []int64
	found    []int64
}

func (k *orderKey) numbers(one *indexKey, v *visited, nested *children) keyReader {
	r := &numberReader{key: k, one: one, mode: k.Mode, children: nested, convert: k.conversion(one)}
	if r.mode == "" {
		if r.mode = "min"; k.Descending {
			r.mode = "max"
		}
	}
	if k.Field == "_seq_no" {
		r.seqNo = &v.view
		return r
	}
	if one.field != nil {
		if f := v.view.Field(one.field.Name()); f != nil {
			r.column = f.Numbers()
		}
	}
	return r
}

// conversion makes a number of the column one that is compared.
func (k *orderKey) conversion(one *indexKey) func(int64) int64 {
	f := one.field
	if f == nil || k.Geo != nil {
		return nil
	}
	nanos := f.Type() == "date_nanos"
	switch {
	case one.numbers == doubles && f.Kind() != fields.Real, one.numbers == floats && f.Kind() != fields.Real:
		return func(n int64) int64 { return fields.RealBits(f.Float(n)) }
	case one.numbers == longs && (f.Kind() == fields.Real || f.Type() == "scaled_float"):
		return func(n int64) int64 { return int64(f.Float(n)) }
	case k.NumericType == "date" && nanos:
		return func(n int64) int64 { return int64(math.Floor(float64(n) / 1e6)) }
	case k.NumericType == "date_nanos" && f.Kind() == fields.Date && !nanos:
		return func(n int64) int64 { return n * 1e6 }
	}
	return nil
}

func (r *numberReader) rank(doc segment.Doc, _ float32) int64 {
	v := r.read(doc)
	return v.n
}

func (r *numberReader) rankOf(v *value) int64 { return v.n }

func (r *numberReader) value(doc segment.Doc, _ float32) value { return r.read(doc) }

// read is the value of a doc.
func (r *numberReader) read(doc segment.Doc) value {
	if r.seqNo != nil {
		return value{n: r.seqNo.SeqNo(doc), told: r.seqNo.SeqNo(doc)}
	}
	if r.column == nil {
		return r.one.missing
	}
	r.found = r.found[:0]
	if r.children == nil {
		r.take(doc)
	} else {
		r.children.each(doc, r.take)
	}
	if len(r.found) == 0 {
		return r.one.missing
	}
	return r.key.number(r.one, r.choose())
}

// take takes the numbers of a doc.
func (r *numberReader) take(doc segment.Doc) {
	r.all = r.column.All(r.all[:0], doc)
	for _, n := range r.all {
		switch {
		case r.key.Geo != nil:
			r.found = r.key.distances(r.found, n)
			continue
		case r.convert != nil:
			n = r.convert(n)
		}
		r.found = append(r.found, n)
	}
}

// choose is what the mode makes of the numbers that were found.
func (r *numberReader) choose() int64 {
	switch r.mode {
	case "min":
		return slices.Min(r.found)
	case "max":
		return slices.Max(r.found)
	}
	slices.Sort(r.found)
	if !r.one.numbers.real() {
		return chosenWhole(r.mode, r.found)
	}
	values := make([]float64, len(r.found))
	for i, n := range r.found {
		values[i] = fields.RealOf(n)
	}
	v := chosen(r.mode, values)
	if r.one.numbers == floats {
		v = float64(float32(v))
	}
	return fields.RealBits(v)
}

// chosenWhole is chosen for whole numbers: means are rounded.
func chosenWhole(mode string, n []int64) int64 {
	if mode == "median" {
		middle := len(n) / 2
		if len(n)%2 == 1 {
			return n[middle]
		}
		return rounded((float64(n[middle-1]) + float64(n[middle])) / 2)
	}
	sum := int64(0)
	for _, v := range n {
		sum += v
	}
	if mode == "avg" && len(n) > 1 {
		return rounded(float64(sum) / float64(len(n)))
	}
	return sum
}

// rounded is Java's Math.round.
func rounded(v float64) int64 {
	whole := math.Floor(v)
	if v-whole >= 0.5 { // v + 0.5 may have no number of 64 bits
		whole++
	}
	return int64(whole)
}

// ranks is for manyRanks.
func (r *numberReader) ranks(dst []int64, docs []segment.Doc) []int64 {
	if r.column == nil || r.children != nil || r.key.Geo != nil || !r.column.Single() {
		for _, doc := range docs {
			dst = append(dst, r.rank(doc, 0))
		}
		return dst
	}
	var n [batch]int64
	var has [batch]bool
	r.column.Read(docs, n[:len(docs)], has[:len(docs)])
	plain := r.convert == nil && !r.key.wide
	for i := range docs {
		switch {
		case !has[i]:
			dst = append(dst, r.one.missing.n)
		case plain:
			dst = append(dst, n[i])
		default:
			v := n[i]
			if r.convert != nil {
				v = r.convert(v)
			}
			dst = append(dst, r.key.number(r.one, v).n)
		}
	}
	return dst
}

// distances appends the distances of a point to all points, by the bits of real numbers.
// The nearest of one point in meters is never that on a plane, as on the server.
func (k *orderKey) distances(dst []int64, n int64) []int64 {
	lat, lon := fields.PointOf(n)
	g := k.Geo
	nearest := len(g.Lat) == 1 && g.Unit == "m" && !k.Descending && k.Nested == nil && (k.Mode == "" || k.Mode == "min")
	for i := range g.Lat {
		d := 0.0
		if g.Plane && !nearest {
			d = plane(g.Lat[i], g.Lon[i], lat, lon)
		} else {
			d = arc(g.Lat[i], g.Lon[i], lat, lon)
		}
		dst = append(dst, fields.RealBits(d/metersOf(g.Unit)))
	}
	return dst
}
