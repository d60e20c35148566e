package embedded

import (
	"time"

	"github.com/reshelve/reshelve/internal/fault"
)

// indexedWhileOpening is how many changes are indexed before a shard that is opened
// answers: it takes some milliseconds. More are indexed afterwards.
const indexedWhileOpening = 1000

// behind reports whether so much of a view is not in the stack that a start would wait
// for it too long. The shard's mutex is held.
func (x *segments) behind(v *view) bool {
	if x.stack == nil {
		if v.docs <= indexedWhileOpening {
			return false
		}
		x.set(newStack(-1, v.within, []numbers{allNumbers}, nil)) // the changes need not tell all
	}
	return v.seqNo-x.stack.indexed > indexedWhileOpening || len(x.stack.lost) > 0
}

// later lets a view be published for writes and gets to go on, and indexes it in the
// background; Acquire waits for that, or answers why it has failed. The view counts as one of
// what is indexed, so that a refresh finds more. The shard's mutex is held.
func (x *segments) later(v *view) {
	s := x.shard
	v.seqNo = x.stack.indexed
	if s.indexing == nil {
		s.indexing = make(chan struct{})
	}
	go x.start(x.catchUp)
}

// catchUp refreshes until it succeeds, or the shard closes. Between two tries that meet damage lies more and
// more time: rows do not mend by themselves.
func (x *segments) catchUp() {
	s, began, said := x.shard, time.Now(), ""
	for failures := 0; x.ctx.Err() == nil; {
		_, err := x.refresh(x.ctx)
		if err == nil {
			s.engine.options.Logger.Info("store: what was written last is indexed", "shard", place(s.id), "took", time.Since(began).Round(time.Millisecond))
			return
		}
		pause := retryAfter
		if fault.Is(err, fault.Corrupt) {
			pause <<= min(failures, mostDoubled)
		}
		if !fault.Is(err, fault.Stale) && x.ctx.Err() == nil {
			x.missed(err, failures)
			failures++
			if err.Error() != said {
				s.engine.options.Logger.Warn("store: indexing failed, it is tried again", "shard", place(s.id), "cause", err)
			}
			said = err.Error()
		}
		select {
		case <-time.After(pause):
		case <-x.ctx.Done():
		}
	}
}

// missed ends the wait of those who acquire a reader, where it would be a long one: indexing met damage, or
// has failed twice. They are answered with the cause until it has succeeded.
func (x *segments) missed(err error, before int) {
	s := x.shard
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.indexing == nil || !fault.Is(err, fault.Corrupt) && before == 0 {
		return
	}
	s.unindexed = fault.WithNext(fault.At(fault.New(fault.KindOf(err), "what was written last cannot be indexed, and not be searched: %w", err), "shard "+place(s.id)),
		"gets and writes go on; restore the data folder from a backup if its files are damaged, or see to the cause, and start the process again")
	close(s.indexing)
	s.indexing = make(chan struct{})
}
