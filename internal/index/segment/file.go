package segment

import (
	"encoding/binary"
	"hash/crc32"
	"io"
)

// file writes a segment from front to back. The first error stays, and ends all writing.
type file struct {
	to   io.Writer
	page []byte // what is not written yet
	at   uint64 // where the next byte goes
	sums []byte
	err  error

	terms, postings, positions streamWriter
}

func newFile(to io.Writer) *file {
	w := &file{to: to, page: make([]byte, 0, pageSize)}
	w.terms.file, w.postings.file, w.positions.file = w, w, w
	w.write([]byte(magic))
	w.write(binary.LittleEndian.AppendUint64(nil, version))
	return w
}

// fail keeps the first error.
func (w *file) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// write puts bytes behind what was written.
func (w *file) write(b []byte) {
	w.at += uint64(len(b))
	for len(b) > 0 {
		n := copy(w.page[len(w.page):pageSize], b)
		w.page, b = w.page[:len(w.page)+n], b[n:]
		if len(w.page) == pageSize {
			w.flush()
		}
	}
}

func (w *file) flush() {
	if len(w.page) == 0 {
		return
	}
	w.sums = binary.LittleEndian.AppendUint32(w.sums, crc32.Checksum(w.page, castagnoli))
	if w.err == nil {
		_, err := w.to.Write(w.page)
		w.fail(err)
	}
	w.page = w.page[:0]
}

var zeros [64]byte

// align writes zeros up to a multiple of n, which is at most 64, and gives the place.
func (w *file) align(n uint64) uint64 {
	if over := w.at % n; over != 0 {
		w.write(zeros[:n-over])
	}
	return w.at
}

// close writes what is left of the streams, and what follows the body.
func (w *file) close(t *contents) error {
	for i, s := range []*streamWriter{&w.terms, &w.postings, &w.positions} {
		s.close()
		t.streams[i] = stream{length: s.length(), extents: s.extents}
	}
	w.write(zeros[:bodyPad])
	w.flush()
	f := footer{body: w.at}
	tail := append(w.sums, t.encode(nil)...)
	f.tail = uint64(len(tail))
	f.sum = crc32.Checksum(tail, castagnoli)
	tail = f.encode(tail)
	if w.err == nil {
		_, err := w.to.Write(tail)
		w.fail(err)
	}
	return w.err
}

// streamWriter collects a stream, and puts each full extent into the file.
type streamWriter struct {
	file    *file
	buf     []byte
	extents []uint64
	flushed uint64
}

// length is how much was written: the place of the next byte.
func (s *streamWriter) length() uint64 { return s.flushed + uint64(len(s.buf)) }

func (s *streamWriter) write(b []byte) {
	for len(s.buf)+len(b) >= extentSize {
		n := extentSize - len(s.buf)
		s.buf = append(s.buf, b[:n]...)
		b = b[n:]
		s.flush()
	}
	s.buf = append(s.buf, b...)
}

func (s *streamWriter) align(n uint64) {
	if over := s.length() % n; over != 0 {
		s.write(zeros[:n-over])
	}
}

func (s *streamWriter) flush() {
	s.extents = append(s.extents, s.file.at)
	s.file.write(s.buf)
	s.flushed += uint64(len(s.buf))
	s.buf = s.buf[:0]
}

func (s *streamWriter) close() {
	if len(s.buf) > 0 {
		s.flush()
	}
}
