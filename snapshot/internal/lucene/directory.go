package lucene

import (
	"context"
	"io"

	"github.com/reshelve/reshelve/internal/fault"
)

// Directory is where the files of one Lucene index lie. It is safe for
// concurrent use when its implementer says so: passes over several segments, or
// parts of one, at the same time need it to be.
type Directory interface {
	// Stat tells what is promised of the named file. ok is false when there is
	// no such file.
	Stat(name string) (info FileInfo, ok bool)
	// Open streams the bytes [offset, offset+length) of the named file, which
	// lie inside the promised length. A stream that ends early or fails is an
	// error of the reader (io.ErrUnexpectedEOF or a fault). The caller closes it.
	Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error)
}

// FileInfo is what a directory promises of a file.
type FileInfo struct {
	Length int64 // in bytes
	// Checksum is the CRC-32 (IEEE) that the file's own footer must hold; a
	// snapshot's manifest names it. Meaningless unless HasChecksum.
	Checksum    uint32
	HasChecksum bool
}

// readFile reads the whole named file, checks its footer against its content
// and against the directory's promise, and returns a cursor over what stands
// before the footer. Use it for small files only: memory is the file's length.
func readFile(ctx context.Context, dir Directory, name string) (*input, error) {
	data, info, err := readAll(ctx, dir, name)
	if err != nil {
		return nil, err
	}
	if err := checkFooter(data, info); err != nil {
		return nil, fault.At(err, "file "+name)
	}
	return newInput(name, data[:len(data)-footerLength]), nil
}

// largestWhole is the length of the longest file that is read whole: above that of
// the live documents of the largest segment, and of any list of fields.
const largestWhole = 512 << 20

// readAll reads the whole named file without looking at it. One that is longer than
// such files are is Refused.
func readAll(ctx context.Context, dir Directory, name string) ([]byte, FileInfo, error) {
	info, ok := dir.Stat(name)
	if !ok {
		return nil, info, fault.New(fault.Corrupt, "file %s: is missing", name)
	}
	if info.Length > largestWhole {
		return nil, info, fault.New(fault.Refused, "file %s has %d bytes; files of its kind are read up to %d bytes", name, info.Length, largestWhole)
	}
	data, err := readRange(ctx, dir, name, 0, info.Length)
	return data, info, err
}

// readRange reads [offset, offset+length) of the named file, growing with what
// arrives so that a wrong promise of length allocates nothing.
func readRange(ctx context.Context, dir Directory, name string, offset, length int64) ([]byte, error) {
	r, err := dir.Open(ctx, name, offset, length)
	if err != nil {
		return nil, fault.At(err, "file "+name)
	}
	defer r.Close()
	const firstStep = 1 << 16
	data := make([]byte, 0, min(length, firstStep))
	for int64(len(data)) < length {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		room := data[len(data):min(int64(cap(data)), length)]
		n, err := r.Read(room)
		data = data[:len(data)+n]
		if int64(len(data)) == length {
			break
		}
		if err == io.EOF {
			return nil, fault.New(fault.Corrupt, "file %s: ends at offset %d, %d bytes were promised", name, offset+int64(len(data)), offset+length)
		}
		if err != nil {
			return nil, fault.At(err, "file "+name)
		}
	}
	return data, nil
}

// footerSince tells of the codecs of Lucene 4 from which header version on their
// files have a footer. Those not listed always have one.
var footerSince = map[string]int32{
	"Lucene40SegmentInfo":       never,
	"Lucene46SegmentInfo":       1,
	"Lucene40FieldInfos":        never,
	"Lucene42FieldInfos":        never,
	"Lucene46FieldInfos":        1,
	"CompoundFileWriterEntries": 1,
	"CompoundFileWriterData":    1,
	"BitVector":                 2,
	"Lucene42DocValuesMetadata": 2,
	"Lucene45ValuesMetadata":    2,
	"Lucene45DocValuesData":     2,
}

const never = 1<<31 - 1

// hasFooter reports whether files with the header h end with a footer.
func (h header) hasFooter() bool { return h.Version >= footerSince[h.Codec] }

// readHeaded reads the whole named file up to and with its plain header, and
// checks and cuts off the footer where the format has one. Small files only.
func readHeaded(ctx context.Context, dir Directory, name string) (*input, header, error) {
	data, info, err := readAll(ctx, dir, name)
	if err != nil {
		return nil, header{}, err
	}
	in := newInput(name, data)
	h := in.plainHeader()
	if in.err == nil && h.hasFooter() {
		in.err = fault.At(checkFooter(data, info), "file "+name)
		in.data = data[:max(in.pos, len(data)-footerLength)]
	}
	return in, h, in.err
}
