package migrate_test

import (
	"encoding/json"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/migrate"
)

// FuzzHours: hours are read, or refused as wrong usage; what is read is told as it is read again.
func FuzzHours(f *testing.F) {
	for _, text := range []string{"22:00-06:00 Europe/Berlin", "00:00-24:00", "22:00-06:00 +02:00", " 01:30-01:31  -11:45 ", "6-7", "24:00-01:00", "1:00-2:00 Local", "01:00-02:00 +00:00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		hours, err := migrate.ParseHours(text)
		if err != nil {
			if !fault.Is(err, fault.Usage) {
				t.Fatal(err)
			}
			return
		}
		if hours.IsZero() { // always, which has no text
			return
		}
		again, err := migrate.ParseHours(hours.String())
		if err != nil || again.String() != hours.String() || again.IsZero() {
			t.Fatalf("%q is %q, and that is %q: %v", text, hours, again, err)
		}
	})
}

// FuzzLimits: limits of a record are read, or refused; what is read is stored as it is read again,
// and limits what it says.
func FuzzLimits(f *testing.F) {
	for _, text := range []string{`{"documentsPerSecond":5000,"bytesPerSecond":1e7,"hours":"22:00-06:00 Europe/Berlin"}`, `{}`, ``, `null`, `{"documentsPerSecond":-1}`,
		`{"bytesPerSecond":1e309}`, `{"hours":""}`, `{"hours":7}`, `{"speed":1}`, `[]`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		limits, err := migrate.ReadLimits(text)
		if err != nil {
			if !fault.Is(err, fault.Usage) {
				t.Fatal(err)
			}
			return
		}
		if err := limits.Check(); err != nil {
			t.Fatalf("%s is read, and %v", text, err)
		}
		again, err := migrate.ReadLimits(limits.JSON())
		if err != nil || again.String() != limits.String() || string(again.JSON()) != string(limits.JSON()) {
			t.Fatalf("%s is %s, and that is %s: %v", text, limits.JSON(), again.JSON(), err)
		}
	})
}

// FuzzFields: a mapping is measured, or its body is no JSON; what is at every limit is not over it.
func FuzzFields(f *testing.F) {
	for _, text := range []string{`{"mappings":{"properties":{"a":{"type":"nested","properties":{"b":{"type":"text","fields":{"raw":{"type":"keyword"}}}}}}}}`, `{}`, `null`,
		`{"settings":{"index.mapping.depth.limit":"3","index.mapping.total_fields.limit":-7}}`, `{"mappings":[]}`, `{"mappings":{"properties":{"a":7}}}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		size, _, err := migrate.FieldsOf(body)
		if err != nil {
			if !fault.Is(err, fault.Corrupt) {
				t.Fatal(err)
			}
			return
		}
		if !json.Valid(body) || size.Fields < 0 || size.Nested < 0 || size.Depth < 1 || size.Fields > len(body) || size.Depth > len(body)+1 {
			t.Fatalf("%s has %+v", body, size)
		}
		if over := size.Over(size); len(over) > 0 {
			t.Fatalf("%v", over)
		}
		if over := size.Over(migrate.Fields{Fields: size.Fields - 1, Depth: size.Depth, Nested: size.Nested}); len(over) != 1 {
			t.Fatalf("%v", over)
		}
	})
}
