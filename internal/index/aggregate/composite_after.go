package aggregate

import (
	"math"
	"strconv"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// appendAfter writes a value of after: one as it was told in a key.
func (s *compositeSource) appendAfter(key []byte, v fields.Value) ([]byte, error) {
	switch {
	case s.values.class == texts || s.values.class == nothing:
		if v.Kind != token.String {
			return key, exception.New(exception.IllegalArgument, "invalid value, expected string, got %s", classOfValue(v))
		}
		term, err := s.values.term(v.Text)
		return s.appendTerm(key, term), err
	case s.fractional():
		f, err := strconv.ParseFloat(v.Text, 64)
		if err != nil {
			return key, exception.NotNumber(v.Text)
		}
		return s.appendBits(key, math.Float64bits(f)), nil
	}
	n, err := s.whole(v)
	return s.appendBits(key, uint64(n)), err
}

// whole reads a number that has no fraction.
func (s *compositeSource) whole(v fields.Value) (int64, error) {
	switch {
	case s.values.format.kind == truth || s.values.class == counts && s.scale == nil:
		n, _, err := s.values.number(v)
		return n, err
	case s.values.format.kind == dates && !s.raw:
		return s.values.day(v.Text)
	}
	n, err := strconv.ParseInt(v.Text, 10, 64)
	if err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(v.Text, 64)
	if err != nil {
		return 0, exception.NotNumber(v.Text)
	}
	return java.Long(f), nil
}

// classOfValue is what the server's language calls the type of a value.
func classOfValue(v fields.Value) string {
	switch v.Kind {
	case token.Integer:
		if n, err := strconv.ParseInt(v.Text, 10, 64); err != nil {
			return "BigInteger"
		} else if n < math.MinInt32 || n > math.MaxInt32 {
			return "Long"
		}
		return "Integer"
	case token.Float:
		return "Double"
	}
	return "Boolean"
}
