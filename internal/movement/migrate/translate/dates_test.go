package translate_test

import (
	"encoding/json"
	"testing"

	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
	"github.com/reshelve/reshelve/internal/opensearch/date"
)

// TestDateFormats: formats of Joda-Time, what they become, and that the server's own reader
// of formats takes them.
func TestDateFormats(t *testing.T) {
	for _, c := range []struct {
		from     translate.Server
		in, want string
		texts    []string // that it must read
	}{
		{es7, "YYYY-MM-dd", "YYYY-MM-dd", nil},
		{es7, "yyyy-MM-dd||epoch_millis", "yyyy-MM-dd||epoch_millis", []string{"2020-02-01", "1"}},
		{es6, "8uuuu-MM-dd", "uuuu-MM-dd", []string{"2020-02-01"}},
		{es6, "YYYY-MM-dd", "yyyy-MM-dd||yyyy-M-d", []string{"2020-02-01", "2020-2-1"}},
		{es5, "xxxx-'W'ww", "YYYY-'W'ww", nil},
		{es5, "yyyyMMddHHmmss", "yyyyMMddHHmmss", []string{"20200201030405"}},
		{es5, "dd/MMM/yyyy:HH:mm:ss Z", "dd/MMM/yyyy:HH:mm:ss XX||d/MMM/yyyy:H:m:s XX", []string{"01/Feb/2020:03:04:05 +0100", "1/Feb/2020:3:4:5 +0100"}},
		{es5, "yyyy-MM-dd'T'HH:mm:ss.SSSZZ", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX||yyyy-M-d'T'H:m:s.SSSXXX", []string{"2020-02-01T03:04:05.678+01:00", "2020-02-01T03:04:05.678Z"}},
		{es2, "strictDateOptionalTime||epoch_millis", "strict_date_optional_time||epoch_millis", []string{"2020-02-01", "1"}},
		{es1, "dateOptionalTime", "date_optional_time||epoch_millis", []string{"2020-02-01T03:04", "1580526000000"}},
		{es5, "CCYY", "strict_date_optional_time", nil},
		{es5, "yyyy [MM]", "yyyy '['MM']'||yyyy '['M']'", []string{"2020 [02]"}},
	} {
		mapping, _ := json.Marshal(map[string]any{"properties": map[string]any{"d": map[string]string{"type": "date", "format": c.in}}})
		bodies, err := translate.Route{From: c.from, To: os2}.Index(translate.Index{Name: "i", Mappings: mapping})
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Mappings struct {
				Properties struct{ D struct{ Format string } }
			}
		}
		if err := json.Unmarshal(bodies[0].JSON, &got); err != nil {
			t.Fatal(err)
		}
		format := got.Mappings.Properties.D.Format
		if format != c.want {
			t.Errorf("%s: %s becomes %s, not %s", c.from, c.in, format, c.want)
		}
		parsed, err := date.ParseFormat(format)
		if err != nil {
			t.Errorf("%s: %v", format, err)
			continue
		}
		for _, text := range c.texts {
			if _, _, err := parsed.Parse(text); err != nil {
				t.Errorf("%s does not read %s: %v", format, text, err)
			}
		}
	}
}
