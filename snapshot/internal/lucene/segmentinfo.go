package lucene

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
)

// maxDocs is the most documents that an index can hold (Lucene's IndexWriter).
const maxDocs = 1<<31 - 1 - 128

// infoFormat is a version of the .si file: what stands in it beside the version,
// the number of documents, the compound flag, diagnostics and files.
type infoFormat struct {
	plain      bool // no id in the header, version as text, int32 counts (Lucene 4)
	attributes bool
	little     bool // little-endian
	minVersion bool
	sort       bool // ends with the fields that the index is sorted by
	blocks     bool // may tell whether there are blocks of documents
}

// Sources: the Javadoc of Lucene40SegmentInfoFormat to Lucene99SegmentInfoFormat.
var infoFormats = map[string]infoFormat{
	"Lucene40SegmentInfo": {plain: true, attributes: true},
	"Lucene46SegmentInfo": {plain: true},
	"Lucene50SegmentInfo": {attributes: true},
	"Lucene62SegmentInfo": {attributes: true, sort: true},
	"Lucene70SegmentInfo": {attributes: true, sort: true, minVersion: true},
	"Lucene86SegmentInfo": {attributes: true, sort: true, minVersion: true},
	"Lucene90SegmentInfo": {attributes: true, sort: true, minVersion: true, little: true, blocks: true},
}

// readInfo reads the .si.
func (s *Segment) readInfo(ctx context.Context) error {
	in, h, err := readHeaded(ctx, s.outer, s.Name+".si")
	if err != nil {
		return err
	}
	format, known := infoFormats[h.Codec]
	if !known || h.Version > 1 || h.Version < 0 {
		return unknownFormat(in.name, h)
	}
	if format.plain {
		s.readInfo4(in, format)
		return in.end()
	}
	in.idAndSuffix(&h, s.ID, "")
	if format.little {
		in.order = binary.LittleEndian
	}
	s.LuceneVersion = in.versionInts()
	if format.minVersion && in.flag("minimum version") {
		in.versionInts()
	}
	s.readMaxDoc(in)
	s.Compound = in.yes("compound")
	// Lucene 9.9 put a byte here and kept name and version of the format.
	if format.blocks && in.err == nil && s.blocksFollow(*in) {
		in.yes("has blocks")
	}
	counts := (*input).vint
	if h.Codec == "Lucene50SegmentInfo" && h.Version == 0 {
		counts = (*input).int32
	}
	return s.readInfoRest(in, format, counts)
}

// readInfoRest reads from the diagnostics on; counts reads a count.
func (s *Segment) readInfoRest(in *input, format infoFormat, counts func(*input) int32) error {
	s.Diagnostics = in.pairs(counts(in))
	s.files = in.list(counts(in))
	s.Attributes = in.pairs(counts(in))
	if format.sort {
		s.Sorted = in.vint() > 0
		if s.Sorted {
			// What follows names the sort fields, which reading does not need.
			return s.checkFiles(in)
		}
	}
	if err := in.end(); err != nil {
		return err
	}
	return s.checkFiles(in)
}

// blocksFollow looks ahead: is the next byte the flag that Lucene 9.9 added, or
// the number of diagnostics? They can only be mixed up when it is 1.
func (s *Segment) blocksFollow(in input) bool {
	if in.left() == 0 || (in.data[in.pos] != 1 && in.data[in.pos] != 0xff) {
		return false
	}
	if in.data[in.pos] == 0xff {
		return true
	}
	in.byte()
	probe := *s
	return probe.readInfoRest(&in, infoFormat{sort: true}, (*input).vint) == nil
}

// readInfo4 reads the body of a .si that Lucene 4 wrote.
func (s *Segment) readInfo4(in *input, format infoFormat) {
	s.LuceneVersion = in.string()
	s.readMaxDoc(in)
	s.Compound = in.yes("compound")
	s.Diagnostics = in.pairs(in.int32())
	if format.attributes {
		s.Attributes = in.pairs(in.int32())
	}
	s.files = in.list(in.int32())
	_ = s.checkFiles(in) // sticks in the cursor
}

// readMaxDoc reads the number of documents and holds the commit against it.
func (s *Segment) readMaxDoc(in *input) {
	s.MaxDoc = int(in.int32())
	switch {
	case in.err != nil:
	case s.MaxDoc < 1 || s.MaxDoc > maxDocs:
		in.fail("%d documents are promised; 1 to %d are possible", s.MaxDoc, maxDocs)
	case s.Commit.DelCount+max(0, s.Commit.SoftDelCount) > s.MaxDoc:
		in.fail("the segment has %d documents, the commit says that %d are deleted and %d soft-deleted", s.MaxDoc, s.Commit.DelCount, s.Commit.SoftDelCount)
	}
}

// checkFiles holds the listed names against the segment's name.
func (s *Segment) checkFiles(in *input) error {
	for _, name := range s.files {
		rest, ok := strings.CutPrefix(name, s.Name)
		if !ok || rest == "" || (rest[0] != '.' && rest[0] != '_') {
			in.fail("lists the file %q, which is not of this segment", name)
		}
	}
	return in.err
}

// yes reads a byte that is 1 or −1.
func (in *input) yes(what string) bool {
	b := int8(in.byte())
	if in.err == nil && b != 1 && b != -1 {
		in.pos--
		in.fail("the %s mark is %d, not 1 or -1", what, b)
	}
	return b == 1
}

// versionInts reads a version as three int32: major, minor, bugfix.
func (in *input) versionInts() string {
	return fmt.Sprintf("%d.%d.%d", in.int32(), in.int32(), in.int32())
}

// unknownFormat refuses a file whose header names a format or a version that
// this package does not read.
func unknownFormat(file string, h header) error {
	return fault.WithNext(fault.At(fault.New(fault.Refused, "the format %s version %d is not supported", h.Codec, h.Version), "file "+file),
		"please report the format's name and the server that wrote the file")
}
