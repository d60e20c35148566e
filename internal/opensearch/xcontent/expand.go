package xcontent

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"
	"github.com/reshelve/reshelve/internal/fault"
)

const (
	deflateHeader = "DFL\x00"
	zstdHeader    = "ZSTD\x00"
)

// Expand undoes the compression of x-content:
//
//   - "ZV": LZF chunks, sources of Elasticsearch 0.x and 1.x with compress on
//     (the chunk format of the compress-lzf library);
//   - "DFL\0": raw DEFLATE, metadata and mappings of Elasticsearch 2 and later
//     and of OpenSearch;
//   - "ZSTD\0": a Zstandard frame, metadata of OpenSearch repositories with
//     compression_type zstd.
//
// Data that begins otherwise is returned as it is, the same slice. What expands to
// more than most bytes (usually Limit(len(data))) is fault.Refused, what ends early
// or goes on behind its end fault.Corrupt. Safe for concurrent use.
func Expand(data []byte, most int) ([]byte, error) {
	switch {
	case len(data) >= 3 && data[0] == 'Z' && data[1] == 'V' && data[2] <= lzfCompressed:
		plain, err := expandLZF(data, most)
		return plain, fault.At(err, "LZF")
	case bytes.HasPrefix(data, []byte(deflateHeader)):
		rest := bytes.NewReader(data[len(deflateHeader):])
		plain, err := readAll(flate.NewReader(rest), most)
		if err == nil && rest.Len() > 0 {
			plain, err = nil, corrupt(len(data)-rest.Len(), "%d bytes follow the compressed data", rest.Len())
		}
		return plain, fault.At(err, "DEFLATE")
	case bytes.HasPrefix(data, []byte(zstdHeader)):
		plain, err := expandZstd(data[len(zstdHeader):], most)
		return plain, fault.At(err, "zstd")
	}
	return data, nil
}

// readAll reads r to its end, most bytes at most. Memory grows with what arrives.
func readAll(r io.Reader, most int) ([]byte, error) {
	plain, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	if err != nil {
		return nil, fault.New(fault.Corrupt, "%w", err)
	}
	if len(plain) > most {
		return nil, tooLong(most)
	}
	return plain, nil
}

// expandZstd streams, because the one-call decoder would allocate whatever length
// a frame claims. Of one decoder at a time, zstd starts no goroutine.
func expandZstd(data []byte, most int) ([]byte, error) {
	if len(data) == 0 {
		return nil, fault.New(fault.Corrupt, "no frame follows the header")
	}
	r, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(zstdWindow(most)))
	if err != nil {
		return nil, fault.New(fault.Corrupt, "%w", err)
	}
	defer r.Close()
	return readAll(r, most)
}

// zstdWindow is the longest history that a frame may ask for (it is allocated
// before anything is produced): what it may expand to, but 8 MiB at least, which
// RFC 8878 §3.1.1.1.2 wants of a decoder and streaming encoders ask for in small
// frames, and not more than the format's encoders use.
func zstdWindow(most int) uint64 {
	const smallest, largest = 8 << 20, 128 << 20
	return min(max(uint64(most), smallest), largest)
}

// Types of an LZF chunk.
const (
	lzfRaw        = 0
	lzfCompressed = 1
)

// expandLZF joins chunks: 'Z' 'V' type, length in two bytes big-endian, for a
// compressed one the original length likewise, then the content.
func expandLZF(data []byte, most int) ([]byte, error) {
	var plain []byte
	for pos := 0; pos < len(data); {
		rest := data[pos:]
		if len(rest) < 5 || rest[0] != 'Z' || rest[1] != 'V' || rest[2] > lzfCompressed {
			return nil, corrupt(pos, "no chunk begins here")
		}
		head, size, original := 5, int(binary.BigEndian.Uint16(rest[3:])), -1
		if rest[2] == lzfCompressed {
			if len(rest) < 7 {
				return nil, corrupt(pos, "a chunk is cut off")
			}
			head, original = 7, int(binary.BigEndian.Uint16(rest[5:]))
		}
		if size > len(rest)-head {
			return nil, corrupt(pos, "a chunk of %d bytes is cut off", size)
		}
		content := rest[head : head+size]
		if len(plain)+max(size, original) > most {
			return nil, tooLong(most)
		}
		if original < 0 {
			plain = append(plain, content...)
		} else {
			before := len(plain)
			var ok bool
			if plain, ok = appendLZF(plain, content, before+original); !ok || len(plain)-before != original {
				return nil, corrupt(pos, "a chunk does not expand to its %d bytes", original)
			}
		}
		pos += head + size
	}
	return plain, nil
}

// appendLZF appends what one chunk's content expands to: a control byte below 32
// is followed by that many bytes and one, verbatim; else its upper three bits are
// a length (7: more in the next byte) less two, and the rest and a further byte a
// distance less one, back into this chunk. False when it does not fit in most bytes
// together with dst, or is damaged.
func appendLZF(dst, in []byte, most int) ([]byte, bool) {
	start := len(dst)
	for i := 0; i < len(in); {
		control := int(in[i])
		i++
		if control < 32 {
			if control+1 > len(in)-i {
				return dst, false
			}
			dst = append(dst, in[i:i+control+1]...)
			i += control + 1
			continue
		}
		length := control >> 5
		if length == 7 && i < len(in) {
			length += int(in[i])
			i++
		}
		if i == len(in) {
			return dst, false
		}
		from := len(dst) - (control&31)<<8 - int(in[i]) - 1
		i++
		if from < start || len(dst)+length+2 > most {
			return dst, false
		}
		for n := 0; n < length+2; n++ {
			dst = append(dst, dst[from+n])
		}
	}
	return dst, true
}
