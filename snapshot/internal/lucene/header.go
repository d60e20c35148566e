package lucene

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/reshelve/reshelve/internal/fault"
)

// The wrapper of every Lucene file since 4.0, always big-endian (Lucene's
// CodecUtil): header = magic, codec name (VInt length + bytes), version; since
// 5.0 an index header adds a 16-byte segment id and a suffix (1-byte length).
// The footer (since 4.8) is a magic, an algorithm (0) and the CRC-32 of all
// bytes before the checksum, widened to 64 bits.
const (
	headerMagic  = 0x3fd76c17
	footerMagic  = 0xc02893e8
	footerLength = 16
	idLength     = 16
)

// ID is the random identity that a segment carries in each of its files, and a
// commit in its own; zero where the format has none (before 5.0).
type ID [idLength]byte

func (id ID) String() string { return fmt.Sprintf("%x", id[:]) }

// header is what stands at the start of a file.
type header struct {
	Codec   string
	Version int32
	ID      ID
	Suffix  string
	Length  int // bytes that the header takes
}

// plainHeader reads magic, codec name and version.
func (in *input) plainHeader() header {
	start := in.pos
	order := in.order
	in.order = binary.BigEndian
	defer func() { in.order = order }()
	if m := uint32(in.int32()); in.err == nil && m != headerMagic {
		in.pos = start
		in.fail("no Lucene file: it begins with %08x, not %08x", m, uint32(headerMagic))
	}
	h := header{Codec: in.string(), Version: in.int32()}
	h.Length = in.pos - start
	return h
}

// indexHeader reads a plain header, segment id and suffix. A file of another
// segment, or of another generation, is an error: want and suffix are compared,
// unless want is zero.
func (in *input) indexHeader(want ID, suffix string) header {
	start := in.pos
	h := in.plainHeader()
	in.idAndSuffix(&h, want, suffix)
	h.Length = in.pos - start
	return h
}

// idAndSuffix reads what an index header adds to a plain one; see indexHeader.
func (in *input) idAndSuffix(h *header, want ID, suffix string) {
	copy(h.ID[:], in.bytes(idLength))
	h.Suffix = string(in.bytes(int(in.byte())))
	if in.err != nil || want == (ID{}) {
		return
	}
	if h.ID != want {
		in.fail("belongs to segment id %s, not %s: the file was swapped", h.ID, want)
	} else if h.Suffix != suffix {
		in.fail("has suffix %q, not %q: the file was swapped", h.Suffix, suffix)
	}
}

// parseFooter reads the 16 bytes of a footer and returns the checksum in it.
func parseFooter(b []byte) (uint32, error) {
	if len(b) != footerLength || binary.BigEndian.Uint32(b) != footerMagic || binary.BigEndian.Uint32(b[4:]) != 0 {
		return 0, fault.New(fault.Corrupt, "there is no footer where the file should end")
	}
	sum := binary.BigEndian.Uint64(b[8:])
	if sum>>32 != 0 {
		return 0, fault.New(fault.Corrupt, "the footer's checksum has more than 32 bits")
	}
	return uint32(sum), nil
}

// checkFooter holds a whole file in memory against its footer, and the footer
// against the directory's promise.
func checkFooter(data []byte, info FileInfo) error {
	if len(data) < footerLength {
		return fault.New(fault.Corrupt, "is %d bytes long, too short for a footer", len(data))
	}
	at := len(data) - footerLength
	computed := crc32.ChecksumIEEE(data[:len(data)-8])
	return confirmFooter(data[at:], int64(at), computed, info)
}

// confirmFooter compares the footer (at offset at) with the checksum computed
// over all bytes of the file but its last eight, and with what the directory
// promised.
func confirmFooter(footer []byte, at int64, computed uint32, info FileInfo) error {
	stored, err := parseFooter(footer)
	switch {
	case err != nil:
		return fault.At(err, offsetPlace(at))
	case stored != computed:
		return fault.At(fault.New(fault.Corrupt, "the checksum is %08x, the footer says %08x", computed, stored), offsetPlace(at))
	case info.HasChecksum && info.Checksum != stored:
		return fault.At(fault.New(fault.Corrupt, "the footer says checksum %08x, the manifest promises %08x: the file was swapped", stored, info.Checksum), offsetPlace(at))
	}
	return nil
}

func offsetPlace(offset int64) string { return fmt.Sprintf("offset %d", offset) }
