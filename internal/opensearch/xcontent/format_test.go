package xcontent_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/xcontent"
)

func TestSniff(t *testing.T) {
	for _, tc := range []struct {
		data string
		want xcontent.Format
	}{
		{"", xcontent.Unknown},
		{" \n\t", xcontent.Unknown},
		{"{}", xcontent.JSON},
		{"\r\n\t {\"a\":1}", xcontent.JSON},
		{"\xef\xbb\xbf {}", xcontent.JSON},
		{"[]", xcontent.Unknown},
		{"text", xcontent.Unknown},
		{":)\n\x05\xfa\xfb", xcontent.SMILE},
		{":)\n", xcontent.SMILE},
		{":)", xcontent.Unknown},
		{"---\na: 1", xcontent.YAML},
		{"--", xcontent.Unknown},
		{"a: 1", xcontent.Unknown},
		{"\xbf\xff", xcontent.CBOR},
		{"\xa0", xcontent.CBOR},
		{"\xb7", xcontent.CBOR},
		{"\xb8\x01", xcontent.CBOR},
		{"\xbb", xcontent.CBOR},
		{"\xbc", xcontent.Unknown},
		{"\x9f\xff", xcontent.Unknown},
		{"\xd9\xd9\xf7\xa0", xcontent.CBOR},
		{"\xd9\xd9", xcontent.Unknown},
		{"ZV\x00\x00\x02{}", xcontent.Unknown},
	} {
		if got := xcontent.Sniff([]byte(tc.data)); got != tc.want {
			t.Errorf("%q: %v, want %v", tc.data, got, tc.want)
		}
	}
}

func TestJSONStaysAsItIs(t *testing.T) {
	for in, want := range map[string]string{
		"\n {\"a\" : 1E400,\r\n\"b\":\"\\ud800\"} \n": "\n {\"a\" : 1E400,\r\n\"b\":\"\\ud800\"} \n",
		"{ not checked":        "{ not checked",
		"\xef\xbb\xbf{}":       "{}",
		"{\"\xef\xbb\xbf\":1}": "{\"\xef\xbb\xbf\":1}",
	} {
		got, err := toJSON([]byte("kept "), []byte(in))
		if err != nil || string(got) != "kept "+want {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}

func TestErrorsTellFormatPlaceAndCause(t *testing.T) {
	smile := func(s string) string { return ":)\n\x03" + s }
	for _, tc := range []struct {
		name, data string
		kind       fault.Kind
		says       string
	}{
		{"nothing", "", fault.Refused, "0 bytes that are none of"},
		{"text", "hello, world", fault.Refused, "begin with 68 65 6c 6c 6f 2c 20 77"},
		{"SMILE header only", ":)\n", fault.Corrupt, "SMILE: byte 3: the header is cut off"},
		{"SMILE of version 1", ":)\n\x10\xfa\xfb", fault.Refused, "SMILE: version and flags 0x10"},
		{"SMILE array", smile("\xf8\xf9"), fault.Corrupt, "SMILE: byte 4: no object begins here"},
		{"SMILE nothing", smile(""), fault.Corrupt, "SMILE: byte 4: no object begins here"},
		{"SMILE open", smile("\xfa\x80a\xf8"), fault.Corrupt, "SMILE: byte 8: the data ends in 2 open"},
		{"SMILE name alone", smile("\xfa\x80a"), fault.Corrupt, "byte 7: the data ends where a value should be"},
		{"SMILE tail", smile("\xfa\xfbx"), fault.Corrupt, "byte 6: 1 bytes follow the object"},
		{"SMILE tail after the end", smile("\xfa\xfb\xff\xff"), fault.Corrupt, "byte 7: 1 bytes follow the object"},
		{"SMILE wrong end", smile("\xfa\x80a\xf8\xfb"), fault.Corrupt, "byte 8: byte 0xfb cannot begin a value"},
		{"SMILE end of array in object", smile("\xfa\xf9"), fault.Corrupt, "byte 5: byte 0xf9 cannot begin a name"},
		{"SMILE reserved value", smile("\xfa\x80a\x2f"), fault.Corrupt, "byte 7: byte 0x2f cannot begin a value"},
		{"SMILE value 0", smile("\xfa\x80a\x00"), fault.Corrupt, "byte 7: byte 0x00 cannot begin a value"},
		{"SMILE text cut off", smile("\xfa\x80a\x45abc"), fault.Corrupt, "byte 8: a text of 6 bytes is cut off"},
		{"SMILE long text cut off", smile("\xfa\x80a\xe0abc"), fault.Corrupt, "byte 8: a long text has no end marker"},
		{"SMILE broken UTF-8", smile("\xfa\x80a\x80\xc3("), fault.Corrupt, "byte 8: a text is not UTF-8"},
		{"SMILE name reference", smile("\xfa\x80a\x21\x41\x21\xfb"), fault.Corrupt, "back reference 1, but only 1 entries"},
		{"SMILE value reference", smile("\xfa\x80a\x01\xfb"), fault.Corrupt, "back reference 0, but only 0 entries"},
		{"SMILE references not shared", ":)\n\x00\xfa\x80a\x21\x40\x21\xfb", fault.Corrupt, "back reference 0, but only 0 entries"},
		{"SMILE integer too long", smile("\xfa\x80a\x24\x7f\x7f\x7f\x7f\x7f\xbf\xfb"), fault.Corrupt, "byte 8: an integer has more than 32 bits"},
		{"SMILE integer cut off", smile("\xfa\x80a\x25\x01"), fault.Corrupt, "an integer is cut off"},
		{"SMILE double cut off", smile("\xfa\x80a\x29\x01"), fault.Corrupt, "a floating-point number is cut off"},
		{"SMILE claimed binary", smile("\xfa\x80a\xe8\x0f\x7f\x7f\x7f\xbf"), fault.Corrupt, "bytes is cut off"},
		{"SMILE claimed raw binary", smile("\xfa\x80a\xfd\x0f\x7f\x7f\x7f\xbf"), fault.Corrupt, "bytes is cut off"},
		{"CBOR cut off", "\xa1\x61", fault.Corrupt, "CBOR: unexpected EOF"},
		{"CBOR tail", "\xa0\xa0", fault.Corrupt, "CBOR: cbor: 1 bytes of extraneous data"},
		{"CBOR array behind the tag", "\xd9\xd9\xf7\x80", fault.Corrupt, "CBOR: byte 3: no object begins here"},
		{"CBOR broken UTF-8", "\xa1\x61a\x61\xff", fault.Corrupt, "CBOR: byte 3: a text is not UTF-8"},
		{"CBOR references", "\xa1\x61a\xd8\x19\x00", fault.Refused, "CBOR: string references (tag 25 at byte 3)"},
		{"CBOR exponent", "\xa1\x61a\xc4\x82\x1b\x7f\xff\xff\xff\xff\xff\xff\xff\x01", fault.Corrupt, "a decimal fraction has the exponent"},
		{"CBOR exponent just beyond Java", "\xa1\x61a\xc4\x82\x1a\x80\x00\x00\x00\x01", fault.Corrupt, "a decimal fraction has the exponent"},
		{"YAML list", "---\n- 1\n", fault.Corrupt, "YAML: the document is no object"},
		{"YAML syntax", "---\na: [\n", fault.Corrupt, "YAML: yaml: line"},
		{"YAML base64", "--- {a: !!binary '%'}", fault.Corrupt, "YAML: line 1: a binary value: illegal base64"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := toJSON([]byte("kept"), []byte(tc.data))
			if err == nil {
				t.Fatalf("no error, but %s", got)
			}
			if !fault.Is(err, tc.kind) || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%v: %v\nwant %v: %s", fault.KindOf(err), err, tc.kind, tc.says)
			}
			if string(got) != "kept" {
				t.Errorf("dst came back as %q", got)
			}
		})
	}
}

func TestEveryPrefixIsAnError(t *testing.T) {
	for _, name := range []string{"scalars.3.smile", "binary.0.smile", "binary.7.smile", "nested.1.smile", "scalars.cbor", "binary.cbor"} {
		data := read(t, name)
		end := len(data)
		if data[end-1] == 0xff && strings.HasSuffix(name, "3.smile") {
			end-- // the end marker may be missing
		}
		for n := range end {
			if got, err := toJSON(nil, data[:n]); err == nil {
				t.Fatalf("%s cut at %d: %.60s", name, n, got)
			}
		}
	}
}

func TestIndefiniteDecimalFraction(t *testing.T) { // valid CBOR, which Jackson does not read
	got, err := toJSON(nil, []byte("\xa1\x61a\xc4\x9f\x21\x19\x6a\xb3\xff"))
	if err != nil || string(got) != `{"a":273.15}` {
		t.Errorf("%s, %v", got, err)
	}
}

func TestNotANumberInYAML(t *testing.T) { // which Jackson's parser fails at only when the number is asked for
	got, err := toJSON(nil, []byte("--- {a: .inf, b: -.Inf, c: +.INF, d: .nan, e: -.nan}"))
	want := `{"a":"Infinity","b":"-Infinity","c":"Infinity","d":"NaN","e":"-.nan"}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
}

// nest is an object that nests depth deep in all: an object, then arrays.
func nest(format xcontent.Format, depth int) []byte {
	repeat := func(s string) []byte { return bytes.Repeat([]byte(s), depth-1) }
	switch format {
	case xcontent.SMILE:
		return bytes.Join([][]byte{[]byte(":)\n\x00\xfa\x80a"), repeat("\xf8"), repeat("\xf9"), []byte("\xfb")}, nil)
	case xcontent.CBOR:
		return bytes.Join([][]byte{[]byte("\xa1\x61a"), repeat("\x81")[1:], []byte("\x80")}, nil)
	default:
		return bytes.Join([][]byte{[]byte("--- {a: "), repeat("["), repeat("]"), []byte("}")}, nil)
	}
}

func TestDepthIsLimited(t *testing.T) {
	for _, format := range []xcontent.Format{xcontent.SMILE, xcontent.CBOR, xcontent.YAML} {
		t.Run(format.String(), func(t *testing.T) {
			deepest, want := 10_000, fault.Refused
			if format == xcontent.YAML { // the library's own limit for [ and { together is the same
				want = fault.Corrupt
			}
			got, err := toJSON(nil, nest(format, deepest))
			if err != nil || len(got) != len(`{"a":}`)+2*(deepest-1) {
				t.Errorf("depth %d: %d bytes, %v", deepest, len(got), err)
			}
			if _, err = toJSON(nil, nest(format, deepest+1)); !fault.Is(err, want) {
				t.Errorf("depth %d: %v", deepest+1, err)
			}
		})
	}
}

func TestBigNumbersAreLimited(t *testing.T) {
	size := 64<<10 + 1
	cbor := append([]byte("\xa1\x61a\xc2\x5a\x00\x01\x00\x01"), bytes.Repeat([]byte{0x7f}, size)...)
	if _, err := toJSON(nil, cbor); !fault.Is(err, fault.Refused) {
		t.Errorf("CBOR: %v", err)
	}
	smile := append([]byte(":)\n\x00\xfa\x80a\x26\x08\x00\x81"), bytes.Repeat([]byte{0x7f}, (size*8+6)/7)...)
	smile = append(smile, 0xfb)
	if _, err := toJSON(nil, smile); !fault.Is(err, fault.Refused) {
		t.Errorf("SMILE: %v", err)
	}
	if _, err := toJSON(nil, []byte("--- {a: "+strings.Repeat("9", size)+"}")); !fault.Is(err, fault.Refused) {
		t.Errorf("YAML: %v", err)
	}
}
