package opensearch

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
)

func TestAValueIsCutOutOfItsDocument(t *testing.T) {
	for value, form := range map[string]string{
		`{"creatorId":"w","cursor":7}`: `{"reshelve":{"key":"k/\"1","at":5},"creatorId":"w","cursor":7}`,
		"{ \"a\" :\n1e0 }":             "{\"reshelve\":{\"key\":\"k/\\\"1\",\"at\":5}, \"a\" :\n1e0 }",
		`{}`:                           `{"reshelve":{"key":"k/\"1","at":5}}`,
		`{ }`:                          `{"reshelve":{"key":"k/\"1","at":5} }`,
		`{"<":"\u003c"}`:               `{"reshelve":{"key":"k/\"1","at":5},"<":"\u003c"}`,
		``:                             `{"reshelve":{"key":"k/\"1","at":5,"bytes":0},"base64":[]}`,
		`[1]`:                          `{"reshelve":{"key":"k/\"1","at":5,"bytes":3},"base64":["WzFd"]}`,
		` {}`:                          `{"reshelve":{"key":"k/\"1","at":5,"bytes":3},"base64":["IHt9"]}`,
		"{\"\xff\":1}":                 `{"reshelve":{"key":"k/\"1","at":5,"bytes":7},"base64":["eyL/Ijoxfa=="]}`,
	} {
		document := opaque("k/\"1", 5, []byte(value))
		if isReadable([]byte(value)) {
			document = readable("k/\"1", 5, []byte(value))
		}
		if string(document) != form && !strings.Contains(value, "\xff") {
			t.Errorf("%q is stored as %s, want %s", value, document, form)
		}
		if m, got, err := decode("k/\"1", document); err != nil || string(got) != value || got == nil || m.At != 5 || m.Deleted {
			t.Errorf("%q comes back as %q, %+v, %v", value, got, m, err)
		}
	}
	if m, got, err := decode("k", tombstone("k", 5)); err != nil || !m.Deleted || got != nil {
		t.Errorf("a tombstone: %+v, %q, %v", m, got, err)
	}
}

func TestADocumentOfSomebodyElseIsDamage(t *testing.T) {
	for _, document := range []string{
		``, `{}`, `{"a":1}`, `{"reshelve":1}`, `{"reshelve":{"key":"other","at":1}}`, `{"reshelve":{"key":"k"}`,
		`{"reshelve":{"key":"k","bytes":3},"base64":["WzFd","WzFd"]}`, `{"reshelve":{"key":"k","bytes":-1},"base64":[]}`,
		`{"reshelve":{"key":"k","bytes":3},"base64":["?"]}`, `{"reshelve":{"key":"k","bytes":3}}`, `{"reshelve":{"key":"k","bytes":3},"base64":1}`,
	} {
		if _, _, err := decode("k", []byte(document)); !fault.Is(err, fault.Corrupt) || fault.Next(err) == "" {
			t.Errorf("%s: %v", document, err)
		}
	}
}

func TestADeepOrLargeValueStandsInBase64(t *testing.T) {
	deep := strings.Repeat(`{"a":`, deepest+1) + "1" + strings.Repeat("}", deepest+1)
	if isReadable([]byte(deep)) {
		t.Error("a value that nests too deep would be a document")
	}
	if !isReadable([]byte(`{"a":"` + strings.Repeat(`[{\"`, 1000) + `"}`)) {
		t.Error("braces in strings count as nesting")
	}
	large := bytes.Repeat([]byte("0123456"), pieceBytes)
	document := opaque("k", 5, large)
	if !json.Valid(document) {
		t.Error("a value of several pieces is no JSON")
	}
	if _, got, err := decode("k", document); err != nil || !bytes.Equal(got, large) {
		t.Errorf("a value of several pieces: %d bytes of %d, %v", len(got), len(large), err)
	}
}

func TestRevisionsAreInTheOrderOfTermAndNumber(t *testing.T) {
	last := int64(0)
	for _, p := range []position{{1, 0}, {1, 1}, {1, 1 << 39}, {2, 5}, {2, 6}, {1<<22 - 1, 1<<40 - 2}} {
		for _, deleted := range []bool{false, true} {
			revision, err := p.revision(deleted)
			if err != nil || revision <= last {
				t.Errorf("%+v: %d after %d, %v", p, revision, last, err)
			}
			if got, was := positionOf(revision); got != p || was != deleted {
				t.Errorf("%+v came back as %+v, %v", p, got, was)
			}
			last = revision
		}
	}
	for _, p := range []position{{0, 0}, {1, -1}, {1 << 22, 0}, {1, 1<<40 - 1}} {
		if _, err := p.revision(false); !fault.Is(err, fault.Limit) {
			t.Errorf("%+v: %v", p, err)
		}
	}
	for _, revision := range []int64{-1, 0, 1, 1<<41 - 1} {
		if p, deleted := positionOf(revision); p != before || deleted {
			t.Errorf("%d is %+v, %v", revision, p, deleted)
		}
	}
}

// FuzzDecode: a document is a record or damage; a value comes back.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"reshelve":{"key":"k","at":1},"a":1}`))
	f.Add([]byte(`{"reshelve":{"key":"k","bytes":3},"base64":["WzFd"]}`))
	f.Add([]byte(`{ "a" : [ {} ] }`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, _, err := decode("k", text); err != nil && !fault.Is(err, fault.Corrupt) {
			t.Errorf("%q: %v", text, err)
		}
		document := opaque("k", 1, text)
		if isReadable(text) {
			document = readable("k", 1, text)
		}
		if !json.Valid(document) {
			t.Fatalf("%q is stored as %q", text, document)
		}
		if _, got, err := decode("k", document); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%q comes back as %q, %v", text, got, err)
		}
	})
}
