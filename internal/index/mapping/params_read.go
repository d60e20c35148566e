package mapping

import (
	"slices"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
)

func readAnything(_ *reading, _ *Field, _ string, _ any) (any, error) { return nil, nil }

func readBool(_ *reading, _ *Field, _ string, v any) (any, error) { return result(nodeBool(v)) }

func readIndexOptions(_ *reading, _ *Field, _ string, v any) (any, error) {
	if !set("docs", "freqs", "positions", "offsets")[javaText(v)] {
		return nil, exception.New(exception.OpenSearchParse, "failed to parse index option [%s]", javaText(v))
	}
	return nil, nil
}

func readInt(_ *reading, _ *Field, _ string, v any) (any, error) { return result(nodeInt(v)) }

func readText(_ *reading, _ *Field, _ string, v any) (any, error) { return javaText(v), nil }

func readNullText(_ *reading, _ *Field, _ string, v any) (any, error) { return javaText(v), nil }

func readBoost(_ *reading, _ *Field, _ string, v any) (any, error) {
	boost, err := nodeFloat(v)
	return result(float32(boost), err)
}

// result keeps a value that goes with an error from being taken for one that was set.
func result[T any](v T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}

// choice reads one of some words.
func choice(words ...string) func(*reading, *Field, string, any) (any, error) {
	return func(_ *reading, _ *Field, name string, v any) (any, error) {
		word := javaText(v)
		if !slices.Contains(words, word) {
			return nil, exception.New(exception.MapperParsing, "Unknown value [%s] for field [%s] - accepted values are [%s]", word, name, strings.Join(words, ", "))
		}
		return word, nil
	}
}

func readAnalyzer(r *reading, _ *Field, _ string, v any) (any, error) {
	name := javaText(v)
	if !r.limits.Analysis.Any && !builtInAnalyzers[name] && !r.limits.Analysis.Analyzers[name] {
		return nil, exception.New(exception.IllegalArgument, "analyzer [%s] has not been configured in mappings", name)
	}
	return name, nil
}

func readNormalizer(r *reading, f *Field, _ string, v any) (any, error) {
	name := javaText(v)
	if !r.limits.Analysis.Any && name != "default" && name != "lowercase" && !r.limits.Analysis.Normalizers[name] {
		return nil, exception.New(exception.MapperParsing, "normalizer [%s] not found for field [%s]", name, f.name)
	}
	return name, nil
}

func readSimilarity(r *reading, f *Field, _ string, v any) (any, error) {
	name := javaText(v)
	switch {
	case r.limits.Analysis.Any, name == "BM25", name == "boolean", r.limits.Analysis.Similarities[name]:
		return name, nil
	case name == "classic":
		return nil, exception.New(exception.IllegalArgument, "The [classic] similarity may not be used anymore. Please use the [BM25] similarity or build a custom [scripted] similarity instead.")
	}
	return nil, exception.New(exception.MapperParsing, "Unknown Similarity type [%s] for field [%s]", name, f.name)
}

// readMeta reads what users note about a field: at most 5 short texts.
func readMeta(_ *reading, f *Field, _ string, v any) (any, error) {
	refuse := func(format string, args ...any) (any, error) {
		return nil, exception.New(exception.MapperParsing, format, args...)
	}
	o, ok := v.(*object)
	if !ok {
		return refuse("[meta] must be an object, got %s[%s] for field [%s]", shortClass(v), javaText(v), f.name)
	}
	if len(o.keys) > 5 {
		return refuse("[meta] can't have more than 5 entries, but got %d on field [%s]", len(o.keys), f.name)
	}
	for _, key := range o.keys {
		if units(key) > 20 {
			return refuse("[meta] keys can't be longer than 20 chars, but got [%s] for field [%s]", key, f.name)
		}
	}
	meta := map[string]string{}
	for _, key := range o.keys {
		switch text := o.at[key].(type) {
		case string:
			if units(text) > 50 {
				return refuse("[meta] values can't be longer than 50 chars, but got [%s] for field [%s]", text, f.name)
			}
			meta[key] = text
		case nil:
			return refuse("[meta] values can't be null (field [%s])", f.name)
		default:
			return refuse("[meta] values can only be strings, but got %s[%s] for field [%s]", shortClass(text), javaText(text), f.name)
		}
	}
	return meta, nil
}

func shortClass(v any) string {
	class := javaClass(v)
	return class[strings.LastIndexByte(class, '.')+1:]
}

// units is the length in UTF-16 code units.
func units(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

func readLocale(_ *reading, _ *Field, _ string, v any) (any, error) {
	text := javaText(v)
	separator := "_"
	if !strings.Contains(text, separator) {
		separator = "-"
	}
	if parts := strings.Split(text, separator); len(parts) > 3 {
		return nil, exception.New(exception.IllegalArgument, "Locales can have at most 3 parts but got %d: [%s]", len(parts), strings.Join(parts, ", "))
	} else if len(parts) > 1 {
		parts[0], parts[1] = strings.ToLower(parts[0]), strings.ToUpper(parts[1])
		return strings.Join(parts, "_"), nil
	}
	return strings.ToLower(text), nil
}

func readFrequencies(_ *reading, f *Field, name string, v any) (any, error) {
	o, err := asObject(v)
	if err != nil {
		return nil, err
	}
	o, filter := o.clone(), frequencies{Max: 2147483647}
	for _, bound := range []struct {
		key string
		to  *float64
	}{{"min", &filter.Min}, {"max", &filter.Max}} {
		if value, ok := o.take(bound.key); ok {
			if *bound.to, err = nodeFloat(value); err != nil {
				return nil, err
			}
		}
	}
	if value, ok := o.take("min_segment_size"); ok {
		if filter.Segment, err = nodeInt(value); err != nil {
			return nil, err
		}
	}
	return filter, noRemaining(o, name)
}

func readPrefixes(_ *reading, f *Field, _ string, v any) (any, error) {
	o, err := asObject(v)
	if err != nil {
		return nil, err
	}
	o, p := o.clone(), prefixes{2, 5}
	for key, to := range map[string]*int64{"min_chars": &p.Min, "max_chars": &p.Max} {
		if value, ok := o.take(key); ok {
			if *to, err = nodeInt(value); err != nil {
				return nil, err
			}
		}
	}
	refuse := func(format string, args ...any) (any, error) {
		return nil, exception.New(exception.IllegalArgument, format, args...)
	}
	switch {
	case noRemaining(o, f.name) != nil:
		return nil, noRemaining(o, f.name)
	case p.Min > p.Max:
		return refuse("min_chars [%d] must be less than max_chars [%d]", p.Min, p.Max)
	case p.Min < 1:
		return refuse("min_chars [%d] must be greater than zero", p.Min)
	case p.Max >= 20:
		return refuse("max_chars [%d] must be less than 20", p.Max)
	}
	return p, nil
}

func readScaling(_ *reading, _ *Field, _ string, v any) (any, error) {
	f, err := nodeFloat(v)
	if err == nil && !(f > 0) {
		err = exception.New(exception.IllegalArgument, "[scaling_factor] must be a positive number, got [%s]", java.Double(f))
	}
	return result(f, err)
}

func readConstantValue(_ *reading, f *Field, _ string, v any) (any, error) {
	if text, ok := v.(string); ok {
		return text, nil
	}
	return nil, exception.New(exception.OpenSearchParse, "Field [%s] is expected to be a string value", f.name)
}

// readNullNumber keeps the number as the type prints it.
func readNullNumber(_ *reading, f *Field, _ string, v any) (any, error) {
	value, err := readLoose(f, v)
	if err != nil {
		return nil, err
	}
	switch value.Kind {
	case Integer:
		return literal(strconv.FormatInt(value.Low, 10)), nil
	case Unsigned:
		return literal(strconv.FormatUint(uint64(value.Low), 10)), nil
	}
	if f.kind.name == "float" || f.kind.name == "half_float" {
		return literal(java.Float(float32(value.Float))), nil
	}
	return literal(java.Double(value.Float)), nil
}

var builtInAnalyzers = set("default", "standard", "simple", "stop", "whitespace", "keyword", "pattern", "fingerprint", "snowball", "chinese",
	"arabic", "armenian", "basque", "bengali", "brazilian", "bulgarian", "catalan", "cjk", "czech", "danish", "dutch", "english",
	"estonian", "finnish", "french", "galician", "german", "greek", "hindi", "hungarian", "indonesian", "irish", "italian",
	"latvian", "lithuanian", "norwegian", "persian", "portuguese", "romanian", "russian", "sorani", "spanish", "swedish", "thai", "turkish")

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, word := range words {
		m[word] = true
	}
	return m
}
