package local

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
)

// The layout of bbolt's pages (file version 2, the same since 2013), in the byte
// order of the machine:
//
//	page     id 8, flags 2 (1 branch, 2 leaf), elements 2, pages that it spans beyond one 4; elements; keys and values
//	branch   offset of the key from this element 4, its length 4, page of the child 8
//	leaf     flags 4 (1: the value is a bucket), offset of the key 4, its length 4, length of the value behind it 4
//	bucket   root page 8, sequence 8; with root page 0 the page itself follows
const (
	pageHeader   = 16
	elementSize  = 16
	bucketHeader = 16
	branchPage   = 1
	leafPage     = 2
	bucketFlag   = 1
)

// checkPages reads every page below root and is fault.Corrupt when bbolt, which
// trusts them, would leave the file, run in circles or miss a key: page numbers and
// lengths are within size, no page stands in two places, keys ascend, and no bucket
// is inside of another. Time and memory are bounded by size.
func checkPages(file io.ReaderAt, pageSize int, size int64, root uint64) error {
	c := &checker{
		file: file, pageSize: int64(pageSize), pages: uint64(size) / uint64(pageSize),
		seen: map[uint64]bool{}, elements: size / elementSize,
	}
	return c.page(root, nil, nil)
}

type checker struct {
	file     io.ReaderAt
	pageSize int64
	pages    uint64 // of the file; the first two are meta pages
	seen     map[uint64]bool
	elements int64 // how many more can be in a file of this size, so that overlapping ones end
	inBucket bool
}

// block is a page with what it spans, or one inside a bucket's value.
type block struct {
	at     int64 // in the file
	length int64
}

func bad(page uint64, format string, args ...any) error {
	return fault.At(fault.New(fault.Corrupt, format, args...), fmt.Sprintf("page %d", page))
}

// page checks a page and what is below it; its keys lie in [low, high), where nil is
// no bound.
func (c *checker) page(id uint64, low, high []byte) error {
	if id < 2 || id >= c.pages {
		return bad(id, "it is outside of the file's %d pages", c.pages)
	}
	at := int64(id) * c.pageSize
	header, err := c.read(at, pageHeader)
	if err != nil {
		return err
	}
	if own := binary.NativeEndian.Uint64(header); own != id {
		return bad(id, "it says that it is page %d", own)
	}
	span := uint64(binary.NativeEndian.Uint32(header[12:])) + 1
	if span > c.pages-id {
		return bad(id, "it spans %d pages, more than there are", span)
	}
	for i := range span {
		if c.seen[id+i] {
			return bad(id+i, "it stands in two places")
		}
		c.seen[id+i] = true
	}
	return c.block(id, block{at: at, length: int64(span) * c.pageSize}, low, high)
}

// block checks the elements of a page that lies in b.
func (c *checker) block(id uint64, b block, low, high []byte) error {
	if b.length < pageHeader {
		return bad(id, "a page of %d bytes", b.length)
	}
	header, err := c.read(b.at, pageHeader)
	if err != nil {
		return err
	}
	flags, count := binary.NativeEndian.Uint16(header[8:]), int64(binary.NativeEndian.Uint16(header[10:]))
	if pageHeader+count*elementSize > b.length {
		return bad(id, "it has %d elements, more than fit", count)
	}
	if c.elements -= count; c.elements < 0 {
		return bad(id, "there are more elements than the file has room for")
	}
	elements, err := c.read(b.at+pageHeader, count*elementSize)
	if err != nil {
		return err
	}
	switch flags {
	case branchPage:
		return c.branch(id, b, elements, low, high)
	case leafPage:
		return c.leaf(id, b, elements, low, high)
	}
	return bad(id, "it has flags %#x: it is neither branch nor leaf", flags)
}

func (c *checker) branch(id uint64, b block, elements, low, high []byte) error {
	if len(elements) == 0 {
		return bad(id, "a branch without children")
	}
	keys := make([][]byte, 0, len(elements)/elementSize+1)
	for at := 0; at < len(elements); at += elementSize {
		e := elements[at:]
		key, err := c.part(id, b, int64(at), binary.NativeEndian.Uint32(e), binary.NativeEndian.Uint32(e[4:]))
		if err != nil {
			return err
		}
		keys = append(keys, key)
	}
	if err := ascend(id, keys, low, high); err != nil {
		return err
	}
	keys = append(keys, high)
	for i := range len(keys) - 1 {
		if err := c.page(binary.NativeEndian.Uint64(elements[i*elementSize+8:]), keys[i], keys[i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) leaf(id uint64, b block, elements, low, high []byte) error {
	var keys [][]byte
	for at := 0; at < len(elements); at += elementSize {
		e := elements[at:]
		flags, offset := binary.NativeEndian.Uint32(e), binary.NativeEndian.Uint32(e[4:])
		keyLength, valueLength := binary.NativeEndian.Uint32(e[8:]), binary.NativeEndian.Uint32(e[12:])
		key, err := c.part(id, b, int64(at), offset, keyLength)
		if err != nil {
			return err
		}
		keys = append(keys, key)
		start := pageHeader + int64(at) + int64(offset) + int64(keyLength)
		value := block{at: b.at + start, length: int64(valueLength)}
		if start+value.length > b.length {
			return bad(id, "a value of %d bytes leaves it", valueLength)
		}
		if flags&bucketFlag != 0 {
			if err := c.bucket(id, value); err != nil {
				return err
			}
		}
	}
	return ascend(id, keys, low, high)
}

// bucket checks the bucket whose header lies in value.
func (c *checker) bucket(id uint64, value block) error {
	if value.length < bucketHeader || c.inBucket {
		return bad(id, "a bucket of %d bytes, or inside of another", value.length)
	}
	c.inBucket = true
	defer func() { c.inBucket = false }()
	header, err := c.read(value.at, bucketHeader)
	if err != nil {
		return err
	}
	if root := binary.NativeEndian.Uint64(header); root != 0 {
		return c.page(root, nil, nil)
	}
	return c.block(id, block{at: value.at + bucketHeader, length: value.length - bucketHeader}, nil, nil)
}

// part is the key of length at offset from the element at.
func (c *checker) part(id uint64, b block, at int64, offset, length uint32) ([]byte, error) {
	start := pageHeader + at + int64(offset)
	if start+int64(length) > b.length || length > coord.MaxKey {
		return nil, bad(id, "a key of %d bytes leaves it, or is too long", length)
	}
	return c.read(b.at+start, int64(length))
}

// ascend checks the order of keys and that they are in [low, high).
func ascend(id uint64, keys [][]byte, low, high []byte) error {
	for i, key := range keys {
		if i == 0 && bytes.Compare(key, low) < 0 || i > 0 && bytes.Compare(key, keys[i-1]) <= 0 ||
			high != nil && bytes.Compare(key, high) >= 0 {
			return bad(id, "key %q is out of order", key)
		}
	}
	return nil
}

func (c *checker) read(at, length int64) ([]byte, error) {
	data := make([]byte, length)
	if _, err := c.file.ReadAt(data, at); err != nil {
		return nil, fault.New(fault.Corrupt, "reading %d bytes at %d: %w", length, at, err)
	}
	return data, nil
}
