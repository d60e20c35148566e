package xcontent

import (
	"bytes"
	"fmt"

	"github.com/reshelve/reshelve/internal/fault"
)

// Format is an encoding of x-content.
type Format int

// The encodings that the servers accept, and Unknown for anything else.
const (
	Unknown Format = iota
	JSON
	SMILE
	CBOR
	YAML
)

// String is the format's name.
func (f Format) String() string {
	switch f {
	case JSON:
		return "JSON"
	case SMILE:
		return "SMILE"
	case CBOR:
		return "CBOR"
	case YAML:
		return "YAML"
	}
	return "unknown"
}

const byteOrderMark = "\xef\xbb\xbf"

// Sniff tells the format by the first bytes, by the rules of the servers' own
// XContentFactory: the SMILE header ":)\n", "---" for YAML, a CBOR map (definite
// or not, or behind the self-describe tag d9d9f7), else JSON when the first byte
// that is no white space is a brace (a byte order mark may precede it).
func Sniff(data []byte) Format {
	switch {
	case bytes.HasPrefix(data, []byte(":)\n")):
		return SMILE
	case bytes.HasPrefix(data, []byte("---")):
		return YAML
	case beginsLikeCBOR(data):
		return CBOR
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(data, []byte(byteOrderMark)), " \t\r\n")
	if len(text) > 0 && text[0] == '{' {
		return JSON
	}
	return Unknown
}

// ToJSON appends the JSON of the one object that data holds to dst. JSON is
// appended unchanged and unchecked, but for a byte order mark, which is dropped.
// The package comment tells how values are written.
//
// Damaged data is fault.Corrupt; an unknown format, CBOR string references, JSON
// longer than most bytes (usually [Limit] of the length as it is stored), and data
// beyond the other limits of the invariants are fault.Refused. With an error, dst is
// returned as it was. Safe for concurrent use.
func ToJSON(dst, data []byte, most int) ([]byte, error) {
	format := Sniff(data)
	var out []byte
	var err error
	switch format {
	case JSON:
		if len(data) > most {
			return dst, fault.At(tooLong(most), format.String())
		}
		return append(dst, bytes.TrimPrefix(data, []byte(byteOrderMark))...), nil
	case SMILE:
		out, err = appendSmile(dst, data, most)
	case CBOR:
		out, err = appendCBOR(dst, data, most)
	case YAML:
		out, err = appendYAML(dst, data, most)
	default:
		err := fault.New(fault.Refused, "%d bytes that are none of JSON, SMILE, CBOR, YAML; they begin with % x", len(data), data[:min(8, len(data))])
		return dst, fault.WithNext(err, "look at the document in the cluster that wrote it: it was not indexed through the usual interfaces")
	}
	if err == errTooLong || err == nil && len(out)-len(dst) > most {
		err = tooLong(most)
	}
	if err != nil {
		return dst, fault.At(err, format.String())
	}
	return out, nil
}

// maxDepth is how deep arrays and objects may nest, see invariant 4.
const maxDepth = 10_000

func corrupt(offset int, format string, args ...any) error {
	return fault.At(fault.New(fault.Corrupt, format, args...), fmt.Sprintf("byte %d", offset))
}

func tooDeep() error {
	return fault.New(fault.Refused, "arrays and objects nest deeper than %d", maxDepth)
}
