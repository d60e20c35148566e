package catalog_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// ours are settings that the server takes with any value, and that are refused here because
// their meaning would be lost.
var ours = map[string]bool{
	"index.search.default_pipeline": true, "index.sort.field": true, "index.sort.order": true, "index.sort.mode": true,
	"index.sort.missing": true, "index.append_only.enabled": true, "index.analysis.analyzer.x.type": true,
}

// TestSettingsAreRefusedAsTheServerDoes asks every setting with the values of
// testdata/settings.tsv.
func TestSettingsAreRefusedAsTheServerDoes(t *testing.T) {
	text, err := os.ReadFile("testdata/settings.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		cells := strings.Split(line, "\t")
		if line[0] == '#' || ours[cells[0]] {
			continue
		}
		body, _ := json.Marshal(map[string]any{"settings": map[string]string{cells[0]: cells[1]}})
		got, want := "ok", strings.Join(cells[2:], ": ")
		request, err := catalog.ParseRequest(body)
		if err == nil {
			_, err = catalog.New().Compose("i", request)
		}
		if err != nil {
			got = exception.From(err).Error()
		}
		if strings.ReplaceAll(got, "[i]", "[ca-p]") != want {
			t.Errorf("settings.tsv:%d: %s = %s\n got %s\nwant %s", i+1, cells[0], cells[1], got, want)
		}
	}
}

func TestSpansAndSizes(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30s": 30 * time.Second, "5m": 5 * time.Minute, "1h": time.Hour, "2d": 48 * time.Hour, "1500ms": 1500 * time.Millisecond,
		"-1": -1, "0": 0, "00": 0, "7nanos": 7, "7micros": 7 * time.Microsecond, " 5S ": 5 * time.Second, "-1s": -time.Second,
		"999999999999d": 1<<63 - 1,
	} {
		if got, err := catalog.ParseSpan("x", text); err != nil || got != want {
			t.Errorf("%q: %v %v, want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "unit is missing", "5": "unit is missing", "5x": "unit is missing", "-2s": "negative durations", "1.5s": "fractional time values", "xs": "failed to parse [xs]",
	} {
		if _, err := catalog.ParseSpan("x", text); !exception.Is(err, exception.IllegalArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, want := range map[string]int64{"5gb": 5 << 30, "1k": 1 << 10, "1.5mb": 3 << 19, "7b": 7, "0": 0, "-1": -1, " 2TB ": 2 << 40} {
		if got, err := catalog.ParseSize("x", text); err != nil || got != want {
			t.Errorf("%q: %v %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "5", "5x", "xb", "-5b", "99999999999999gb"} {
		if _, err := catalog.ParseSize("x", text); !exception.Is(err, exception.OpenSearchParse) {
			t.Errorf("%q: %v", text, err)
		}
	}
	// As conditions of rollovers show them.
	for d, want := range map[time.Duration]string{36 * time.Hour: "1.5d", 7 * 24 * time.Hour: "7d", 0: "0s", 90 * time.Second: "1.5m", 1234 * time.Millisecond: "1.2s", -1: "-1", 5: "5nanos"} {
		if got := catalog.SpanText(d); got != want {
			t.Errorf("%v: %s, want %s", int64(d), got, want)
		}
	}
	for n, want := range map[int64]string{1 << 30: "1gb", 5 << 30: "5gb", 0: "0b", 1536: "1.5kb", 1023: "1023b", 3 << 50: "3pb"} {
		if got := catalog.SizeText(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

// What false asks for is not done: it is refused, and not stored for nothing.
func TestUnmappedFieldsAreAlwaysAllowed(t *testing.T) {
	for value, want := range map[string]string{"true": "", "no": "Failed to parse value [no]", "false": "is not supported by reshelve"} {
		request, err := catalog.ParseRequest([]byte(`{"settings":{"query.parse.allow_unmapped_fields":"` + value + `"}}`))
		if err == nil {
			_, err = catalog.New().Compose("i", request)
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", value, err)
		}
	}
}

func TestSettingsAreRenderedNestedAndFlat(t *testing.T) {
	settings := map[string]string{
		"index.a.b": "1", "index.a.c": `["x","y"]`, "index.merge.policy": "tiered", "index.merge.policy.floor_segment": "2mb", "index.t": `say "hi"`,
	}
	for _, tc := range []struct {
		flat     bool
		patterns []string
		want     string
	}{
		{false, nil, `{"index":{"a":{"b":"1","c":["x","y"]},"merge":{"policy":"tiered","policy.floor_segment":"2mb"},"t":"say \"hi\""}}`},
		{true, nil, `{"index.a.b":"1","index.a.c":["x","y"],"index.merge.policy":"tiered","index.merge.policy.floor_segment":"2mb","index.t":"say \"hi\""}`},
		{true, []string{"index.a.*", "nope"}, `{"index.a.b":"1","index.a.c":["x","y"]}`},
		{false, []string{"none"}, `{}`},
	} {
		if got := string(catalog.RenderSettings(settings, tc.flat, tc.patterns...)); got != tc.want {
			t.Errorf("flat %t %v:\n got %s\nwant %s", tc.flat, tc.patterns, got, tc.want)
		}
	}
	defaults := catalog.Defaults(map[string]string{"index.refresh_interval": "5s"})
	if defaults["index.max_result_window"] != "10000" || defaults["index.refresh_interval"] != "" {
		t.Errorf("%v", defaults)
	}
}

func TestAChangeOfSettings(t *testing.T) {
	before := map[string]string{"index.refresh_interval": "5s", "index.number_of_replicas": "1", "index.blocks.read": "true", "index.blocks.write": "true"}
	for body, want := range map[string]string{
		`{"index":{"refresh_interval":"9s"}}`:         `{"index.blocks.read":"true","index.blocks.write":"true","index.number_of_replicas":"1","index.refresh_interval":"9s"}`,
		`{"settings":{"refresh_interval":null}}`:      `{"index.blocks.read":"true","index.blocks.write":"true","index.number_of_replicas":"1"}`,
		`{"index.blocks.*":null}`:                     `{"index.number_of_replicas":"1","index.refresh_interval":"5s"}`,
		`{"number_of_replicas":null}`:                 `{"index.blocks.read":"true","index.blocks.write":"true","index.number_of_replicas":"1","index.refresh_interval":"5s"}`,
		`{"index.priority":1,"priority":2}`:           `{"index.blocks.read":"true","index.blocks.write":"true","index.number_of_replicas":"1","index.priority":"2","index.refresh_interval":"5s"}`,
		`{"query":{"default_field":["a",5,{"b":1}]}}`: `{"index.blocks.read":"true","index.blocks.write":"true","index.number_of_replicas":"1","index.query.default_field":["a","5","{\"b\":1}"],"index.refresh_interval":"5s"}`,
	} {
		change, err := catalog.ParseSettingsChange([]byte(body), false)
		if err != nil {
			t.Fatal(err)
		}
		after, err := change.Apply("i", before)
		if got := string(catalog.RenderSettings(after, true)); err != nil || got != want {
			t.Errorf("%s: %v\n got %s\nwant %s", body, err, got, want)
		}
	}
	if len(before) != 4 {
		t.Error("the settings before were changed")
	}
}
