package snapshot

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/xcontent"
)

// deflated is metadata as servers compress it.
func deflated(t testing.TB, text string) string {
	t.Helper()
	out := bytes.NewBufferString("DFL\x00")
	w, err := flate.NewWriter(out, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = w.Write([]byte(text)); err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// A metadata file of some kilobytes that is made to exhaust memory is an error, and
// what is allocated on the way to it stays in proportion to the file's length.
func TestMetadataThatIsMadeToExhaustMemory(t *testing.T) {
	const snap, meta, shard = "snap-S.dat", "indices/I/meta-M.dat", "indices/I/1/snap-S.dat"
	// Each file ends in white space that does not compress, so that what is before
	// it stays within the limit of the whole.
	var blank strings.Builder
	for rng := rand.New(rand.NewPCG(1, 2)); blank.Len() < 40_000; {
		blank.WriteByte(" \t\r\n"[rng.IntN(4)])
	}
	much := func(unit string) string { return strings.Repeat(unit, 6<<20/len(unit)) }
	inner := func(size int) string {
		return `"` + base64.StdEncoding.EncodeToString([]byte(deflated(t, `{"_doc":{"a":"`+strings.Repeat(" ", size)+`"}}`))) + `"`
	}
	deep := strings.Repeat(`{"a":`, 2000) + `1` + strings.Repeat(`}`, 2000)
	for _, tc := range []struct{ name, key, from, to string }{
		{"files of nothing", shard, `"files":[`, `"files":[` + much(`{},`)},
		{"failures of nothing", snap, `"failures":[`, `"failures":[` + much(`{},`) + `{}`},
		{"indices without name", snap, `["books"]`, `["books"` + much(`,""`) + `]`},
		{"mappings of nothing", meta, `"mappings":[`, `"mappings":[` + much(`0,`)},
		{"aliases of nothing", meta, `"aliases":{}`, `"aliases":[` + much(`null,`) + `0]`},
		{"mappings of many floors, which are sound", meta, `"7100299"},
			"mappings":[{"_doc":{"properties":{`, `"9039000"},"mappings":[{"_doc":{"properties":{` + strings.Repeat(`"a":{"properties":{`, 500) + `"a":"` + much(" ") + `"` + strings.Repeat(`}}`, 500)},
		{"a setting with many values", meta, `"index.number_of_shards":"2"`, `"index.x":[` + much(`0,`) + `0],"index.number_of_shards":"0"`},
		{"settings of a long key, deep", meta, `"settings":{`, `"settings":{"` + much("k") + `":` + deep + `,`},
		{"settings of a long key, many", meta, `"settings":{`, `"settings":{"` + strings.Repeat("k", 1<<20) + `":{` + manyKeys(200_000) + `},`},
		{"filters compressed again", meta, `"aliases":{}`, `"aliases":` + filters(inner(1<<20), 40)},
		{"templates compressed again", "meta-S.dat", `"templates":{}`, `"templates":{"a":{"mappings":[` + inner(100<<20) + `]}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := newMiniature().edit(t, tc.key, tc.from, tc.to)
			m[tc.key] = deflated(t, m[tc.key]+blank.String())
			b := m.build()
			size := len(b.blobs[tc.key])
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := readAllOf(b)
			runtime.ReadMemStats(&after)
			took := int(after.TotalAlloc - before.TotalAlloc)
			t.Logf("%d bytes, limit %d, took %d: %.200v", size, xcontent.Limit(size), took, err)
			if sound := strings.HasSuffix(tc.name, "sound"); sound != (err == nil) || !sound && !fault.Is(err, fault.Corrupt) && !fault.Is(err, fault.Refused) {
				t.Errorf("kind %v: %v", fault.KindOf(err), err)
			}
			// Most of it is garbage that the JSON decoder makes element by element.
			if most := 35 * xcontent.Limit(size); took > most {
				t.Errorf("%d bytes of metadata took %d bytes of memory, want %d at most", size, took, most)
			}
		})
	}
}

func filters(filter string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"a%d":{"filter":%s}`, i, filter)
	}
	return "{" + b.String()[1:] + "}"
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + base64.RawURLEncoding.EncodeToString([]byte{byte(i), byte(i >> 8), byte(i >> 16)}) + `":1`)
	}
	return b.String()
}

// A stored source is held against the limit too, expanded or not.
func TestASourceThatIsMadeToExhaustMemory(t *testing.T) {
	bomb := ":)\n\x01\xfa\x34" + strings.Repeat("n", 4000) + "\xfc\x21" + strings.Repeat("\x40\x21", 10_000) + "\xfb"
	for _, source := range []string{bomb, deflated(t, bomb), deflated(t, `{"a":"`+strings.Repeat(" ", 4<<20)+`"}`)} {
		d := Documents{}
		d.doc.Source = []byte(source)
		if err := d.takeSource(nil); !fault.Is(err, fault.Refused) || !strings.HasPrefix(err.Error(), "_source: ") {
			t.Errorf("a source of %d bytes became one of %d: %v", len(source), len(d.doc.Source), err)
		}
	}
}
