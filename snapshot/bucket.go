package snapshot

import (
	"context"
	"io"
)

// Bucket is a read-only view of the blobs of one repository. Keys are
// slash-separated and relative to the repository's root. It is safe for
// concurrent use.
type Bucket interface {
	// Open streams [offset, offset+length) of a blob; length < 0 means to its
	// end. A range that reaches past the end gives what is there, then io.EOF.
	// A missing blob is fault.NotFound. The caller closes the stream.
	Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error)
	// Size is the blob's length in bytes; fault.NotFound when there is none.
	Size(ctx context.Context, key string) (int64, error)
	// List names the blobs whose key begins with prefix and holds no further '/'
	// after it, in any order. A store that cannot list answers fault.Refused.
	List(ctx context.Context, prefix string) ([]Entry, error)
}

// Entry is one blob of a listing.
type Entry struct {
	Key  string
	Size int64 // in bytes
}
