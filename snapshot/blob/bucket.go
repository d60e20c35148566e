package blob

import (
	"context"
	"io"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot"
)

// Bucket is a read-only view of one repository's blobs. Keys are
// slash-separated and relative to the repository's root. A Bucket is safe for
// concurrent use; the blobs are taken to be immutable while they are read.
type Bucket interface {
	// Open streams the bytes [offset, offset+length) of the blob, or those from
	// offset to its end when length is negative. A range that reaches past the
	// end gives what is there and then io.EOF; one of length 0, or that begins
	// past the end, is empty. The caller closes the stream and uses it from one
	// goroutine; ctx governs it until then. fault.NotFound when there is no
	// such blob, also for an empty range.
	Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error)

	// Size is the blob's length in bytes. fault.NotFound when there is none.
	Size(ctx context.Context, key string) (int64, error)

	// List names the blobs whose key begins with prefix and holds no further
	// '/' after it, with their sizes, in any order. No such blob is an empty
	// list. fault.Refused when the store cannot list.
	List(ctx context.Context, prefix string) ([]Entry, error)
}

// Entry is one blob of a listing: its whole key and its size in bytes.
type Entry = snapshot.Entry

// CheckKey refuses a key that is empty or could leave the repository's root:
// with an empty, "." or ".." element, or a NUL or backslash, which some stores
// and systems read as something else. Keys come out of a repository's own
// files, which may be hostile. The error's kind is fault.Refused.
func CheckKey(key string) error {
	if strings.ContainsAny(key, "\x00\\") {
		return badKey(key)
	}
	for element := range strings.SplitSeq(key, "/") {
		if element == "" || element == "." || element == ".." {
			return badKey(key)
		}
	}
	return nil
}

// CheckPrefix is CheckKey for the prefix of a listing, which may be empty, end
// with '/' or stop in the middle of a name.
func CheckPrefix(prefix string) error {
	return CheckKey(prefix + "x")
}

func badKey(key string) error {
	err := fault.New(fault.Refused, "blob key %q could leave the repository", key)
	return fault.WithNext(err, "the repository's metadata names an impossible file: it is damaged or hostile")
}
