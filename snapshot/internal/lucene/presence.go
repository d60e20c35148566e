package lucene

import (
	"context"
	"math/bits"
)

// presence tells which documents have a value, and the how many-th it is.
type presence struct {
	kind      presenceKind
	docs      span       // in the .dvd
	rankPower int8       // of dense blocks; −1: they have no ranks
	sparse    *monotonic // the documents of presentSparse, count of them
	count     int64
}

type presenceKind uint8

const (
	presentAll    presenceKind = iota
	presentNone                // no document has a value
	presentBlocks              // Lucene's IndexedDISI
	presentBitmap              // before Lucene 7: one bit for each document, lowest first
	presentSparse              // Lucene 5.4: ascending document numbers
)

const (
	blockDocs   = 1 << 16
	denseFrom   = 1 << 12 // documents of a block from which it is a bit set
	denseBytes  = blockDocs / 8
	noMoreBlock = 0x7fff
)

// presenceReader answers for ascending documents.
type presenceReader struct {
	presence
	file   *docValues
	in     *forward
	next   int64 // presentBlocks: offset of the next block; presentSparse: index
	before int64 // values in front of the block
	block  int   // document number >> 16; −1: none read yet
	count  int   // values in the block
	data   [denseBytes]byte
	word   int   // presentBlocks, dense: words counted; sparse: shorts passed
	passed int64 // values in front of word
	doc    int64 // presentSparse: the document at next
}

func (d *docValues) presenceReader(p presence) *presenceReader {
	r := &presenceReader{presence: p, file: d, in: d.forward(p.docs), next: p.docs.offset, block: -1, doc: -1}
	if p.kind == presentSparse {
		r.next = 0
	}
	return r
}

// index returns the place of doc's value among all, or −1. Documents ascend.
func (r *presenceReader) index(doc int) (int64, error) {
	switch r.kind {
	case presentAll:
		return int64(doc), nil
	case presentNone:
		return -1, nil
	case presentBitmap:
		b, err := r.in.at(r.docs.offset+int64(doc>>3), 1)
		if err != nil || b[0]>>(doc&7)&1 == 0 {
			return -1, err
		}
		return int64(doc), nil
	case presentSparse:
		return r.sparseIndex(doc)
	}
	for r.block < doc>>16 {
		if err := r.nextBlock(); err != nil {
			return -1, err
		}
	}
	if r.block > doc>>16 {
		return -1, nil
	}
	return r.indexInBlock(doc & (blockDocs - 1)), nil
}

// nextBlock reads the block at next: number, values − 1, then nothing when all
// documents have one, shorts when few have, else ranks (skipped) and a bit set.
//
// Source: the Javadoc of org.apache.lucene.codecs.lucene90.IndexedDISI.
func (r *presenceReader) nextBlock() error {
	head, err := r.in.at(r.next, 4)
	if err != nil {
		return err
	}
	number, count := int(r.file.order.Uint16(head)), int(r.file.order.Uint16(head[2:]))+1
	if number <= r.block || (number != noMoreBlock && number > (r.file.maxDoc-1)>>16) {
		return r.file.corrupt(r.next, "block %d of documents follows block %d in a segment of %d documents", number, r.block, r.file.maxDoc)
	}
	if number == noMoreBlock {
		r.before, r.block, r.count = r.before+int64(r.count), 1<<31, 0
		return nil
	}
	at, length := r.next+4, 0
	switch {
	case count == blockDocs:
	case count < denseFrom:
		length = 2 * count
	default:
		length = denseBytes
		if r.rankPower >= 0 {
			at += denseBytes / 8 >> (r.rankPower - 7)
		}
	}
	data, err := r.in.at(at, length)
	if err != nil {
		return err
	}
	copy(r.data[:], data)
	r.before += int64(r.count)
	r.block, r.count, r.word, r.passed = number, count, 0, 0
	err = r.checkBlock()
	r.next = at + int64(length)
	return err
}

// checkBlock holds the block against its count and the segment's last document.
func (r *presenceReader) checkBlock() error {
	order, last, n := r.file.order, -1, 0
	switch {
	case r.count == blockDocs:
		last, n = blockDocs-1, blockDocs
	case r.count < denseFrom:
		for i := range r.count {
			doc := int(order.Uint16(r.data[2*i:]))
			if doc <= last {
				return r.file.corrupt(r.next, "documents of a block do not ascend")
			}
			last, n = doc, n+1
		}
	default:
		for i := range denseBytes / 8 {
			if w := order.Uint64(r.data[8*i:]); w != 0 {
				last, n = i<<6+63-bits.LeadingZeros64(w), n+bits.OnesCount64(w)
			}
		}
	}
	if n != r.count || r.block<<16+last >= r.file.maxDoc {
		return r.file.corrupt(r.next, "a block promises %d documents, holds %d up to number %d; the segment has %d", r.count, n, r.block<<16+last, r.file.maxDoc)
	}
	return nil
}

// indexInBlock: low is the document's number in the block.
func (r *presenceReader) indexInBlock(low int) int64 {
	order := r.file.order
	switch {
	case r.count == blockDocs:
		return r.before + int64(low)
	case r.count < denseFrom:
		for r.word < r.count && int(order.Uint16(r.data[2*r.word:])) < low {
			r.word++
		}
		if r.word < r.count && int(order.Uint16(r.data[2*r.word:])) == low {
			return r.before + int64(r.word)
		}
		return -1
	}
	for ; r.word < low>>6; r.word++ {
		r.passed += int64(bits.OnesCount64(order.Uint64(r.data[8*r.word:])))
	}
	w := order.Uint64(r.data[8*r.word:])
	if w>>(low&63)&1 == 0 {
		return -1
	}
	return r.before + r.passed + int64(bits.OnesCount64(w&(1<<(low&63)-1)))
}

// confirmedBits returns the documents that have a value, nil when none has, and
// confirms the whole file.
func (p presence) confirmedBits(ctx context.Context, d *docValues) (*Bits, error) {
	if p.kind == presentNone {
		return nil, d.finish()
	}
	docs := newBits(d.maxDoc)
	if p.kind == presentAll {
		docs.setRange(0, d.maxDoc)
		return docs, d.finish()
	}
	r := d.presenceReader(p)
	for doc := range d.maxDoc {
		if doc&(blockDocs-1) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		at, err := r.index(doc)
		if err != nil {
			return nil, err
		}
		if at >= 0 {
			docs.set(doc)
		}
	}
	return docs, d.finish()
}

// sparseIndex looks doc up among ascending document numbers.
func (r *presenceReader) sparseIndex(doc int) (int64, error) {
	for r.doc < int64(doc) && r.next < r.presence.count {
		v, err := r.sparse.value(r.in, r.docs.offset, r.next)
		if err != nil {
			return -1, err
		}
		if v <= r.doc || v >= int64(r.file.maxDoc) {
			return -1, r.file.corrupt(r.docs.offset, "document %d follows document %d in a segment of %d documents", v, r.doc, r.file.maxDoc)
		}
		r.doc = v
		r.next++
	}
	if r.doc != int64(doc) {
		return -1, nil
	}
	return r.next - 1, nil
}
