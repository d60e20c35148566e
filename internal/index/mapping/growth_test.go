package mapping

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestGrowth feeds each reader inputs that invite the square of their length, and
// holds what it allocates to less than that.
func TestGrowth(t *testing.T) {
	list := func(n int, format string) string {
		items := make([]string, n)
		for i := range items {
			items[i] = fmt.Sprintf(format, i)
		}
		return strings.Join(items, ",")
	}
	limits := Unlimited(DefaultLimits)
	known := func(mappings string) *Mapping {
		m, err := Parse([]byte(mappings), limits)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	parse := func(text string) error { _, err := Parse([]byte(text), limits); return err }
	document := func(m *Mapping, source string) error {
		_, err := m.Document([]byte(source), "1", limits, nil)
		return err
	}
	empty := Empty()
	keyword := known(`{"properties":{"a":{"type":"keyword"},"n":{"type":"nested","properties":{"k":{"type":"long"}}}}}`)
	for _, c := range []struct {
		name string
		run  func(n int) error
	}{
		{"properties", func(n int) error { return parse(`{"properties":{` + list(n, `"f%d":{"type":"long"}`) + `}}`) }},
		{"dotted properties", func(n int) error { return parse(`{"properties":{` + list(n, `"a.f%d":{"type":"long"}`) + `}}`) }},
		{"multi-fields", func(n int) error {
			return parse(`{"properties":{"f":{"type":"text","fields":{` + list(n, `"f%d":{"type":"keyword"}`) + `}}}}`)
		}},
		{"templates", func(n int) error {
			return parse(`{"dynamic_templates":[` + list(n, `{"t%d":{"match":"a*","mapping":{"type":"long"}}}`) + `]}`)
		}},
		{"merged properties", func(n int) error {
			_, err := keyword.Merge([]byte(`{"properties":{`+list(n, `"f%d":{"type":"long"}`)+`}}`), limits)
			return err
		}},
		{"new fields", func(n int) error { return document(empty, `{`+list(n, `"f%d":1`)+`}`) }},
		{"new dotted fields", func(n int) error { return document(empty, `{`+list(n, `"a.f%d":1`)+`}`) }},
		{"new objects in an array", func(n int) error { return document(empty, `{"a":[`+list(n, `{"b":%d,"c":{"d":"x"}}`)+`]}`) }},
		{"new values in an array", func(n int) error { return document(empty, `{"a":[`+list(n, `%d`)+`]}`) }},
		{"known values in an array", func(n int) error { return document(keyword, `{"a":[`+list(n, `"x%d"`)+`]}`) }},
		{"nested objects", func(n int) error {
			l := limits
			l.NestedObjects = n + 1
			_, err := keyword.Document([]byte(`{"n":[`+list(n, `{"k":%d}`)+`]}`), "1", l, &counting{})
			return err
		}},
	} {
		const n = 1500
		spent := func(n int) uint64 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if err := c.run(n); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		if small, large := spent(n), spent(8*n); large > 20*small {
			t.Errorf("%s: %d take %d bytes, %d take %d", c.name, n, small, 8*n, large)
		}
	}
}

// TestTooMuchIsRefusedEarly: what is far beyond a limit is not worked on first.
func TestTooMuchIsRefusedEarly(t *testing.T) {
	keys := make([]string, 4000)
	for i := range keys {
		keys[i] = fmt.Sprintf(`"a%s":{"type":"text","fields":{"f%d":{"type":"keyword"}}}`, strings.Repeat(".", i), i)
	}
	const reason = "illegal_argument_exception: Limit of total fields [1000] has been exceeded"
	_, err := Parse([]byte(`{"properties":{`+strings.Join(keys, ",")+`}}`), DefaultLimits)
	if err == nil || !strings.HasSuffix(err.Error(), reason[len("illegal_argument_exception: "):]) {
		t.Errorf("a field told %d times: %v", len(keys), err)
	}
	source := make([]string, 100_000)
	for i := range source {
		source[i] = fmt.Sprintf(`"f%d":%d`, i, i)
	}
	if _, err := Empty().Document([]byte("{"+strings.Join(source, ",")+"}"), "1", DefaultLimits, nil); err == nil || err.Error() != reason {
		t.Errorf("100,000 new fields: %v", err)
	}
	deep := strings.Repeat("a.", 200_000) + "b"
	if _, err := Parse([]byte(`{"properties":{"`+deep+`":{"type":"long"}}}`), DefaultLimits); err == nil {
		t.Error("a path of 200,000 objects is read")
	}
	if _, err := Empty().Document([]byte(`{"`+deep+`":1}`), "1", DefaultLimits, nil); err == nil {
		t.Error("a path of 200,000 objects is added")
	}
}
