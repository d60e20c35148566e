package blobtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/blob"
)

// Case is one adapter under test.
type Case struct {
	Bucket     blob.Bucket // holds exactly contents
	Contents   map[string][]byte
	CannotList bool        // List must answer Refused
	NoSuch     blob.Bucket // a bucket that does not exist, or nil when it cannot be opened
}

// Run holds a bucket to the contract.
func Run(t *testing.T, c Case) {
	t.Run("ranges", c.ranges)
	t.Run("odd names", c.oddNames)
	t.Run("missing", c.missing)
	t.Run("keys that leave the root", c.escapes)
	t.Run("listing", c.listing)
	t.Run("concurrent reads", c.concurrent)
	t.Run("cancelled", c.cancelled)
	t.Run("closed early", c.closedEarly)
	if c.NoSuch != nil {
		t.Run("no such bucket", c.noSuchBucket)
	}
}

func (c Case) ranges(t *testing.T) {
	size := int64(len(c.Contents["blob"]))
	for _, tc := range []struct {
		name           string
		key            string
		offset, length int64
	}{
		{"whole", "blob", 0, -1},
		{"whole by its length", "blob", 0, size},
		{"first byte", "blob", 0, 1},
		{"a middle", "blob", 1000, 70000},
		{"middle to end", "blob", size / 2, -1},
		{"last byte", "blob", size - 1, 1},
		{"last byte to end", "blob", size - 1, -1},
		{"across the end", "blob", size - 10, 1000},
		{"at the end", "blob", size, 10},
		{"at the end to the end", "blob", size, -1},
		{"beyond the end", "blob", size + 1000, 10},
		{"nothing at the start", "blob", 0, 0},
		{"nothing in the middle", "blob", 5, 0},
		{"nothing beyond the end", "blob", size + 1, 0},
		{"empty blob", "empty", 0, -1},
		{"empty blob, a range", "empty", 0, 10},
		{"empty blob, beyond", "empty", 3, 10},
		{"nested", "indices/aB3-_x/0/__1", 2, 7},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want := within(c.Contents[tc.key], tc.offset, tc.length)
			got, err := Read(t.Context(), c.Bucket, tc.key, tc.offset, tc.length)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("[%d, +%d) of %s: %d bytes, %v; want %d bytes", tc.offset, tc.length, tc.key, len(got), err, len(want))
			}
		})
	}
	t.Run("the end stays the end", func(t *testing.T) {
		stream, err := c.Bucket.Open(t.Context(), "index-12", 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		if _, err := io.ReadAll(stream); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if n, err := stream.Read(make([]byte, 1)); n != 0 || err != io.EOF {
				t.Errorf("read behind the end: %d, %v", n, err)
			}
		}
	})
}

// within is the range of data by the contract's words.
func within(data []byte, offset, length int64) []byte {
	data = data[min(offset, int64(len(data))):]
	if length >= 0 {
		data = data[:min(length, int64(len(data)))]
	}
	return data
}

func (c Case) oddNames(t *testing.T) {
	for _, name := range oddNames {
		for _, key := range []string{"odd/" + name, "odd/" + name + "/below"} {
			want, there := c.Contents[key]
			if !there { // a store may be unable to hold a name
				continue
			}
			got, err := Read(t.Context(), c.Bucket, key, 0, -1)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%q: %q, %v", key, got, err)
			}
			if size, err := c.Bucket.Size(t.Context(), key); err != nil || size != int64(len(want)) {
				t.Errorf("%q: size %d, %v", key, size, err)
			}
		}
	}
}

func (c Case) missing(t *testing.T) {
	for _, key := range []string{"nothing", "blob2", "blo", "index-1", "indices", "indices/aB3-_x", "indices/aB3-_x/0/__2", "blob/below"} {
		for _, length := range []int64{-1, 0, 10} {
			if _, err := Read(t.Context(), c.Bucket, key, 0, length); !fault.Is(err, fault.NotFound) {
				t.Errorf("Open %q +%d: %v; want not found", key, length, err)
			} else if !strings.Contains(err.Error(), key) {
				t.Errorf("Open %q: the error does not name it: %v", key, err)
			}
		}
		if _, err := c.Bucket.Size(t.Context(), key); !fault.Is(err, fault.NotFound) {
			t.Errorf("Size %q: %v; want not found", key, err)
		}
	}
}

func (c Case) escapes(t *testing.T) {
	for _, key := range []string{"", "/", "/blob", "blob/", "../blob", "indices/../blob", "indices/..", ".", "./snapshot/blob", "indices//aB3-_x", "a\x00b", `..\blob`} {
		if _, err := Read(t.Context(), c.Bucket, key, 0, -1); !fault.Is(err, fault.Refused) {
			t.Errorf("Open %q: %v; want refused", key, err)
		}
		if _, err := c.Bucket.Size(t.Context(), key); !fault.Is(err, fault.Refused) {
			t.Errorf("Size %q: %v; want refused", key, err)
		}
	}
	for _, prefix := range []string{"/", "../", "indices/../", "indices//"} {
		if _, err := c.Bucket.List(t.Context(), prefix); !fault.Is(err, fault.Refused) {
			t.Errorf("List %q: %v; want refused", prefix, err)
		}
	}
}

func (c Case) listing(t *testing.T) {
	if c.CannotList {
		if _, err := c.Bucket.List(t.Context(), ""); !fault.Is(err, fault.Refused) {
			t.Errorf("List: %v; want refused", err)
		}
		return
	}
	for _, prefix := range []string{
		"", "index-", "index-1", "blob", "many/", "many/00", "many", "odd/", "odd/a", "odd/a%", "odd/a b", "odd/ü", "odd/.",
		"indices/", "indices/aB3-_x/", "indices/aB3-_x/0/", "indices/aB3-_x/0/index-", "nothing/", "nothing", "blob/",
	} {
		want := map[string]int64{}
		for key, data := range c.Contents {
			if rest, ok := strings.CutPrefix(key, prefix); ok && !strings.Contains(rest, "/") {
				want[key] = int64(len(data))
			}
		}
		entries, err := c.Bucket.List(t.Context(), prefix)
		if err != nil {
			t.Errorf("List %q: %v", prefix, err)
			continue
		}
		got := map[string]int64{}
		for _, entry := range entries {
			got[entry.Key] = entry.Size
		}
		if len(entries) != len(got) || !maps.Equal(got, want) {
			t.Errorf("List %q: %d blobs %.200s; want %d %.200s", prefix, len(entries),
				fmt.Sprint(slices.Sorted(maps.Keys(got))), len(want), fmt.Sprint(slices.Sorted(maps.Keys(want))))
		}
	}
}

func (c Case) concurrent(t *testing.T) {
	data := c.Contents["blob"]
	var readers sync.WaitGroup
	for i := range 16 {
		readers.Go(func() {
			offset := int64(i * 60000)
			got, err := Read(t.Context(), c.Bucket, "blob", offset, 100000)
			if err != nil || !bytes.Equal(got, within(data, offset, 100000)) {
				t.Errorf("reader %d: %d bytes, %v", i, len(got), err)
			}
		})
	}
	readers.Wait()
}

func (c Case) cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, openErr := c.Bucket.Open(ctx, "blob", 0, -1)
	_, sizeErr := c.Bucket.Size(ctx, "blob")
	_, listErr := c.Bucket.List(ctx, "")
	if c.CannotList {
		listErr = ctx.Err()
	}
	for _, err := range []error{openErr, sizeErr, listErr} {
		if !fault.Is(err, fault.Interrupted) {
			t.Errorf("after cancel: %v; want interrupted", err)
		}
	}
	ctx, cancel = context.WithCancel(t.Context())
	stream, err := c.Bucket.Open(ctx, "blob", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	cancel()
	if _, err := io.Copy(io.Discard, stream); err != nil && !fault.Is(err, fault.Interrupted) {
		t.Errorf("cancelled while reading: %v; want interrupted", err)
	}
}

func (c Case) closedEarly(t *testing.T) {
	for range 5 {
		stream, err := c.Bucket.Open(t.Context(), "blob", 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(stream, make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		if err := stream.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := Read(t.Context(), c.Bucket, "index-12", 0, -1); err != nil || string(got) != "twelve" {
		t.Errorf("reading afterwards: %q, %v", got, err)
	}
}

func (c Case) noSuchBucket(t *testing.T) {
	if _, err := Read(t.Context(), c.NoSuch, "blob", 0, -1); !fault.Is(err, fault.NotFound) {
		t.Errorf("Open: %v; want not found", err)
	}
	if c.CannotList {
		return
	}
	if _, err := c.NoSuch.List(t.Context(), ""); !fault.Is(err, fault.NotFound) {
		t.Errorf("List: %v; want not found", err)
	}
}

// Read reads a whole range.
func Read(ctx context.Context, b blob.Bucket, key string, offset, length int64) ([]byte, error) {
	stream, err := b.Open(ctx, key, offset, length)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(stream)
	return data, errors.Join(err, stream.Close())
}
