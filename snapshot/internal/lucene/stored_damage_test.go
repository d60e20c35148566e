package lucene

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
)

// memory is a Directory of files in memory.
type memory map[string][]byte

func (m memory) Stat(name string) (FileInfo, bool) {
	data, ok := m[name]
	return FileInfo{Length: int64(len(data))}, ok
}

func (m memory) Open(_ context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	if offset < 0 || length < 0 || offset+length > int64(len(m[name])) {
		return nil, fault.New(fault.Bug, "bytes %d+%d of %s", offset, length, name)
	}
	return io.NopCloser(bytes.NewReader(m[name][offset : offset+length])), nil
}

// sealed gives data, a file with a footer, the footer that its content wants.
func sealed(data []byte) []byte {
	if len(data) < footerLength {
		return data
	}
	data = bytes.Clone(data)
	footer := data[len(data)-footerLength:]
	binary.BigEndian.PutUint32(footer, footerMagic)
	binary.BigEndian.PutUint32(footer[4:], 0)
	binary.BigEndian.PutUint64(footer[8:], uint64(crc32.ChecksumIEEE(data[:len(data)-checksumLength])))
	return data
}

// storedCopies is the stored fields of every segment of the test data, in memory.
func storedCopies(t testing.TB) []storedFiles {
	var all []storedFiles
	for _, pattern := range []string{"testdata/segments/*/segments_*", "testdata/stored/*/segments_*"} {
		paths, _ := filepath.Glob(pattern)
		for _, path := range paths {
			files := testSegments(t, filepath.Dir(path))[0].stored()
			copied := memory{}
			for _, name := range []string{files.data, files.index, files.meta} {
				if name != "" {
					data, _, err := readAll(context.Background(), files.dir, name)
					if err != nil {
						t.Fatal(err)
					}
					copied[name] = data
				}
			}
			files.dir = copied
			all = append(all, files)
		}
	}
	return all
}

// drain reads documents [from, to) as far as it goes.
func drain(files storedFiles, from, to int) (docs int, err error) {
	r, err := openStored(context.Background(), files, from, to)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	for r.Next() {
		if _, err := r.Values(); err != nil {
			return docs, err
		}
		docs++
	}
	return docs, r.Err()
}

func TestEveryFlippedByteIsFound(t *testing.T) {
	for _, files := range storedCopies(t) {
		whole := files.dir.(memory)[files.data]
		for at := 0; at < len(whole); at += 1 + len(whole)/80 {
			damaged := bytes.Clone(whole)
			damaged[at] ^= 1 << (at % 8)
			files.dir = memory{files.data: damaged, files.index: files.dir.(memory)[files.index], files.meta: files.dir.(memory)[files.meta]}
			r, err := openStored(context.Background(), files, 0, files.maxDoc)
			if err != nil {
				continue
			}
			for r.Next() && err == nil {
				_, err = r.Values()
			}
			if r.HasChecksum() && (r.Err() == nil || r.Confirmed()) {
				t.Fatalf("%s: byte %d is flipped, confirmed %v", r.format.Codec, at, r.Confirmed())
			}
			r.Close()
		}
	}
}

func TestATruncatedFileIsFound(t *testing.T) {
	for _, files := range storedCopies(t) {
		whole := files.dir.(memory)[files.data]
		for length := 0; length < len(whole); length += 1 + len(whole)/50 {
			files.dir = memory{files.data: whole[:length]}
			if _, err := drain(files, 0, files.maxDoc); !fault.Is(err, fault.Corrupt) {
				t.Fatalf("%d of %d bytes: %v", length, len(whole), err)
			}
		}
	}
}

func TestAnotherSegmentsFileIsRefused(t *testing.T) {
	for _, files := range storedCopies(t) {
		if files.id == (ID{}) {
			continue
		}
		files.id[0] ^= 1
		if _, err := drain(files, 0, files.maxDoc); !fault.Is(err, fault.Corrupt) {
			t.Fatalf("%v", err)
		}
	}
}

// plain is a .fdt of the given codec with this behind its header.
func plain(codec string, version byte, body string) storedFiles {
	data := binary.BigEndian.AppendUint32(nil, headerMagic)
	data = append(data, byte(len(codec)))
	data = append(data, codec...)
	data = append(data, 0, 0, 0, version)
	data = append(data, make([]byte, idLength+1)...)
	data = append(data, body...)
	data = append(data, make([]byte, footerLength)...)
	return storedFiles{data: "_0.fdt", maxDoc: 1 << 30, indexFiles: indexFiles{dir: memory{"_0.fdt": sealed(data)}}}
}

func TestPromisesAllocateNothing(t *testing.T) {
	const huge = "\xff\xff\xff\xff\x07" // 2³¹−1
	for name, files := range map[string]storedFiles{
		"documents of one length":    plain("Lucene90StoredFieldsFastData", 1, "\x00\xfc\xff\xff\xff\x07"+"\x00\x01"+"\x00\x01"),
		"documents of own length":    plain("Lucene90StoredFieldsFastData", 1, "\x00\xfc\xff\xff\xff\x07"+"\x20"),
		"packed documents":           plain("Lucene50StoredFieldsFastData", 1, "\x80\x80\x01\x02\x00"+"\xfe\xff\xff\xff\x07"+"\x1f"),
		"one document, LZ4":          plain("Lucene50StoredFieldsFastData", 1, "\x80\x80\x01\x02\x00\x02\x01"+huge+"\x1fa\x01\x00\xff"),
		"one document, dictionary":   plain("Lucene90StoredFieldsFastData", 1, "\x00\x04\x01"+huge+huge+huge+huge),
		"one document, block":        plain("Lucene90StoredFieldsFastData", 1, "\x00\x04\x01"+huge+"\x00"+huge+"\x01\x05\x00\x1fa\x01\x00"),
		"one document, small blocks": plain("Lucene90StoredFieldsFastData", 1, "\x00\x04\x01"+huge+"\x00\x01"),
		"one document, DEFLATE":      plain("Lucene90StoredFieldsHighData", 1, "\x00\x04\x01"+huge+"\x00"+huge+"\x00\x03\x01\x02\x03"),
		"one document, zstd":         plain("ZstdStoredFields814", 1, "\x00\x04\x01"+huge+"\x0c\x28\xb5\x2f\xfd\xa0\xff\xff\xff\x7f\x03\x00\x00"),
		"compressed length":          plain("ZstdStoredFields814", 1, "\x00\x04\x01\x10"+huge),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := drain(files, 0, files.maxDoc)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 12<<20 {
			t.Errorf("%s: %d bytes allocated; %v", name, grown, err)
		}
	}
}

func TestWhatCannotBeReadIsNamed(t *testing.T) {
	for _, codec := range []string{"QatStoredFieldsLz4", "Lucene40StoredFieldsData", "UnheardOf"} {
		_, err := drain(plain(codec, 0, ""), 0, 1)
		if !fault.Is(err, fault.Refused) || !bytes.Contains([]byte(err.Error()), []byte(codec)) {
			t.Errorf("%s: %v", codec, err)
		}
	}
	if _, err := drain(plain("Lucene90StoredFieldsFastData", 2, ""), 0, 1); !fault.Is(err, fault.Refused) {
		t.Errorf("a newer version: %v", err)
	}
	lucene3 := storedFiles{data: "_0.fdt", maxDoc: 1, indexFiles: indexFiles{dir: memory{"_0.fdt": make([]byte, 3)}}}
	lucene3.dir = memory{"_0.fdt": append([]byte{0, 0, 0, 3}, make([]byte, 100)...)}
	if _, err := drain(lucene3, 0, 1); !fault.Is(err, fault.Refused) {
		t.Errorf("Lucene 3: %v", err)
	}
}

// FuzzStoredFields reads damaged files whose footers are right, whole and in part.
func FuzzStoredFields(f *testing.F) {
	all := storedCopies(f)
	for i, files := range all {
		for at := range 4 {
			f.Add(uint8(i), uint32(60+at*37), uint64(at)*0x0101010101010101)
		}
		_ = files
	}
	f.Fuzz(func(t *testing.T, segment uint8, at uint32, change uint64) {
		files := all[int(segment)%len(all)]
		damaged := bytes.Clone(files.dir.(memory)[files.data])
		for i := 0; change != 0; i++ {
			damaged[(int(at)+i)%len(damaged)] ^= byte(change)
			change >>= 8
		}
		copied := memory{files.index: files.dir.(memory)[files.index], files.meta: files.dir.(memory)[files.meta], files.data: sealed(damaged)}
		files.dir = copied
		docs, err := drain(files, 0, files.maxDoc)
		if err == nil && docs != files.maxDoc {
			t.Fatalf("%d of %d documents and no error", docs, files.maxDoc)
		}
		if fault.Is(err, fault.Bug) {
			t.Fatal(err)
		}
		drain(files, files.maxDoc/3, files.maxDoc/2)
	})
}

// FuzzFieldsIndex reads damaged fields indexes whose footers are right.
func FuzzFieldsIndex(f *testing.F) {
	all := storedCopies(f)
	for i := range all {
		f.Add(uint8(i), false, uint32(70), uint64(0x7f))
		f.Add(uint8(i), true, uint32(50), uint64(0xff00))
	}
	f.Fuzz(func(t *testing.T, segment uint8, meta bool, at uint32, change uint64) {
		files := all[int(segment)%len(all)]
		name := files.index
		if meta && files.meta != "" {
			name = files.meta
		}
		damaged := bytes.Clone(files.dir.(memory)[name])
		for i := 0; change != 0; i++ {
			damaged[(int(at)+i)%len(damaged)] ^= byte(change)
			change >>= 8
		}
		copied := memory{files.index: files.dir.(memory)[files.index], files.meta: files.dir.(memory)[files.meta], files.data: files.dir.(memory)[files.data]}
		copied[name] = sealed(damaged)
		files.dir = copied
		from, to := files.maxDoc/3, files.maxDoc/2
		docs, err := drain(files, from, to)
		if err == nil && docs != to-from {
			t.Fatalf("%d of %d documents and no error", docs, to-from)
		}
		if fault.Is(err, fault.Bug) {
			t.Fatal(err)
		}
	})
}
