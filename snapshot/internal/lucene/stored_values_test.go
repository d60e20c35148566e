package lucene

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestEveryTypeAndVersionHasTheValuesThatLuceneStored(t *testing.T) {
	expected, err := os.ReadFile("testdata/stored/expected-values.txt")
	if err != nil {
		t.Fatal(err)
	}
	folders, _ := filepath.Glob("testdata/stored/lucene-*")
	if len(folders) < 10 {
		t.Fatalf("%d folders", len(folders))
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			seg := testSegments(t, folder)[0]
			r, err := seg.OpenStored(context.Background(), 0, seg.MaxDoc)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			var sliced bool
			for want := range bytes.Lines(expected) {
				if !r.Next() {
					t.Fatalf("document %d: %v", r.Doc(), r.Err())
				}
				values, err := r.Values()
				if err != nil {
					t.Fatal(err)
				}
				if got := javaLine(values); got != string(want) {
					t.Fatalf("document %d:\n got %s\nwant %s", r.Doc(), got, want)
				}
				sliced = sliced || r.chunk.sliced
			}
			if r.Next() || r.Err() != nil || r.Confirmed() != r.HasChecksum() {
				t.Fatalf("at the end: document %d, confirmed %v, %v", r.Doc(), r.Confirmed(), r.Err())
			}
			if sliced != (r.format.family != lucene41 || r.format.Version > 0) || r.chunks < 2 {
				t.Errorf("sliced %v, %d chunks", sliced, r.chunks)
			}
		})
	}
}

// javaLine is the line of expected-values.txt for a document.
func javaLine(values []StoredValue) string {
	line := ""
	for _, v := range values {
		switch v.Kind {
		case String, Bytes:
			hash := int32(v.Kind) // of nothing: 0 for a string, 1 for bytes
			for _, b := range v.Bytes {
				hash = 31*hash + int32(int8(b))
			}
			line += fmt.Sprintf(" %c%d", "sb"[v.Kind], hash)
		case Int:
			line += fmt.Sprintf(" i%d", int32(v.Bits))
		case Float:
			line += fmt.Sprintf(" f%d", int32(v.Bits))
		case Long:
			line += fmt.Sprintf(" l%d", int64(v.Bits))
		case Double:
			line += fmt.Sprintf(" d%d", int64(v.Bits))
		}
	}
	return line + "\n"
}
