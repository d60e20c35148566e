package xcontent

import (
	"bytes"
	"strconv"

	"github.com/reshelve/reshelve/internal/fault"
)

// maxShared is the length of a shared table; one entry more starts it anew.
const maxShared = 1024

// Flags in the fourth byte of the header; its upper half is the version, 0.
const (
	flagSharedNames  = 1
	flagSharedValues = 2
	flagsKnown       = 7 // the third says that raw binary may occur: no news to us
)

// smileReader turns SMILE (the Smile format specification 1.0.6, "Efficient JSON-
// compatible binary format: Smile", and Jackson's SmileConstants) into JSON in
// one pass. What back references need is a span of the output.
type smileReader struct {
	data   []byte
	pos    int
	out    []byte
	most   int    // how long out may become
	open   []byte // the brackets that are open, outermost first
	names  sharedTable
	values sharedTable
	unpack []byte // scratch for 7-bit binary
}

// sharedTable is a shared table: where in the output each entry was written.
type sharedTable struct {
	on    bool
	spans []span
}

type span struct{ start, end int }

func (t *sharedTable) add(start, end int) {
	if !t.on {
		return
	}
	if len(t.spans) == maxShared {
		t.spans = t.spans[:0]
	}
	t.spans = append(t.spans, span{start, end})
}

func appendSmile(dst, data []byte, most int) ([]byte, error) {
	r := smileReader{data: data, pos: 4, out: dst, most: len(dst) + most}
	if len(data) < 4 {
		return dst, corrupt(len(data), "the header is cut off")
	}
	flags := data[3]
	if flags&^flagsKnown != 0 {
		return dst, fault.New(fault.Refused, "version and flags %#02x of the header are not known", flags)
	}
	r.names.on = flags&flagSharedNames != 0
	r.values.on = flags&flagSharedValues != 0
	if err := r.document(); err != nil {
		return dst, err
	}
	return r.out, nil
}

// document reads one object and the optional end marker 0xFF.
func (r *smileReader) document() error {
	if r.pos == len(r.data) || r.data[r.pos] != 0xfa {
		return corrupt(r.pos, "no object begins here")
	}
	if err := r.value(); err != nil {
		return err
	}
	for len(r.open) > 0 {
		if r.pos >= len(r.data) {
			return corrupt(r.pos, "the data ends in %d open arrays and objects", len(r.open))
		}
		var err error
		if r.open[len(r.open)-1] == '{' {
			err = r.member()
		} else {
			err = r.element()
		}
		if err != nil {
			return err
		}
		if len(r.out) > r.most {
			return errTooLong
		}
	}
	if r.pos < len(r.data) && r.data[r.pos] == 0xff {
		r.pos++
	}
	if r.pos < len(r.data) {
		return corrupt(r.pos, "%d bytes follow the object", len(r.data)-r.pos)
	}
	return nil
}

func (r *smileReader) begin(bracket byte) error {
	if len(r.open) == maxDepth {
		return tooDeep()
	}
	r.open = append(r.open, bracket)
	r.out = append(r.out, bracket)
	return nil
}

func (r *smileReader) end(bracket byte) {
	r.open = r.open[:len(r.open)-1]
	r.out = append(r.out, bracket)
	r.pos++
}

func (r *smileReader) element() error {
	if r.data[r.pos] == 0xf9 {
		r.end(']')
		return nil
	}
	r.out = appendComma(r.out)
	return r.value()
}

func (r *smileReader) member() error {
	if r.data[r.pos] == 0xfb {
		r.end('}')
		return nil
	}
	r.out = appendComma(r.out)
	if err := r.name(); err != nil {
		return err
	}
	r.out = append(r.out, ':')
	return r.value()
}

// name reads one token in the place of a member's name.
func (r *smileReader) name() error {
	at := r.pos
	t := r.data[at]
	r.pos++
	switch {
	case t == 0x20:
		r.out = append(r.out, '"', '"')
		return nil
	case t >= 0x30 && t <= 0x33:
		return r.longReference(&r.names, t)
	case t == 0x34:
		return r.untilEnd(&r.names)
	case t >= 0x40 && t <= 0x7f:
		return r.reference(&r.names, int(t-0x40))
	case t >= 0x80 && t <= 0xbf:
		return r.text(&r.names, int(t-0x80)+1)
	case t >= 0xc0 && t <= 0xf7:
		return r.text(&r.names, int(t-0xc0)+2)
	}
	return corrupt(at, "byte %#02x cannot begin a name", t)
}

// value reads one token in the place of a value; of arrays and objects only the
// beginning.
func (r *smileReader) value() error {
	if r.pos >= len(r.data) {
		return corrupt(r.pos, "the data ends where a value should be")
	}
	at := r.pos
	t := r.data[at]
	r.pos++
	switch t >> 5 {
	case 0:
		if t != 0 {
			return r.reference(&r.values, int(t)-1)
		}
	case 1:
		return r.simple(t)
	case 2, 3: // ASCII of 1 to 32, of 33 to 64 bytes
		return r.text(&r.values, int(t-0x40)+1)
	case 4, 5: // UTF-8 of 2 to 33, of 34 to 65 bytes
		return r.text(&r.values, int(t-0x80)+2)
	case 6:
		r.out = strconv.AppendInt(r.out, unzigzag(uint64(t&0x1f)), 10)
		return nil
	default:
		return r.structure(t)
	}
	return corrupt(at, "byte %#02x cannot begin a value", t)
}

// structure reads the rest of a token 0xE0 to 0xFF.
func (r *smileReader) structure(t byte) error {
	switch t {
	case 0xe0, 0xe4:
		return r.untilEnd(nil)
	case 0xe8:
		b, err := r.packedBinary()
		if err == nil {
			r.out = appendBase64(r.out, b)
		}
		return err
	case 0xec, 0xed, 0xee, 0xef:
		return r.longReference(&r.values, t)
	case 0xf8:
		return r.begin('[')
	case 0xfa:
		return r.begin('{')
	case 0xfd:
		return r.rawBinary()
	}
	return corrupt(r.pos-1, "byte %#02x cannot begin a value", t)
}

// text reads size bytes of a name or value and enters it into its table.
func (r *smileReader) text(table *sharedTable, size int) error {
	if size > len(r.data)-r.pos {
		return corrupt(r.pos, "a text of %d bytes is cut off", size)
	}
	s := r.data[r.pos : r.pos+size]
	start := len(r.out)
	var err error
	if r.out, err = appendString(r.out, s, r.most); err != nil {
		return wrongText(err, r.pos)
	}
	r.pos += size
	table.add(start, len(r.out))
	return nil
}

// untilEnd reads a text that ends with 0xFC. Long names are entered into the
// table (Jackson writes references to names of any length), long values are not.
func (r *smileReader) untilEnd(table *sharedTable) error {
	size := bytes.IndexByte(r.data[r.pos:], 0xfc)
	if size < 0 {
		return corrupt(r.pos, "a long text has no end marker")
	}
	if table == nil {
		table = &sharedTable{}
	}
	err := r.text(table, size)
	r.pos++
	return err
}

func (r *smileReader) longReference(table *sharedTable, t byte) error {
	if r.pos == len(r.data) {
		return corrupt(r.pos, "a back reference is cut off")
	}
	low := r.data[r.pos]
	r.pos++
	return r.reference(table, int(t&3)<<8|int(low))
}

// reference repeats an entry of a shared table.
func (r *smileReader) reference(table *sharedTable, index int) error {
	if index >= len(table.spans) {
		return corrupt(r.pos-1, "back reference %d, but only %d entries are shared", index, len(table.spans))
	}
	s := table.spans[index]
	r.out = append(r.out, r.out[s.start:s.end]...)
	return nil
}
