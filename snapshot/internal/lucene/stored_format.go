package lucene

import (
	"encoding/binary"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
)

// storedFormat is what the header of a stored-fields file (.fdt) says of the
// rest of it. Sources of the layouts: Lucene's CompressingStoredFieldsFormat
// (4.1 to 4.10), Lucene50StoredFieldsFormat, Lucene87StoredFieldsFormat,
// Lucene90StoredFieldsFormat, and the OpenSearch plugin custom-codecs.
type storedFormat struct {
	header
	storedVariant
	chunkSize     int // bytes in each piece of a sliced chunk; 0 when it stands in the .fdm
	packedVersion int // of packed ints in chunk heads
}

// storedVariant is what a codec name stands for.
type storedVariant struct {
	family      storedFamily
	compression compression
	newest      int32 // version
}

type storedFamily int

const (
	lucene41 storedFamily = iota // no segment id, fixed-width numbers
	lucene50                     // packed ints, big-endian
	lucene90                     // blocks of bytes, shorts or ints, little-endian
)

// storedVariants is every known format by the codec name of its .fdt header.
var storedVariants = map[string]storedVariant{
	"Lucene41StoredFieldsData":     {lucene41, lz4Plain, 2},
	"Lucene50StoredFieldsFastData": {lucene50, lz4Plain, 4},
	"Lucene50StoredFieldsHighData": {lucene50, deflatePlain, 4},
	"Lucene87StoredFieldsFastData": {lucene50, lz4Dictionary, 4},
	"Lucene87StoredFieldsHighData": {lucene50, deflateDictionary, 4},
	"Lucene90StoredFieldsFastData": {lucene90, lz4Dictionary, 1},
	"Lucene90StoredFieldsHighData": {lucene90, deflateDictionary, 1},
	"ZstdStoredFields814":          {lucene90, zstdPlain, 1},
	"CustomStoredFieldsZstd":       {lucene90, zstdDictionary, 1},
	"CustomStoredFieldsZstdNoDict": {lucene90, zstdBlocks, 1},
}

// longestStoredHeader is more than any known .fdt header takes: magic, name,
// version, id, suffix and two variable-length ints.
const longestStoredHeader = 4 + 1 + 127 + 4 + idLength + 1 + 255 + 10

// readStoredFormat reads a .fdt header out of data, the beginning of the named file.
func readStoredFormat(name string, data []byte, id ID, suffix string) (storedFormat, error) {
	in := newInput(name, data)
	if len(data) >= 4 && binary.BigEndian.Uint32(data) <= 3 {
		return storedFormat{}, fault.WithNext(
			fault.At(fault.New(fault.Refused, "the stored fields were written by Lucene 3 or older"), "file "+name),
			"upgrade the index with Elasticsearch 1.x and take a new snapshot")
	}
	f := storedFormat{header: in.plainHeader()}
	if in.err != nil {
		return f, in.err
	}
	variant, known := storedVariants[f.Codec]
	if !known {
		return f, fault.At(unknownStored(f.Codec), "file "+name)
	}
	f.storedVariant = variant
	if f.Version < 0 || f.Version > f.newest {
		return f, fault.At(fault.New(fault.Refused, "codec %s has version %d, known are 0 to %d", f.Codec, f.Version, f.newest), "file "+name)
	}
	if f.family != lucene41 {
		in.idAndSuffix(&f.header, id, suffix)
	}
	if f.chunkSizeInData() {
		f.chunkSize = int(in.vint())
	}
	f.packedVersion = packedByteAligned
	if f.packedVersionInData() {
		f.packedVersion = int(in.vint())
	}
	f.Length = in.pos
	return f, in.err
}

func unknownStored(codec string) error {
	if strings.HasPrefix(codec, "QatStoredFields") {
		return fault.WithNext(
			fault.New(fault.Refused, "the stored fields are compressed by Intel QAT (codec %s), which only its hardware library reads", codec),
			"reindex on that cluster with index.codec default, best_compression or zstd, and take a new snapshot")
	}
	if codec == "Lucene40StoredFieldsData" {
		return fault.WithNext(
			fault.New(fault.Refused, "the stored fields were written by Lucene 4.0 (codec %s); only 4.1 and later are read", codec),
			"upgrade the index with Elasticsearch 1.x and take a new snapshot")
	}
	return fault.New(fault.Refused, "the stored fields have the unknown codec %q", codec)
}

// The differences between versions, one question each.

// chunkSizeInData tells whether the .fdt's header is followed by the chunk size;
// else it is in the .fdm, or there are no slices.
func (f *storedFormat) chunkSizeInData() bool {
	return f.family == lucene41 && f.Version >= 1 || f.family == lucene50 && f.Version <= 2
}

// packedVersionInData tells whether the header is followed by a packed-ints version.
func (f *storedFormat) packedVersionInData() bool {
	return f.family == lucene41 || f.chunkSizeInData()
}

// hasMeta tells whether a .fdm describes the fields index.
func (f *storedFormat) hasMeta() bool {
	return f.family == lucene90 || f.family == lucene50 && f.Version >= 2
}

// hasStatistics tells whether counts of chunks stand behind the last chunk.
func (f *storedFormat) hasStatistics() bool {
	return f.family == lucene50 && (f.Version == 1 || f.Version == 2)
}

// hasFooter is false for files written before Lucene 4.8.
func (f *storedFormat) hasFooter() bool { return f.family != lucene41 || f.Version >= 2 }

// flagBits is how many of a chunk token's lowest bits are flags.
func (f *storedFormat) flagBits() int {
	switch {
	case f.family == lucene41:
		return 0
	case f.family == lucene50 && f.Version <= 3:
		return 1
	}
	return 2
}

// fixedNumbers tells whether stored numbers take four or eight bytes.
func (f *storedFormat) fixedNumbers() bool { return f.family == lucene41 }

// order is the byte order of fixed-width numbers.
func (f *storedFormat) order() binary.ByteOrder {
	if f.family == lucene90 {
		return binary.LittleEndian
	}
	return binary.BigEndian
}
