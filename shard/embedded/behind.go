package embedded

import (
	"time"

	"github.com/reshelve/reshelve/fault"
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
// background; who acquires a reader waits for that. The view counts as one of what is
// indexed, so that a refresh finds more. The shard's mutex is held.
func (x *segments) later(v *view) {
	s := x.shard
	v.seqNo = x.stack.indexed
	if s.indexing == nil {
		s.indexing = make(chan struct{})
	}
	go x.start(x.catchUp)
}

// catchUp refreshes until it succeeds, or the shard closes.
func (x *segments) catchUp() {
	began := time.Now()
	for x.ctx.Err() == nil {
		_, err := x.refresh(x.ctx)
		if err == nil {
			x.shard.engine.options.Logger.Info("store: what was written last is indexed", "shard", place(x.shard.id), "took", time.Since(began).Round(time.Millisecond))
			return
		}
		if !fault.Is(err, fault.Stale) && x.ctx.Err() == nil {
			x.shard.engine.options.Logger.Warn("store: indexing failed, it is tried again", "shard", place(x.shard.id), "cause", err)
		}
		select {
		case <-time.After(retryAfter):
		case <-x.ctx.Done():
		}
	}
}
