package segment

import (
	"encoding/binary"
	"hash/crc32"
	"sync/atomic"
)

const (
	pageShift   = 15 // of a page of 32 KiB, which has a checksum
	pageSize    = 1 << pageShift
	extentShift = 18 // of an extent of 256 KiB
	extentSize  = 1 << extentShift

	// bodyPad zeros end the body, so that eight bytes may be loaded where one is meant.
	bodyPad = 8

	// maxDocs is how many docs a segment may have.
	maxDocs = 1<<31 - 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// source gives bytes of the body, and compares each page with its checksum before the
// first use. Safe for concurrent use: two may check one page at once.
type source struct {
	data []byte // the file
	body uint64 // length of what has checksums
	sums []byte
	seen []atomic.Uint64 // a bit for each page that was compared
}

func newSource(data []byte, body uint64, sums []byte) *source {
	return &source{data: data, body: body, sums: sums, seen: make([]atomic.Uint64, (len(sums)/4+63)/64)}
}

// bytes gives n bytes of the body. Eight more may be read behind them by reslicing, whose
// meaning is unknown.
func (s *source) bytes(at, n uint64) []byte {
	if n > s.body || at > s.body-n {
		panic(damaged("%d bytes at %d are not within the %d of the body", n, at, s.body))
	}
	if n == 0 {
		return s.data[at:at]
	}
	for p, last := at>>pageShift, (at+n-1)>>pageShift; p <= last; p++ {
		if s.seen[p>>6].Load()&(1<<(p&63)) == 0 {
			s.check(p)
		}
	}
	return s.data[at : at+n]
}

// check compares a page with its checksum.
func (s *source) check(p uint64) {
	page := s.data[p<<pageShift : min((p+1)<<pageShift, s.body)]
	if crc32.Checksum(page, castagnoli) != binary.LittleEndian.Uint32(s.sums[4*p:]) {
		panic(damaged("the checksum of page %d differs", p))
	}
	s.seen[p>>6].Or(1 << (p & 63))
}

// u64 loads a word.
func (s *source) u64(at uint64) uint64 { return binary.LittleEndian.Uint64(s.bytes(at, 8)) }

// u32 loads half a word.
func (s *source) u32(at uint64) uint32 { return binary.LittleEndian.Uint32(s.bytes(at, 4)) }

// stream gives bytes of a stream, which lies in extents.
type stream struct {
	src     *source
	length  uint64
	extents []uint64
}

// bytes gives n bytes of the stream, as source.bytes does. They are a copy when they lie
// in more than one extent.
func (s *stream) bytes(at, n uint64) []byte {
	if n > s.length || at > s.length-n {
		panic(damaged("%d bytes at %d are not within the %d of the stream", n, at, s.length))
	}
	if n == 0 {
		return s.src.data[:0]
	}
	in := at & (extentSize - 1)
	if in+n <= extentSize {
		return s.src.bytes(s.extents[at>>extentShift]+in, n)
	}
	whole := make([]byte, 0, n+8)
	for n > 0 {
		part := s.upTo(at, n)
		whole, at, n = append(whole, part...), at+uint64(len(part)), n-uint64(len(part))
	}
	return whole
}

// upTo gives up to n bytes of the stream, at least one, which lie in one extent; none at
// its end.
func (s *stream) upTo(at, n uint64) []byte {
	if at >= s.length {
		return nil
	}
	in := at & (extentSize - 1)
	return s.src.bytes(s.extents[at>>extentShift]+in, min(n, extentSize-in, s.length-at))
}

// varint reads an unsigned number from b at i, and gives where it ends.
func varint(b []byte, i int) (uint64, int) {
	if i < len(b) && b[i] < 0x80 {
		return uint64(b[i]), i + 1
	}
	return longVarint(b, i)
}

// longVarint is varint for a number of more than one byte; apart, so that varint can be inlined.
func longVarint(b []byte, i int) (uint64, int) {
	v, n := binary.Uvarint(b[i:])
	if n <= 0 {
		panic(damaged("a number does not end"))
	}
	return v, i + n
}
