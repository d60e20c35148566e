package reconcile_test

import (
	"encoding/binary"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
)

// entry is a copy of a document, all of one key: a version, and content as one byte.
func entry(version int64, content byte) reconcile.Entry {
	e := reconcile.Entry{ID: []byte("a"), Version: version}
	e.Key, e.Content[0] = 7, content
	return e
}

func TestCopiesOfOneDocument(t *testing.T) {
	torn := entry(2, 0)
	torn.Unreadable = true
	type entries = []reconcile.Entry
	for name, tc := range map[string]struct {
		sides [reconcile.Sides]entries
		want  string
	}{
		"there before, and gone": {[3]entries{nil, nil, {entry(1, 1)}}, "no differences"},
		"deleted since":          {[3]entries{nil, {entry(1, 1)}, {entry(1, 1)}}, "zombie 1\nzombie \"a\" version 2; found version 1"},
		"never there":            {[3]entries{nil, {entry(1, 1)}, nil}, "ghost 1\nghost \"a\" version 1"},
		"the newest is meant":    {[3]entries{{entry(3, 3), entry(2, 2)}, {entry(3, 3)}}, "no differences"},
		"the last is meant":      {[3]entries{{entry(-1, 2), entry(-1, 3)}, {entry(-1, 3)}}, "no differences"},
		"the right copy counts":  {[3]entries{{entry(2, 2)}, {entry(1, 1), entry(2, 2)}}, "misplaced 1\nmisplaced \"a\" version 2 at books/0/0; found version 2"},
		"the first right copy":   {[3]entries{{entry(2, 2)}, {entry(2, 2), entry(1, 1)}}, "misplaced 1\nmisplaced \"a\" version 2 at books/0/0; found version 1"},
		"two ghosts of one":      {[3]entries{nil, {entry(1, 1), entry(2, 2)}}, "ghost 1, misplaced 1\nghost \"a\" version 1\nmisplaced \"a\" version 2"},
		"unreadable truth":       {[3]entries{{torn}, {entry(1, 1)}}, "unreadable 1\nunreadable version 2 at books/0/0"},
		"unreadable on the other side": {[3]entries{{entry(2, 2)}, {torn}},
			"unreadable 1\nunreadable \"a\" version 2 at books/0/0; found version 2"},
		"no version is known": {[3]entries{{entry(-1, 2)}, {entry(2, 1)}}, "different 1\ndifferent \"a\" at books/0/0; found version 2"},
	} {
		s := sides{}
		for side := range tc.sides {
			for _, e := range tc.sides[side] {
				s[side] = append(s[side], copied{Entry: e})
			}
		}
		if r, _ := s.run(t, 10, reconcile.Bounds{Documents: 10, Looks: 1, Examples: 10, Before: true}); r.Report.String() != tc.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, r.Report, tc.want)
		}
	}
}

// TestASideThatGrows meanwhile is told, before it fills the memory.
func TestASideThatGrows(t *testing.T) {
	r := reconcile.NewRun("books", 10, reconcile.Bounds{Documents: 10, Looks: 1, Examples: 1})
	p := r.Part(reconcile.Expected)
	p.Add(doc(1, "", 1).Entry)
	if err := r.Take(p); err != nil {
		t.Fatal(err)
	}
	r.Whole(reconcile.Expected)
	r.Whole(reconcile.Found)
	var err error
	p = r.Part(reconcile.Expected)
	for n := uint64(0); n < 100 && err == nil; n++ {
		e := doc(1, "", 1).Entry
		e.Key += n
		p.Add(e)
		err = r.Take(p)
	}
	if !fault.Is(err, fault.Limit) {
		t.Errorf("a look took all: %v", err)
	}
}

// TestDamagedStates have a checksum that fits: what is behind it is looked at all the same.
func TestDamagedStates(t *testing.T) {
	r := reconcile.NewRun("books", 1, reconcile.Bounds{Documents: 10, Looks: 1, Examples: 2})
	good, err := r.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	const magic = 21
	text, width := binary.Uvarint(good[magic:])
	head := magic + width + int(text) // then: nothing is left, a scope of no bits, one prefix, 16 empty buckets and no suspects, twice
	change := func(from, to int, by ...byte) []byte {
		return reconcile.Sealed(append(append(append([]byte(nil), good[:from]...), by...), good[to:]...))
	}
	if _, err := reconcile.ReadRun(change(head, head+7, 0, 0, 1, 0, 0, 16, 0)); err != nil {
		t.Fatalf("the form is not as this test believes: %v", err)
	}
	for name, data := range map[string][]byte{
		"nothing":                nil,
		"another magic":          change(0, 1, 'x'),
		"a checksum":             append(append([]byte(nil), good[:len(good)-1]...), good[len(good)-1]+1),
		"no JSON":                change(magic+width, magic+width+1, 'x'),
		"something left":         change(head, head+1, 1, 0, 0),
		"a prefix of no bits":    change(head+3, head+4, 1),
		"a prefix of many bits":  change(head+1, head+2, 70),
		"two equal prefixes":     change(head+2, head+4, 2, 0, 0),
		"more behind the end":    change(len(good)-4, len(good)-4, 'x'),
		"too many empty ones":    change(head+4, head+6, 0, 17),
		"no empty ones":          change(head+4, head+6, 0, 0),
		"a suspect of no bucket": change(head+6, head+7, 1, 16, 1),
		"more suspects than all": change(head+6, head+7, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f),
		"a sum cut off":          change(head+4, head+6, 1, 2),
	} {
		if _, err := reconcile.ReadRun(data); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
