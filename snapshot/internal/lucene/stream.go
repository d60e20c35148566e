package lucene

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/reshelve/reshelve/internal/fault"
)

// firstWindow is the size in bytes with which a stream's window begins. It holds
// several compressed chunks of every known format; one that does not fit grows it.
const firstWindow = 1 << 18

// stream reads a range of one file forwards through a window, each byte once,
// and takes the CRC-32 of the bytes as they arrive. The first failure sticks:
// every later read returns zero, and err tells place and cause.
type stream struct {
	name string // the file, for errors
	body io.ReadCloser
	from int64  // offset in the file where the range begins
	to   int64  // offset behind the range
	buf  []byte // buf[pos:end] has arrived and is not consumed
	pos  int
	end  int
	base int64 // offset in the file of buf[0]

	summed int64 // offset up to which bytes are in sum
	sumEnd int64 // bytes from here on are not summed: the footer's checksum
	sum    uint32
	err    error
}

// openStream opens [from, to) of the named file, whose length is length.
func openStream(ctx context.Context, dir Directory, name string, from, to, length int64) (*stream, error) {
	body, err := dir.Open(ctx, name, from, to-from)
	if err != nil {
		return nil, fault.At(err, "file "+name)
	}
	size := min(to-from, firstWindow)
	return &stream{
		name: name, body: body, from: from, to: to, base: from, summed: from,
		sumEnd: min(to, length-checksumLength), buf: make([]byte, size),
	}, nil
}

// checksumLength is the part of a footer that its own checksum does not cover.
const checksumLength = 8

// offset is the place in the file of the next byte.
func (s *stream) offset() int64 { return s.base + int64(s.pos) }

// left is how many bytes of the range are not consumed, arrived or not.
func (s *stream) left() int64 { return s.to - s.offset() }

// arrived is how many bytes came out of the file.
func (s *stream) arrived() int64 { return s.base + int64(s.end) - s.from }

// fail records the first error, placed at the next byte.
func (s *stream) fail(format string, args ...any) {
	s.failAt(s.offset(), fault.New(fault.Corrupt, format, args...))
}

func (s *stream) failAt(offset int64, err error) {
	if s.err == nil {
		s.err = fault.At(err, "file "+s.name, offsetPlace(offset))
	}
}

// peek returns at least n of the next bytes, and whatever else has arrived,
// without consuming them. They stay valid until the next call of any method.
// The window grows with what arrives, never ahead of it.
func (s *stream) peek(n int) []byte {
	if s.err == nil && s.end-s.pos < n {
		s.fill(n)
	}
	if s.err != nil {
		return nil
	}
	return s.buf[s.pos:s.end]
}

// peekUpTo is peek of n bytes, or of all that are left when these are fewer.
func (s *stream) peekUpTo(n int64) []byte { return s.peek(int(min(n, s.left()))) }

func (s *stream) fill(n int) {
	if n < 0 || int64(n) > s.left() {
		s.fail("%d bytes wanted, %d are left", n, s.left())
		return
	}
	copy(s.buf, s.buf[s.pos:s.end])
	s.base += int64(s.pos)
	s.end -= s.pos
	s.pos = 0
	for idle := 0; s.end < n && s.err == nil; {
		if s.end == len(s.buf) {
			s.buf = append(s.buf, make([]byte, min(len(s.buf), n-s.end))...)
		}
		room := s.buf[s.end:min(int64(len(s.buf)), s.to-s.base)]
		got, err := s.body.Read(room)
		s.take(got)
		switch {
		case s.end >= n:
		case err == io.EOF:
			s.failAt(s.base+int64(s.end), fault.New(fault.Corrupt, "the file ends here, %d bytes were promised", s.to))
		case err != nil:
			s.failAt(s.base+int64(s.end), err)
		case got > 0:
			idle = 0
		default:
			if idle++; idle == 100 {
				s.failAt(s.base+int64(s.end), io.ErrNoProgress)
			}
		}
	}
}

// take adds n bytes that were read behind the window to it and to the checksum.
func (s *stream) take(n int) {
	fresh := s.buf[s.end : s.end+n]
	if most := s.sumEnd - s.summed; int64(len(fresh)) > most {
		fresh = fresh[:max(most, 0)]
	}
	s.sum = crc32.Update(s.sum, crc32.IEEETable, fresh)
	s.summed += int64(len(fresh))
	s.end += n
}

// skip consumes n bytes without looking at them; they are summed all the same.
func (s *stream) skip(n int64) {
	if s.err == nil && (n < 0 || n > s.left()) {
		s.fail("%d bytes wanted, %d are left", n, s.left())
	}
	for n > 0 && s.err == nil {
		step := int(min(n, firstWindow))
		s.peek(step)
		if s.err == nil {
			s.pos += step
			n -= int64(step)
		}
	}
}

// next consumes n bytes; see peek for how long they stay valid.
func (s *stream) next(n int) []byte {
	b := s.peek(n)
	if s.err != nil {
		return nil
	}
	s.pos += n
	return b[:n]
}

func (s *stream) byte() byte {
	if b := s.next(1); b != nil {
		return b[0]
	}
	return 0
}

// vint reads a variable-length int that must not be negative; see input.vint.
func (s *stream) vint() int {
	var v uint32
	for shift := 0; shift < 35 && s.err == nil; shift += 7 {
		b := s.byte()
		v |= uint32(b&0x7f) << shift
		if b < 0x80 {
			if int32(v) < 0 {
				s.fail("a count or length is negative: %d", int32(v))
				return 0
			}
			return int(v)
		}
	}
	s.fail("a variable-length int has more than five bytes")
	return 0
}

// vlong reads a variable-length long; see input.vlong.
func (s *stream) vlong() int64 {
	var v uint64
	for shift := 0; shift < 70 && s.err == nil; shift += 7 {
		b := s.byte()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return int64(v)
		}
	}
	s.fail("a variable-length long has more than ten bytes")
	return 0
}

// close lets go of the file and the window.
func (s *stream) close() error {
	s.buf = nil
	if err := s.body.Close(); err != nil {
		return fmt.Errorf("file %s: %w", s.name, err)
	}
	return nil
}
