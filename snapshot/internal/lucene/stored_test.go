package lucene

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// storedFolder is a Directory over a folder of the file system.
type storedFolder string

func (f storedFolder) Stat(name string) (FileInfo, bool) {
	st, err := os.Stat(filepath.Join(string(f), name))
	if err != nil {
		return FileInfo{}, false
	}
	return FileInfo{Length: st.Size()}, true
}

func (f storedFolder) Open(_ context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	file, err := os.Open(filepath.Join(string(f), name))
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(file, offset, length), file}, nil
}

// answer is what a server said of a document.
type answer struct {
	ID           string  `json:"_id"`
	Source       *string `json:"_source"`
	SourceLength int     `json:"_source_length"`
	SourceSHA256 string  `json:"_source_sha256"`
}

// expectedSources is the multiset of sources that the server returned, by digest.
func expectedSources(t testing.TB, folder string) map[string]int {
	data, err := os.ReadFile(filepath.Join(folder, "expected-documents.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]int{}
	for line := range bytes.Lines(data) {
		var a answer
		if err := json.Unmarshal(line, &a); err != nil {
			t.Fatal(err)
		}
		switch {
		case a.SourceSHA256 != "":
			sources[a.SourceSHA256]++
		case a.Source != nil:
			sources[digest([]byte(*a.Source))]++
		}
	}
	return sources
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// testSegments opens every segment in the folder without looking at commits.
func testSegments(t testing.TB, folder string) []*Segment {
	infos, err := filepath.Glob(filepath.Join(folder, "*.si"))
	if err != nil {
		t.Fatal(err)
	}
	var segments []*Segment
	for _, path := range infos {
		name := filepath.Base(path)
		seg, err := OpenSegment(context.Background(), storedFolder(folder), SegmentCommit{Name: name[:len(name)-3], ID: idOf(t, path), FieldInfosGen: -1, DelGen: -1})
		if err != nil {
			t.Fatal(err)
		}
		segments = append(segments, seg)
	}
	return segments
}

func idOf(t testing.TB, path string) ID {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	in := newInput(path, data)
	var id ID
	if h := in.plainHeader(); h.Codec > "Lucene50" { // before, segments had none
		copy(id[:], in.bytes(idLength))
	}
	return id
}

// readSources reads every document of a segment and counts its _source by digest.
func readSources(t testing.TB, seg *Segment, sources map[string]int) *StoredReader {
	r, err := seg.OpenStored(context.Background(), 0, seg.MaxDoc)
	if err != nil {
		t.Fatalf("%s: %v", seg.Name, err)
	}
	source, _ := seg.Field("_source")
	docs := 0
	for r.Next() {
		values, err := r.Values()
		if err != nil {
			t.Fatalf("%s: document %d: %v", seg.Name, r.Doc(), err)
		}
		for _, v := range values {
			if v.Field == source.Number && source.Name != "" {
				sources[digest(v.Bytes)]++
			}
		}
		docs++
	}
	if r.Err() != nil || !r.Confirmed() || docs != seg.MaxDoc {
		t.Fatalf("%s: %d of %d documents, confirmed %v, %v", seg.Name, docs, seg.MaxDoc, r.Confirmed(), r.Err())
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestStoredSourcesAreThoseThatTheServerReturned(t *testing.T) {
	folders, _ := filepath.Glob("testdata/segments/*/expected-documents.ndjson")
	if len(folders) == 0 {
		t.Fatal("no segments")
	}
	for _, path := range folders {
		folder := filepath.Dir(path)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			stored := map[string]int{}
			for _, seg := range testSegments(t, folder) {
				r := readSources(t, seg, stored)
				t.Logf("%s: %s v%d, %d documents, %d chunks, %d bytes", seg.Name, r.format.Codec, r.format.Version, seg.MaxDoc, r.chunks, r.BytesRead())
			}
			for source, n := range expectedSources(t, folder) {
				if stored[source] < n {
					t.Errorf("a source with SHA-256 %s is stored %d times, the server returned %d", source, stored[source], n)
				}
			}
		})
	}
}
