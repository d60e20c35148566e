package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/document"
)

func TestTextBecomesAJSONString(t *testing.T) {
	for _, tc := range []struct {
		name, text, want string
		exact            bool
	}{
		{"plain", "doc-1", `"doc-1"`, true},
		{"empty", "", `""`, true},
		{"quotes and backslashes", `a"b\c`, `"a\"b\\c"`, true},
		{"no escape for what JSON allows", "<&>/é€𝄞\u2028", "\"<&>/é€𝄞\u2028\"", true},
		{"control characters", "\x00\x1f\x7f\t\n\r", "\"\\u0000\\u001f\x7f\\t\\n\\r\"", true},
		{"a byte that is not UTF-8", "a\xffb", "\"a\ufffdb\"", false},
		{"a cut character", "€\xe2\x82", "\"€\ufffd\ufffd\"", false},
		{"a surrogate", "\xed\xa0\x80", "\"\ufffd\ufffd\ufffd\"", false},
		{"the replacement character itself", "\ufffd", "\"\ufffd\"", true},
	} {
		got, exact := appendJSON([]byte("x"), []byte(tc.text))
		if string(got) != "x"+tc.want || exact != tc.exact {
			t.Errorf("%s: %q, exact %v; want %q, %v", tc.name, got[1:], exact, tc.want, tc.exact)
		}
	}
}

func FuzzTextBecomesAJSONString(f *testing.F) {
	for _, seed := range []string{"", "doc", "a\"\\\n", "\xff€", "\xed\xa0\x80"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		quoted, exact := appendJSON(nil, text)
		if exact != utf8.Valid(text) {
			t.Errorf("%q: exact is %v", text, exact)
		}
		var back string
		if err := json.Unmarshal(quoted, &back); err != nil {
			t.Fatalf("%q became %q: %v", text, quoted, err)
		}
		if want := strings.Map(func(r rune) rune { return r }, string(text)); back != want {
			t.Errorf("%q came back as %q", text, back)
		}
	})
}

// print formats documents as one run does.
func printAll(format func(*lines, *document.Document), docs ...document.Document) string {
	var out bytes.Buffer
	l := newLines(&out, format)
	for i := range docs {
		l.print(&docs[i])
	}
	l.flush()
	return out.String()
}

func TestALineHoldsTheKeysThatTheDocumentHas(t *testing.T) {
	full := document.Document{
		Index: `bo"oks`, ID: []byte("1#a"), Type: []byte("book"), Routing: []byte("r\n"), Parent: []byte("p"),
		Source:   []byte("{\n  \"a\" : 1\r\n}\n"),
		Versions: &document.Versions{Version: 7, SeqNo: 0, PrimaryTerm: 1},
	}
	bare := document.Document{Index: "books", ID: []byte("2"), Source: []byte(" {} ")}
	sourceless := document.Document{Index: "books", ID: []byte("3"), Versions: &document.Versions{Version: 3, SeqNo: -1, PrimaryTerm: -1}}
	got := printAll(ndjson, full, bare, sourceless)
	want := `{"_index":"bo\"oks","_id":"1#a","_routing":"r\n","_type":"book","_parent":"p","_version":7,"_seq_no":0,"_primary_term":1,"_source":{   "a" : 1  } }
{"_index":"books","_id":"2","_source": {} }
{"_index":"books","_id":"3","_version":3}
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for line := range strings.Lines(got) {
		if !json.Valid([]byte(line)) {
			t.Errorf("no JSON: %s", line)
		}
	}
}

func TestBulkLinesAreAnActionAndASource(t *testing.T) {
	routed := document.Document{Index: "books", ID: []byte("1"), Type: []byte("book"), Routing: []byte("r"), Source: []byte("{\"a\":\n1}"),
		Versions: &document.Versions{Version: 7, SeqNo: 3, PrimaryTerm: 1}}
	bare := document.Document{Index: "loans", ID: []byte("2"), Source: []byte("{}"), Versions: &document.Versions{Version: -1, SeqNo: 3, PrimaryTerm: 1}}
	got := printAll(bulk, routed, bare)
	want := `{"index":{"_index":"books","_id":"1","routing":"r","version":7,"version_type":"external_gte"}}
{"a": 1}
{"index":{"_index":"loans","_id":"2"}}
{}
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestASourceOfAnyLengthStaysOneLine(t *testing.T) {
	for _, length := range []int{0, 1, lineBuffer - 40, lineBuffer - 1, lineBuffer, lineBuffer + 1, 5*lineBuffer + 17} {
		source := bytes.Repeat([]byte("[\r\n1, "), length/6+1)[:length]
		want := strings.NewReplacer("\r", " ", "\n", " ").Replace(string(source))
		doc := document.Document{Index: "books", ID: []byte("1"), Source: source}
		got := printAll(ndjson, doc, doc)
		line := `{"_index":"books","_id":"1","_source":` + want + "}\n"
		if got != line+line {
			t.Errorf("a source of %d bytes was changed", length)
		}
		if !bytes.Equal(source, bytes.Repeat([]byte("[\r\n1, "), length/6+1)[:length]) {
			t.Errorf("the reader's own buffer was changed")
		}
	}
}

func TestNamesThatAreNotUTF8AreCounted(t *testing.T) {
	l := newLines(io.Discard, ndjson)
	at := document.Position{Index: "books", Number: 4}
	l.print(&document.Document{Index: "books", ID: []byte("fine")})
	l.print(&document.Document{Index: "books", ID: []byte("\xff"), Position: at})
	l.print(&document.Document{Index: "books", ID: []byte("x"), Routing: []byte("\xfe"), Position: document.Position{Number: 9}})
	if l.inexact != 2 || l.firstInexact != at {
		t.Errorf("%d, first %v", l.inexact, l.firstInexact)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestAFailedWriteSticks(t *testing.T) {
	full := errors.New("no space left on device")
	l := newLines(failingWriter{full}, ndjson)
	for range 3 {
		l.print(&document.Document{Index: "books", Source: make([]byte, lineBuffer)})
	}
	if l.flush(); !errors.Is(l.err, full) {
		t.Errorf("%v", l.err)
	}
	if len(l.buf) > 2*lineBuffer {
		t.Errorf("%d bytes are kept", len(l.buf))
	}
}

func TestPrintingAllocatesNothing(t *testing.T) {
	doc := document.Document{Index: "books", ID: []byte("some-id"), Routing: []byte("r"), Source: bytes.Repeat([]byte(`{"title":"x"}`), 100)}
	l := newLines(io.Discard, ndjson)
	l.print(&doc)
	if n := testing.AllocsPerRun(5000, func() { l.print(&doc) }); n > 0.01 {
		t.Errorf("%v allocations a document", n)
	}
}

func BenchmarkPrint(b *testing.B) {
	doc := document.Document{Index: "books", ID: []byte("some-id"), Source: bytes.Repeat([]byte(`{"title":"x"},`), 170)}
	l := newLines(io.Discard, ndjson)
	b.SetBytes(int64(len(doc.Source)))
	for b.Loop() {
		l.print(&doc)
	}
}
