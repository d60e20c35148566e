package local

import (
	"encoding/binary"
	"hash/crc32"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// The layout of a record's value; see the package's documentation.
const (
	sumSize     = 4
	recordStart = sumSize + 8
)

// pack leaves room for the revision, which the writer gives.
func pack(value []byte) []byte {
	packed := make([]byte, recordStart+len(value))
	copy(packed[recordStart:], value)
	return packed
}

// stamp completes a packed record and returns its checksum.
func stamp(packed []byte, key string, revision int64) uint32 {
	binary.BigEndian.PutUint64(packed[sumSize:], uint64(revision))
	sum := checksum(key, packed[sumSize:])
	binary.BigEndian.PutUint32(packed, sum)
	return sum
}

func checksum(key string, rest []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte(key), castagnoli), castagnoli, rest)
}

// label are the checksum and the revision that a packed record says it has; nil has
// revision 0.
func label(key string, packed []byte) (sum uint32, revision int64, err error) {
	if packed == nil {
		return 0, 0, nil
	}
	if len(packed) < recordStart {
		return 0, 0, damagedRecord(key, "it has %d bytes, which is too short", len(packed))
	}
	revision = int64(binary.BigEndian.Uint64(packed[sumSize:]))
	if revision <= 0 {
		return 0, 0, damagedRecord(key, "its revision is %d", revision)
	}
	return binary.BigEndian.Uint32(packed), revision, nil
}

// unpack checks a packed record and returns a copy of its value, which is not nil.
func unpack(key string, packed []byte) (value []byte, revision int64, err error) {
	sum, revision, err := label(key, packed)
	if err != nil {
		return nil, 0, err
	}
	if computed := checksum(key, packed[sumSize:]); computed != sum {
		return nil, 0, damagedRecord(key, "checksum %08x, computed %08x", sum, computed)
	}
	return append([]byte{}, packed[recordStart:]...), revision, nil
}

func damagedRecord(key, format string, args ...any) error {
	return fault.At(fault.New(fault.Corrupt, format, args...), "record "+key)
}

func encodeFormat(version uint32) []byte {
	data := binary.BigEndian.AppendUint32(nil, version)
	return binary.BigEndian.AppendUint32(data, crc32.Checksum(data, castagnoli))
}

// decodeFormat tells a format of the future from a damaged one.
func decodeFormat(data []byte) (version uint32, err error) {
	if len(data) != 4+sumSize || binary.BigEndian.Uint32(data[4:]) != crc32.Checksum(data[:4], castagnoli) {
		return 0, fault.New(fault.Corrupt, "the format is %x, which has no right checksum", data)
	}
	return binary.BigEndian.Uint32(data), nil
}

// head is what the file says about all records together.
type head struct {
	revision int64
	time     time.Time
	records  int64
	sum      uint32
}

const headSize = 8 + 8 + 8 + sumSize + sumSize

func (h head) encode() []byte {
	data := binary.BigEndian.AppendUint64(make([]byte, 0, headSize), uint64(h.revision))
	data = binary.BigEndian.AppendUint64(data, uint64(h.time.UnixNano()))
	data = binary.BigEndian.AppendUint64(data, uint64(h.records))
	data = binary.BigEndian.AppendUint32(data, h.sum)
	return binary.BigEndian.AppendUint32(data, crc32.Checksum(data, castagnoli))
}

func decodeHead(data []byte) (head, error) {
	if len(data) != headSize {
		return head{}, fault.New(fault.Corrupt, "the head has %d bytes, not %d", len(data), headSize)
	}
	sum, computed := binary.BigEndian.Uint32(data[headSize-sumSize:]), crc32.Checksum(data[:headSize-sumSize], castagnoli)
	if sum != computed {
		return head{}, fault.New(fault.Corrupt, "the head has checksum %08x, computed %08x", sum, computed)
	}
	return head{
		revision: int64(binary.BigEndian.Uint64(data)),
		time:     time.Unix(0, int64(binary.BigEndian.Uint64(data[8:]))).UTC(),
		records:  int64(binary.BigEndian.Uint64(data[16:])),
		sum:      binary.BigEndian.Uint32(data[24:]),
	}, nil
}
