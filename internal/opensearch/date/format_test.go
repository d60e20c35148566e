package date

import "testing"

func TestNamedFormatsCompile(t *testing.T) {
	for _, row := range names {
		if _, err := ParseFormat(row.name); err != nil {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for _, c := range []struct{ name, format, text string }{
		{"strict_date_optional_time", "strict_date_optional_time||epoch_millis", "2020-02-29T12:34:56.789Z"},
		{"epoch_millis", "strict_date_optional_time||epoch_millis", "1582979696789"},
		{"pattern", "yyyy-MM-dd HH:mm:ss", "2020-02-29 12:34:56"},
		{"date_optional_time", "date_optional_time", "2020-2-29T12:34:56.789+01:00"},
	} {
		f := MustFormat(c.format)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := f.Parse(c.text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
