package segment

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/RoaringBitmap/roaring/v2"
)

// AppendTo appends the set in the form that ReadBits reads; FORMAT.md tells it. It writes no runs:
// a mask of hashes has thousands of them, which the library compares each with each when it
// validates them.
func (b *Bits) AppendTo(dst []byte) []byte {
	start := len(dst)
	dst = binary.AppendUvarint(dst, uint64(b.n))
	set := roaring.FromDense(b.words, true)
	body, err := set.ToBytes()
	if err != nil { // nothing is written but memory
		panic(err)
	}
	dst = append(dst, body...)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// ReadBits reads what AppendTo wrote of a set for so many docs: a set for another number
// is damaged, so that no file makes it take more memory than its segment deserves. The
// error is *Damaged.
func ReadBits(data []byte, docs int) (*Bits, error) {
	if len(data) < 5 {
		return nil, damaged("%d bytes are no set", len(data))
	}
	body := data[:len(data)-4]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(data[len(body):]) {
		return nil, damaged("the checksum of a set differs")
	}
	n, size := binary.Uvarint(body)
	if size <= 0 || n != uint64(docs) {
		return nil, damaged("a set of %d docs instead of %d", n, docs)
	}
	return readRoaring(body[size:], docs)
}

func readRoaring(body []byte, docs int) (*Bits, error) {
	set := roaring.New()
	read, err := set.FromBuffer(body)
	if err == nil {
		err = set.Validate()
	}
	if err != nil {
		return nil, damaged("a set cannot be read: %w", err)
	}
	if int(read) != len(body) || !set.IsEmpty() && int64(set.Maximum()) >= int64(docs) {
		return nil, damaged("a set has more than its docs")
	}
	b := NewBits(docs)
	set.WriteDenseTo(b.words)
	return b, nil
}
