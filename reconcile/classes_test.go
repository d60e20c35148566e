package reconcile_test

import (
	"testing"

	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/reconcile"
)

// everything is a group that wants all documents.
func everything(t *testing.T) reconcile.Group {
	expected, found := reconcile.NewTable(4), reconcile.NewTable(4)
	for key := range uint64(16) {
		expected.Suspect(key << 60)
	}
	groups, err := reconcile.Groups(expected, found, 0, 1)
	if err != nil || len(groups) != 1 {
		t.Fatal(groups, err)
	}
	return groups[0]
}

// entry is a copy of a document, all of one key: a version, and content as one byte.
func entry(id, routing string, version int64, content byte) reconcile.Entry {
	e := reconcile.Entry{ID: id, Routing: routing, Version: version}
	e.Key, e.Content[0] = 7, content
	return e
}

func with(e reconcile.Entry, change func(*reconcile.Entry)) reconcile.Entry {
	change(&e)
	return e
}

func TestCopiesOfOneDocument(t *testing.T) {
	deleted := func(e *reconcile.Entry) { e.Deleted = true }
	unreadable := func(e *reconcile.Entry) { e.Unreadable = true }
	misplaced := func(e *reconcile.Entry) { e.Misplaced = true }
	type entries = []reconcile.Entry
	for name, tc := range map[string]struct {
		expected, found entries
		want            string
	}{
		"other ids of one key": {entries{entry("a", "", 1, 1)}, entries{entry("b", "", 1, 1)}, "missing 1, ghost 1\nmissing \"a\" version 1\nghost \"b\" version 1"},
		"other routings":       {entries{entry("a", "x", 1, 1)}, entries{entry("a", "y", 1, 1)}, "missing 1, ghost 1\nmissing \"a\" routing \"x\" version 1\nghost \"a\" routing \"y\" version 1"},
		"deleted since":        {entries{entry("a", "", 1, 1), with(entry("a", "", 2, 0), deleted)}, entries{entry("a", "", 1, 1)}, "zombie 1\nzombie \"a\" version 2; found version 1"},
		"deleted and gone":     {entries{entry("a", "", 1, 1), with(entry("a", "", 2, 0), deleted)}, nil, "no differences"},
		"deleted, one version": {entries{entry("a", "", 1, 1), with(entry("a", "", 1, 0), deleted)}, nil, "missing 1\nmissing \"a\" version 1"},
		"the newest is meant":  {entries{entry("a", "", 3, 3), entry("a", "", 2, 2)}, entries{entry("a", "", 3, 3)}, "no differences"},
		"the last is meant":    {entries{entry("a", "", -1, 2), entry("a", "", -1, 3)}, entries{entry("a", "", -1, 3)}, "no differences"},
		"the right copy counts": {entries{entry("a", "", 2, 2)}, entries{entry("a", "", 1, 1), entry("a", "", 2, 2)},
			"misplaced 1\nmisplaced \"a\" version 2; found version 1"},
		"a copy that can be read counts": {entries{entry("a", "", 2, 2)}, entries{with(entry("a", "", 2, 0), unreadable), entry("a", "", 1, 1)},
			"stale 1, misplaced 1\nmisplaced \"a\" version 2; found version 2\nstale \"a\" version 2; found version 1"},
		"unreadable truth":     {entries{with(entry("a", "", 2, 0), unreadable)}, entries{entry("a", "", 1, 1)}, "unreadable 1\nunreadable \"a\" version 2"},
		"misplaced and absent": {nil, entries{with(entry("a", "", 1, 1), misplaced)}, "misplaced 1\nmisplaced \"a\" version 1"},
	} {
		c := reconcile.NewCollector(everything(t), 100)
		for side, copies := range []entries{tc.expected, tc.found} {
			for _, e := range copies {
				if err := c.Add(reconcile.Side(side), e); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := c.Compare(10).String(); got != tc.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, tc.want)
		}
	}
}

// TestDamagedStates have a checksum that fits: what is behind it is looked at all the same.
func TestDamagedStates(t *testing.T) {
	r := reconcile.NewRun(1, 10, 2)
	good, err := r.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	const head = 22 // magic and bits
	change := func(from, to int, by ...byte) []byte {
		return reconcile.Sealed(append(append(append([]byte(nil), good[:from]...), by...), good[to:]...))
	}
	if _, err := reconcile.ReadRun(change(head, head+2, 0, 16)); err != nil {
		t.Fatalf("the form is not as this test believes: %v", err)
	}
	for name, data := range map[string][]byte{
		"nothing":                nil,
		"another magic":          change(0, 1, 'x'),
		"a checksum":             append(append([]byte(nil), good[:len(good)-1]...), good[len(good)-1]+1),
		"too many buckets":       change(head-1, head, 40),
		"more behind the end":    change(len(good)-4, len(good)-4, 'x'),
		"too many empty ones":    change(head, head+2, 0, 17),
		"no empty ones":          change(head, head+2, 0, 0),
		"a suspect of no bucket": change(head+2, head+3, 1, 16),
		"more suspects than all": change(head+2, head+3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f),
		"a sum cut off":          change(head, head+2, 1, 2),
	} {
		if _, err := reconcile.ReadRun(data); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.Summed[reconcile.Expected] = true
	if _, err := r.Groups(); !fault.Is(err, fault.Bug) {
		t.Errorf("one side is summed, and compared: %v", err)
	}
}
