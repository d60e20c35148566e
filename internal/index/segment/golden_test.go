package segment_test

import (
	"bytes"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the files of testdata as they are made now")

// The files of version 1 stay readable, and say what they said when they were written. When
// the format changes, the version does, and others come beside them.
func TestFilesOfVersionOneAreReadAsEver(t *testing.T) {
	const text = "testdata/version1.txt"
	for file, documents := range map[string]int{"testdata/version1.segment": 12, "testdata/version1-long.segment": 150} {
		made := sample(t, documents)
		said := dump(openFile(t, made), 1<<20)
		if *update {
			if err := os.WriteFile(file, made, 0o644); err != nil {
				t.Fatal(err)
			}
			if documents == 12 {
				if err := os.WriteFile(text, []byte(said), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := []byte(said)
		if documents == 12 {
			if want, err = os.ReadFile(text); err != nil {
				t.Fatal(err)
			}
		}
		if got := dump(openFile(t, data), 1<<20); got != string(want) {
			t.Errorf("%s says %s", file, got)
		}
		if !bytes.Equal(data, made) {
			t.Errorf("the documents of %s give another file now", file)
		}
	}
}
