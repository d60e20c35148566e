package lucene

import (
	"context"
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
)

// Segment is one segment of an index, opened: its own description, its fields,
// and where its files lie. It is immutable and safe for concurrent use as far
// as its Directory is.
type Segment struct {
	Name          string
	ID            ID // zero when Lucene 4 wrote the segment
	Commit        SegmentCommit
	Codec         string // as the commit claims; files are read by their own headers
	LuceneVersion string // that wrote the segment
	MaxDoc        int    // documents, deleted and nested ones too
	Compound      bool   // most files lie in one .cfs
	Sorted        bool   // the index is sorted
	Fields        []FieldInfo
	Attributes    map[string]string
	Diagnostics   map[string]string

	outer Directory // .si, and what changes: .liv, generational files
	inner Directory // everything else
	files []string  // as the .si lists them
}

// OpenSegment reads the .si, the .cfe of a compound segment, and the newest
// .fnm, and checks them whole. Its errors name file and offset; the caller knows
// the segment.
func OpenSegment(ctx context.Context, dir Directory, sc SegmentCommit) (*Segment, error) {
	s := &Segment{Name: sc.Name, ID: sc.ID, Commit: sc, Codec: sc.Codec, outer: dir, inner: dir}
	err := s.readInfo(ctx)
	if err == nil && s.Compound {
		s.inner, err = openCompound(ctx, dir, s.Name, s.ID)
	}
	if err == nil {
		err = s.readFields(ctx)
	}
	if err == nil {
		err = s.checkMaxDoc()
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// checkMaxDoc holds the number of documents, which memory is later sized by,
// against the length of the stored fields. Documents without any field take the
// least: a chunk of them, 4096 at most, takes four bytes.
func (s *Segment) checkMaxDoc() error {
	const perByte = 1024
	_, data, _, _ := s.storedFiles()
	info, ok := s.inner.Stat(data)
	switch {
	case !ok:
		return fault.New(fault.Corrupt, "file %s: is missing", data)
	case int64(s.MaxDoc) > perByte*info.Length:
		return fault.New(fault.Corrupt, "file %s: promises %d documents, the %d bytes of %s cannot hold them", s.Name+".si", s.MaxDoc, info.Length, data)
	}
	return nil
}

// Field returns the field of the given name.
func (s *Segment) Field(name string) (FieldInfo, bool) {
	i := slices.IndexFunc(s.Fields, func(f FieldInfo) bool { return f.Name == name })
	if i < 0 {
		return FieldInfo{}, false
	}
	return s.Fields[i], true
}

// storedFiles returns where the stored fields lie: data (.fdt), index (.fdx) and,
// where the format has one, its metadata (.fdm; else "").
func (s *Segment) storedFiles() (dir Directory, data, index, meta string) {
	if _, ok := s.inner.Stat(s.Name + ".fdm"); ok {
		meta = s.Name + ".fdm"
	}
	return s.inner, s.Name + ".fdt", s.Name + ".fdx", meta
}

// Files returns the names of all files in the directory that this segment
// consists of in its commit, sorted: its own and the generational ones.
func (s *Segment) Files(context.Context) ([]string, error) {
	names := slices.Clone(s.files)
	names = append(names, s.Name+".si")
	names = append(names, s.Commit.FieldInfosFiles...)
	names = append(names, s.Commit.updateFiles...)
	for _, update := range s.Commit.DocValuesUpdates {
		names = append(names, update...)
	}
	if s.Commit.DelGen != noGeneration {
		names = append(names, s.liveDocsFile())
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

const noGeneration = -1

// generational is the name of a file that later commits add.
func (s *Segment) generational(generation int64, rest string) string {
	return s.Name + "_" + generationSuffix(generation) + rest
}
