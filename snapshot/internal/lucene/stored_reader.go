package lucene

import (
	"context"
	"fmt"

	"github.com/reshelve/reshelve/internal/fault"
)

// StoredReader is one forward pass over the stored fields of a segment's
// documents. It holds one decompressed block, a window of compressed bytes and,
// for documents that lie in several blocks, one document. Not safe for
// concurrent use; several readers of one segment are independent.
//
//	for r.Next() {
//		if live(r.Doc()) {
//			values, err := r.Values()
//		}
//	}
//	err := r.Err()
//
// A document whose Values nobody asks for is passed over without parsing, and
// blocks that hold only such documents are not decompressed where the format
// tells their compressed length.
type StoredReader struct {
	in     *stream
	files  storedFiles
	info   FileInfo // of the .fdt
	format storedFormat
	ctx    context.Context // of OpenStored, for the .fdm of a sliced chunk

	to        int
	doc       int   // current document
	chunks    int64 // begun
	chunk     chunk
	body      chunkBody
	at        int // place of the current document in the decompressed chunk
	length    int // of the current document in bytes
	parser    valueParser
	values    []StoredValue
	footer    []byte // once it was read
	confirmed bool
	ended     bool
	closed    bool
}

// storedFiles names the files that hold a segment's stored fields.
type storedFiles struct {
	data   string // .fdt
	maxDoc int
	indexFiles
}

// openStored opens documents [from, to) of the stored fields; see Segment.OpenStored.
func openStored(ctx context.Context, files storedFiles, from, to int) (*StoredReader, error) {
	if from < 0 || from > to || to > files.maxDoc {
		return nil, fault.New(fault.Bug, "documents [%d, %d) of %d were asked for", from, to, files.maxDoc)
	}
	info, err := files.stat()
	if err != nil {
		return nil, err
	}
	r := &StoredReader{files: files, info: info, ctx: ctx, doc: -1, to: to}
	if from == 0 && to == files.maxDoc {
		err = r.openWhole()
	} else {
		err = r.openPart(from)
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (f storedFiles) stat() (FileInfo, error) {
	info, ok := f.dir.Stat(f.data)
	if !ok {
		return info, fault.New(fault.Corrupt, "file %s: is missing", f.data)
	}
	return info, nil
}

func (r *StoredReader) openWhole() (err error) {
	if r.in, err = openStream(r.ctx, r.files.dir, r.files.data, 0, r.info.Length, r.info.Length); err != nil {
		return err
	}
	head := r.in.peekUpTo(longestStoredHeader)
	if r.in.err != nil {
		return r.in.err
	}
	if r.format, err = readStoredFormat(r.files.data, head, r.files.id, r.files.suffix); err != nil {
		return err
	}
	r.in.skip(int64(r.format.Length))
	r.prepare()
	return r.in.err
}

// openPart opens the range of the file that holds the documents wanted, and
// moves to right before the first of them. The header, which tells the format,
// is read apart from it unless the range begins with it.
func (r *StoredReader) openPart(from int) error {
	format, err := r.files.format(r.ctx, r.info)
	if err != nil {
		return err
	}
	r.format = format
	index, err := r.files.read(r.ctx, &format, r.info, r.files.maxDoc)
	if err != nil {
		return err
	}
	begin, end := int64(0), r.info.Length
	if r.to < r.files.maxDoc {
		if after := index.chunkOf(max(r.to-1, 0)) + 1; after < index.chunks {
			_, end = index.entry(after)
		} else {
			end = index.end
		}
	}
	skipped := format.Length
	if from > 0 {
		r.chunk.base, begin = index.entry(index.chunkOf(from))
		r.doc, skipped = r.chunk.base-1, 0
	}
	if r.in, err = openStream(r.ctx, r.files.dir, r.files.data, begin, end, r.info.Length); err != nil {
		return err
	}
	r.in.skip(int64(skipped))
	r.prepare()
	for r.doc < from-1 && r.Next() {
	}
	return r.in.err
}

// format reads the header of the .fdt.
func (f storedFiles) format(ctx context.Context, info FileInfo) (storedFormat, error) {
	head, err := readRange(ctx, f.dir, f.data, 0, min(longestStoredHeader, info.Length))
	if err != nil {
		return storedFormat{}, err
	}
	return readStoredFormat(f.data, head, f.id, f.suffix)
}

// prepare sets up what follows from the format.
func (r *StoredReader) prepare() {
	r.parser = valueParser{order: r.format.order(), fixed: r.format.fixedNumbers()}
	r.body.blocks = newBlockReader(r.format.compression)
}

// Next moves to the next document, deleted ones included; false at the end, or
// on an error that Err returns. At the end of the segment it compares the
// footer, and reports what does not agree.
func (r *StoredReader) Next() bool {
	if r.in.err != nil || r.ended {
		return false
	}
	if r.doc+1 >= r.to {
		r.doc = r.to
		r.finish()
		r.ended = true
		return false
	}
	r.doc++
	r.at += r.length
	if r.doc >= r.chunk.base+r.chunk.docs && !r.nextChunk() {
		return false
	}
	r.length = r.chunk.lengths.at(r.doc - r.chunk.base)
	return true
}

func (r *StoredReader) nextChunk() bool {
	r.body.finish(r.in)
	c := &r.chunk
	c.readHead(r.in, &r.format, c.base+c.docs, r.files.maxDoc)
	pieceSize := c.total
	if c.sliced && r.in.err == nil {
		pieceSize = r.sliceSize()
	}
	r.body.reset(r.in, c.total, pieceSize)
	r.at, r.length = 0, 0
	r.chunks++
	return r.in.err == nil
}

// sliceSize is the chunk size; where the .fdt does not tell it, the .fdm is
// read, which only segments with large documents need.
func (r *StoredReader) sliceSize() int {
	if r.format.chunkSize == 0 && r.format.hasMeta() {
		size, err := r.files.readChunkSize(r.ctx, &r.format, r.files.maxDoc)
		if err != nil {
			r.in.err = err
		}
		r.format.chunkSize = size
	}
	return r.format.chunkSize
}

// Doc is the number of the current document.
func (r *StoredReader) Doc() int { return r.doc }

// Values parses the fields of the current document, in the order in which they
// were stored. They are valid until the next call of Next or Values.
func (r *StoredReader) Values() ([]StoredValue, error) {
	if r.in.err != nil {
		return nil, r.in.err
	}
	if r.ended || r.doc < r.chunk.base || r.chunk.docs == 0 {
		return nil, fault.New(fault.Bug, "values were asked for without a document")
	}
	fields := r.chunk.fields.at(r.doc - r.chunk.base)
	data := r.body.bytes(r.in, r.at, r.length)
	if r.in.err != nil {
		return nil, r.in.err
	}
	r.values = r.parser.parse(r.values[:0], data, fields)
	if r.parser.wrong != "" {
		r.in.failAt(r.chunk.offset, fault.At(fault.New(fault.Corrupt, "%s", r.parser.wrong), fmt.Sprintf("document %d", r.doc)))
		return nil, r.in.err
	}
	return r.values, nil
}

// finish reads what stands behind the last document of the pass.
func (r *StoredReader) finish() {
	r.body.finish(r.in)
	if r.in.err != nil || r.chunks == 0 && r.files.maxDoc > 0 {
		return
	}
	if r.to < r.files.maxDoc {
		if r.in.left() != 0 {
			r.in.fail("a chunk ends here, the fields index says at offset %d", r.in.to)
		}
		return
	}
	end := r.info.Length
	if r.format.hasFooter() {
		end -= footerLength
	}
	if r.format.hasStatistics() {
		r.checkStatistics()
	}
	if r.in.err == nil && r.in.offset() != end {
		r.in.fail("the documents end here, the file's content at offset %d", end)
	}
	if r.in.err != nil || !r.format.hasFooter() {
		return
	}
	r.footer = append(r.footer, r.in.next(footerLength)...)
	if r.in.err == nil && r.in.from == 0 {
		r.in.err = ConfirmStored(r)
		r.confirmed = r.in.err == nil
	}
}

// checkStatistics reads the number of chunks and of incomplete chunks.
func (r *StoredReader) checkStatistics() {
	if chunks := r.in.vlong(); r.in.err == nil && r.in.from == 0 && chunks != r.chunks {
		r.in.fail("%d chunks are promised, %d were read", chunks, r.chunks)
	}
	if dirty := r.in.vlong(); r.in.err == nil && (dirty < 0 || dirty > r.chunks && r.in.from == 0) {
		r.in.fail("%d of %d chunks are said to be incomplete", dirty, r.chunks)
	}
}

// Confirmed tells whether the whole file was read and its footer's checksum was
// right: never before Next returned false, never for a part of a segment (see
// ConfirmStored), and never when HasChecksum is false.
func (r *StoredReader) Confirmed() bool { return r.confirmed }

// HasChecksum is false for files that Lucene wrote before 4.8: they have none.
func (r *StoredReader) HasChecksum() bool { return r.format.hasFooter() }

// Checksum is the range of the file that was read so far and the CRC-32 (IEEE)
// of it, without the footer's last eight bytes.
func (r *StoredReader) Checksum() (from, to int64, sum uint32) {
	return r.in.from, r.in.summed, r.in.sum
}

// BytesRead is how many bytes of the file were read so far.
func (r *StoredReader) BytesRead() int64 { return r.in.arrived() }

// Err is what ended the pass, or nil.
func (r *StoredReader) Err() error { return r.in.err }

// Close ends the pass; it is needed after an error too, and may be repeated. Err,
// Checksum and Confirmed keep their answers.
func (r *StoredReader) Close() error {
	if r.in == nil || r.closed {
		return nil
	}
	r.ended, r.closed = true, true
	if r.body.blocks.zstd != nil {
		r.body.blocks.zstd.close()
	}
	r.body, r.chunk, r.values = chunkBody{}, chunk{}, nil
	return r.in.close()
}
