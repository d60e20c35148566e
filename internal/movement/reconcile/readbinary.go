package reconcile

import (
	"encoding/binary"
	"encoding/json"
	"hash/crc32"

	"github.com/reshelve/reshelve/internal/fault"
)

// ReadRun reads the binary form: fault.Corrupt for anything else.
func ReadRun(data []byte) (*Run, error) {
	body := len(data) - 4
	if body < len(magic) || string(data[:len(magic)]) != magic {
		return nil, fault.New(fault.Corrupt, "this is no state of a comparison, or one of another release")
	}
	if got, want := crc32.ChecksumIEEE(data[:body]), binary.BigEndian.Uint32(data[body:]); got != want {
		return nil, fault.New(fault.Corrupt, "the state of the comparison has the checksum %08x, computed %08x", want, got)
	}
	d := reader{data: data[len(magic):body]}
	var s small
	if err := json.Unmarshal(d.bytes(d.number()), &s); err != nil {
		return nil, fault.Wrap(fault.Corrupt, err)
	}
	r := &Run{index: s.Index, bounds: s.Bounds, pass: s.Pass, narrowed: s.Narrowed, looked: s.Looked, read: s.Read, done: s.Done,
		Totals: s.Totals, Report: s.Report, bits: s.Bits}
	r.Report.Limit = s.Bounds.Examples
	d.bad = d.bad || s.Bits < 0 || s.Bits > 64 || s.Done && s.Sums || s.Pass <= 0 && !s.Sums || !s.Done && !s.Sums && !s.Looks
	r.open = d.open(s.Bits)
	if s.Sums {
		d.tables(r, s.More)
	}
	if s.Looks {
		d.look(r, &s)
	}
	if d.bad || len(d.data) != 0 {
		return nil, fault.New(fault.Corrupt, "the state of the comparison ends in the middle, or goes on behind its end")
	}
	if r.done {
		r.rest = scopeOf(r.open, r.bits)
	}
	return r, nil
}

// reader takes a binary form apart; bad remembers that something was missing or impossible.
type reader struct {
	data []byte
	bad  bool
}

func (d *reader) number() uint64 {
	n, length := binary.Uvarint(d.data)
	d.skip(length)
	return n
}

func (d *reader) signed() int64 {
	n, length := binary.Varint(d.data)
	d.skip(length)
	return n
}

// skip passes over a number.
func (d *reader) skip(length int) {
	if length <= 0 {
		d.bad, d.data = true, nil
		return
	}
	d.data = d.data[length:]
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

// prefix is the next of ascending prefixes of so many bits.
func (d *reader) prefix(before uint64, first bool, bits int) uint64 {
	distance := d.number()
	next := before + distance
	d.bad = d.bad || next < before || distance == 0 && !first || next>>bits != 0
	return next
}

func (d *reader) open(bits int) (all []unequal) {
	prefix := uint64(0)
	for n := d.number(); n > 0 && !d.bad; n-- {
		u := unequal{prefix: d.prefix(prefix, len(all) == 0, bits)}
		u.documents[Expected], u.documents[Found], u.suspects = int64(d.number()), int64(d.number()), int64(d.number())
		d.bad = d.bad || u.documents[Expected] < 0 || u.documents[Found] < 0 || u.suspects < 0
		prefix = u.prefix
		all = append(all, u)
	}
	return all
}

func (d *reader) scope() *scope {
	s := &scope{bits: int(min(d.number(), 65))}
	d.bad = d.bad || s.bits > 64
	prefix := uint64(0)
	for n := d.number(); n > 0 && !d.bad; n-- {
		prefix = d.prefix(prefix, len(s.prefixes) == 0, s.bits)
		s.prefixes = append(s.prefixes, prefix)
	}
	return s
}

func (d *reader) tables(r *Run, more int) {
	s := d.scope()
	if d.bad = d.bad || more < 0 || more > maxBits || s.bits+more > 64 || len(s.prefixes)<<more > 1<<maxBits; d.bad {
		return
	}
	r.sum(s, more)
	for _, t := range r.tables {
		d.table(t)
	}
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
		if count := d.number(); at >= uint64(len(t.suspects)) || count == 0 || count > 1<<32-1 {
			d.bad = true
		} else if !d.bad {
			t.suspects[at] = uint32(count)
		}
	}
}

func (d *reader) look(r *Run, s *small) {
	r.look = newLook(d.scope())
	r.look.misplaced = s.Misplaced
	key := uint64(0)
	for n := d.number(); n > 0 && !d.bad; n-- {
		key = d.prefix(key, len(r.look.items) == 0, 64)
		i := &item{}
		if content := d.bytes(8); !d.bad {
			i.content = binary.BigEndian.Uint64(content)
		}
		i.version, i.number, i.shard = d.signed(), d.signed(), int32(d.signed())
		if is := d.bytes(1); !d.bad {
			i.fate = fate(is[0])
			d.bad = i.fate >= misplaced
		}
		if i.fate.replaced() {
			if found := d.bytes(8); !d.bad {
				i.found = binary.BigEndian.Uint64(found)
			}
		}
		r.look.items[key] = i
	}
	for _, c := range s.Candidates {
		if r.look.items[c.Key] == nil || c.Fate >= fates {
			d.bad = true
			return
		}
		r.look.candidates = append(r.look.candidates, c)
		r.look.kept[c.Fate]++
	}
}
