package opensearch

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
)

// A document is the record's value, when that is a JSON object, with one member
// before its own:
//
//	{"reshelve":{"key":"index/7","at":1795300964313},"creatorId":"worker-3", …}
//
// Another value stands as base64 in pieces, {"reshelve":{…,"bytes":5},"base64":["aGVs","bG8="]},
// and a deletion leaves {"reshelve":{…,"deleted":true}}. The server keeps a document byte for
// byte, so that the value is what stands behind the first member.
const (
	opening = `{"reshelve":`
	// pieceBytes is how much of a value one string holds: servers bound strings.
	pieceBytes = 3 << 18
	// deepest is how deep a value may nest to be stored readable.
	deepest = 64
)

// marks are the first member of a document.
type marks struct {
	Key     string `json:"key"`
	At      int64  `json:"at"`                // about when it was written, by the server's clock; Unix milliseconds
	Deleted bool   `json:"deleted,omitempty"` // the record is gone
	Bytes   *int   `json:"bytes,omitempty"`   // the length of a value that is told in base64
}

func (m marks) encode() []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(m) // strings and numbers cannot fail
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// tombstone is the document of a record that is gone.
func tombstone(key string, at int64) []byte {
	return append(append([]byte(opening), marks{Key: key, At: at, Deleted: true}.encode()...), '}')
}

// readable is the document that shows value, which isReadable.
func readable(key string, at int64, value []byte) []byte {
	document := append([]byte(opening), marks{Key: key, At: at}.encode()...)
	if rest := bytes.TrimLeft(value[1:], " \t\r\n"); rest[0] != '}' {
		document = append(document, ',')
	}
	return append(document, value[1:]...)
}

// opaque is the document of any value.
func opaque(key string, at int64, value []byte) []byte {
	length := len(value)
	head := marks{Key: key, At: at, Bytes: &length}.encode()
	document := make([]byte, 0, len(opening)+len(head)+base64.StdEncoding.EncodedLen(length)+4*(length/pieceBytes+8))
	document = append(append(append(document, opening...), head...), `,"base64":[`...)
	for piece := 0; piece < length; piece += pieceBytes {
		if piece > 0 {
			document = append(document, ',')
		}
		document = append(document, '"')
		document = base64.StdEncoding.AppendEncode(document, value[piece:min(piece+pieceBytes, length)])
		document = append(document, '"')
	}
	return append(document, `]}`...)
}

// isReadable tells whether value can be a document of its own: a JSON object in
// UTF-8 without blanks around it, not nested too deep. The server may still refuse it, because it
// bounds more than that, or because a field that the mapping knows has another type.
func isReadable(value []byte) bool {
	return len(value) >= 2 && value[0] == '{' && value[len(value)-1] == '}' &&
		depth(value) <= deepest && utf8.Valid(value) && json.Valid(value)
}

// depth is how deep the braces and brackets of a JSON text nest.
func depth(text []byte) int {
	now, most, within := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case within && c == '\\':
			i++
		case c == '"':
			within = !within
		case within:
		case c == '{' || c == '[':
			now++
			most = max(most, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return most
}

// decode reads a document: its marks and, unless it is a tombstone, the value.
func decode(id string, source []byte) (marks, []byte, error) {
	var m marks
	if !bytes.HasPrefix(source, []byte(opening)) {
		return m, nil, foreign(id)
	}
	rest := source[len(opening):]
	decoder := json.NewDecoder(bytes.NewReader(rest))
	if err := decoder.Decode(&m); err != nil || m.Key != id {
		return m, nil, foreign(id)
	}
	rest = rest[decoder.InputOffset():]
	switch {
	case m.Deleted:
		return m, nil, nil
	case m.Bytes != nil:
		value, err := pieces(rest, *m.Bytes)
		if err != nil {
			return m, nil, foreign(id)
		}
		return m, value, nil
	case len(rest) == 0:
		return m, nil, foreign(id)
	}
	value := make([]byte, 0, len(rest)+1)
	return m, append(append(value, '{'), bytes.TrimPrefix(rest, []byte(","))...), nil
}

// pieces reads the rest of an opaque document, whose value has length bytes.
func pieces(rest []byte, length int) ([]byte, error) {
	var told struct {
		Base64 []string `json:"base64"`
	}
	whole := append([]byte{'{'}, bytes.TrimPrefix(rest, []byte(","))...)
	if err := json.Unmarshal(whole, &told); err != nil {
		return nil, err
	}
	if length < 0 || length > coord.MaxValue {
		return nil, fault.New(fault.Corrupt, "a value of %d bytes", length)
	}
	value := make([]byte, 0, length)
	for _, piece := range told.Base64 {
		var err error
		if value, err = base64.StdEncoding.AppendDecode(value, []byte(piece)); err != nil {
			return nil, err
		}
	}
	if len(value) != length {
		return nil, fault.New(fault.Corrupt, "%d bytes, not %d", len(value), length)
	}
	return value, nil
}

func foreign(id string) error {
	err := fault.At(fault.New(fault.Corrupt, "the document is not what this store wrote"), "record "+strings.ToValidUTF8(id, "�"))
	return fault.WithNext(err, "another program changed it: look at it in the index, and write it back or delete it")
}
