package search

import (
	"bytes"
	"math"
	"strconv"

	"github.com/twmb/murmur3"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
)

// valuer is what a function of function_score gives: it is worked out for an index once.
type valuer interface {
	// in is the function for the docs of a view.
	in(v segment.View) func(segment.Doc) (float64, error)
}

// newValuer works out a function for an index; nil is a function that has a weight alone.
// The error is an *exception.Error.
func newValuer(index *Index, f *Function, now int64) (valuer, error) {
	switch {
	case f.Random != nil:
		return newRandom(index, f.Random, now)
	case f.Factor != nil:
		return newFactor(index, f.Factor)
	case f.Decay != nil:
		return newDecay(index, f.Decay, now)
	}
	return nil, nil
}

// randomValue is a number from 0 to 1 that a hash of a doc's value gives: of a field, of the
// id or of the sequence number. The hashes are those of OpenSearch's RandomScoreFunction for
// the first shard of an index: so a split changes no value.
type randomValue struct {
	salted uint32
	field  *fields.Field // nil: the id, or with bySeqNo the sequence number
	seqNo  bool
}

func newRandom(index *Index, f *RandomScore, now int64) (valuer, error) {
	seed := uint32(now ^ int64(uint64(now)>>32))
	if f.Seed != nil {
		seed = uint32(*f.Seed)
	}
	r := &randomValue{seqNo: f.Seed == nil || f.Field == "_seq_no"}
	if f.Seed != nil && !r.seqNo && f.Field != "" && f.Field != "_id" {
		field, ok := index.Schema.Field(f.Field)
		if !ok {
			return nil, exception.New(exception.IllegalArgument,
				"Field [%s] is not mapped on [[%s/%s]] and cannot be used as a source of random numbers.", f.Field, index.Name, index.UUID)
		}
		if err := field.Readable(); err != nil {
			return nil, err
		}
		r.field = field
	}
	salt := uint32(javaHash(index.Name)) << 10
	r.salted = mix32(seed ^ salt)
	return r, nil
}

// javaHash is String.hashCode.
func javaHash(s string) (h int32) {
	for _, c := range s {
		h = 31*h + c // names of indices have no surrogates
	}
	return h
}

// mix32 is the last step of MurmurHash3.
func mix32(h uint32) uint32 {
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

func (r *randomValue) in(v segment.View) func(segment.Doc) (float64, error) {
	read := r.bytes(v)
	return func(doc segment.Doc) (float64, error) {
		hash := r.salted
		if value, ok := read(doc); ok {
			hash = murmur3.SeedSum32(r.salted, value)
		}
		return float64(float32(hash&0xffffff) / (1 << 24)), nil
	}
}

// bytes gives the first value of a doc as text; false when it has none.
func (r *randomValue) bytes(v segment.View) func(segment.Doc) ([]byte, bool) {
	var buf []byte
	number := func(n int64) ([]byte, bool) {
		buf = strconv.AppendInt(buf[:0], n, 10)
		return buf, true
	}
	if r.seqNo {
		return func(doc segment.Doc) ([]byte, bool) { return number(v.SeqNo(doc)) }
	}
	if r.field == nil {
		return func(doc segment.Doc) ([]byte, bool) { return []byte(v.ID(doc)), true }
	}
	f := v.Field(r.field.Name())
	if f != nil && f.Numbers() != nil {
		return r.numbers(f.Numbers())
	}
	return func(doc segment.Doc) ([]byte, bool) {
		if f == nil || f.Ordinals() == nil {
			return nil, false
		}
		ord, ok := f.Ordinals().First(doc)
		if ok {
			buf = f.Term(buf[:0], ord)
		}
		return buf, ok
	}
}

// numbers gives the first number of a doc in the order of their texts.
func (r *randomValue) numbers(column *segment.NumberColumn) func(segment.Doc) ([]byte, bool) {
	var all []int64
	var least, buf []byte
	return func(doc segment.Doc) ([]byte, bool) {
		all = column.All(all[:0], doc)
		for i, n := range all {
			if buf = buf[:0]; r.field.Kind() == fields.Real {
				buf = append(buf, java.Double(r.field.Float(n))...)
			} else {
				buf = strconv.AppendInt(buf, n, 10)
			}
			if i == 0 || bytes.Compare(buf, least) < 0 {
				least, buf = buf, least
			}
		}
		return least, len(all) > 0
	}
}

// factorValue is field_value_factor.
type factorValue struct {
	FieldFactor
	field *fields.Field // nil: Missing counts
}

func newFactor(index *Index, f *FieldFactor) (valuer, error) {
	field, ok := index.Schema.Field(f.Field)
	if !ok {
		if f.Missing == nil {
			return nil, exception.New(exception.Unknown, "Unable to find a field mapper for field [%s]. No 'missing' value defined.", f.Field)
		}
		return &factorValue{*f, nil}, nil
	}
	if err := numeric(field); err != nil {
		return nil, err
	}
	return &factorValue{*f, field}, nil
}

// numeric refuses fields that have no numbers by doc.
func numeric(f *fields.Field) error {
	if err := f.Readable(); err != nil {
		return err
	}
	if f.Spec().Column != segment.Numbers || f.Kind() == fields.GeoPoint {
		return exception.New(exception.IllegalArgument, "field [%s] of type [%s] has no numbers", f.Path(), f.Type())
	}
	return nil
}

func (f *factorValue) in(v segment.View) func(segment.Doc) (float64, error) {
	var column *segment.NumberColumn
	if f.field != nil {
		if held := v.Field(f.field.Name()); held != nil {
			column = held.Numbers()
		}
	}
	factor := float64(float32(f.Factor))
	return func(doc segment.Doc) (float64, error) {
		value, ok := 0.0, false
		if column != nil {
			var n int64
			if n, ok = column.First(doc); ok {
				value = f.field.Float(n)
			}
		}
		if !ok {
			if f.Missing == nil {
				return 0, exception.New(exception.Unknown, "Missing value for field [%s]", f.Field).WithStatus(500)
			}
			value = *f.Missing
		}
		result := f.modified(float64(value * factor))
		if result < 0 {
			return 0, f.negative(result, value)
		}
		return result, nil
	}
}

// modified applies the modifier.
func (f *factorValue) modified(v float64) float64 {
	switch f.Modifier {
	case "log":
		return math.Log10(v)
	case "log1p":
		return math.Log10(v + 1)
	case "log2p":
		return math.Log10(v + 2)
	case "ln":
		return math.Log(v)
	case "ln1p":
		return math.Log1p(v)
	case "ln2p":
		return math.Log1p(v + 1)
	case "square":
		return v * v
	case "sqrt":
		return math.Sqrt(v)
	case "reciprocal":
		return 1 / v
	}
	return v
}

func (f *factorValue) negative(result, value float64) error {
	hint := ""
	if f.Modifier == "ln" || f.Modifier == "log" {
		hint = "; consider using " + f.Modifier + "1p or " + f.Modifier + "2p instead of " + f.Modifier + " to avoid negative scores"
	}
	return exception.New(exception.IllegalArgument, "field value function must not produce negative scores, but got: [%s] for field value: [%s]%s",
		java.Double(result), java.Double(value), hint)
}
