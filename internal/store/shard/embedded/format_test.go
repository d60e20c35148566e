package embedded

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// The bytes are what FORMAT.md says, so that a change of either is noticed.
func TestTheFormatIsAsDocumented(t *testing.T) {
	h := head{Versions: document.Versions{Version: 300, SeqNo: 5, PrimaryTerm: 2}, routing: 3}
	row := appendHead(appendName(nil, 7, 0x0102030405060708, "id"), h)
	packed := appendHead(nil, head{Versions: document.Versions{Version: 1, SeqNo: 5, PrimaryTerm: 2}, routing: 3, packed: 1000})
	r := appendChange(runHead(2, time.Unix(0, 129), 1), 1, "id", shard.Delete, -1)
	s := encodeState(&state{last: 4, pruned: -1, term: 2, docs: 3, tombstones: 1, bytes: 130, within: routing.Whole})
	for what, got := range map[string]struct {
		bytes []byte
		want  string
	}{
		"row":      {row, "64 00000007 0102030405060708 6964 00 fffffffffffffffa 02 02 ac02 03 0e"},
		"packed":   {packed, "fffffffffffffffa 06 02 01 03 e807 0f"},
		"run key":  {appendRunKey(nil, shard.ID{Index: 7, Number: 1}, 5), "63 00000007 00000001 0000000000000005 00"},
		"run":      {r, "02 8101 01 01 0000000000000001 00 02 6964"},
		"state":    {s, "05 00 02 03 01 8201 0000000000000000 ffffffffffffffff"},
		"state of": {stateKey(shard.ID{Index: 7, Number: 1}), "73 00000007 00000001 00"},
		"hold of":  {holdKey(shard.ID{Index: 7, Number: 1}, "a"), "68 00000007 00000001 61 00"},
		"hold":     {encodePosition(shard.Position{Incarnation: 2, SeqNo: -1}), "02 00"},
	} {
		if hex := fmt.Sprintf("%x", got.bytes); hex != strings.ReplaceAll(got.want, " ", "") {
			t.Errorf("%s is %s, documented is %s", what, hex, got.want)
		}
	}
}

func TestHeadsComeBack(t *testing.T) {
	for _, h := range []head{
		{},
		{Versions: document.Versions{Version: math.MaxInt64, SeqNo: math.MaxInt64, PrimaryTerm: math.MaxInt64}, deleted: true, routing: 1 << 30},
		{Versions: document.Versions{Version: 1, SeqNo: 0, PrimaryTerm: 1}, routing: 1},
		{Versions: document.Versions{Version: math.MaxInt64, SeqNo: math.MaxInt64, PrimaryTerm: math.MaxInt64}, routing: 1<<31 - 1, packed: 1<<31 - 1},
	} {
		data := appendHead(nil, h)
		if back, err := readHead(data); err != nil || back != h || len(data) > maxHead {
			t.Errorf("%+v: % x is %+v, %v", h, data, back, err)
		}
		key, id, back, err := splitRow(appendHead(appendName(nil, 1, 2, "a\x00b"), h))
		if key != 2 || string(id) != "a\x00b" || back != h || err != nil {
			t.Errorf("%v %q %+v %v", key, id, back, err)
		}
	}
}

// TestComparer holds the comparer to Pebble's rules for names and heads.
func TestComparer(t *testing.T) {
	var names, heads [][]byte
	for _, id := range []string{"", "\x00", "\x00\x00", "\x00\x01", "\x01", "a", "a\x00", "a\x00b", "ab", "b", "\xff"} {
		names = append(names, appendName(nil, 1, 0, id), appendName(nil, 1, 1, id))
	}
	names = append(names, stateKey(shard.ID{}), holdKey(shard.ID{}, "x"), appendRunKey(nil, shard.ID{}, 256))
	slices.SortFunc(names, bytes.Compare)
	for _, seqNo := range []int64{300, 2, 1, 0} { // newest first
		heads = append(heads, appendHead(nil, head{Versions: document.Versions{Version: 1, SeqNo: seqNo, PrimaryTerm: 1}}))
	}
	if err := pebble.CheckComparer(comparer, names, append([][]byte{{}}, heads...)); err != nil {
		t.Error(err)
	}
}

// FuzzSeparator: what separates two rows lies between them, and is a whole name.
func FuzzSeparator(f *testing.F) {
	f.Add(uint64(0x1122), "a", uint64(0x1123), "b")
	f.Add(uint64(0x11ff), "a", uint64(0x1200), "b")
	f.Add(uint64(1), "", uint64(1), "\x00")
	f.Add(uint64(1), "ab", uint64(1), "ac")
	f.Fuzz(func(t *testing.T, k1 uint64, id1 string, k2 uint64, id2 string) {
		a := appendHead(appendName(nil, 1, routing.Key(k1), id1), head{})
		b := appendHead(appendName(nil, 1, routing.Key(k2), id2), head{})
		switch compare(a, b) {
		case 0:
			return
		case 1:
			a, b = b, a
		}
		s := separator(nil, a, b)
		if compare(a, s) > 0 || compare(s, b) >= 0 || len(s) > len(a) || !bytes.Equal(s, a) && split(s) != len(s) {
			t.Errorf("% x does not separate % x and % x", s, a, b)
		}
	})
}

// TestRowsAreOrderedAsReferences compares the order of names with that of (order key, id).
func TestRowsAreOrderedAsReferences(t *testing.T) {
	refs := []shard.Ref{{Key: 0}, {Key: 0, ID: "\x00"}, {Key: 0, ID: "a"}, {Key: 0, ID: "a\x00"}, {Key: 0, ID: "a\x00\x00"},
		{Key: 0, ID: "a\x01"}, {Key: 0, ID: "b"}, {Key: 1}, {Key: 255, ID: "x"}, {Key: 256}, {Key: routing.MaxKey, ID: "\xff\xff"}}
	for i := 1; i < len(refs); i++ {
		a := appendHead(appendName(nil, 1, refs[i-1].Key, refs[i-1].ID), head{})
		b := appendHead(appendName(nil, 1, refs[i].Key, refs[i].ID), head{})
		if compare(a, b) >= 0 {
			t.Errorf("%v is not before %v", refs[i-1], refs[i])
		}
		lower, upper := rowBounds(1, routing.Range{From: refs[i].Key, To: refs[i].Key})
		if compare(lower, b) > 0 || compare(b, upper) >= 0 {
			t.Errorf("%v lies not within % x and % x", refs[i], lower, upper)
		}
	}
	_, upper := bounds(appendIndex(nil, rowSpace, math.MaxUint32))
	if top := appendHead(appendName(nil, math.MaxUint32, routing.MaxKey, "\xff"), head{}); compare(top, upper) >= 0 {
		t.Error("the last row of the last index lies beyond its bounds")
	}
}

func FuzzHead(f *testing.F) {
	f.Add(appendHead(nil, head{Versions: document.Versions{Version: 1, SeqNo: 2, PrimaryTerm: 3}, routing: 4}))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := readHead(data)
		if torn(t, err) {
			return
		}
		if back, err := readHead(appendHead(nil, h)); err != nil || back != h {
			t.Errorf("%+v is %+v, %v", h, back, err)
		}
		if row, err := rowOf(shard.Ref{}, h, data, false, nil); !torn(t, err) && h.packed == 0 && len(row.Routing)+len(row.Source) != len(data) {
			t.Errorf("%d of %d bytes", len(row.Routing)+len(row.Source), len(data))
		}
	})
}

func FuzzRow(f *testing.F) {
	f.Add(appendHead(appendName(nil, 1, 2, "id"), head{}))
	f.Fuzz(func(t *testing.T, key []byte) {
		if n := split(key); n < 0 || n > len(key) {
			t.Fatalf("% x is split at %d", key, n)
		}
		order, id, h, err := splitRow(key)
		if torn(t, err) {
			return
		}
		if back := appendHead(appendName(nil, 0, order, string(id)), h); len(back) > len(key)+4 {
			t.Errorf("% x came from % x", back, key)
		}
	})
}

func FuzzRun(f *testing.F) {
	f.Add(int64(5), appendChange(runHead(2, time.Unix(0, 129), 1), 1, "id", shard.Delete, 3))
	f.Fuzz(func(t *testing.T, first int64, data []byte) {
		r, err := readRun(first, data)
		if torn(t, err) {
			return
		}
		back := runHead(r.term, r.at, int(r.count))
		for seqNo := r.first; seqNo <= r.last(); seqNo++ {
			c, err := r.next(seqNo)
			if torn(t, err) {
				return
			}
			back = appendChange(back, c.Key, c.ID, c.Op, c.Previous)
		}
		if again, err := readRun(first, back); err != nil || again.count != r.count {
			t.Errorf("%+v %v", again, err)
		}
	})
}

func FuzzState(f *testing.F) {
	f.Add(encodeState(&state{last: 4, pruned: -1, term: 2, docs: 3, within: routing.Whole}))
	f.Add(encodeStaged(&staging{state: state{last: 4, pruned: 4, term: 2, docs: 3, within: routing.Whole, estimated: true}, goesOn: true}))
	f.Add(encodePosition(shard.Position{Incarnation: 3, SeqNo: 4}))
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, err := readState(data); !torn(t, err) {
			if back, err := readState(encodeState(&s)); err != nil || !reflect.DeepEqual(back, s) {
				t.Errorf("%+v is %+v, %v", s, back, err)
			}
		}
		if s, goesOn, err := readStaged(data); !torn(t, err) {
			back, again, err := readStaged(encodeStaged(&staging{state: s, goesOn: goesOn}))
			if err != nil || again != goesOn || !reflect.DeepEqual(back, s) {
				t.Errorf("staged: %+v is %+v, %v", s, back, err)
			}
		}
		if p, err := readPosition(data); !torn(t, err) {
			if back, err := readPosition(encodePosition(p)); err != nil || back != p {
				t.Errorf("%+v is %+v, %v", p, back, err)
			}
		}
	})
}

// torn reports whether a value could not be read, which must be told as damage.
func torn(t *testing.T, err error) bool {
	t.Helper()
	if err != nil && !fault.Is(err, fault.Corrupt) {
		t.Fatalf("%v (%v)", err, fault.KindOf(err))
	}
	return err != nil
}
