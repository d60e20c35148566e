package lucene

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
)

// readAround reads everything of an index but its stored fields.
func readAround(m noted) error {
	ctx := context.Background()
	_, segments, err := openIndex(ctx, m)
	for _, s := range segments {
		if err == nil {
			_, err = s.Live(ctx)
		}
	}
	return err
}

// small reports whether readAround reads all of the file.
func small(name string) bool {
	for _, ending := range []string{".si", ".cfe", ".fnm", ".liv"} {
		if strings.HasSuffix(name, ending) {
			return true
		}
	}
	generational := strings.Count(name, "_") == 4 // _0_1_Lucene90_0.dvd
	return generational || strings.HasPrefix(name, "segments_")
}

func TestADamagedFileIsAnErrorThatNamesIt(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 9))
	damages := map[string]func(b []byte) []byte{
		"a flipped bit":  func(b []byte) []byte { b[random.IntN(len(b))] ^= 1 << random.IntN(8); return b },
		"a cut":          func(b []byte) []byte { return b[:random.IntN(len(b))] },
		"a byte more":    func(b []byte) []byte { return append(b, 0) },
		"zeros":          func(b []byte) []byte { at := random.IntN(len(b)); b[at] = ^b[at]; clear(b[at+1:]); return b },
		"the file twice": func(b []byte) []byte { return append(b, b...) },
		"nothing":        func([]byte) []byte { return nil },
	}
	for _, folder := range testFolders(t) {
		m := loadIndex(t, folder)
		for name, content := range m.files {
			if !small(name) {
				continue
			}
			for what, damage := range damages {
				err := readAround(m.with(name, damage(slices.Clone(content))))
				switch {
				case err == nil:
					t.Errorf("%s: %s with %s was read", filepath.Base(folder), name, what)
				case !fault.Is(err, fault.Corrupt) && !fault.Is(err, fault.Refused):
					t.Errorf("%s: %s with %s: %v", filepath.Base(folder), name, what, err)
				case !strings.Contains(err.Error(), name):
					t.Errorf("%s: %s with %s: %v: does not name the file", filepath.Base(folder), name, what, err)
				}
			}
		}
	}
}

func TestASwappedFileIsAnError(t *testing.T) {
	for _, folder := range testFolders(t) {
		m := loadIndex(t, folder)
		for name := range m.files {
			for other, content := range m.files {
				if other == name || !small(name) || filepath.Ext(other) != filepath.Ext(name) || strings.HasSuffix(name, ".cfs") {
					continue
				}
				if err := readAround(m.with(name, content)); !fault.Is(err, fault.Corrupt) {
					t.Errorf("%s: %s with the content of %s: %v", filepath.Base(folder), name, other, err)
				}
			}
		}
	}
}

func TestAMissingFileIsNamed(t *testing.T) {
	for _, folder := range testFolders(t) {
		m := loadIndex(t, folder)
		for name := range m.files {
			if !small(name) || strings.HasPrefix(name, "segments_") {
				continue
			}
			without := m.with(name, nil)
			delete(without.files, name)
			if err := readAround(without); !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "file "+name+": is missing") {
				t.Errorf("%s: without %s: %v", filepath.Base(folder), name, err)
			}
		}
	}
}

func TestACommitWithOtherCountsIsAnError(t *testing.T) {
	ctx := context.Background()
	m := loadIndex(t, "testdata/segments/opensearch-3.6.0-shelves-0")
	commit, _, err := openIndex(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	changes := map[string]func(*SegmentCommit){
		"one more soft-deleted":      func(sc *SegmentCommit) { sc.SoftDelCount++ },
		"one less soft-deleted":      func(sc *SegmentCommit) { sc.SoftDelCount-- },
		"deleted without a file":     func(sc *SegmentCommit) { sc.DelCount++ },
		"more deleted than there is": func(sc *SegmentCommit) { sc.DelCount = 1000 },
	}
	for what, change := range changes {
		sc := commit.Segments[0]
		change(&sc)
		s, err := OpenSegment(ctx, m, sc)
		if err == nil {
			_, err = s.Live(ctx)
		}
		if !fault.Is(err, fault.Corrupt) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestACommitUnderAnotherNameIsAnError(t *testing.T) {
	m := loadIndex(t, "testdata/segments/opensearch-3.6.0-shelves-0")
	name := m.commitFile()
	_, err := ReadCommit(context.Background(), m.with("segments_a", m.files[name]), "segments_a")
	if !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "file segments_a") {
		t.Errorf("%s read as segments_a: %v", name, err)
	}
}

func TestAFileOfAnotherGenerationIsAnError(t *testing.T) {
	m := loadIndex(t, "testdata/written/lucene-10.3.2")
	_, segments, err := openIndex(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	soft, _ := segments[0].softDeletesField()
	update, _ := segments[0].Field("upd")
	_, stem, _, _ := segments[0].docValuesFiles(soft)
	_, other, _, _ := segments[0].docValuesFiles(update)
	for _, ending := range []string{".dvm", ".dvd"} {
		err := readAround(m.with(stem+ending, m.files[other+ending]))
		if !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "suffix") {
			t.Errorf("%s in place of %s: %v", other+ending, stem+ending, err)
		}
	}
}

func TestMembersOfACompoundFileDoNotOverlap(t *testing.T) {
	m := loadIndex(t, "testdata/segments/opensearch-3.6.0-shelves-0")
	_, segments, err := openIndex(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	name, members := segments[0].Name, segments[0].inner.(*compound).members
	var from, to [8]byte
	binary.LittleEndian.PutUint64(from[:], uint64(members[name+".fnm"].offset))
	binary.LittleEndian.PutUint64(to[:], uint64(members[name+".fdt"].offset))
	moved := bytes.Replace(m.files[name+".cfe"], from[:], to[:], 1)
	err = readAround(m.with(name+".cfe", refoot(moved)))
	if !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "overlap") {
		t.Error(err)
	}
}

func TestMoreDocumentsThanTheStoredFieldsCanHold(t *testing.T) {
	m := loadIndex(t, "testdata/segments/elasticsearch-6.8.23-shelves-0")
	if err := readAround(m.with("_6.fdt", nil)); !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "file _6.si") {
		t.Error(err)
	}
}
