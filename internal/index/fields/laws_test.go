package fields_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// law is a type with values of it: the JSON of one, and what orders it among others.
type law struct {
	definition string
	value      func(t *rapid.T) (text string, order *big.Float)
}

func wholeLaw(definition string, low, high int64) law {
	return law{definition, func(t *rapid.T) (string, *big.Float) {
		n := rapid.OneOf(rapid.Int64Range(low, high), rapid.Int64Range(-3, 3), rapid.SampledFrom([]int64{low, high})).Filter(func(n int64) bool { return n >= low && n <= high }).Draw(t, "n")
		return fmt.Sprint(n), new(big.Float).SetPrec(64).SetInt64(n)
	}}
}

func realLaw(definition string, most float64, round func(float64) float64) law {
	return law{definition, func(t *rapid.T) (string, *big.Float) {
		f := rapid.OneOf(rapid.Float64Range(-most, most), rapid.Float64Range(-2, 2), rapid.SampledFrom([]float64{0, most, -most, 1e-5})).Draw(t, "f")
		return strconv.FormatFloat(f, 'g', -1, 64), big.NewFloat(round(f))
	}}
}

var laws = map[string]law{
	"byte": wholeLaw(`"byte"`, -128, 127), "short": wholeLaw(`"short"`, -32768, 32767),
	"integer": wholeLaw(`"integer"`, math.MinInt32, math.MaxInt32), "long": wholeLaw(`"long"`, math.MinInt64, math.MaxInt64),
	"long by column": wholeLaw(`"long","index":false`, math.MinInt64, math.MaxInt64),
	"unsigned_long": {`"unsigned_long"`, func(t *rapid.T) (string, *big.Float) {
		n := rapid.Uint64().Draw(t, "n")
		return fmt.Sprint(n), new(big.Float).SetPrec(64).SetUint64(n)
	}},
	"scaled_float": {`"scaled_float","scaling_factor":4`, func(t *rapid.T) (string, *big.Float) {
		f := float64(rapid.Int32().Draw(t, "n")) / 4
		return fmt.Sprint(f), big.NewFloat(f)
	}},
	"half_float": realLaw(`"half_float"`, 65504, func(f float64) float64 { return mapping.HalfFloat(float32(f)) }),
	"float":      realLaw(`"float"`, 3e38, func(f float64) float64 { return float64(float32(f)) }),
	"double":     realLaw(`"double"`, math.MaxFloat64, func(f float64) float64 { return f }),
	"date": {`"date"`, func(t *rapid.T) (string, *big.Float) {
		ms := rapid.Int64Range(-1e13, 1e13).Draw(t, "ms")
		return strconv.Quote(time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")), new(big.Float).SetInt64(ms)
	}},
	"date_nanos": {`"date_nanos"`, func(t *rapid.T) (string, *big.Float) {
		ns := rapid.Int64Range(0, math.MaxInt64).Draw(t, "ns")
		return strconv.Quote(time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05.000000000Z")), new(big.Float).SetPrec(64).SetInt64(ns)
	}},
	"boolean": {`"boolean"`, func(t *rapid.T) (string, *big.Float) {
		b := rapid.Bool().Draw(t, "b")
		return fmt.Sprint(b), big.NewFloat(map[bool]float64{true: 1}[b])
	}},
	"keyword":    {`"keyword"`, textLaw},
	"by column":  {`"keyword","index":false`, textLaw},
	"normalized": {`"keyword","normalizer":"lowercase"`, textLaw},
	"wildcard":   {`"wildcard"`, textLaw},
	"ip": {`"ip"`, func(t *rapid.T) (string, *big.Float) {
		a := rapid.OneOf(rapid.SliceOfN(rapid.Byte(), 4, 4), rapid.SliceOfN(rapid.Byte(), 16, 16)).Draw(t, "ip")
		addr, _ := netip.AddrFromSlice(a)
		return strconv.Quote(addr.String()), nil
	}},
	"long_range": {`"long_range"`, func(t *rapid.T) (string, *big.Float) {
		return fmt.Sprintf(`{"gte":%d}`, rapid.Int64().Draw(t, "n")), nil
	}},
}

func textLaw(t *rapid.T) (string, *big.Float) {
	text, _ := json.Marshal(rapid.StringN(0, 20, -1).Draw(t, "s"))
	return string(text), nil
}

// TestExactFindsWhatWasWritten is invariant 1.
func TestExactFindsWhatWasWritten(t *testing.T) {
	for name, l := range laws {
		t.Run(name, func(t *testing.T) {
			schema := schemaOf(t, `{"properties":{"f":{"type":`+l.definition+`}}}`)
			f, _ := schema.Field("f")
			rapid.Check(t, func(t *rapid.T) {
				values := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string { text, _ := l.value(t); return text }), 1, 5).Draw(t, "values")
				s := &store{schema: schema}
				b := segment.NewBuilder()
				w := fields.NewWriter(b)
				for i, v := range values {
					if err := w.Add(schema, segment.Identity{ID: fmt.Sprint(i)}, "", []byte(`{"f":`+v+`}`)); err != nil {
						t.Fatal(v, err)
					}
				}
				data, err := b.Build()
				if err != nil {
					t.Fatal(err)
				}
				if s.seg, err = segment.Open(data); err != nil {
					t.Fatal(err)
				}
				for i, v := range values {
					m, err := f.Exact(scalar([]byte(strings.TrimSuffix(strings.TrimPrefix(v, `{"gte":`), "}"))), 0)
					if err != nil {
						t.Fatal(v, err)
					}
					if !s.docs(f.Name(), f.Spec(), m).Has(segment.Doc(i)) {
						t.Fatalf("%s is not found by its value", v)
					}
				}
			})
		})
	}
}

// TestNumbersHaveTheOrderOfValues is invariant 2; Float and Number agree with it.
func TestNumbersHaveTheOrderOfValues(t *testing.T) {
	for name, l := range laws {
		schema := schemaOf(t, `{"properties":{"f":{"type":`+l.definition+`}}}`)
		f, _ := schema.Field("f")
		if f.Spec().Column != segment.Numbers {
			continue
		}
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				x, order := l.value(t)
				y, other := l.value(t)
				s := written(t, `{"properties":{"f":{"type":`+l.definition+`}}}`, `{"f":`+x+`}`, `{"f":`+y+`}`)
				m, _ := s.seg.Field("f").Numbers().First(0)
				n, _ := s.seg.Field("f").Numbers().First(1)
				switch order.Cmp(other) {
				case -1:
					if m >= n {
						t.Fatalf("%s is kept as %d, %s as %d", x, m, y, n)
					}
				case 0: // -0 and 0 are equal, and kept apart
					if m != n && order.Sign() != 0 {
						t.Fatalf("%s is kept as %d, %s as %d", x, m, y, n)
					}
				}
				if f.Kind() == fields.Real || f.Type() == "integer" || f.Type() == "scaled_float" {
					if back := f.Number(f.Float(m)); back != m {
						t.Fatalf("%s is kept as %d, whose value %v is kept as %d", x, m, f.Float(m), back)
					}
				}
				if (f.Float(m) > f.Float(n)) && m < n {
					t.Fatalf("values %v of %d and %v of %d", f.Float(m), m, f.Float(n), n)
				}
			})
		})
	}
}

// TestRangesAgreeWithValues compares ranges with the order of the values themselves.
func TestRangesAgreeWithValues(t *testing.T) {
	for name, l := range laws {
		schema := schemaOf(t, `{"properties":{"f":{"type":`+l.definition+`}}}`)
		f, _ := schema.Field("f")
		if f.Kind() == fields.Truth || f.Spec().Column != segment.Numbers || f.Type() == "half_float" || f.Type() == "float" {
			continue // bounds of these are not rounded as values are
		}
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				x, order := l.value(t)
				y, other := l.value(t)
				include := rapid.Bool().Draw(t, "include")
				bound := &fields.Bound{Value: scalar([]byte(y)), Include: include}
				from, err := f.Range(fields.Asked{From: bound}, 0)
				if err != nil {
					t.Fatal(err)
				}
				to, err := f.Range(fields.Asked{To: bound}, 0)
				if err != nil {
					t.Fatal(err)
				}
				m, err := f.Exact(scalar([]byte(x)), 0)
				if err != nil {
					t.Fatal(err)
				}
				in := func(r fields.Match) bool { return !r.None && m.Least >= r.Least && m.Least <= r.Greatest }
				if order.Sign() == 0 && other.Sign() == 0 {
					return // -0 and 0
				}
				cmp := order.Cmp(other)
				if got, want := in(from), cmp > 0 || cmp == 0 && include; got != want {
					t.Fatalf("%s from %s (included: %v): %v", x, y, include, got)
				}
				if got, want := in(to), cmp < 0 || cmp == 0 && include; got != want {
					t.Fatalf("%s to %s (included: %v): %v", x, y, include, got)
				}
			})
		})
	}
}

// TestRangesOfTerms compares ranges of keywords with the order of their bytes, for terms
// that are each other's neighbours.
func TestRangesOfTerms(t *testing.T) {
	schema := schemaOf(t, `{"properties":{"f":{"type":"keyword"},"o":{"type":"flat_object"}}}`)
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"\x00", "\x01", "a", "b", "é", "\U0010ffff"}), 0, 3).Draw(t, "word"), "")
		})
		x, y, include := word.Draw(t, "x"), word.Draw(t, "y"), rapid.Bool().Draw(t, "include")
		bound := &fields.Bound{Value: fields.Value{Kind: token.String, Text: y}, Include: include}
		for _, path := range []string{"f", "o", "o.k"} {
			f := must(schema.Field(path))
			in := func(m fields.Match, err error) bool {
				term := f.Prefix() + x
				return err == nil && !m.None && term >= string(m.LeastTerm) && (m.GreatestTerm == nil || term <= string(m.GreatestTerm))
			}
			if got, want := in(f.Range(fields.Asked{From: bound}, 0)), x > y || x == y && include; got != want {
				t.Fatalf("%s: %q from %q (included: %v): %v", path, x, y, include, got)
			}
			if got, want := in(f.Range(fields.Asked{To: bound}, 0)), x < y || x == y && include; got != want {
				t.Fatalf("%s: %q to %q (included: %v): %v", path, x, y, include, got)
			}
		}
	})
}

// FuzzAdd writes any source: what the mapping accepts is written without an error, what
// it refuses is there all the same, and nothing panics.
func FuzzAdd(f *testing.F) {
	_, lines := readLines(f)
	schema := schemaOf(f, string(lines[2].Mapping))
	for _, l := range lines {
		if l.Source != nil {
			f.Add([]byte(l.Source))
		}
	}
	f.Add([]byte(`{"n":[{"a":1},{"t":"x","a":[{}]}]`))
	f.Add([]byte(`{"np":{"q":[{"x":1},{"x":[2,3]}],"m":{"x":"4"}},"flat_object":[{"a":[[{"b":[]}]]},{"":""}]}`))
	f.Fuzz(func(t *testing.T, source []byte) {
		b := segment.NewBuilder()
		w := fields.NewWriter(b)
		additions, refused := schema.Mapping().Document(source, "x", mapping.DefaultLimits, nil)
		err := w.Add(schema, segment.Identity{ID: "x", SeqNo: 7}, "r", source)
		if err != nil && refused == nil && additions == nil {
			t.Fatalf("accepted, but not written: %v", err)
		}
		if err := w.Add(schema, segment.Identity{ID: "y"}, "", []byte(`{"keyword":"next"}`)); err != nil {
			t.Fatal(err)
		}
		s := &store{schema: schema, seg: built(t, b)}
		if s.seg.Roots() != 2 || s.holds("_seq_no") != fmt.Sprintf("%d=[7]; %d=[0]", s.seg.Docs()-2, s.seg.Docs()-1) {
			t.Fatalf("%d roots, %s", s.seg.Roots(), s.holds("_seq_no"))
		}
	})
}

// FuzzAsked asks any value of every field: errors are the server's, and nothing panics.
func FuzzAsked(f *testing.F) {
	_, lines := readLines(f)
	schema := schemaOf(f, string(lines[2].Mapping))
	for _, text := range []string{`"2020-01||/M"`, `-1.5e3`, `"10.0.0.0/8"`, `true`, `"x"`, `18446744073709551616`, `"٥"`, `1e999`, `"now-1d"`} {
		f.Add([]byte(text), "yyyy", true)
	}
	f.Fuzz(func(t *testing.T, literal []byte, format string, include bool) {
		v := scalar(literal)
		bound := &fields.Bound{Value: v, Include: include}
		for _, field := range append(schema.Matching("*"), must(schema.Field("flat_object.a")), must(schema.Field("_seq_no"))) {
			for _, ask := range []func() (fields.Match, error){
				func() (fields.Match, error) { return field.Exact(v, 1e12) },
				func() (fields.Match, error) { return field.Range(fields.Asked{From: bound}, 1e12) },
				func() (fields.Match, error) { return field.Range(fields.Asked{To: bound, Format: format}, 1e12) },
			} {
				m, err := ask()
				if err != nil {
					if exception.From(err).Type == exception.Unknown {
						t.Fatalf("%s: %v", field.Path(), err)
					}
					continue
				}
				if m.Numbers && m.Least > m.Greatest {
					t.Fatalf("%s: %+v", field.Path(), m)
				}
				if n := b2i(m.None) + b2i(m.All) + b2i(m.Terms) + b2i(m.Numbers); n != 1 {
					t.Fatalf("%s: %+v", field.Path(), m)
				}
			}
		}
	})
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func must(f *fields.Field, ok bool) *fields.Field {
	if !ok {
		panic("no such field")
	}
	return f
}
