package lucene

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
)

// Commit is what one segments_N file says: which segments make up the index, and
// which generations of their changing files count.
//
// Source: the Javadoc of org.apache.lucene.index.SegmentInfos, 4.0 to 10.x.
type Commit struct {
	File          string
	Generation    int64 // the N of segments_N
	FormatVersion int32 // of the file; 4 to 11 since Lucene 5.0, 0 to 3 before
	ID            ID    // of the commit; zero before 5.0
	LuceneVersion string
	// MinSegmentVersion is the version of the oldest segment; "" when there is
	// none, or when the format does not say (before 5.3).
	MinSegmentVersion string
	CreatedMajor      int // Lucene's major version when the index was made; 0: the format does not say (before 7.0)
	Segments          []SegmentCommit
	UserData          map[string]string
}

// SegmentCommit is one segment as a commit sees it. A generation of −1 means
// that there is no such file.
type SegmentCommit struct {
	Name          string
	ID            ID // zero when Lucene 4 wrote the segment
	Codec         string
	DelGen        int64 // generation of the live documents
	DelCount      int   // deleted documents, soft-deleted ones not counted
	FieldInfosGen int64
	DocValuesGen  int64
	SoftDelCount  int // soft-deleted documents that are not deleted as well; −1: the format does not say (before 7.4)
	// FieldInfosFiles and DocValuesUpdates (by field number) name the files that
	// replace the segment's own field infos and doc values.
	FieldInfosFiles  []string
	DocValuesUpdates map[int32][]string
	// Overlays are the generations that are laid over a field's doc values, by
	// field number (10.6 on).
	Overlays map[int32][]int64
	// updateFiles are files of updates that name no field (4.6 to 4.8).
	updateFiles []string
}

// Versions of segments_N, by the Lucene release that began them.
const (
	commit40  = 0
	commit46  = 1 // field infos generations
	commit48  = 2 // footer
	commit49  = 3 // doc values generations
	commit50  = 4 // ids
	commit51  = 5 // VInt counts of sets and maps
	commit53  = 6 // versions
	commit70  = 7 // created version, ids not optional
	commit72  = 8 // VLong counter
	commit74  = 9 // soft deletes
	commit86  = 10
	commit106 = 11 // overlays
)

// ReadCommit reads and checks the named segments_N file.
func ReadCommit(ctx context.Context, dir Directory, file string) (*Commit, error) {
	generation, err := commitGeneration(file)
	if err != nil {
		return nil, err
	}
	data, info, err := readAll(ctx, dir, file)
	if err != nil {
		return nil, err
	}
	c := &Commit{File: file, Generation: generation}
	in := newInput(file, data)
	if err := c.readHeader(in, info); err != nil {
		return nil, err
	}
	c.readBody(in)
	if err := in.end(); err != nil {
		return nil, err
	}
	return c, nil
}

// commitGeneration is the N of segments_N, written in base 36; 0 for "segments".
func commitGeneration(file string) (int64, error) {
	if file == "segments" {
		return 0, nil
	}
	digits, ok := strings.CutPrefix(file, "segments_")
	n, err := strconv.ParseInt(digits, 36, 64)
	if !ok || err != nil || n < 0 || digits != strconv.FormatInt(n, 36) {
		return 0, fault.New(fault.Corrupt, "file %s: is no name of a commit (segments_N)", file)
	}
	return n, nil
}

// readHeader reads up to the body, and cuts the checked footer off in.
func (c *Commit) readHeader(in *input, info FileInfo) error {
	h := in.plainHeader()
	if in.err == nil && h.Codec != "segments" {
		in.pos = 0
		in.fail("is a file of codec %q, not a commit", h.Codec)
	}
	if in.err != nil {
		return in.err
	}
	c.FormatVersion = h.Version
	if h.Version < commit40 || h.Version > commit106 {
		return fault.WithNext(fault.At(fault.New(fault.Refused, "segments_N has version %d, known are %d to %d", h.Version, commit40, commit106), "file "+in.name),
			"Lucene after 10.6 wrote this index; use a newer release of this program")
	}
	var err error
	if h.Version >= commit48 {
		err = checkFooter(in.data, info)
		in.data = in.data[:max(in.pos, len(in.data)-footerLength)]
	} else {
		err = cutOldChecksum(in)
	}
	if err != nil {
		return fault.At(err, "file "+in.name)
	}
	if h.Version >= commit50 {
		in.idAndSuffix(&h, ID{}, "")
		c.ID = h.ID
		if want := generationSuffix(c.Generation); in.err == nil && h.Suffix != want {
			in.fail("has suffix %q, not %q: the file was swapped", h.Suffix, want)
		}
	}
	return in.err
}

// cutOldChecksum checks and cuts off the bare 64-bit CRC-32 at the end of a
// commit that was written before Lucene 4.8.
func cutOldChecksum(in *input) error {
	at := len(in.data) - 8
	if at < in.pos {
		return fault.New(fault.Corrupt, "is %d bytes long, too short for a checksum", len(in.data))
	}
	stored, computed := binary.BigEndian.Uint64(in.data[at:]), crc32.ChecksumIEEE(in.data[:at])
	if stored != uint64(computed) {
		return fault.At(fault.New(fault.Corrupt, "the checksum is %08x, the file says %08x", computed, stored), offsetPlace(int64(at)))
	}
	in.data = in.data[:at]
	return nil
}

func (c *Commit) readBody(in *input) {
	if c.FormatVersion >= commit53 {
		c.LuceneVersion = in.versionVInts()
	}
	if c.FormatVersion >= commit70 {
		c.CreatedMajor = int(in.vint())
	}
	in.int64() // how often the index changed
	if c.FormatVersion >= commit72 {
		in.vlong() // names given to segments
	} else {
		in.int32()
	}
	const leastSegment = 20 // bytes: two names and two numbers
	n := in.count(in.int32(), leastSegment)
	if c.FormatVersion >= commit53 && n > 0 {
		c.MinSegmentVersion = in.versionVInts()
	}
	seen := make(map[string]bool, n)
	for range n {
		s := c.readSegment(in)
		if in.err == nil && seen[s.Name] {
			in.fail("segment %s is listed twice", s.Name)
		}
		if in.err != nil {
			return
		}
		seen[s.Name] = true
		c.Segments = append(c.Segments, s)
	}
	c.UserData = in.pairs(c.setCount(in))
}

func (c *Commit) readSegment(in *input) SegmentCommit {
	s := SegmentCommit{Name: in.string(), DelGen: -1, FieldInfosGen: -1, DocValuesGen: -1, SoftDelCount: -1}
	if in.err == nil && !isSegmentName(s.Name) {
		in.fail("%q is no name of a segment", s.Name)
	}
	if c.FormatVersion >= commit50 && (c.FormatVersion >= commit70 || in.flag("segment id")) {
		copy(s.ID[:], in.bytes(idLength))
	}
	s.Codec = in.string()
	s.DelGen = in.int64()
	s.DelCount = int(in.int32())
	if c.FormatVersion >= commit46 {
		s.FieldInfosGen = in.int64()
		s.DocValuesGen = s.FieldInfosGen
	}
	if c.FormatVersion >= commit49 {
		s.DocValuesGen = in.int64()
	}
	if c.FormatVersion >= commit74 {
		s.SoftDelCount = int(in.int32())
	}
	if c.FormatVersion >= commit86 && in.flag("id of the segment's commit") {
		in.bytes(idLength)
	}
	if in.err == nil && (s.DelCount < 0 || s.SoftDelCount < -1 || s.DelGen < -1 || s.FieldInfosGen < -1 || s.DocValuesGen < -1) {
		in.fail("segment %s: a count or a generation is negative", s.Name)
	}
	c.readUpdates(in, &s)
	return s
}

// readUpdates reads the names of the files that later commits added.
func (c *Commit) readUpdates(in *input, s *SegmentCommit) {
	switch {
	case c.FormatVersion < commit46:
		return
	case c.FormatVersion < commit49:
		for range in.count(in.int32(), 12) {
			in.int64() // generation
			s.updateFiles = append(s.updateFiles, in.list(c.setCount(in))...)
		}
		return
	}
	s.FieldInfosFiles = in.list(c.setCount(in))
	n := in.count(in.int32(), 5)
	s.DocValuesUpdates = make(map[int32][]string, n)
	for range n {
		field := in.int32()
		s.DocValuesUpdates[field] = in.list(c.setCount(in))
	}
	if c.FormatVersion >= commit106 {
		s.Overlays = in.overlays()
	}
}

// overlays reads, for each field, a base generation and those laid over it.
func (in *input) overlays() map[int32][]int64 {
	n := in.count(in.int32(), 16)
	all := make(map[int32][]int64, n)
	for range n {
		field := in.int32()
		generations := []int64{in.int64()}
		for range in.count(in.int32(), 8) {
			generations = append(generations, in.int64())
		}
		all[field] = generations
	}
	return all
}

// setCount reads the number of items of a set or map.
func (c *Commit) setCount(in *input) int32 {
	if c.FormatVersion >= commit51 {
		return in.vint()
	}
	return in.int32()
}

// flag reads a byte that is 0 or 1.
func (in *input) flag(what string) bool {
	b := in.byte()
	if in.err == nil && b > 1 {
		in.pos--
		in.fail("the mark that tells whether there is a %s is %d, not 0 or 1", what, b)
	}
	return b == 1
}

// versionVInts reads a version as three VInts: major, minor, bugfix.
func (in *input) versionVInts() string {
	return fmt.Sprintf("%d.%d.%d", in.vint(), in.vint(), in.vint())
}

// isSegmentName: an underscore and a number in base 36.
func isSegmentName(name string) bool {
	digits, ok := strings.CutPrefix(name, "_")
	return ok && digits != "" && strings.Trim(digits, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}

// generationSuffix is how a generation stands in file names and headers.
func generationSuffix(generation int64) string { return strconv.FormatInt(generation, 36) }
