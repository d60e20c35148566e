package document

import (
	"encoding/base64"

	"github.com/reshelve/reshelve/internal/fault"
)

// First bytes that mark how an id is stored, as files of Elasticsearch 6 and
// later and of OpenSearch show.
const (
	idEscaped = 0xfd // the rest is raw bytes whose own first byte is ≥ 0xfd
	idNumeric = 0xfe // decimal digits, two a byte, high half first; 0xf pads
	idText    = 0xff // the rest is UTF-8
)

// AppendID appends to dst the text of an id from its stored form, the binary
// field _id of Elasticsearch 6 and later. Ids that are base64url text are stored
// as the bytes they stand for, those of digits as half bytes, others as UTF-8.
func AppendID(dst, stored []byte) ([]byte, error) {
	if len(stored) == 0 {
		return dst, fault.New(fault.Corrupt, "a stored id is empty")
	}
	switch stored[0] {
	case idText:
		return append(dst, stored[1:]...), nil
	case idNumeric:
		return appendDigits(dst, stored[1:])
	case idEscaped:
		return base64.RawURLEncoding.AppendEncode(dst, stored[1:]), nil
	}
	return base64.RawURLEncoding.AppendEncode(dst, stored), nil
}

func appendDigits(dst, halves []byte) ([]byte, error) {
	for i, b := range halves {
		high, low := b>>4, b&0xf
		last := i == len(halves)-1
		if high > 9 || (low > 9 && (low != 0xf || !last)) {
			return dst, fault.New(fault.Corrupt, "a stored numeric id holds the byte %02x", b)
		}
		dst = append(dst, '0'+high)
		if low != 0xf {
			dst = append(dst, '0'+low)
		}
	}
	return dst, nil
}

// SplitUID cuts the field _uid of Elasticsearch up to 5, "type#id", at its
// first '#'; the id may hold more of them.
func SplitUID(uid []byte) (typ, id []byte, err error) {
	for i, b := range uid {
		if b == '#' {
			return uid[:i], uid[i+1:], nil
		}
	}
	return nil, nil, fault.New(fault.Corrupt, "the stored _uid %q has no '#'", uid)
}
