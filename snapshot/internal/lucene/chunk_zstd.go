package lucene

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/reshelve/reshelve/internal/fault"
)

// zstdDecoder decodes single zstd frames of known length, of which some have a
// dictionary: raw content that differs from chunk to chunk.
//
// Telling a decoder of a new dictionary means to make a new decoder, and its fast
// path has no dictionaries. So a frame with a dictionary becomes one without: one
// that begins with the dictionary as uncompressed blocks, and goes on with the
// blocks of the frame (RFC 8878, 3.1.1). A raw dictionary sets no tables and no
// repeated offsets, so these mean the same there.
type zstdDecoder struct {
	decoder *zstd.Decoder
	joined  []byte // header, dictionary as blocks, blocks of a frame
	begin   int    // where in joined the frame's blocks begin
}

const (
	// largeFrame is the length in bytes above which a frame's promise is not
	// believed: its memory then grows with what is decoded.
	largeFrame = 4 << 20
	// largestZstdBlock is the most bytes in a block of a frame.
	largestZstdBlock = 128 << 10
	// A header of our own: magic, a descriptor that says single segment and four
	// bytes of length, and these.
	zstdMagic        = 0xfd2fb528
	zstdDescriptor   = 2<<6 | 1<<5
	zstdHeaderLength = 4 + 1 + 4
)

// mostExpanded is how many bytes some compressed ones may become: Zstandard itself
// has no bound for that (four bytes are 128 KiB), DEFLATE has this ratio. What is
// added covers the longest document that servers accept by default
// (100 MB), of one letter throughout.
func mostExpanded(compressed int64) int64 { return 1032*compressed + 128<<20 }

func (z *zstdDecoder) open() (err error) {
	if z.decoder == nil {
		z.decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecodeAllCapLimit(true))
	}
	return err
}

func (z *zstdDecoder) close() {
	if z.decoder != nil {
		z.decoder.Close()
		z.decoder = nil
	}
}

// useDictionary makes content the dictionary of the frames to come.
func (z *zstdDecoder) useDictionary(content []byte) {
	z.joined = binary.LittleEndian.AppendUint32(z.joined[:0], zstdMagic)
	z.joined = append(z.joined, zstdDescriptor, 0, 0, 0, 0)
	for len(content) > 0 {
		n := min(len(content), largestZstdBlock)
		z.joined = append(z.joined, byte(n<<3), byte(n>>5), byte(n>>13)) // not the last, raw
		z.joined = append(z.joined, content[:n]...)
		content = content[n:]
	}
	z.begin = len(z.joined)
}

// decode makes the frame src into dst[start:end], which may be longer than dst;
// dst[:start] is its dictionary, which useDictionary was told of, or empty. It
// returns dst, grown when it was too short; bytes behind end may be changed.
func (z *zstdDecoder) decode(dst []byte, start, end int, src []byte) ([]byte, error) {
	if most := mostExpanded(int64(len(src))); int64(end-start) > most {
		return dst, fault.New(fault.Refused, "%d bytes are announced, and so few compressed bytes can hold at most %d", end-start, most)
	}
	if err := z.open(); err != nil {
		return dst, err
	}
	if start > 0 {
		var err error
		if src, err = z.join(src, end-start, end); err != nil {
			return dst, err
		}
	}
	if end-start > largeFrame {
		return z.decodeLarge(dst, end, src)
	}
	dst = grow(dst, start, end+scratchRoom)
	got, err := z.decoder.DecodeAll(src, dst[:0:end+scratchRoom])
	if err == nil && len(got) != end {
		err = fault.New(fault.Corrupt, "the frame has %d bytes", len(got)-start)
	}
	return dst, err
}

// join returns the frame src of n bytes as one of total bytes that begins with
// the dictionary.
func (z *zstdDecoder) join(src []byte, n, total int) ([]byte, error) {
	var h zstd.Header
	if err := h.Decode(src); err != nil {
		return nil, err
	}
	if h.Skippable || h.DictionaryID != 0 || h.HasFCS && h.FrameContentSize != uint64(n) {
		return nil, fault.New(fault.Corrupt, "the frame says that it has %d bytes and dictionary %d", h.FrameContentSize, h.DictionaryID)
	}
	blocks := src[h.HeaderSize:]
	if h.HasCheckSum {
		const checksum = 4 // of the frame; the file has its own
		blocks = blocks[:max(0, len(blocks)-checksum)]
	}
	z.joined = append(z.joined[:z.begin], blocks...)
	binary.LittleEndian.PutUint32(z.joined[zstdHeaderLength-4:], uint32(total))
	return z.joined, nil
}

func (z *zstdDecoder) decodeLarge(dst []byte, end int, src []byte) ([]byte, error) {
	if err := z.decoder.Reset(bytes.NewReader(src)); err != nil {
		return dst, err
	}
	for at := 0; ; {
		if at == len(dst) {
			dst = grow(dst, at, min(end, max(2*len(dst), largeFrame)))
		}
		n, err := z.decoder.Read(dst[at:min(end, len(dst))])
		at += n
		if at == end {
			return dst, z.atEnd()
		}
		if err == io.EOF {
			return dst, fault.New(fault.Corrupt, "the frame has %d bytes", at)
		}
		if err != nil {
			return dst, err
		}
	}
}

// atEnd checks that a frame that was read in full has no further byte.
func (z *zstdDecoder) atEnd() error {
	var more [1]byte
	switch n, err := io.ReadFull(z.decoder, more[:]); {
	case n > 0:
		return fault.New(fault.Corrupt, "the frame has more bytes")
	case err != io.EOF:
		return err
	}
	return nil
}
