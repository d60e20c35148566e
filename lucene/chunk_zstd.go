package lucene

import (
	"bytes"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/reshelve/reshelve/fault"
)

// zstdDecoder decodes single zstd frames of known length, with the dictionary of
// the chunk at hand. A dictionary is raw content; its id is 0.
type zstdDecoder struct {
	decoder *zstd.Decoder
}

// largeFrame is the length in bytes above which a frame's promise is not
// believed: its memory then grows with what is decoded.
const largeFrame = 4 << 20

func (z *zstdDecoder) open(options ...zstd.DOption) (err error) {
	options = append(options, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecodeAllCapLimit(true))
	z.decoder, err = zstd.NewReader(nil, options...)
	return err
}

// useDictionary makes content the dictionary of the frames to come.
func (z *zstdDecoder) useDictionary(content []byte) error {
	z.close()
	if len(content) == 0 {
		return nil
	}
	return z.open(zstd.WithDecoderDictRaw(0, content))
}

func (z *zstdDecoder) close() {
	if z.decoder != nil {
		z.decoder.Close()
		z.decoder = nil
	}
}

// decode makes the frame src into dst[start:end], which may be longer than dst;
// dst[:start] is kept. It returns dst, grown when it was too short.
func (z *zstdDecoder) decode(dst []byte, start, end int, src []byte) ([]byte, error) {
	if z.decoder == nil {
		if err := z.open(); err != nil {
			return dst, err
		}
	}
	if end-start > largeFrame {
		return z.decodeLarge(dst, start, end, src)
	}
	dst = grow(dst, start, end+scratchRoom)
	got, err := z.decoder.DecodeAll(src, dst[start:start:end])
	if err == nil && len(got) != end-start {
		err = fault.New(fault.Corrupt, "the frame has %d bytes", len(got))
	}
	return dst, err
}

func (z *zstdDecoder) decodeLarge(dst []byte, start, end int, src []byte) ([]byte, error) {
	if err := z.decoder.Reset(bytes.NewReader(src)); err != nil {
		return dst, err
	}
	for at := start; ; {
		if at == len(dst) {
			dst = grow(dst, at, min(end, max(2*len(dst), largeFrame)))
		}
		n, err := z.decoder.Read(dst[at:min(end, len(dst))])
		at += n
		if at == end {
			return dst, z.atEnd()
		}
		if err == io.EOF {
			return dst, fault.New(fault.Corrupt, "the frame has %d bytes", at-start)
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
