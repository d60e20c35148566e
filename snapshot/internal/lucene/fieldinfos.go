package lucene

import (
	"context"
	"encoding/binary"
)

// FieldInfo is what a segment knows of one field, as far as reading documents
// needs it.
type FieldInfo struct {
	Name        string
	Number      int32 // of stored fields and doc values
	SoftDeletes bool  // a document is soft-deleted when it has a value here
	DocValues   DocValuesType
	// DocValuesGen is the generation of the files that hold the doc values; −1
	// when they are the segment's own.
	DocValuesGen int64
	Attributes   map[string]string

	skipIndex bool // the doc values have a skip index
}

// DocValuesType is the kind of a field's doc values. The numbers are those of
// the format.
type DocValuesType uint8

// Kinds of doc values.
const (
	NoDocValues DocValuesType = iota
	NumericDocValues
	BinaryDocValues
	SortedDocValues
	SortedSetDocValues
	SortedNumericDocValues
)

// fieldsFormat is a version of the .fnm file: what stands beside name, number
// and flags of each field.
type fieldsFormat struct {
	last    int32 // highest known version
	plain   bool  // header without id (Lucene 4)
	little  bool  // little-endian
	packed  bool  // one byte for doc values and norms, no index options (Lucene 4)
	legacy  bool  // the packed byte has the type numbers of Lucene 4.0
	gen     bool  // generation of doc values
	points  bool
	indexed int32 // version from which points tell their indexed dimensions
	vectors int   // bytes after the vector's dimension
	skip    int32 // version from which there is a skip index byte; 0: none
}

// Sources: the Javadoc of Lucene40FieldInfosFormat to Lucene94FieldInfosFormat.
var fieldsFormats = map[string]fieldsFormat{
	"Lucene40FieldInfos": {last: 0, plain: true, packed: true, legacy: true},
	"Lucene42FieldInfos": {last: 0, plain: true, packed: true},
	"Lucene46FieldInfos": {last: 2, plain: true, packed: true, gen: true},
	"Lucene50FieldInfos": {last: 1, gen: true},
	"Lucene60FieldInfos": {last: 2, gen: true, points: true, indexed: 2},
	"Lucene90FieldInfos": {last: 0, gen: true, points: true, little: true, vectors: 1},
	"Lucene94FieldInfos": {last: 2, gen: true, points: true, little: true, vectors: 2, skip: 2},
}

const softDeletesBit = 0x8

// readFields reads the newest .fnm.
func (s *Segment) readFields(ctx context.Context) error {
	dir, name, suffix := s.inner, s.Name+".fnm", ""
	if g := s.Commit.FieldInfosGen; g != noGeneration {
		dir, name, suffix = s.outer, s.generational(g, ".fnm"), generationSuffix(g)
	}
	in, h, err := readHeaded(ctx, dir, name)
	if err != nil {
		return err
	}
	format, known := fieldsFormats[h.Codec]
	if !known || h.Version < 0 || h.Version > format.last {
		return unknownFormat(name, h)
	}
	if !format.plain {
		in.idAndSuffix(&h, s.ID, suffix)
	}
	if format.little {
		in.order = binary.LittleEndian
	}
	s.Fields = readFieldInfos(in, h, format)
	return in.end()
}

func readFieldInfos(in *input, h header, format fieldsFormat) []FieldInfo {
	n := in.count(in.vint(), 4)
	fields := make([]FieldInfo, 0, n)
	names, numbers := make(map[string]bool, n), make(map[int32]bool, n)
	for range n {
		f := readFieldInfo(in, h, format)
		if in.err == nil && (f.Number < 0 || numbers[f.Number] || names[f.Name]) {
			in.fail("field %q with number %d is listed twice, or its number is negative", f.Name, f.Number)
		}
		if in.err != nil {
			return nil
		}
		names[f.Name], numbers[f.Number] = true, true
		fields = append(fields, f)
	}
	return fields
}

func readFieldInfo(in *input, h header, format fieldsFormat) FieldInfo {
	f := FieldInfo{Name: in.string(), Number: in.vint(), DocValuesGen: noGeneration}
	flags := in.byte()
	if format.packed {
		f.DocValues = packedType(in.byte(), format.legacy)
	} else {
		f.SoftDeletes = flags&softDeletesBit != 0
		in.byte() // index options
		f.DocValues = DocValuesType(in.byte())
	}
	if in.err == nil && f.DocValues > SortedNumericDocValues {
		in.fail("field %q has doc values of unknown type %d", f.Name, f.DocValues)
	}
	if format.skip > 0 && h.Version >= format.skip {
		f.skipIndex = in.byte() != 0
	}
	if format.gen {
		f.DocValuesGen = in.int64()
	}
	if format.packed || (h.Codec == "Lucene50FieldInfos" && h.Version == 0) {
		f.Attributes = in.pairs(in.int32())
	} else {
		f.Attributes = in.stringMap()
	}
	if format.points && in.vint() != 0 {
		if h.Version >= format.indexed {
			in.vint() // indexed dimensions
		}
		in.vint() // bytes of each
	}
	if format.vectors > 0 {
		in.vint()
		in.bytes(format.vectors)
	}
	return f
}

// packedType is the type of doc values in Lucene 4's shared byte. The types of
// 4.0 are more; only its integers have a later counterpart that matters here.
func packedType(b byte, legacy bool) DocValuesType {
	t := b & 0x0f
	if !legacy {
		return DocValuesType(t)
	}
	switch t {
	case 0:
		return NoDocValues
	case 1, 8, 9, 10, 11:
		return NumericDocValues
	}
	return BinaryDocValues
}
