package lucene

import (
	"context"
	"encoding/binary"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
)

// docValues is a pair of files: .dvm tells where in .dvd each field's values lie.
// A segment has one pair for each format that its fields use, and one for each
// generation of updates.
type docValues struct {
	*ranged  // the .dvd
	maxDoc   int
	order    binary.ByteOrder // of the .dvd
	content  int64            // where the .dvd's header ends
	numerics map[int32]*numeric
}

// numeric tells where the values of a numeric field lie, for all formats.
type numeric struct {
	presence presence
	count    int64 // values
	min, gcd int64
	table    []int64 // values to choose from; nil: none
	bits     int     // a value; 0: all are min
	shift    int     // values are in blocks of 1<<shift, each with its own bits; −1: in one
	packing  packing // how blocks are packed
	values   span
	nested   *numeric // Lucene 5.4: the values of a sparse field
}

// docValuesFormat is how the entries of a .dvm are read.
type docValuesFormat struct {
	data    string // codec of the .dvd
	last    int32  // highest known version
	plain   bool   // header without id
	little  bool
	entries func(*docValues, *input, docValuesFormat, int32, []FieldInfo)
	jumps   bool // has jump tables (since Lucene 8.0)
	release int  // of Lucene that began the format, major*100+minor (before 7)
}

// docValuesFormats by the codec of the .dvm. Sources: the Javadoc of the
// DocValuesFormat classes of Lucene 4.5 to 9.0.
var docValuesFormats map[string]docValuesFormat

func init() {
	docValuesFormats = map[string]docValuesFormat{
		"Lucene45ValuesMetadata":    {data: "Lucene45DocValuesData", last: 2, plain: true, entries: (*docValues).entries4, release: 405},
		"Lucene49ValuesMetadata":    {data: "Lucene49DocValuesData", last: 0, plain: true, entries: (*docValues).entries4, release: 409},
		"Lucene410ValuesMetadata":   {data: "Lucene410DocValuesData", last: 0, plain: true, entries: (*docValues).entries4, release: 410},
		"Lucene50DocValuesMetadata": {data: "Lucene50DocValuesData", last: 1, entries: (*docValues).entries4, release: 500},
		"Lucene54DocValuesMetadata": {data: "Lucene54DocValuesData", last: 0, entries: (*docValues).entries4, release: 504},
		"Lucene70DocValuesMetadata": {data: "Lucene70DocValuesData", last: 0, entries: (*docValues).entries7},
		"Lucene80DocValuesMetadata": {data: "Lucene80DocValuesData", last: 2, entries: (*docValues).entries7, jumps: true},
		"Lucene90DocValuesMetadata": {data: "Lucene90DocValuesData", last: 0, entries: (*docValues).entries7, jumps: true, little: true},
	}
}

// openDocValues opens the files that hold the field's doc values.
func (s *Segment) openDocValues(ctx context.Context, field FieldInfo) (*docValues, error) {
	dir, stem, suffix, err := s.docValuesFiles(field)
	if err != nil {
		return nil, err
	}
	meta, h, err := readHeaded(ctx, dir, stem+".dvm")
	if err != nil {
		return nil, err
	}
	format, known := docValuesFormats[h.Codec]
	if !known || h.Version < 0 || h.Version > format.last {
		return nil, fault.At(unknownFormat(meta.name, h), "doc values of field "+field.Name)
	}
	if !format.plain {
		meta.idAndSuffix(&h, s.ID, suffix)
	}
	d := &docValues{maxDoc: s.MaxDoc, order: binary.BigEndian, numerics: map[int32]*numeric{}}
	if d.ranged, err = openRanged(ctx, dir, stem+".dvd", wholeFile, h.hasFooter()); err != nil {
		return nil, err
	}
	if err := d.readHeader(s, format, h, suffix); err != nil {
		return nil, err
	}
	if format.little {
		meta.order, d.order = binary.LittleEndian, binary.LittleEndian
	}
	format.entries(d, meta, format, h.Version, s.Fields)
	return d, meta.end()
}

// docValuesFiles returns where the field's doc values lie: the files' name up to
// the extension, and the suffix in their headers. A codec may keep the fields of
// each format in files of their own, which the suffix then names; the codecs of
// OpenSearch's star-tree indices keep all fields in one pair without a suffix.
func (s *Segment) docValuesFiles(field FieldInfo) (dir Directory, stem, suffix string, err error) {
	dir, stem = s.inner, s.Name
	var parts []string
	if field.DocValuesGen != noGeneration {
		dir, parts = s.outer, append(parts, generationSuffix(field.DocValuesGen))
	}
	format, number := field.Attributes["PerFieldDocValuesFormat.format"], field.Attributes["PerFieldDocValuesFormat.suffix"]
	if format != "" {
		parts = append(parts, format, number)
	}
	if len(parts) > 0 {
		suffix = strings.Join(parts, "_")
		stem += "_" + suffix
	}
	if _, there := dir.Stat(stem + ".dvm"); format == "" && !there {
		return nil, "", "", fault.New(fault.Refused, "the doc values of field %s are from before Lucene 4.2 or in no known format (codec %s)", field.Name, s.Codec)
	}
	return dir, stem, suffix, nil
}

// readHeader checks that the .dvd belongs to the .dvm. The length of its header
// follows from what must stand in it.
func (d *docValues) readHeader(s *Segment, format docValuesFormat, meta header, suffix string) error {
	length := int64(4 + 1 + len(format.data) + 4)
	if !format.plain {
		length += int64(idLength + 1 + len(suffix))
	}
	b, err := d.read(d.newPiece(0), min(length, d.end()))
	if err != nil {
		return err
	}
	in := newInput(d.name, b)
	h := in.plainHeader()
	if in.err == nil && (h.Codec != format.data || h.Version != meta.Version) {
		in.pos = 0
		in.fail("is a %s of version %d, not a %s of version %d", h.Codec, h.Version, format.data, meta.Version)
	}
	if !format.plain {
		in.idAndSuffix(&h, s.ID, suffix)
	}
	d.content = int64(in.pos)
	return in.end()
}

// numeric returns the field's entry.
func (d *docValues) numeric(field FieldInfo) (*numeric, error) {
	n, ok := d.numerics[field.Number]
	if !ok {
		return nil, fault.New(fault.Corrupt, "file %s: has no numeric doc values of field %s", strings.TrimSuffix(d.name, "d")+"m", field.Name)
	}
	return n, nil
}

// checkSpan fails unless the range lies in the .dvd's content.
func (d *docValues) checkSpan(in *input, s span, what string) {
	if in.err == nil && !s.within(d.content, d.end()) {
		in.fail("the %s lie at bytes %d+%d of %s, where %d to %d are possible", what, s.offset, s.length, d.name, d.content, d.end())
	}
}
