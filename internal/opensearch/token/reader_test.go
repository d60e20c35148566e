package token

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// read goes through all tokens, and joins kinds and texts.
func read(src string) (string, error) {
	var out []string
	r := New([]byte(src))
	for {
		kind, err := r.Next()
		if err != nil {
			return strings.Join(out, " "), err
		}
		if kind == End {
			return strings.Join(out, " "), nil
		}
		word := kind.String()
		if kind >= Key {
			word += "=" + string(r.Text())
		}
		out = append(out, word)
	}
}

func TestTokens(t *testing.T) {
	got, err := read(" {\"a\" : [1, -2.5e3, \"x\\n\\u00e9\\ud83d\\ude00\"], // c\n \"b\":{}, \"c\":null /* d */}")
	want := "START_OBJECT FIELD_NAME=a START_ARRAY VALUE_NUMBER=1 VALUE_NUMBER=-2.5e3 VALUE_STRING=x\né😀 END_ARRAY " +
		"FIELD_NAME=b START_OBJECT END_OBJECT FIELD_NAME=c VALUE_NULL=null END_OBJECT"
	if err != nil || got != want {
		t.Fatalf("%s, %v\nwant %s", got, err, want)
	}
}

// The reasons are those of OpenSearch 2.19.0; … is what it redacts.
func TestWhatIsRefused(t *testing.T) {
	for _, c := range []struct{ src, reason string }{
		{` {"doc" 1}`, "Unexpected character ('1' (code 49)): was expecting a colon to separate field name and value\n at …1, column: 9]"},
		{`{"doc":{"a":01}}`, "Invalid numeric value: Leading zeroes not allowed\n at …1, column: 14]"},
		{`{"doc":{"a":1 "b":2}}`, "Unexpected character ('\"' (code 34)): was expecting comma to separate Object entries\n at …1, column: 15]"},
		{`{"doc":{"a":[1 2]}}`, "Unexpected character ('2' (code 50)): was expecting comma to separate Array entries\n at …1, column: 16]"},
		{`{"doc":{"a":"x\q"}}`, "Unrecognized character escape 'q' (code 113)\n at …1, column: 16]"},
		{`{"doc":{"a":"x\u12"}}`, "Unexpected character ('\"' (code 34)): expected a hex-digit for character escape sequence\n at …1, column: 19]"},
		{`{"doc":{"a":tru}}`, "Unrecognized token 'tru': was expecting (JSON String, Number, Array, Object or token 'null', 'true' or 'false')\n at …1, column: 17]"},
		{`{"doc":{"a":-}}`, "Unexpected character ('}' (code 125)) in numeric value: expected digit (0-9) to follow minus sign, for valid numeric value\n at …1, column: 14]"},
		{`{"doc":{"a":1.}}`, "Unexpected character ('}' (code 125)) in numeric value: Decimal point not followed by a digit\n at …1, column: 15]"},
		{`{"doc":{"a":"x`, "Unexpected end-of-input in VALUE_STRING\n at …1, column: 15]"},
		{`{"doc":{"a`, "Unexpected end-of-input in field name\n at …1, column: 11]"},
		{`{"doc":{"a":[1`, "Unexpected end-of-input: expected close marker for Array (start marker at …1, column: 13])\n at …1, column: 15]"},
		{`{"doc":{"a":[1}}`, "Unexpected close marker '}': expected ']' (for Array starting at …1, column: 13])\n at …1, column: 15]"},
		{`{"doc":{"a":NaN}}`, "Non-standard token 'NaN': enable `JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS` to allow\n at …1, column: 16]"},
		{`{,"doc":1}`, "Unexpected character (',' (code 44)): was expecting double-quote to start field name\n at …1, column: 2]"},
		{"{\"doc\":\n {\"a\":[1,]}}", "Unexpected character (']' (code 93)): expected a value\n at …2, column: 10]"},
		{`{"doc": ,"upsert":{}}`, "Unexpected character (',' (code 44)): expected a value\n at …1, column: 9]"},
		{`{"a":{"b":1},"a":2}`, "Duplicate field 'a'\n at …1, column: 17]"},
		{"{\"doc\":{\"a\":\"\xff\"}}", "Invalid UTF-8 start byte 0xff\n at …1, column: 15]"},
	} {
		_, err := read(c.src)
		want := strings.ReplaceAll(c.reason, "…", "[Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: ")
		if e := exception.From(err); err == nil || e.Reason != want {
			t.Errorf("%s\ngives %v\nwant  %s", c.src, err, want)
		}
	}
}

func TestDepthAndManyKeys(t *testing.T) {
	deep := strings.Repeat("[", 1001)
	if _, err := read(deep); !exception.Is(err, exception.StreamConstraints) {
		t.Errorf("1001 brackets: %v", err)
	}
	if _, err := read(strings.Repeat("[", 1000) + strings.Repeat("]", 1000)); err != nil {
		t.Errorf("1000 brackets: %v", err)
	}
	var keys []string
	for i := range 100 {
		keys = append(keys, `"k`+strings.Repeat("x", i)+`":1`)
	}
	if _, err := read("{" + strings.Join(keys, ",") + "}"); err != nil {
		t.Error(err)
	}
	if _, err := read("{" + strings.Join(append(keys, keys[70]), ",") + "}"); !exception.Is(err, exception.JSONParse) {
		t.Errorf("a key that comes twice among many: %v", err)
	}
}

func TestWholeAndPlace(t *testing.T) {
	r := New([]byte("{\"a\":\n  {\"b\":[1,{}]},\"c\":5}"))
	for range 3 {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	line, column := r.Place()
	whole, err := r.Whole(Object)
	if line != 2 || column != 3 || err != nil || string(whole) != `{"b":[1,{}]}` {
		t.Fatal(line, column, string(whole), err)
	}
	if kind, _ := r.Next(); kind != Key || string(r.Text()) != "c" {
		t.Fatal(kind, string(r.Text()))
	}
	r.Reset([]byte("5"))
	if kind, err := r.Next(); kind != Integer || err != nil {
		t.Fatal(kind, err)
	}
}

func FuzzReader(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5,"x\u00e9",true,null,{}]}`, `[[[`, `{"a"`, "\xff", `{"a":/*x*/1}`, `"\ud800"`, `-`, `1e5`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		_, err := read(string(src))
		if json.Valid(src) && utf8.Valid(src) && err != nil && !strings.Contains(err.Error(), "Duplicate") && !exception.Is(err, exception.StreamConstraints) {
			t.Errorf("valid JSON is refused: %v", err)
		}
	})
}
