package document

import (
	"encoding/base64"
	"encoding/binary"

	"github.com/reshelve/reshelve/internal/fault"
)

// Row is a document as our store hands all of an index to another process: page by page, in
// the order of keys and ids. A page is rows, and an end, so that one that was cut is known. A
// row, with numbers of big-endian bytes:
//
//	length of id (4) · of routing (4) · of source (4) · order key (8) · version (8) · id · routing · source
//
// No id is empty, so four zero bytes are the end.
type Row struct {
	Key                 uint64 // order key
	Version             int64
	ID, Routing, Source []byte // Source is empty when the index shows none
}

// rowHead is how long a row is without its texts.
const rowHead = 3*4 + 2*8

// Append appends the row to a page.
func (r *Row) Append(page []byte) []byte {
	for _, text := range [...][]byte{r.ID, r.Routing, r.Source} {
		page = binary.BigEndian.AppendUint32(page, uint32(len(text)))
	}
	page = binary.BigEndian.AppendUint64(page, r.Key)
	page = binary.BigEndian.AppendUint64(page, uint64(r.Version))
	return append(append(append(page, r.ID...), r.Routing...), r.Source...)
}

// EndRows appends the end of a page.
func EndRows(page []byte) []byte { return append(page, 0, 0, 0, 0) }

// Read reads the first row of what is left of a page, of which its texts are parts. At the end
// nothing is left; a page that was cut is fault.Corrupt.
func (r *Row) Read(page []byte) (left []byte, err error) {
	if len(page) == 4 && binary.BigEndian.Uint32(page) == 0 {
		return nil, nil
	}
	if len(page) >= rowHead {
		id, routing, source := uint64(binary.BigEndian.Uint32(page)), uint64(binary.BigEndian.Uint32(page[4:])), uint64(binary.BigEndian.Uint32(page[8:]))
		r.Key, r.Version = binary.BigEndian.Uint64(page[12:]), int64(binary.BigEndian.Uint64(page[20:]))
		texts := page[rowHead:]
		if all := id + routing + source; id > 0 && all <= uint64(len(texts)) {
			r.ID, r.Routing, r.Source = texts[:id:id], texts[id:id+routing:id+routing], texts[id+routing:all:all]
			return texts[all:], nil
		}
	}
	return nil, fault.New(fault.Corrupt, "a page of rows is torn, %d bytes before its end", len(page))
}

// Place is where the row stands in the order of all.
func (r *Row) Place() string {
	return base64.RawURLEncoding.EncodeToString(append(binary.BigEndian.AppendUint64(nil, r.Key), r.ID...))
}

// ParsePlace reads what Place prints; fault.Usage for anything else.
func ParsePlace(text string) (key uint64, id string, err error) {
	place, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(place) <= 8 {
		return 0, "", fault.New(fault.Usage, "%q is no place of a row", text)
	}
	return binary.BigEndian.Uint64(place), string(place[8:]), nil
}
