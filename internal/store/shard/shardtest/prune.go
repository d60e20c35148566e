package shardtest

import (
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/store/shard"
)

var prunings = []test{
	{"nothing before its minimum age", pruneAge},
	{"the minimum age is a minute, if nobody says otherwise", pruneDefaultAge},
	{"nothing behind the last refresh", pruneRefresh},
	{"nothing that an open reader is behind of", pruneReader},
	{"a tombstone goes, and the versions begin again", pruneTombstone},
	{"a document that was made again stays", pruneRecreated},
	{"documents stay, and numbers go on", pruneNumbers},
	{"it is durable", pruneReopened},
	{"pruning again removes no more", pruneAgain},
}

// The conversations write each change alone where they prune between two: an engine
// may keep the changes of one write together.

// later is a time after all that a test has written.
func later(d time.Duration) time.Time { return time.Now().Add(d) }

// prunes expects the changes up to seqNo to be gone as of a time.
func (k *talk) prunes(now time.Time, seqNo int64) {
	k.Helper()
	k.must(k.shard.Prune(k.ctx, now))
	if s := k.shard.Stats(); s.Pruned != seqNo {
		k.Fatalf("pruned up to %d, expected %d", s.Pruned, seqNo)
	}
}

func pruneAge(t *testing.T, c Case) {
	k := beginWith(t, c, 1, shard.Settings{MinimumAge: time.Hour})
	k.write(deleted("a"))
	k.refresh()
	k.prunes(later(0), -1)
	k.prunes(later(30*time.Minute), -1)
	k.gone("a")
	k.prunes(later(2*time.Hour), 0)
	k.absent("a")
}

func pruneDefaultAge(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(deleted("a"))
	k.refresh()
	k.prunes(time.Now(), -1)
	k.prunes(later(-time.Hour), -1)
	k.prunes(later(40*time.Second), -1)
	k.prunes(later(2*time.Minute), 0)
}

func pruneRefresh(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(deleted("a"))
	k.prunes(later(2*time.Hour), -1)
	k.refresh()
	k.write(deleted("b"))
	k.prunes(later(2*time.Hour), 0)
	k.absent("a")
	k.gone("b")
	k.refresh()
	k.prunes(later(2*time.Hour), 1)
}

func pruneReader(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(deleted("a"))
	k.refresh()
	r := k.acquire()
	k.write(deleted("b"))
	k.refresh()
	second := k.acquire()
	defer second.Close()
	k.write(deleted("c"))
	k.refresh()
	k.prunes(later(2*time.Hour), 0)
	k.gone("b")
	if rows := k.scan(r, everything); len(rows) != 1 || rows[0].ID != "a" {
		t.Fatalf("the reader shows %v", rows)
	}
	k.must(r.Close())
	k.prunes(later(2*time.Hour), 1)
	k.gone("c")
}

func pruneTombstone(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("a", `1`), indexed("a", `2`), deleted("a"), deleted("never"))
	if s := k.shard.Stats(); s.Tombstones != 2 || s.Docs != 0 {
		t.Fatalf("%+v", s)
	}
	k.pruned(3)
	k.absent("a")
	k.absent("never")
	if s := k.shard.Stats(); s.Tombstones != 0 || s.Docs != 0 || s.Bytes != 0 {
		t.Fatalf("%+v", s)
	}
	if r := k.write(created("a", `3`)); r.Versions != (document.Versions{Version: 1, SeqNo: 4, PrimaryTerm: 1}) || r.Outcome != document.Created {
		t.Fatalf("%+v", r)
	}
	if found := k.changes(3, 10); len(found) != 1 || found[0].Previous != -1 {
		t.Fatalf("%v", found)
	}
	op := indexed("never", `{}`)
	op.Condition = document.Condition{SeqNo: document.Unset, Version: 1, VersionType: document.External}
	if r := k.write(op); r.Outcome != document.Created {
		t.Fatalf("%+v", r)
	}
}

func pruneRecreated(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("a", `1`))
	k.write(deleted("a"))
	k.write(indexed("b", `1`))
	k.write(deleted("b"))
	k.refresh()
	k.write(indexed("a", `2`))
	k.write(deleted("b")) // a tombstone over the tombstone
	k.prunes(later(2*time.Hour), 3)
	if row := k.expect("a", `2`); row.Version != 3 {
		t.Fatalf("%+v", row)
	}
	if row := k.gone("b"); row.Version != 3 || row.SeqNo != 5 {
		t.Fatalf("%+v", row)
	}
	k.pruned(5)
	k.expect("a", `2`)
	k.absent("b")
	k.expectReaderAfterPrune(1)
}

// expectReaderAfterPrune writes once, so that a refresh shows what pruning left.
func (k *talk) expectReaderAfterPrune(docs int) {
	k.Helper()
	k.write(indexed("last", `{}`))
	k.expectReader(docs + 1)
	if s, counted := k.shard.Stats(), k.count(); s.Docs != counted.Docs || s.Tombstones != counted.Tombstones || s.Bytes != counted.Bytes {
		k.Fatalf("statistics %+v, a scan counts %+v", s, counted)
	}
}

func pruneNumbers(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("a", `1`))
	k.write(indexed("b", `1`))
	k.pruned(1)
	row := k.expect("a", `1`)
	if row.SeqNo != 0 || row.Version != 1 {
		t.Fatalf("%+v", row)
	}
	op := indexed("a", `2`)
	op.Condition.SeqNo, op.Condition.PrimaryTerm = 0, 1
	if r := k.write(op); r.SeqNo != 2 || r.Version != 2 {
		t.Fatalf("%+v", r)
	}
	if found := k.changes(1, 10); len(found) != 1 || found[0].Previous != 0 {
		t.Fatalf("%v", found)
	}
}

func pruneReopened(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("a", `1`), deleted("b"))
	k.write(deleted("c"))
	k.refresh()
	k.write(deleted("d"))
	k.prunes(later(2*time.Hour), 2)
	k.reopen()
	k.absent("b")
	k.absent("c")
	k.gone("d")
	k.expect("a", `1`)
	if s := k.shard.Stats(); s.Pruned != 2 || s.SeqNo != 3 || s.Docs != 1 || s.Tombstones != 1 {
		t.Fatalf("%+v", s)
	}
	k.expired(k.refusal(k.at(1)), 1, 3)
	k.prunes(later(2*time.Hour), 3)
	k.reopen()
	if r := k.write(indexed("e", `1`)); r.SeqNo != 4 {
		t.Fatalf("all changes are gone, and the next is %+v", r)
	}
	k.expectReaderAfterPrune(2)
}

func pruneAgain(t *testing.T, c Case) {
	k := begin(t, c)
	k.prunes(later(2*time.Hour), -1)
	k.write(indexed("a", `1`))
	k.refresh()
	for range 3 {
		k.prunes(later(2*time.Hour), 0)
	}
	k.prunes(later(-2*time.Hour), 0)
}
