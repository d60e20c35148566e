package snapshot

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
)

// A part size of −1 stands for none: the file is one blob.
func TestAPartSizeOfMinusOneIsNone(t *testing.T) {
	ctx := context.Background()
	m := newMiniature().edit(t, "indices/I/1/snap-S.dat", `"part_size":10`, `"part_size":-1`)
	m["indices/I/1/__x"] = "0123456789abcdefghijABCDE"
	for part := range 3 {
		delete(m, "indices/I/1/__x.part"+string(rune('0'+part)))
	}
	sh, _ := miniatureShard(t, 1, m)
	r, err := sh.Open(ctx, "_0.fdt", 8, 4)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || string(got) != "89ab" {
		t.Errorf("%q, %v", got, err)
	}
}

// Manifests of Elasticsearch 1.0 to 1.2 do not say which Lucene wrote a file: where there is a footer it is checked, and
// where there is none the length is all that can be.
func TestManifestsThatDoNotSayWhatWroteAFile(t *testing.T) {
	const plain = "0123456789abcdefghijABCDE"
	footed := string(withFooter([]byte("123456789")))
	for _, tc := range []struct{ name, content, says string }{
		{"before 4.8", plain, ""},
		{"since 4.8", footed, ""},
		{"since 4.8, damaged", "X" + footed[1:], "checksum"},
		{"cut", plain[:20], "has 20 bytes"},
	} {
		m := newMiniature().edit(t, "indices/I/1/snap-S.dat", `"part_size":10,"written_by":"8.7.0"`, `"part_size":1000`)
		m["indices/I/1/__x"] = tc.content
		sh, _ := miniatureShard(t, 1, m)
		err := sh.checkFile(context.Background(), sh.byName["_0.fdt"])
		if tc.says == "" && err != nil || tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// endless is a bucket in which one blob goes on for ever.
type endless struct {
	*mapBucket
	key string
}

func (b endless) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	if key != b.key {
		return b.mapBucket.Open(ctx, key, offset, length)
	}
	return io.NopCloser(blanks{}), nil
}

// blanks are without end.
type blanks struct{}

func (blanks) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// A root file, or other metadata, that does not end is refused before it fills the memory.
func TestMetadataWithoutEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("reads half a gigabyte")
	}
	if _, err := Open(context.Background(), endless{newMiniature().build(), "index-3"}); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "index-3") {
		t.Errorf("%v", err)
	}
}
