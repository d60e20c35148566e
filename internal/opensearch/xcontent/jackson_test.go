package xcontent_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
)

// Everything here compares with what Jackson itself wrote: testdata/jackson.

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "jackson", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// sameText fails with the neighbourhood of the first difference.
func sameText(t *testing.T, got, want []byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	from := max(0, at-60)
	t.Errorf("first difference at byte %d:\n got %q\nwant %q", at, got[from:min(len(got), at+60)], want[from:min(len(want), at+60)])
}

func TestDocumentsOfJacksonGiveItsJSON(t *testing.T) {
	files, err := filepath.Glob("testdata/jackson/*.smile")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d SMILE files, %v", len(files), err)
	}
	cbors, _ := filepath.Glob("testdata/jackson/*.cbor")
	for _, file := range append(files, cbors...) {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			want := name[:strings.IndexByte(name, '.')] + ".json"
			if strings.HasSuffix(name, ".cbor") {
				want = name + ".json"
			}
			got, err := toJSON([]byte("kept"), read(t, name))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasPrefix(got, []byte("kept")) || !json.Valid(got[4:]) {
				t.Errorf("no JSON behind the prefix: %.40q", got)
			}
			sameText(t, got[4:], read(t, want))
		})
	}
}

// rows are the lines of a table of testdata, split at tabs.
func rows(t testing.TB, name string) [][]string {
	var all [][]string
	for line := range strings.Lines(string(read(t, name))) {
		all = append(all, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return all
}

// unescape undoes what keeps a case on one line.
var unescape = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t")

func unhex(t testing.TB, s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCasesOfJackson(t *testing.T) {
	for _, table := range []struct {
		name   string
		decode func(string) []byte
	}{
		{"yaml.tsv", func(s string) []byte { return []byte(unescape.Replace(s)) }},
		{"cbor.tsv", func(s string) []byte { return unhex(t, s) }},
	} {
		for _, row := range rows(t, table.name) {
			in, want := row[0], row[1]
			got, err := toJSON(nil, table.decode(in))
			switch {
			case want[0] != '{': // "error", or a value that is no object
				if err == nil {
					t.Errorf("%s\n got %s\nwant an error", in, got)
				} else if !fault.Is(err, fault.Corrupt) {
					t.Errorf("%s\n kind %v of %v", in, fault.KindOf(err), err)
				}
			case err != nil:
				t.Errorf("%s\n got %v\nwant %s", in, err, want)
			case string(got) != want:
				t.Errorf("%s\n got %s\nwant %s", in, got, want)
			}
		}
	}
}

func TestLZFOfTheReferenceLibrary(t *testing.T) {
	for compressed, plain := range map[string]string{"strings.lzf": "strings.json", "random.lzf": "random.bin"} {
		got, err := expand(read(t, compressed))
		if err != nil {
			t.Fatal(err)
		}
		sameText(t, got, read(t, plain))
	}
}
