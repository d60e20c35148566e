package shardtest

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/reshelve/reshelve/internal/store/shard"
)

var refreshes = []test{
	{"a write is shown by the next refresh, not before", shownByRefresh},
	{"a refresh without a new write publishes nothing", nothingNew},
	{"a shard that is opened again shows all that it has", shownAfterReopen},
	{"who awaits a refresh is woken by it", awaitWakes},
	{"who awaits a refresh has a deadline", awaitDeadline},
	{"a reader under writes shows whole sequence numbers", refreshUnderWrites},
}

// shows expects the documents of the published reader, by count, at a sequence number.
func (k *talk) shows(docs, seqNo int64) {
	k.Helper()
	r := k.acquire()
	defer r.Close()
	rows := k.scan(r, shard.Select{Range: everything.Range})
	if int64(len(rows)) != docs || r.Docs() != docs || r.SeqNo() != seqNo || k.shard.Stats().Refreshed != seqNo {
		k.Fatalf("shown are %d documents, counted %d, at %d (%+v), expected %d at %d",
			len(rows), r.Docs(), r.SeqNo(), k.shard.Stats(), docs, seqNo)
	}
}

func shownByRefresh(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("a", `{}`), indexed("b", `{}`))
	k.shows(0, -1)
	if seqNo := k.refresh(); seqNo != 1 {
		t.Fatalf("refreshed at %d", seqNo)
	}
	k.shows(2, 1)
	k.write(deleted("a"), indexed("b", `{}`))
	k.shows(2, 1)
	k.refresh()
	k.shows(1, 3)
}

func nothingNew(t *testing.T, c Case) {
	k := begin(t, c)
	if seqNo := k.refresh(); seqNo != -1 {
		t.Fatalf("an empty shard was refreshed at %d", seqNo)
	}
	k.write(indexed("a", `{}`))
	k.refresh()
	k.try(created("a", `{}`)) // a conflict writes nothing
	for range 3 {
		if seqNo := k.refresh(); seqNo != 0 {
			t.Fatalf("refreshed at %d", seqNo)
		}
	}
	k.shows(1, 0)
}

func shownAfterReopen(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("a", `{}`), indexed("b", `{}`), deleted("a"))
	k.reopen()
	k.shows(1, 2)
}

// awaitWakes has several wait for each of many refreshes: each tells that it is about
// to wait before the write that it waits for is made.
func awaitWakes(t *testing.T, c Case) {
	k := begin(t, c)
	k.must(k.shard.AwaitRefresh(k.ctx, -1))
	const rounds, waiters = 100, 3
	var waiting sync.WaitGroup
	ready := make(chan struct{}, waiters)
	for range waiters {
		waiting.Go(func() {
			for seqNo := range int64(rounds) {
				ready <- struct{}{}
				if err := k.shard.AwaitRefresh(k.ctx, seqNo); err != nil {
					t.Error(err)
				}
				if s := k.shard.Stats(); s.Refreshed < seqNo {
					t.Errorf("woken for %d, refreshed is %d", seqNo, s.Refreshed)
				}
			}
		})
	}
	for range rounds {
		for range waiters {
			<-ready
		}
		runtime.Gosched() // so that they wait, mostly
		k.write(indexed("a", `{}`))
		k.refresh()
	}
	waiting.Wait()
	k.must(k.shard.AwaitRefresh(k.ctx, rounds-1))
	k.must(k.shard.AwaitRefresh(k.ctx, 0))
}

func awaitDeadline(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("a", `{}`), indexed("b", `{}`))
	k.unavailable(k.shard.AwaitRefresh(k.soon(), 0)) // nobody refreshes
	k.refresh()
	k.unavailable(k.shard.AwaitRefresh(k.soon(), 2)) // nobody has written it
	k.must(k.shard.AwaitRefresh(k.ctx, 1))
}

// refreshUnderWrites writes ids that are all new, so that a reader at a sequence
// number shows exactly as many documents.
func refreshUnderWrites(t *testing.T, c Case) {
	k := begin(t, c)
	var writers sync.WaitGroup
	defer writers.Wait()
	for w := range 4 {
		writers.Go(func() {
			for i := range 50 {
				for _, r := range k.shard.Write(k.ctx, 1, []shard.Op{indexed(fmt.Sprint(w, "-", i), `{}`), indexed(fmt.Sprint(w, "+", i), `{}`)}) {
					if r.Err != nil {
						t.Error(r.Err)
					}
				}
			}
		})
	}
	for last := int64(-1); last < 399; {
		seqNo := k.refresh()
		if seqNo < last {
			t.Fatalf("refreshed at %d after %d", seqNo, last)
		}
		last = seqNo
		r := k.acquire()
		rows := k.scan(r, shard.Select{Range: everything.Range})
		if r.SeqNo() != seqNo || r.Docs() != seqNo+1 || int64(len(rows)) != seqNo+1 {
			t.Fatalf("at %d the reader of %d counts %d and shows %d", seqNo, r.SeqNo(), r.Docs(), len(rows))
		}
		for _, row := range rows {
			if row.SeqNo > seqNo {
				t.Fatalf("the reader of %d shows %v", seqNo, row)
			}
		}
		r.Close()
	}
}
