package xcontent_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/reshelve/reshelve/internal/opensearch/xcontent"
)

// seed adds the files of testdata/jackson that match and are small, so that they are soon minimised.
func seed(f *testing.F, pattern string) {
	files, err := filepath.Glob(filepath.Join("testdata", "jackson", pattern))
	if err != nil || len(files) == 0 {
		f.Fatalf("no seed matches %s: %v", pattern, err)
	}
	for _, file := range files {
		if data := read(f, filepath.Base(file)); len(data) < 4_000 {
			f.Add(data)
		}
	}
}

// seedMetadata adds the smallest metadata files of real repositories.
func seedMetadata(f *testing.F, maxSize int, as func(content []byte) []byte) {
	count := 0
	metadata(f, func(_, _ string, content []byte) {
		if seed := as(content); seed != nil && len(seed) < maxSize && count < 40 {
			f.Add(seed)
			count++
		}
	})
}

// checkJSON holds data against the invariants of ToJSON.
func checkJSON(t *testing.T, data []byte) (text []byte, ok bool) {
	dst := []byte("kept")
	got, err := toJSON(dst, data)
	if !bytes.HasPrefix(got, dst) {
		t.Fatalf("dst became %.20q", got)
	}
	if err != nil {
		if len(got) != len(dst) {
			t.Fatalf("an error, but dst grew by %d", len(got)-len(dst))
		}
		return nil, false
	}
	text = got[len(dst):]
	if len(text) > xcontent.Limit(len(data)) {
		t.Fatalf("%d bytes became %d", len(data), len(text))
	}
	if xcontent.Sniff(data) != xcontent.JSON && (!json.Valid(text) || text[0] != '{') {
		t.Fatalf("no JSON object: %.200q", text)
	}
	return text, true
}

func FuzzSMILE(f *testing.F) {
	seed(f, "*.smile")
	seedMetadata(f, 4000, func(content []byte) []byte {
		plain, _ := expand(content)
		return plain
	})
	f.Fuzz(func(t *testing.T, data []byte) {
		checkJSON(t, append([]byte(":)\n\x03\xfa"), data...))
		if xcontent.Sniff(data) == xcontent.SMILE {
			checkJSON(t, data)
		}
	})
}

// FuzzCBOR also asks fxamacker/cbor, an independent decoder: what we read, it
// finds well formed, with as many members in order of no account.
func FuzzCBOR(f *testing.F) {
	seed(f, "*.cbor")
	for _, row := range rows(f, "cbor.tsv") {
		f.Add(unhex(f, row[0]))
	}
	oracle, err := cbor.DecOptions{MaxNestedLevels: 65535, MaxArrayElements: 1 << 30, MaxMapPairs: 1 << 30}.DecMode()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if xcontent.Sniff(data) != xcontent.CBOR {
			return
		}
		if text, ok := checkJSON(t, data); ok {
			if err := oracle.Wellformed(data); err != nil {
				t.Fatalf("%v, but %s", err, text)
			}
		}
	})
}

func FuzzYAML(f *testing.F) {
	for _, row := range rows(f, "yaml.tsv") {
		f.Add([]byte(strings.TrimPrefix(unescape.Replace(row[0]), "---")))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkJSON(t, append([]byte("---"), data...))
	})
}

func FuzzExpand(f *testing.F) {
	seed(f, "*.lzf")
	f.Add([]byte("ZV\x01\x00\x05\x01\x09\x00a\xe0\xff\x00"))
	f.Add(deflated(f, bytes.Repeat([]byte("{\"shelf\": 12}\n"), 20)))
	f.Add(zstandard(f, bytes.Repeat([]byte("{\"shelf\": 12}\n"), 20)))
	seedMetadata(f, 2000, func(content []byte) []byte {
		if xcontent.Sniff(content) == xcontent.SMILE {
			return nil
		}
		return content
	})
	f.Fuzz(func(t *testing.T, data []byte) {
		plain, err := expand(data)
		if err == nil && len(plain) > xcontent.Limit(len(data)) {
			t.Fatalf("%d bytes became %d", len(data), len(plain))
		}
		if err != nil && plain != nil {
			t.Fatalf("an error and %d bytes", len(plain))
		}
	})
}
