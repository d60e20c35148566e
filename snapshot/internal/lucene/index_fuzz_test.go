package lucene

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
)

// The fuzz targets change files of real indexes and put the right checksum at
// their end, so that the decoder behind it has to find out. Whatever comes, it
// must not panic, hang or take memory that the files do not justify, and its
// errors are Corrupt or Refused.

// seedFiles calls add with every file of the test indexes whose name ends so.
func seedFiles(f *testing.F, ending string, add func(folder, name string, content []byte)) {
	for _, folder := range append(testFolders(f), writtenFolders(f)...) {
		m := loadIndex(f, folder)
		for name, content := range m.files {
			if strings.HasSuffix(name, ending) || (ending == "segments_" && strings.HasPrefix(name, ending)) {
				add(folder, name, content)
			}
		}
	}
}

func writtenFolders(t testing.TB) []string {
	found, err := filepath.Glob("testdata/written/*/expected.txt")
	if err != nil || len(found) == 0 {
		t.Fatal("no test data", err)
	}
	for i := range found {
		found[i] = filepath.Dir(found[i])
	}
	return found
}

// checkFault fails unless err is nil or a fault of the file.
func checkFault(t *testing.T, err error) {
	t.Helper()
	if err != nil && !fault.Is(err, fault.Corrupt) && !fault.Is(err, fault.Refused) {
		t.Errorf("%v (%v)", err, fault.KindOf(err))
	}
}

func FuzzCommit(f *testing.F) {
	seedFiles(f, "segments_", func(_, _ string, content []byte) { f.Add(content) })
	f.Fuzz(func(t *testing.T, content []byte) {
		m := noted{files: map[string][]byte{}}
		for _, name := range []string{"segments_2", "segments_3", "segments_4"} {
			m.files[name] = refoot(bytes.Clone(content))
			_, err := ReadCommit(context.Background(), m, name)
			checkFault(t, err)
		}
		if at := len(content) - 8; at >= 0 { // before 4.8
			old := bytes.Clone(content)
			binary.BigEndian.PutUint64(old[at:], uint64(crc32.ChecksumIEEE(old[:at])))
			_, err := ReadCommit(context.Background(), m.with("segments_2", old), "segments_2")
			checkFault(t, err)
		}
	})
}

func FuzzSegmentInfo(f *testing.F) {
	seedFiles(f, ".si", func(_, _ string, content []byte) { f.Add(content) })
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, content := range [][]byte{content, refoot(bytes.Clone(content))} {
			s := &Segment{Name: "_0", outer: noted{files: map[string][]byte{"_0.si": content}}}
			checkFault(t, s.readInfo(context.Background()))
		}
	})
}

func FuzzFieldInfos(f *testing.F) {
	seedFiles(f, ".fnm", func(_, _ string, content []byte) { f.Add(content) })
	for _, folder := range writtenFolders(f) {
		if _, segments, err := openIndex(context.Background(), loadIndex(f, folder)); err == nil {
			content, _, _ := readAll(context.Background(), segments[0].inner, segments[0].Name+".fnm")
			f.Add(content)
		}
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, content := range [][]byte{content, refoot(bytes.Clone(content))} {
			s := &Segment{Name: "_0", Commit: SegmentCommit{FieldInfosGen: -1}, inner: noted{files: map[string][]byte{"_0.fnm": content}}}
			checkFault(t, s.readFields(context.Background()))
		}
	})
}

func FuzzCompound(f *testing.F) {
	seedFiles(f, ".cfe", func(_, _ string, content []byte) { f.Add(content, uint32(50000)) })
	f.Fuzz(func(t *testing.T, content []byte, length uint32) {
		for _, content := range [][]byte{content, refoot(bytes.Clone(content))} {
			m := noted{files: map[string][]byte{"_0.cfe": content, "_0.cfs": make([]byte, length%(1<<16))}}
			c, err := openCompound(context.Background(), m, "_0", ID{})
			checkFault(t, err)
			if err != nil {
				continue
			}
			for name, member := range c.members {
				r, err := c.Open(context.Background(), name, 0, member.length)
				if err != nil {
					t.Errorf("%s at %v of %d bytes: %v", name, member, length, err)
				} else {
					r.Close()
				}
			}
		}
	})
}

func FuzzLiveDocs(f *testing.F) {
	for _, ending := range []string{".liv", ".del"} {
		seedFiles(f, ending, func(_, _ string, content []byte) {
			for _, maxDoc := range []int{60, 150, 600} {
				f.Add(content, maxDoc, 20, ending == ".del")
			}
		})
	}
	f.Fuzz(func(t *testing.T, content []byte, maxDoc, deleted int, old bool) {
		name := "_0_1.liv"
		if old {
			name = "_0_1.del"
		}
		maxDoc = max(0, min(maxDoc, 1<<16))
		for _, content := range [][]byte{content, refoot(bytes.Clone(content))} {
			s := &Segment{Name: "_0", MaxDoc: maxDoc, Commit: SegmentCommit{DelGen: 1, DelCount: deleted, SoftDelCount: -1}, outer: noted{files: map[string][]byte{name: content}}}
			live, err := s.Live(context.Background())
			checkFault(t, err)
			if err == nil && live.Docs.Count() != maxDoc-deleted {
				t.Errorf("%d of %d live, %d deleted", live.Docs.Count(), maxDoc, deleted)
			}
		}
	})
}

// FuzzDocValues changes the .dvm and the .dvd of a real segment: the seeds choose
// the segment, the edits say where and how; long is whether the .dvd is read in
// windows.
func FuzzDocValues(f *testing.F) {
	indexes := docValuesSeeds(f)
	for i := range indexes {
		for seed := range uint64(8) {
			f.Add(i, seed, 3, seed%2 == 0, seed%3 == 0)
		}
	}
	f.Fuzz(func(t *testing.T, i int, seed uint64, edits int, meta, long bool) {
		if long {
			withLongFiles(t, 64)
		}
		seedOf := indexes[(i%len(indexes)+len(indexes))%len(indexes)]
		random := rand.New(rand.NewPCG(seed, 5))
		m := seedOf.files
		name := seedOf.stem + ".dvd"
		if meta {
			name = seedOf.stem + ".dvm"
		}
		changed := slices.Clone(m.files[name])
		for range max(0, min(edits, 20)) {
			edit(random, changed)
		}
		s := *seedOf.segment
		s.inner = m.with(name, refoot(changed))
		s.outer = s.inner
		before := allocated()
		columns, err := s.Columns(context.Background(), seedOf.names...)
		checkFault(t, err)
		for doc := 0; err == nil && doc < s.MaxDoc; doc++ {
			err = columns.At(doc, func(int, int64) {})
			checkFault(t, err)
		}
		if err == nil {
			checkFault(t, columns.Finish())
		}
		_, err = s.softDeletes(context.Background())
		checkFault(t, err)
		if used := allocated() - before; used > 8<<20 {
			t.Errorf("%d bytes were allocated for files of %d bytes", used, len(m.files[name]))
		}
	})
}

func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

// edit changes one to eight bytes somewhere behind the header.
func edit(random *rand.Rand, b []byte) {
	const header = 40
	if len(b) <= header+footerLength+8 {
		return
	}
	at := header + random.IntN(len(b)-header-footerLength-8)
	switch random.IntN(4) {
	case 0:
		b[at] ^= 1 << random.IntN(8)
	case 1:
		b[at] = byte(random.Uint32())
	case 2:
		binary.LittleEndian.PutUint64(b[at:], random.Uint64()>>random.IntN(64))
	case 3:
		binary.BigEndian.PutUint64(b[at:], random.Uint64()>>random.IntN(64))
	}
}

// docValuesSeed is a segment of which the files of one .dvm stand by themselves.
type docValuesSeed struct {
	segment *Segment
	files   noted
	stem    string
	names   []string
}

// docValuesSeeds are the files of doc values of one segment of each test index.
func docValuesSeeds(f *testing.F) []docValuesSeed {
	ctx := context.Background()
	var seeds []docValuesSeed
	for _, folder := range append(testFolders(f), writtenFolders(f)...) {
		_, segments, err := openIndex(ctx, loadIndex(f, folder))
		if err != nil {
			f.Fatal(folder, err)
		}
		s := segments[0]
		byStem := map[string]*docValuesSeed{}
		for _, field := range s.Fields {
			dir, stem, _, err := s.docValuesFiles(field)
			if field.DocValues != NumericDocValues || err != nil {
				continue
			}
			seed := byStem[stem]
			if seed == nil {
				seed = &docValuesSeed{segment: s, stem: stem, files: noted{files: map[string][]byte{}}}
				byStem[stem] = seed
				for _, ending := range []string{".dvm", ".dvd"} {
					if seed.files.files[stem+ending], _, err = readAll(ctx, dir, stem+ending); err != nil {
						f.Fatal(err)
					}
				}
			}
			seed.names = append(seed.names, field.Name)
		}
		for _, seed := range byStem {
			seeds = append(seeds, *seed)
		}
	}
	slices.SortStableFunc(seeds, func(a, b docValuesSeed) int {
		return strings.Compare(a.stem+a.segment.LuceneVersion, b.stem+b.segment.LuceneVersion)
	})
	return seeds
}
