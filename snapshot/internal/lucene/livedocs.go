package lucene

import (
	"context"
	"encoding/binary"
	"math/bits"

	"github.com/reshelve/reshelve/internal/fault"
)

// Live tells which documents of a segment exist.
type Live struct {
	Docs        *Bits // nil: all
	Deleted     int   // documents that the live-documents file excludes
	SoftDeleted int   // documents that only a soft delete excludes
}

// Live reads the live documents and the soft deletes of the segment, and holds
// both against the commit's counts (invariant 6). All bytes that it uses are
// confirmed. It reads nothing when the commit says that there are no deletes.
func (s *Segment) Live(ctx context.Context) (*Live, error) {
	live := &Live{}
	if s.Commit.DelGen != noGeneration {
		docs, err := s.readLiveDocs(ctx)
		if err != nil {
			return nil, err
		}
		live.Docs, live.Deleted = docs, s.Commit.DelCount
	} else if s.Commit.DelCount != 0 {
		return nil, fault.New(fault.Corrupt, "the commit names no live-documents file, but promises %d deleted documents", s.Commit.DelCount)
	}
	soft, err := s.softDeletes(ctx)
	if err != nil {
		return nil, err
	}
	if soft != nil {
		live.Docs, live.SoftDeleted = live.Docs.andNot(soft)
	}
	if want := s.Commit.SoftDelCount; want >= 0 && want != live.SoftDeleted {
		return nil, fault.New(fault.Corrupt, "%d documents are soft-deleted, the commit promises %d", live.SoftDeleted, want)
	}
	return live, nil
}

// liveDocsFile is the name of the live-documents file: .liv, in Lucene 4 .del.
func (s *Segment) liveDocsFile() string {
	name := s.generational(s.Commit.DelGen, ".liv")
	if _, ok := s.outer.Stat(name); ok {
		return name
	}
	if old := s.generational(s.Commit.DelGen, ".del"); s.has(old) {
		return old
	}
	return name
}

// has reports whether the outer directory has the file.
func (s *Segment) has(name string) bool {
	_, ok := s.outer.Stat(name)
	return ok
}

// readLiveDocs reads the live-documents file. Sources: the Javadoc of
// Lucene50LiveDocsFormat and Lucene90LiveDocsFormat; for .del see readDel.
func (s *Segment) readLiveDocs(ctx context.Context) (*Bits, error) {
	name := s.liveDocsFile()
	if name == s.generational(s.Commit.DelGen, ".del") {
		return s.readDel(ctx, name)
	}
	in, h, err := readHeaded(ctx, s.outer, name)
	if err != nil {
		return nil, err
	}
	if (h.Codec != "Lucene50LiveDocs" && h.Codec != "Lucene90LiveDocs") || h.Version != 0 {
		return nil, unknownFormat(name, h)
	}
	in.idAndSuffix(&h, s.ID, generationSuffix(s.Commit.DelGen))
	if h.Codec == "Lucene90LiveDocs" {
		in.order = binary.LittleEndian
	}
	if words := (s.MaxDoc + 63) / 64; in.err == nil && in.left() != 8*words {
		in.fail("holds %d bytes of bits, %d documents need %d", in.left(), s.MaxDoc, 8*words)
	}
	if in.err != nil {
		return nil, in.err
	}
	docs := newBits(s.MaxDoc)
	for i := range docs.words {
		docs.words[i] = uint64(in.int64())
	}
	s.checkLiveDocs(in, docs)
	return docs, in.end()
}

// checkLiveDocs counts the bits.
func (s *Segment) checkLiveDocs(in *input, docs *Bits) {
	if docs.clearTail() {
		in.fail("a document behind the last one (%d) is live", s.MaxDoc-1)
	}
	if deleted := s.MaxDoc - docs.Count(); deleted != s.Commit.DelCount {
		in.fail("%d documents are deleted, the commit promises %d", deleted, s.Commit.DelCount)
	}
}

// readDel reads a .del of Lucene 4, a BitVector: a mark of −2, a header, then
// either size, count and bytes, or −1, size, count and only those bytes that are
// not all ones (version 0: that are not all zeros), each after its distance from
// the one before. Version 0 marks the deleted, later ones the live documents.
//
// Source: the Javadoc of org.apache.lucene.codecs.lucene40.Lucene40LiveDocsFormat.
func (s *Segment) readDel(ctx context.Context, name string) (*Bits, error) {
	data, info, err := readAll(ctx, s.outer, name)
	if err != nil {
		return nil, err
	}
	in := newInput(name, data)
	if mark := in.int32(); in.err == nil && mark != -2 {
		in.pos = 0
		in.fail("does not begin with -2; live documents from before Lucene 4 are not supported")
	}
	h := in.plainHeader()
	if in.err == nil && (h.Codec != "BitVector" || h.Version < 0 || h.Version > 2) {
		return nil, unknownFormat(name, h)
	}
	if in.err == nil && h.hasFooter() {
		if err := checkFooter(data, info); err != nil {
			in.failWith(err)
		}
		in.data = data[:max(in.pos, len(data)-footerLength)]
	}
	docs := s.readBitVector(in, h.Version)
	return docs, in.end()
}

func (s *Segment) readBitVector(in *input, version int32) *Bits {
	size := in.int32()
	sparse := size == -1
	if sparse {
		size = in.int32()
	}
	count := int(in.int32())
	if in.err == nil && (int(size) != s.MaxDoc || count < 0 || count > s.MaxDoc) {
		in.fail("tells of %d bits, %d of them set; the segment has %d documents", size, count, s.MaxDoc)
	}
	length := (s.MaxDoc + 7) / 8
	var raw []byte
	switch {
	case in.err != nil:
		return nil
	case sparse:
		raw = in.sparseBytes(length, s.MaxDoc, count, version)
	default:
		raw = in.bytes(length)
	}
	if in.err != nil {
		return nil
	}
	docs := newBits(s.MaxDoc)
	for i, b := range raw {
		if version == 0 {
			b = ^b
		}
		docs.words[i>>3] |= uint64(b) << (8 * (i & 7))
	}
	docs.clearTail() // what stands behind the last document means nothing here
	s.checkLiveDocs(in, docs)
	return docs
}

// sparseBytes reads the bytes of a sparse BitVector of size bits, count of them set.
func (in *input) sparseBytes(length, size, count int, version int32) []byte {
	usual, left := byte(0xff), size-count
	if version == 0 {
		usual, left = 0, count
	}
	raw := make([]byte, length)
	for i := range raw {
		raw[i] = usual
	}
	for at := 0; left > 0 && in.err == nil; {
		at += int(in.vint())
		b := in.byte()
		if in.err == nil && (at < 0 || at >= length || raw[at] != usual || b == usual) {
			in.fail("byte %d of %d is given twice, lies outside or has its usual value", at, length)
			return nil
		}
		if in.err == nil {
			raw[at] = b
			left -= bits.OnesCount8(b ^ usual)
		}
	}
	return raw
}
