package document_test

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
)

// The stored forms are bytes of real files (testdata/repositories), beside the
// text that their servers show.
func TestStoredIDs(t *testing.T) {
	for _, tc := range []struct{ stored, id string }{
		{"\xba\x77\x21\x6a\x78\x1e\x75\xda\x1c", "unchangeddoc"}, // base64url text: the bytes that it stands for
		{"\xffupdateddoc", "updateddoc"},                         // eleven characters are no base64url
		{"\xff\xc3\xa9", "é"},
		{"\xfe\x12\x3f", "123"},
		{"\xfe\x12\x34", "1234"},
		{"\xfe\x00\x7f", "007"},
		{"\xfd\xfe\xff\xff", "_v__"}, // base64url whose first byte would be a mark
		{"\xff", ""},
	} {
		got, err := document.AppendID([]byte("before "), []byte(tc.stored))
		if err != nil || string(got) != "before "+tc.id {
			t.Errorf("% x: %q, %v; want %q", tc.stored, got, err, tc.id)
		}
	}
	for _, stored := range []string{"", "\xfe\x1a", "\xfe\xa1", "\xfe\xf1", "\xfe\x1f\x11"} {
		if id, err := document.AppendID(nil, []byte(stored)); !fault.Is(err, fault.Corrupt) {
			t.Errorf("% x gives %q, %v", stored, id, err)
		}
	}
}

// FuzzStoredID: decoding never panics, and no two stored forms that a server
// writes give one id.
func FuzzStoredID(f *testing.F) {
	f.Add([]byte("\xfe\x12\x3f"))
	f.Add([]byte("\xffid"))
	f.Add([]byte("\xfd\xfd"))
	f.Fuzz(func(t *testing.T, stored []byte) {
		id, err := document.AppendID(nil, stored)
		if err != nil || len(stored) == 0 {
			return
		}
		if back := store(string(id)); stored[0] != 0xff && !bytes.Equal(back, stored) && canonical(stored) {
			t.Errorf("% x is %q, which is stored as % x", stored, id, back)
		}
	})
}

// store is how a server stores an id: digits as half bytes, base64url as bytes,
// the rest as text.
func store(id string) []byte {
	if id != "" && strings.Trim(id, "0123456789") == "" {
		out := []byte{0xfe}
		for i := 0; i < len(id); i += 2 {
			low := byte(0xf)
			if i+1 < len(id) {
				low = id[i+1] - '0'
			}
			out = append(out, (id[i]-'0')<<4|low)
		}
		return out
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(id)
	switch {
	case err != nil || len(raw) == 0:
		return append([]byte{0xff}, id...)
	case raw[0] >= 0xfd:
		return append([]byte{0xfd}, raw...)
	}
	return raw
}

// canonical leaves out forms that no server writes: digits spelt as base64url,
// and an escape that escapes nothing.
func canonical(stored []byte) bool {
	id, _ := document.AppendID(nil, stored)
	digits := len(id) > 0 && strings.Trim(string(id), "0123456789") == ""
	switch stored[0] {
	case 0xfe:
		return digits
	case 0xfd:
		return len(stored) > 1 && stored[1] >= 0xfd && !digits
	}
	return !digits
}

func TestUIDs(t *testing.T) {
	typ, id, err := document.SplitUID([]byte("book#a#b"))
	if err != nil || string(typ) != "book" || string(id) != "a#b" {
		t.Errorf("%q %q %v", typ, id, err)
	}
	if _, _, err := document.SplitUID([]byte("nothing")); !fault.Is(err, fault.Corrupt) {
		t.Errorf("%v", err)
	}
}

func TestPositions(t *testing.T) {
	p := document.Position{Index: "logs-2026.11", Shard: 12, Number: 1 << 40}
	if back, err := document.ParsePosition(p.String()); err != nil || back != p {
		t.Errorf("%s: %v %v", p, back, err)
	}
	for _, text := range []string{"", "books", "books/0", "books/0/", "books/-1/0", "books/0/-1", "/0/0", "books/0/1/2", "books/0/99999999999999999999", "books/99999999999/0", "books/0/1x"} {
		if p, err := document.ParsePosition(text); !fault.Is(err, fault.Usage) || fault.Next(err) == "" {
			t.Errorf("%q: %v %v", text, p, err)
		}
	}
}
