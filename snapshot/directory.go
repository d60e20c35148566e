package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/internal/lucene"
)

var _ lucene.Directory = (*Shard)(nil)

// Stat tells what the manifest promises of the named file.
func (sh *Shard) Stat(name string) (lucene.FileInfo, bool) {
	f, ok := sh.byName[name]
	if !ok {
		return lucene.FileInfo{}, false
	}
	return lucene.FileInfo{Length: f.Length, Checksum: f.Checksum, HasChecksum: f.HasChecksum}, true
}

// Open streams a range of the named file: from the manifest where that holds
// the file, else from the blobs that the range meets, each opened when it is
// reached. It is safe for concurrent use.
func (sh *Shard) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	f, ok := sh.byName[name]
	if !ok {
		return nil, fault.New(fault.Corrupt, "%s: file %q is not in the manifest", sh.Path, name)
	}
	if err := f.checkRange(offset, length); err != nil {
		return nil, fault.At(err, sh.Path, "file "+name)
	}
	if f.Content != nil {
		return io.NopCloser(bytes.NewReader(f.Content[offset : offset+length])), nil
	}
	return sh.openBlobs(ctx, f, offset, length)
}

// Bytes is the length of all files of the shard, in bytes.
func (sh *Shard) Bytes() (n int64) {
	for _, f := range sh.Files {
		n += f.Length
	}
	return n
}

func (f *File) checkRange(offset, length int64) error {
	if offset < 0 || length < 0 || offset > f.Length || length > f.Length-offset {
		return fault.New(fault.Corrupt, "%d bytes at offset %d are beyond its %d bytes", length, offset, f.Length)
	}
	return nil
}

// commitPrefix begins the name of a commit.
const commitPrefix = "segments_"

// CommitFile is the name of the shard's commit, segments_N; of several the
// latest. A shard without one is fault.Corrupt.
func (sh *Shard) CommitFile() (string, error) {
	name, latest := "", int64(-1)
	for _, f := range sh.Files {
		digits, ok := strings.CutPrefix(f.Name, commitPrefix)
		n, err := strconv.ParseInt(digits, 36, 64)
		if ok && err == nil && n > latest {
			name, latest = f.Name, n
		}
	}
	if name == "" {
		return "", fault.New(fault.Corrupt, "%s: the manifest lists no commit (segments_N)", sh.Path)
	}
	return name, nil
}

// parts are the blobs of a file in order, with the sizes that the manifest
// promises; a virtual file has none. Keys are in the repository.
func (sh *Shard) parts(f *File) iter.Seq2[int, Entry] {
	return func(yield func(int, Entry) bool) {
		if f.Virtual {
			return
		}
		for n := range f.partCount() {
			if !yield(int(n), sh.part(f, n)) {
				return
			}
		}
	}
}

func (f *File) partCount() int64 {
	if f.PartSize == 0 {
		return 1
	}
	return (f.Length + f.PartSize - 1) / f.PartSize
}

// ranges are the lengths of the ranges of blobs that a range of the file meets;
// none where the manifest holds the file.
func (f *File) ranges(offset, length int64) (lengths []int64) {
	if f.Content != nil {
		return nil
	}
	for length > 0 {
		n := length
		if f.PartSize > 0 {
			n = min(length, f.PartSize-offset%f.PartSize)
		}
		lengths = append(lengths, n)
		offset, length = offset+n, length-n
	}
	return lengths
}

func (sh *Shard) part(f *File, n int64) Entry {
	key := sh.Path + "/" + f.Blob
	if f.PartSize == 0 {
		return Entry{Key: key, Size: f.Length}
	}
	return Entry{Key: fmt.Sprintf("%s.part%d", key, n), Size: min(f.PartSize, f.Length-n*f.PartSize)}
}

// openBlobs streams a range of the file from its blobs, whatever the manifest
// holds of it.
func (sh *Shard) openBlobs(ctx context.Context, f *File, offset, length int64) (io.ReadCloser, error) {
	if f.Virtual {
		return nil, fault.New(fault.Corrupt, "%s: file %s: has no blob", sh.Path, f.Name)
	}
	r := &rangeReader{ctx: ctx, shard: sh, file: f, offset: offset, rest: length}
	if length == 0 {
		return r, nil
	}
	if f.PartSize > 0 {
		r.number, r.offset = offset/f.PartSize, offset%f.PartSize
	}
	return r, r.open()
}

// rangeReader streams a range that may cross from one blob into the next.
type rangeReader struct {
	ctx    context.Context
	shard  *Shard
	file   *File
	number int64 // of the part being read
	part   Entry // that part
	offset int64 // of the next byte in it
	rest   int64 // bytes still wanted, in all parts
	stream io.ReadCloser
	left   int64 // bytes still wanted from stream
}

// open opens the part that number tells.
func (r *rangeReader) open() (err error) {
	r.part = r.shard.part(r.file, r.number)
	r.left = min(r.rest, r.part.Size-r.offset)
	r.stream, err = r.shard.Index.snapshot.repo.bucket.Open(r.ctx, r.part.Key, r.offset, r.left)
	if fault.Is(err, fault.NotFound) {
		return r.shard.Index.snapshot.orDeleted(r.ctx, dangling(err, "the manifest names blob %s, which is missing", r.part.Key))
	}
	return fault.At(err, "blob "+r.part.Key)
}

// Read ends with io.EOF after the last byte of the range; a blob that ends
// before is fault.Corrupt and wraps io.ErrUnexpectedEOF. When the context ends,
// so does the stream, whether or not the bucket looks at it while it reads. It is
// not called again after an error.
func (r *rangeReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, fault.At(err, "blob "+r.part.Key)
	}
	if r.rest == 0 {
		return 0, io.EOF
	}
	if r.left == 0 {
		if err := r.advance(); err != nil {
			return 0, err
		}
	}
	n, err := r.stream.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	r.rest -= int64(n)
	r.offset += int64(n)
	switch {
	case err == io.EOF && r.left > 0:
		err = fault.New(fault.Corrupt, "ends at offset %d, the manifest promises %d: %w", r.offset, r.part.Size, io.ErrUnexpectedEOF)
	case err == io.EOF:
		err = nil
	}
	return n, fault.At(err, "blob "+r.part.Key)
}

// advance goes to the next part.
func (r *rangeReader) advance() error {
	r.stream.Close()
	r.stream = nil
	r.number++
	r.offset = 0
	return r.open()
}

// Close ends the stream.
func (r *rangeReader) Close() error {
	if r.stream == nil {
		return nil
	}
	return r.stream.Close()
}
