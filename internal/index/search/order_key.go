package search

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// orderKey is one key of an order, worked out for all indices of a search.
type orderKey struct {
	Sort
	kind    orderKind
	first   bool // docs without a value come first
	indices map[int]*indexKey
	wide    bool // whole and real numbers are compared with each other: as float64
}

// orderKind is what the values of a key are.
type orderKind uint8

const (
	byNumber orderKind = iota
	byTerm
	byScore
	byPlace
)

// indexKey is a key in one index.
type indexKey struct {
	name    string        // of the index
	field   *fields.Field // nil: nobody has it, or it is not a field
	numbers numberKind
	kind    orderKind
	missing value // of docs without one: null for terms, unless a text was given
	nested  *nestedKey
	objects bool // what is sorted are objects of a nested field
}

// numberKind says how numbers are compared and told, as the server's sorts do.
type numberKind uint8

const (
	longs    numberKind = iota // and dates
	ints                       // integer, short, byte, boolean: missing values are of 32 bits
	floats                     // float, half_float: told with the digits of 32 bits
	doubles                    // and scaled_float
	unsigned                   // unsigned_long, with the highest bit turned over
)

func (n numberKind) real() bool { return n == floats || n == doubles }

// sorted is a ranking by the keys of the request.
func (c *Context) sorted() (ranking, error) {
	r := c.request
	s := &sortedHits{size: r.Size, scored: r.TrackScore}
	for i := range r.Sort {
		key, err := c.orderKey(&r.Sort[i])
		if err != nil {
			return nil, err
		}
		s.keys = append(s.keys, key)
	}
	if r.After == nil {
		return s, nil
	}
	if len(r.After) != len(s.keys) {
		return nil, exception.New(exception.IllegalArgument, "search_after has %d value(s) but sort has %d.", len(r.After), len(s.keys))
	}
	s.after = &placed{}
	for i, key := range s.keys {
		v, err := key.read(&r.After[i], &s.after.place)
		if err != nil {
			return nil, err
		}
		s.after.values = append(s.after.values, v)
	}
	return s, nil
}

// orderKey works a key out.
func (c *Context) orderKey(s *Sort) (*orderKey, error) {
	k := &orderKey{Sort: *s, indices: map[int]*indexKey{}}
	k.first = s.Missing != nil && s.Missing.Text == "_first"
	switch {
	case s.Geo != nil:
	case s.Field == "_score":
		k.kind = byScore
		return k, nil
	case s.Field == "_doc" || s.Field == "_shard_doc":
		k.kind = byPlace
		return k, nil
	}
	for i := range c.indices {
		one, err := c.indexKey(k, i)
		if err != nil {
			return nil, err
		}
		k.indices[i] = one
	}
	return k, k.unite()
}

// unite sees that values of all indices can be compared.
func (k *orderKey) unite() error {
	var kinds [2]bool
	var whole, real, natural bool
	for _, one := range k.indices {
		kinds[one.kind] = true
		if one.kind == byNumber {
			real = real || one.numbers.real()
			natural = natural || one.numbers == unsigned
			whole = whole || !one.numbers.real() && one.numbers != unsigned
		}
	}
	switch {
	case kinds[byNumber] && kinds[byTerm]:
		return exception.New(exception.ClassCast, "class java.lang.Long cannot be cast to class org.apache.lucene.util.BytesRef "+
			"(java.lang.Long is in module java.base of loader 'bootstrap'; org.apache.lucene.util.BytesRef is in unnamed module of loader 'app')")
	case natural && (whole || real):
		return exception.New(exception.IllegalArgument,
			"Can't do sort across indices, as a field has [unsigned_long] type in one index, and different type in another index!")
	case kinds[byTerm]:
		k.kind = byTerm
	}
	k.wide = whole && real
	return nil
}

// indexKey works a key out for an index.
func (c *Context) indexKey(k *orderKey, i int) (*indexKey, error) {
	index := &c.indices[i]
	one := &indexKey{name: index.Name, objects: c.around != ""}
	typ := k.UnmappedType
	if k.Field == "_index" {
		one.kind = byTerm
		return one, nil
	}
	if f, ok := index.Schema.Field(k.Field); ok {
		one.field, typ = f, f.Type()
	}
	switch {
	case one.field != nil:
		if err := sortable(k, one.field, index); err != nil {
			return nil, err
		}
	case typ == "":
		return nil, exception.New(exception.QueryShard, "No mapping found for [%s] in order to sort on", k.Field).
			With("index", index.Name).With("index_uuid", index.UUID)
	case !isType(typ):
		return nil, exception.New(exception.IllegalArgument, "No mapper found for type [%s]", typ)
	}
	one.kind, one.numbers = kindOf(k, typ)
	if one.kind == byTerm && (k.Mode == "avg" || k.Mode == "sum" || k.Mode == "median") {
		return nil, exception.New(exception.QueryShard, "we only support AVG, MEDIAN and SUM on number based fields").
			With("index", index.Name).With("index_uuid", index.UUID)
	}
	var err error
	if one.missing, err = k.missing(one); err == nil && k.Nested != nil {
		one.nested, err = c.nestedKey(i, k.Nested)
	}
	return one, err
}

// isType reports whether there is a type of that name.
func isType(typ string) bool {
	name, err := json.Marshal(typ)
	if err != nil {
		return false
	}
	definition := fmt.Appendf(nil, `{"properties":{"x":{"type":%s,"scaling_factor":1}}}`, name)
	_, err = mapping.Parse(definition, mapping.DefaultLimits)
	return err == nil || !strings.Contains(err.Error(), "No handler for type")
}

// sortable refuses fields that cannot be sorted by.
func sortable(k *orderKey, f *fields.Field, index *Index) error {
	switch {
	case k.Geo != nil:
		if f.Kind() != fields.GeoPoint {
			return exception.New(exception.IllegalArgument, "sorting by _geo_distance needs a geo_point, and [%s] is of type [%s]", k.Field, f.Type())
		}
		return nil
	case f.Kind() == fields.GeoPoint:
		return exception.New(exception.IllegalArgument, "can't sort on geo_point field without using specific sorting feature, like geo_distance")
	}
	if err := f.Readable(); err != nil {
		return err
	}
	if k.NumericType != "" && f.Spec().Column != segment.Numbers {
		return exception.New(exception.QueryShard, "[numeric_type] option cannot be set on a non-numeric field, got %s", f.Type()).
			With("index", index.Name).With("index_uuid", index.UUID)
	}
	return nil
}

// kindOf is how values of a type are compared.
func kindOf(k *orderKey, typ string) (orderKind, numberKind) {
	if k.Geo != nil {
		return byNumber, doubles
	}
	if k.NumericType == "double" {
		return byNumber, doubles
	}
	switch typ {
	case "long", "date", "date_nanos", "_seq_no":
		return byNumber, longs
	case "integer", "short", "byte", "boolean":
		if k.NumericType != "" {
			return byNumber, longs
		}
		return byNumber, ints
	case "float", "half_float", "double", "scaled_float":
		if k.NumericType != "" {
			return byNumber, longs
		}
		if typ == "float" || typ == "half_float" {
			return byNumber, floats
		}
		return byNumber, doubles
	case "unsigned_long":
		return byNumber, unsigned
	}
	return byTerm, 0
}

// missing is the value of docs that have none.
func (k *orderKey) missing(one *indexKey) (value, error) {
	given := k.Missing != nil && k.Missing.Text != "_first" && k.Missing.Text != "_last"
	switch {
	case one.kind == byTerm && given:
		return value{text: []byte(k.Missing.Text)}, nil
	case one.kind == byTerm:
		return value{null: true}, nil
	case k.Geo != nil:
		return k.number(one, fields.RealBits(math.Inf(1))), nil
	case given:
		n, err := one.parse(k.Missing.Text)
		return k.number(one, n), err
	}
	least := k.first != k.Descending
	switch {
	case one.numbers.real() && least:
		return k.number(one, fields.RealBits(math.Inf(-1))), nil
	case one.numbers.real():
		return k.number(one, fields.RealBits(math.Inf(1))), nil
	case one.numbers == ints && least:
		return k.number(one, math.MinInt32), nil
	case one.numbers == ints:
		return k.number(one, math.MaxInt32), nil
	case least:
		return k.number(one, math.MinInt64), nil
	}
	return k.number(one, math.MaxInt64), nil
}

// number is a number of an index as a value. Real numbers are given by their bits.
func (k *orderKey) number(one *indexKey, n int64) value {
	if k.wide && !one.numbers.real() {
		return value{n: fields.RealBits(float64(n)), told: n}
	}
	return value{n: n, told: n}
}

// parse reads a number of an index.
func (one *indexKey) parse(text string) (int64, error) {
	switch {
	case one.numbers.real():
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0, exception.NotNumber(text)
		}
		if one.numbers == floats {
			f = float64(float32(f))
		}
		return fields.RealBits(f), nil
	case one.numbers == unsigned:
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return int64(n ^ 1<<63), nil
		}
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, exception.NotNumber(text)
	}
	return java.Long(f), nil
}

// scalar is a value of search_after as a value of a query.
func scalar(v *SortValue) fields.Value {
	switch v.Kind {
	case Textual:
		return fields.Value{Kind: token.String, Text: string(v.Text)}
	case Fractional:
		return fields.Value{Kind: token.Float, Text: strconv.FormatFloat(v.F, 'g', -1, 64)}
	case Unsigned:
		return fields.Value{Kind: token.Integer, Text: strconv.FormatUint(uint64(v.N), 10)}
	}
	return fields.Value{Kind: token.Integer, Text: strconv.FormatInt(v.N, 10)}
}
