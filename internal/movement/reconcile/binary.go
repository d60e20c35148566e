package reconcile

import (
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"maps"
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
)

// The binary form: magic and version, what is a few numbers as JSON, then what is long: the
// buckets that are left; of a pass that sums, its scope and both tables; of a look, its scope
// and its items; and the CRC-32 (IEEE) of all that. Numbers are unsigned varints, or signed
// ones where they may be negative, unless another width is told. Prefixes and keys are told by
// their distance from the one before. A table is its buckets in order, each its count and the
// 16 bytes of its sum, where a count of 0 is followed by how many empty ones follow each other
// instead; then the number of suspect buckets, each by its distance, with its count.
const magic = "reshelve reconcile 5\n"

// small is what is written down as JSON.
type small struct {
	Index      string      `json:"index"`
	Bounds     Bounds      `json:"bounds"`
	Pass       int         `json:"pass"`
	Narrowed   int         `json:"narrowed"`
	Looked     int         `json:"looked"`
	Read       [Sides]bool `json:"read"`
	Done       bool        `json:"done"`
	Totals     [2]Sum      `json:"totals"`
	Report     Report      `json:"report"`
	Bits       int         `json:"bits"` // of the prefixes that are left
	Sums       bool        `json:"sums"` // there are tables,
	More       int         `json:"more"` // of so many bits behind their prefixes
	Looks      bool        `json:"looks"`
	Misplaced  int64       `json:"misplaced"`
	Candidates []candidate `json:"candidates,omitempty"`
}

// MarshalJSON is the sum's text.
func (s Sum) MarshalJSON() ([]byte, error) { return json.Marshal(s.text()) }

// UnmarshalJSON is fault.Corrupt for anything else.
func (s *Sum) UnmarshalJSON(data []byte) error {
	var t sumText
	if err := json.Unmarshal(data, &t); err != nil || len(t.Sum) != 16 {
		return fault.New(fault.Corrupt, "%.60q is no sum", data)
	}
	*s = one([16]byte(t.Sum))
	s.Count = t.Count
	return nil
}

type sumText struct {
	Count int64  `json:"count"`
	Sum   []byte `json:"sum"`
}

func (s Sum) text() sumText {
	b := s.Bytes()
	return sumText{s.Count, b[:]}
}

// AppendBinary appends the binary form to dst.
func (r *Run) AppendBinary(dst []byte) ([]byte, error) {
	start := len(dst)
	s := small{Index: r.index, Bounds: r.bounds, Pass: r.pass, Narrowed: r.narrowed, Looked: r.looked, Read: r.read, Done: r.done,
		Totals: r.Totals, Report: r.Report, Bits: r.bits, Sums: r.tables[Expected] != nil, Looks: r.look != nil}
	if s.Sums {
		s.More = r.tables[Expected].more
	}
	if s.Looks {
		s.Misplaced, s.Candidates = r.look.misplaced, r.look.candidates
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fault.Wrap(fault.Bug, err)
	}
	dst = append(dst, magic...)
	dst = append(binary.AppendUvarint(dst, uint64(len(text))), text...)
	dst = appendOpen(dst, r.open)
	if s.Sums {
		dst = r.tables[Expected].scope.appendBinary(dst)
		for _, t := range r.tables {
			dst = t.appendBinary(dst)
		}
	}
	if s.Looks {
		dst = r.look.appendItems(r.look.scope.appendBinary(dst))
	}
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[start:])), nil
}

func appendOpen(dst []byte, open []unequal) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(open)))
	before := uint64(0)
	for i := range open {
		u := &open[i]
		dst = binary.AppendUvarint(dst, u.prefix-before)
		before = u.prefix
		for _, n := range []int64{u.documents[Expected], u.documents[Found], u.suspects} {
			dst = binary.AppendUvarint(dst, uint64(n))
		}
	}
	return dst
}

func (s *scope) appendBinary(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(s.bits))
	dst = binary.AppendUvarint(dst, uint64(len(s.prefixes)))
	before := uint64(0)
	for _, prefix := range s.prefixes {
		dst = binary.AppendUvarint(dst, prefix-before)
		before = prefix
	}
	return dst
}

func (t *Table) appendBinary(dst []byte) []byte {
	for i := 0; i < len(t.buckets); i++ {
		s := t.buckets[i]
		dst = binary.AppendUvarint(dst, uint64(s.Count))
		if s.Count != 0 {
			sum := s.Bytes()
			dst = append(dst, sum[:]...)
			continue
		}
		empty := 1
		for i+empty < len(t.buckets) && t.buckets[i+empty].Count == 0 {
			empty++
		}
		dst = binary.AppendUvarint(dst, uint64(empty))
		i += empty - 1
	}
	suspect := 0
	for _, n := range t.suspects {
		if n > 0 {
			suspect++
		}
	}
	dst = binary.AppendUvarint(dst, uint64(suspect))
	before := 0
	for at, n := range t.suspects {
		if n > 0 {
			dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(at-before)), uint64(n))
			before = at
		}
	}
	return dst
}

func (l *look) appendItems(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(l.items)))
	before := uint64(0)
	for _, key := range slices.Sorted(maps.Keys(l.items)) {
		i := l.items[key]
		dst = binary.AppendUvarint(dst, key-before)
		before = key
		dst = binary.BigEndian.AppendUint64(dst, i.content)
		dst = binary.AppendVarint(dst, i.version)
		dst = binary.AppendVarint(dst, i.number)
		dst = append(binary.AppendVarint(dst, int64(i.shard)), byte(i.fate))
		if i.fate.replaced() {
			dst = binary.BigEndian.AppendUint64(dst, i.found)
		}
	}
	return dst
}
