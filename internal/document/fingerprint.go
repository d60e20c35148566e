package document

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Fingerprint stands for a document where documents are compared. The formula, so that
// anyone can compute it:
//
//	head    = be32(len(id)) ‖ id ‖ be32(len(routing)) ‖ routing      (routing is empty when there is none)
//	Key     = the first 8 bytes of SHA-256(head), as a big-endian number
//	Content = the first 16 bytes of SHA-256(head ‖ "j" ‖ canonical source)
//
// The canonical source is the JSON value with
//
//   - no white space between tokens,
//   - the members of each object sorted by the bytes of their names as written here, between
//     the quotes; members of one name stay in the order in which they stand,
//   - each string as its value in UTF-8 between quotes, with only \" and \\ escaped: \u0041
//     is A, \n is the byte 0a, a surrogate without its other half is its three bytes,
//   - each number as it was written: 1, 1.0 and 1e0 are three numbers.
//
// What is read is somewhat more than JSON: a string may hold control characters, and a number
// is a digit or a minus and any digits, signs, points and exponents behind it.
// A source that is no JSON value, or is nested more than 1,000 deep, is hashed byte by byte
// after "r" instead of "j". So equal fingerprints mean equal documents, and unequal ones mean
// that id, routing, or something in the source is different that a client could read.
type Fingerprint struct {
	Key     uint64 // of id and routing
	Content [16]byte
}

// String is the key and the content in hexadecimal.
func (f Fingerprint) String() string {
	return hex.EncodeToString(binary.BigEndian.AppendUint64(nil, f.Key)) + ":" + hex.EncodeToString(f.Content[:])
}

// Fingerprinter computes fingerprints, and keeps its memory from one to the next: at most
// some times the length of the longest source. The zero value is ready. Not for concurrent use.
type Fingerprinter struct {
	out     []byte // head, mark, and what of the canonical source is done
	head    int    // length of the head
	run     int    // from where on the source is still to be copied to it
	sorted  []byte // the members of one object, on their way to their places
	members []member
	stack   []frame
}

// Of is the fingerprint of a document.
func (f *Fingerprinter) Of(id, routing, source []byte) Fingerprint {
	return Fingerprint{Key: f.Key(id, routing), Content: f.Content(source)}
}

// Content is that of the fingerprint of the document whose key was asked for last.
func (f *Fingerprinter) Content(source []byte) [16]byte {
	f.out = append(f.out[:f.head], 'j')
	if !f.canonical(source) {
		f.out = append(append(f.out[:f.head], 'r'), source...)
	}
	content := sha256.Sum256(f.out)
	return [16]byte(content[:16])
}

// Key is that of the fingerprint, without a look at the source.
func (f *Fingerprinter) Key(id, routing []byte) uint64 {
	f.out = appendString32(appendString32(f.out[:0], id), routing)
	f.head = len(f.out)
	key := sha256.Sum256(f.out)
	return binary.BigEndian.Uint64(key[:])
}

func appendString32(dst, s []byte) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(s))), s...)
}
