package reconcile

import (
	"encoding/binary"
	"hash/crc32"
)

// Sealed is data with the checksum that makes it pass.
func Sealed(data []byte) []byte {
	body := data[:max(len(data)-4, 0)]
	return binary.BigEndian.AppendUint32(append([]byte(nil), body...), crc32.ChecksumIEEE(body))
}
