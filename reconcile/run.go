package reconcile

import (
	"encoding/binary"
	"encoding/json"
	"hash/crc32"

	"github.com/reshelve/reshelve/fault"
)

// Run is how far a comparison has come. It may be stored at any time, and read again by
// another process, in its binary form.
type Run struct {
	Tables [2]*Table // by Side
	// Marks are how far each side was summed: the caller's, read by nobody else. A side that
	// is summed whole has none.
	Marks  [2][]byte
	Summed [2]bool
	// Next is the first bucket that the second pass has not looked at.
	Next   uint32
	Limit  int64 // documents of a group
	Report Report
}

// NewRun begins a comparison of about so many documents. The second pass holds up to limit
// documents at a time, and the report up to examples of each class.
func NewRun(documents, limit int64, examples int) *Run {
	bits := Bits(documents)
	return &Run{Tables: [2]*Table{NewTable(bits), NewTable(bits)}, Limit: limit, Report: Report{Limit: examples}}
}

// Groups are what the second pass has still to look at. It is fault.Bug before both sides are
// summed.
func (r *Run) Groups() ([]Group, error) {
	if !r.Summed[Expected] || !r.Summed[Found] {
		return nil, fault.New(fault.Bug, "the sides are compared before they are summed")
	}
	return Groups(r.Tables[Expected], r.Tables[Found], r.Next, r.Limit)
}

// Looked takes what the second pass has found in a group.
func (r *Run) Looked(g Group, found Report) {
	r.Report.Merge(&found)
	r.Next = max(r.Next, g.To)
}

// The binary form: magic and version, the bits, then both tables, what is known of each side,
// the second pass, the report as JSON, and the CRC-32 (IEEE) of all that. Numbers are unsigned
// varints unless another width is told. A table is its buckets in order, each its count and
// the 16 bytes of its sum, where a count of 0 is followed by how many empty ones follow each
// other instead; then the number of suspects, and each as its distance from the one before.
const magic = "reshelve reconcile 1\n"

// AppendBinary appends the binary form to dst.
func (r *Run) AppendBinary(dst []byte) ([]byte, error) {
	start := len(dst)
	dst = append(dst, magic...)
	dst = append(dst, byte(r.Tables[0].bits))
	for side, t := range r.Tables {
		dst = t.appendBinary(dst)
		summed := byte(0)
		if r.Summed[side] {
			summed = 1
		}
		dst = append(dst, summed)
		dst = append(binary.AppendUvarint(dst, uint64(len(r.Marks[side]))), r.Marks[side]...)
	}
	dst = binary.AppendUvarint(dst, uint64(r.Next))
	dst = binary.AppendUvarint(dst, uint64(max(r.Limit, 0)))
	dst = binary.AppendUvarint(dst, uint64(max(r.Report.Limit, 0)))
	report, err := json.Marshal(r.Report)
	if err != nil {
		return nil, fault.Wrap(fault.Bug, err)
	}
	dst = append(binary.AppendUvarint(dst, uint64(len(report))), report...)
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[start:])), nil
}

func (t *Table) appendBinary(dst []byte) []byte {
	for i := 0; i < len(t.buckets); i++ {
		s := t.buckets[i]
		dst = binary.AppendUvarint(dst, uint64(s.Count))
		if s != (Sum{}) {
			sum := s.Bytes()
			dst = append(dst, sum[:]...)
			continue
		}
		empty := 1
		for i+empty < len(t.buckets) && t.buckets[i+empty] == (Sum{}) {
			empty++
		}
		dst = binary.AppendUvarint(dst, uint64(empty))
		i += empty - 1
	}
	var suspects []uint32
	for n := range uint32(len(t.buckets)) {
		if t.suspect.has(n) {
			suspects = append(suspects, n)
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(suspects)))
	before := uint32(0)
	for _, n := range suspects {
		dst = binary.AppendUvarint(dst, uint64(n-before))
		before = n
	}
	return dst
}

// ReadRun reads the binary form: fault.Corrupt for anything else.
func ReadRun(data []byte) (*Run, error) {
	body := len(data) - 4
	if body < len(magic)+1 || string(data[:len(magic)]) != magic {
		return nil, fault.New(fault.Corrupt, "this is no state of a comparison, or one of another release")
	}
	if got, want := crc32.ChecksumIEEE(data[:body]), binary.BigEndian.Uint32(data[body:]); got != want {
		return nil, fault.New(fault.Corrupt, "the state of the comparison has the checksum %08x, computed %08x", want, got)
	}
	bits := int(data[len(magic)])
	if bits < minBits || bits > maxBits {
		return nil, fault.New(fault.Corrupt, "the state of the comparison has 2^%d buckets", bits)
	}
	d := reader{data: data[len(magic)+1 : body]}
	r := &Run{Tables: [2]*Table{NewTable(bits), NewTable(bits)}}
	for side := range r.Tables {
		d.table(r.Tables[side])
		if summed := d.bytes(1); len(summed) == 1 {
			r.Summed[side] = summed[0] == 1
		}
		if mark := d.bytes(d.number()); len(mark) > 0 {
			r.Marks[side] = append([]byte(nil), mark...)
		}
	}
	r.Next = uint32(min(d.number(), 1<<maxBits))
	r.Limit = int64(d.number() &^ (1 << 63))
	r.Report.Limit = int(min(d.number(), 1<<20))
	report := d.bytes(d.number())
	if d.bad || len(d.data) != 0 {
		return nil, fault.New(fault.Corrupt, "the state of the comparison ends in the middle, or goes on behind its end")
	}
	if err := json.Unmarshal(report, &r.Report); err != nil {
		return nil, fault.Wrap(fault.Corrupt, err)
	}
	return r, nil
}

// reader takes a binary form apart; bad remembers that something was missing.
type reader struct {
	data []byte
	bad  bool
}

func (d *reader) number() uint64 {
	n, length := binary.Uvarint(d.data)
	if length <= 0 {
		d.bad, d.data = true, nil
		return 0
	}
	d.data = d.data[length:]
	return n
}

func (d *reader) bytes(n uint64) []byte {
	if n > uint64(len(d.data)) {
		d.bad, d.data = true, nil
		return nil
	}
	b := d.data[:n]
	d.data = d.data[n:]
	return b
}

func (d *reader) table(t *Table) {
	for i := uint64(0); i < uint64(len(t.buckets)) && !d.bad; i++ {
		count := d.number()
		if count == 0 {
			empty := d.number()
			if d.bad = d.bad || empty == 0 || empty > uint64(len(t.buckets))-i; !d.bad {
				i += empty - 1
			}
			continue
		}
		if sum := d.bytes(16); !d.bad {
			t.buckets[i] = one([16]byte(sum))
			t.buckets[i].Count = int64(count)
		}
	}
	at := uint64(0)
	for n := d.number(); n > 0 && !d.bad; n-- {
		at += d.number()
		if at >= uint64(len(t.buckets)) {
			d.bad = true
			return
		}
		t.suspect.set(uint32(at))
	}
}
