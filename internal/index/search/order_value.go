package search

import (
	"bytes"
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// told is a value as a hit tells it.
func (k *orderKey) told(v *value, at *visited, h *Hit) SortValue {
	switch k.kind {
	case byPlace:
		p := place{number: at.number, key: h.Key, id: h.ID}
		return SortValue{Kind: Textual, Text: []byte(p.mark())}
	case byScore:
		return real32(fields.RealOf(v.n))
	case byTerm:
		if f := k.indices[at.index].field; !v.null && f != nil && f.Kind() == fields.Address {
			return SortValue{Kind: Textual, Text: bytes.Trim(f.AppendTerm(nil, v.text), `"`)}
		}
		return SortValue{Null: v.null, Kind: Textual, Text: v.text}
	}
	switch one := k.indices[at.index]; one.numbers {
	case floats:
		return real32(fields.RealOf(v.told))
	case doubles:
		return real64(fields.RealOf(v.told))
	case unsigned:
		return SortValue{Kind: Unsigned, N: v.told ^ math.MinInt64}
	}
	return SortValue{N: v.told}
}

// real32 tells a number of 32 bits with the digits that it needs.
func real32(f float64) SortValue {
	short, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', -1, 32), 64)
	if err != nil {
		short = f
	}
	return real64(short)
}

// real64 tells a number. JSON has no infinite ones: they are texts.
func real64(f float64) SortValue {
	switch {
	case math.IsInf(f, 1):
		return SortValue{Kind: Textual, Text: []byte("Infinity")}
	case math.IsInf(f, -1):
		return SortValue{Kind: Textual, Text: []byte("-Infinity")}
	}
	return SortValue{Kind: Fractional, F: f}
}

// read reads a value of search_after: for the key of the place it goes into at.
func (k *orderKey) read(v *SortValue, at *place) (value, error) {
	switch k.kind {
	case byPlace:
		p, err := parseMark(string(v.Text), k.Field)
		*at = p
		return value{}, err
	case byScore:
		f, err := strconv.ParseFloat(scalar(v).Text, 64)
		if err != nil || v.Null {
			return value{}, k.unread(scalar(v).Text)
		}
		return value{n: fields.RealBits(float64(float32(f)))}, nil
	case byTerm:
		return k.readTerm(v)
	}
	if v.Null {
		return value{}, exception.New(exception.NullPointer, "Cannot invoke \"java.lang.Long.longValue()\" because \"value\" is null")
	}
	return k.readNumber(scalar(v))
}

func (k *orderKey) unread(text string) error {
	return exception.New(exception.IllegalArgument, "Failed to parse search_after value for field [%s].", k.Field).CausedBy(exception.NotNumber(text))
}

func (k *orderKey) readTerm(v *SortValue) (value, error) {
	if v.Null {
		return value{null: true}, nil
	}
	text := scalar(v)
	text.Kind = token.String
	for _, one := range k.indices {
		if one.field == nil || one.field.Kind() != fields.Address {
			continue
		}
		m, err := one.field.Exact(text, 0)
		if err != nil {
			return value{}, err
		}
		return value{text: m.LeastTerm}, nil
	}
	return value{text: []byte(text.Text)}, nil
}

// readNumber reads a number as that of the most general type of the indices.
func (k *orderKey) readNumber(v fields.Value) (value, error) {
	var of *indexKey
	for _, one := range k.indices {
		if of == nil || one.numbers.real() && !of.numbers.real() || one.field != nil && of.field == nil {
			of = one
		}
	}
	if of == nil {
		return value{}, nil
	}
	if of.field != nil && of.field.Kind() == fields.Date && v.Kind == token.String {
		m, err := of.field.Exact(v, 0)
		if err != nil {
			return value{}, err
		}
		return k.number(of, m.Least), nil
	}
	n, err := of.parse(v.Text)
	if err != nil {
		return value{}, k.unread(v.Text)
	}
	return k.number(of, n), nil
}

// parseMark reads what mark prints.
func parseMark(text, field string) (p place, err error) {
	number, rest, _ := strings.Cut(text, "/")
	hex, id, ok := strings.Cut(rest, "/")
	n, numberErr := strconv.ParseUint(number, 10, 32)
	key, keyErr := routing.ParseKey(hex)
	if !ok || cmp.Or(numberErr, keyErr) != nil {
		return p, exception.New(exception.IllegalArgument, "Failed to parse search_after value for field [%s]: [%s] is not the sort value of a hit", field, text)
	}
	return place{number: uint32(n), key: key, id: id, known: true}, nil
}
