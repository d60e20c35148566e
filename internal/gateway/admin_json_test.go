package gateway

import (
	"encoding/json"
	"math"
	"testing"
	"time"
)

func TestAnObjectKeepsTheOrderOfItsMembers(t *testing.T) {
	value := object{
		{"b", 1}, {"a", object{}}, {"list", array{object{{"x", nil}}, "é\n"}}, {"raw", json.RawMessage("{ \"k\" : [1, 2] }")},
		{"damaged", json.RawMessage("{")}, {"half", 0.5}, {"endless", math.Inf(1)}, {"names", []string{"q", "p"}}, {"n", int64(-7)}, {"yes", true},
	}
	want := `{"b":1,"a":{},"list":[{"x":null},"é\n"],"raw":{"k":[1,2]},"damaged":null,"half":0.5,"endless":"Infinity","names":["q","p"],"n":-7,"yes":true}`
	if got := string(appendJSON(nil, value)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAnObjectIsTakenApartInOrder(t *testing.T) {
	got, err := readObject([]byte(`{"b": {"x": 1}, "a": [2], "b": null}`))
	if err != nil || len(got) != 3 || got[0].name != "b" || string(appendJSON(nil, got)) != `{"b":{"x":1},"a":[2],"b":null}` {
		t.Errorf("%v %v", got, err)
	}
	for _, damaged := range []string{"", "[]", `{"a"`, `{"a":}`, "7"} {
		if got, err := readObject([]byte(damaged)); err == nil {
			t.Errorf("%q was read as %v", damaged, got)
		}
	}
}

// The words are those that OpenSearch 2.19.0 printed for such amounts.
func TestAmountsInWords(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0b", 1: "1b", 208: "208b", 1023: "1023b", 1024: "1kb", 1126: "1kb", 1127: "1.1kb", 4531: "4.4kb", 41943040: "40mb",
		25276514304: "23.5gb", 1 << 50: "1pb", math.MaxInt64: "8191.9pb",
	} {
		if got := bytesInWords(n); got != want {
			t.Errorf("%d bytes: got %s, want %s", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0s", 7 * time.Millisecond: "7ms", 1500 * time.Millisecond: "1.5s", 762 * time.Second: "12.7m", 36 * time.Hour: "1.5d", 5: "5nanos",
	} {
		if got := timeInWords(d); got != want {
			t.Errorf("%d: got %s, want %s", d, got, want)
		}
	}
	for _, tc := range []struct{ unit, want string }{{"b", "4531"}, {"k", "4"}, {"kb", "4"}, {"m", "0"}, {"pb", "0"}} {
		if got, ok := inUnit(4531, tc.unit, byteScales); got != tc.want || !ok {
			t.Errorf("4531 in %s: %s %t, want %s", tc.unit, got, ok, tc.want)
		}
	}
	if got, ok := inUnit(4531, "nope", byteScales); ok {
		t.Errorf("an unknown unit gave %s", got)
	}
	if got, ok := inUnit(int64(90*time.Second), "m", timeScales); got != "1" || !ok {
		t.Errorf("90 s in minutes: %s %t", got, ok)
	}
}
