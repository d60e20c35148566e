package lucene

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/document"
)

// noted is a Directory in memory: file names and contents. It notes the ranges
// that were read.
type noted struct {
	files map[string][]byte
	reads *[]readNote
}

type readNote struct {
	file string
	span
}

func (m noted) Stat(name string) (FileInfo, bool) {
	data, ok := m.files[name]
	return FileInfo{Length: int64(len(data))}, ok
}

func (m noted) Open(_ context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	data, ok := m.files[name]
	if !ok || !(span{offset, length}).within(0, int64(len(data))) {
		return nil, fmt.Errorf("%s has no bytes %d+%d", name, offset, length)
	}
	if m.reads != nil {
		*m.reads = append(*m.reads, readNote{name, span{offset, length}})
	}
	return io.NopCloser(bytes.NewReader(data[offset : offset+length])), nil
}

// with returns a copy of the directory in which the file has other content.
func (m noted) with(name string, content []byte) noted {
	files := maps.Clone(m.files)
	files[name] = content
	return noted{files: files}
}

// loadIndex reads the files of a test index.
func loadIndex(t testing.TB, folder string) noted {
	t.Helper()
	m := noted{files: map[string][]byte{}}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "expected") {
			if m.files[e.Name()], err = os.ReadFile(filepath.Join(folder, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	return m
}

// commitFile is the name of the newest commit.
func (m noted) commitFile() string {
	var newest string
	for name := range m.files {
		if strings.HasPrefix(name, "segments_") && name > newest {
			newest = name
		}
	}
	return newest
}

// testFolders are the folders of segments that real servers wrote.
func testFolders(t testing.TB) []string {
	t.Helper()
	commits, err := filepath.Glob("testdata/segments/*/segments_*")
	if err != nil || len(commits) == 0 {
		t.Fatal("no test segments", err)
	}
	for i := range commits {
		commits[i] = filepath.Dir(commits[i])
	}
	return commits
}

// openIndex opens all segments of the newest commit.
func openIndex(ctx context.Context, m noted) (*Commit, []*Segment, error) {
	c, err := ReadCommit(ctx, m, m.commitFile())
	if err != nil {
		return nil, nil, err
	}
	var segments []*Segment
	for _, sc := range c.Segments {
		s, err := OpenSegment(ctx, m, sc)
		if err != nil {
			return nil, nil, err
		}
		segments = append(segments, s)
	}
	return c, segments, nil
}

func TestSegmentsHaveTheDocumentsThatTheServerCounted(t *testing.T) {
	ctx := context.Background()
	for _, folder := range testFolders(t) {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			var expected map[string]struct {
				Live     int    `json:"num_docs"`
				Deleted  int    `json:"deleted_docs"`
				Version  string `json:"version"`
				Compound bool   `json:"compound"`
			}
			readJSON(t, filepath.Join(folder, "expected-segments.json"), &expected)
			m := loadIndex(t, folder)
			_, segments, err := openIndex(ctx, m)
			if err != nil {
				t.Fatal(err)
			}
			if len(segments) != len(expected) {
				t.Errorf("%d segments, the server has %d", len(segments), len(expected))
			}
			listed := []string{m.commitFile()}
			for _, s := range segments {
				live, err := s.Live(ctx)
				if err != nil {
					t.Fatal(s.Name, err)
				}
				want, deleted := expected[s.Name], live.Deleted+live.SoftDeleted
				if s.MaxDoc-deleted != want.Live || deleted != want.Deleted || s.LuceneVersion != want.Version || s.Compound != want.Compound {
					t.Errorf("%s: %d live, %d deleted, Lucene %s, compound %v; the server says %+v", s.Name, s.MaxDoc-deleted, deleted, s.LuceneVersion, s.Compound, want)
				}
				if live.Docs != nil && live.Docs.Count() != want.Live {
					t.Errorf("%s: %d bits, want %d", s.Name, live.Docs.Count(), want.Live)
				}
				files, _ := s.Files(ctx)
				listed = append(listed, files...)
			}
			slices.Sort(listed)
			if have := slices.Sorted(maps.Keys(m.files)); !slices.Equal(have, listed) {
				t.Errorf("the index has the files %v, the segments list %v", have, listed)
			}
		})
	}
}

func readJSON(t testing.TB, path string, v any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// versions of a document, as the server told them; 0: not told.
type versions struct {
	ID      string `json:"_id"`
	Version int64  `json:"_version"`
	SeqNo   *int64 `json:"_seq_no"`
	Term    *int64 `json:"_primary_term"`
}

func expectedVersions(t testing.TB, folder string) map[string]versions {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, "expected-documents.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]versions{}
	for line := range bytes.Lines(data) {
		var v versions
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		all[v.ID] = v
	}
	return all
}

// idsOf returns the id of each document of the segment, "" for nested ones.
func idsOf(t testing.TB, s *Segment) []string {
	t.Helper()
	id, _ := s.Field("_id")
	uid, hasUID := s.Field("_uid")
	r, err := s.OpenStored(context.Background(), 0, s.MaxDoc)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ids := make([]string, s.MaxDoc)
	for r.Next() {
		values, err := r.Values()
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			switch {
			case hasUID && v.Field == uid.Number:
				_, b, err := document.SplitUID(v.Bytes)
				if err != nil {
					t.Fatal(err)
				}
				ids[r.Doc()] = string(b)
			case v.Field == id.Number && v.Kind == Bytes:
				b, err := document.AppendID(nil, v.Bytes)
				if err != nil {
					t.Fatal(err)
				}
				ids[r.Doc()] = string(b)
			}
		}
	}
	return ids
}

func TestColumnsHoldTheVersionsThatTheServerTold(t *testing.T) {
	ctx := context.Background()
	for _, folder := range testFolders(t) {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			want := expectedVersions(t, folder)
			_, segments, err := openIndex(ctx, loadIndex(t, folder))
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range segments {
				for id, got := range liveVersions(t, s) {
					w, ok := want[id]
					if !ok || got[0] != w.Version || (w.SeqNo != nil && got[1] != *w.SeqNo) || (w.Term != nil && got[2] != *w.Term) {
						t.Errorf("%s: %s has version, sequence number, term %v; the server says %+v", s.Name, id, got, w)
					}
					delete(want, id)
				}
			}
			for id := range want {
				t.Errorf("%s was not found", id)
			}
		})
	}
}

// liveVersions reads the columns of the segment's live top-level documents.
func liveVersions(t testing.TB, s *Segment) map[string][3]int64 {
	t.Helper()
	ctx := context.Background()
	live, err := s.Live(ctx)
	if err != nil {
		t.Fatal(err)
	}
	columns, err := s.Columns(ctx, "_version", "_seq_no", "_primary_term", "no such field")
	if err != nil {
		t.Fatal(err)
	}
	defer columns.Close()
	got := map[string][3]int64{}
	for doc, id := range idsOf(t, s) {
		v := [3]int64{-1, -1, -1}
		if err := columns.At(doc, func(column int, value int64) { v[column] = value }); err != nil {
			t.Fatal(s.Name, err)
		}
		if id != "" && live.Docs.Has(doc) {
			got[id] = v
		}
	}
	if err := columns.Finish(); err != nil {
		t.Error(err)
	}
	return got
}

// refoot puts the right checksum at the end of a changed file.
func refoot(data []byte) []byte {
	if len(data) >= footerLength {
		at := len(data) - footerLength
		binary.BigEndian.PutUint32(data[at:], footerMagic)
		binary.BigEndian.PutUint32(data[at+4:], 0)
		binary.BigEndian.PutUint64(data[at+8:], uint64(crc32.ChecksumIEEE(data[:at+8])))
	}
	return data
}
