package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/lucene"
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

// CommitFile is the name of the shard's commit, segments_N; of several the
// latest. A shard without one is fault.Corrupt.
func (sh *Shard) CommitFile() (string, error) {
	const prefix = "segments_"
	name, latest := "", int64(-1)
	for _, f := range sh.Files {
		digits, ok := strings.CutPrefix(f.Name, prefix)
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
func (sh *Shard) parts(f *File) []Entry {
	key := sh.Path + "/" + f.Blob
	if f.Virtual {
		return nil
	}
	if f.PartSize == 0 {
		return []Entry{{Key: key, Size: f.Length}}
	}
	var parts []Entry
	for rest := f.Length; rest > 0; rest -= f.PartSize {
		parts = append(parts, Entry{Key: fmt.Sprintf("%s.part%d", key, len(parts)), Size: min(rest, f.PartSize)})
	}
	return parts
}

// openBlobs streams a range of the file from its blobs, whatever the manifest
// holds of it.
func (sh *Shard) openBlobs(ctx context.Context, f *File, offset, length int64) (io.ReadCloser, error) {
	if f.Virtual {
		return nil, fault.New(fault.Corrupt, "%s: file %s: has no blob", sh.Path, f.Name)
	}
	r := &rangeReader{ctx: ctx, bucket: sh.Index.snapshot.repo.bucket, rest: length}
	for _, part := range sh.parts(f) {
		if offset >= part.Size && part.Size > 0 {
			offset -= part.Size
			continue
		}
		r.parts = append(r.parts, part)
	}
	r.offset = offset
	if length == 0 {
		return r, nil
	}
	return r, r.next()
}

// rangeReader streams a range that may cross from one blob into the next.
type rangeReader struct {
	ctx    context.Context
	bucket Bucket
	parts  []Entry // the one being read first
	offset int64   // of the next byte in parts[0]
	rest   int64   // bytes still wanted, in all parts
	stream io.ReadCloser
	left   int64 // bytes still wanted from stream
}

// next opens the first of the parts.
func (r *rangeReader) next() (err error) {
	part := r.parts[0]
	r.left = min(r.rest, part.Size-r.offset)
	r.stream, err = r.bucket.Open(r.ctx, part.Key, r.offset, r.left)
	if fault.Is(err, fault.NotFound) {
		return dangling(err, "the manifest names blob %s, which is missing", part.Key)
	}
	return fault.At(err, "blob "+part.Key)
}

// Read ends with io.EOF after the last byte of the range; a blob that ends
// before is fault.Corrupt and wraps io.ErrUnexpectedEOF.
func (r *rangeReader) Read(p []byte) (int, error) {
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
		err = fault.New(fault.Corrupt, "ends at offset %d, the manifest promises %d: %w", r.offset, r.parts[0].Size, io.ErrUnexpectedEOF)
		return n, fault.At(err, "blob "+r.parts[0].Key)
	case err == io.EOF:
		return n, nil
	}
	return n, fault.At(err, "blob "+r.parts[0].Key)
}

// advance goes to the next part.
func (r *rangeReader) advance() error {
	r.stream.Close()
	r.stream = nil
	r.parts = r.parts[1:]
	r.offset = 0
	return r.next()
}

// Close ends the stream.
func (r *rangeReader) Close() error {
	if r.stream == nil {
		return nil
	}
	return r.stream.Close()
}
