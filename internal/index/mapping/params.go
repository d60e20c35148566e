package mapping

import (
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/java"
	json "github.com/reshelve/reshelve/internal/opensearch/token"
)

// Parameters are kept as bool, int64, float32, float64, string, []string,
// map[string]string, literal, frequencies, prefixes or point.

// literal is a number of null_value as the server prints it.
type literal string

// frequencies is fielddata_frequency_filter.
type frequencies struct {
	Min, Max float64
	Segment  int64
}

// prefixes is index_prefixes.
type prefixes struct{ Min, Max int64 }

// point is null_value of a geo_point.
type point struct{ Lat, Lon float64 }

func equal(a, b any) bool {
	switch a := a.(type) {
	case bool, int64, string:
		return a == b
	}
	return reflect.DeepEqual(a, b)
}

// javaParam is a parameter as conflicts quote it.
func javaParam(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case float32:
		return java.Float(v)
	case float64:
		return java.Double(v)
	case []string:
		return "[" + strings.Join(v, ", ") + "]"
	case prefixes:
		return fmt.Sprintf("{ min_chars=%d, max_chars=%d }", v.Min, v.Max)
	case point:
		return java.Double(v.Lat) + ", " + java.Double(v.Lon)
	}
	return fmt.Sprint(v)
}

// appendParam renders a parameter.
func appendParam(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case string:
		return json.AppendString(b, v)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case []string:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = json.AppendString(b, item)
		}
		return append(b, ']')
	case map[string]string:
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		sort.Slice(keys, func(i, j int) bool { return java.Less(keys[i], keys[j]) })
		b = append(b, '{')
		first := true
		for _, key := range keys {
			b = json.AppendString(appendKey(b, key, &first), v[key])
		}
		return append(b, '}')
	case frequencies:
		return fmt.Appendf(b, `{"min":%s,"max":%s,"min_segment_size":%d}`, java.Double(v.Min), java.Double(v.Max), v.Segment)
	case prefixes:
		return fmt.Appendf(b, `{"min_chars":%d,"max_chars":%d}`, v.Min, v.Max)
	case timestampField:
		return append(json.AppendString(append(b, `{"name":`...), string(v)), '}')
	case literal:
		if v == "NaN" || strings.HasSuffix(string(v), "Infinity") {
			return json.AppendString(b, string(v))
		}
	case point:
		return fmt.Appendf(b, `{"lat":%s,"lon":%s}`, java.Double(v.Lat), java.Double(v.Lon))
	}
	return append(b, javaParam(v)...)
}
