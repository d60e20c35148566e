package work

// Tracker turns answers that come in any order into how far everything has been answered.
// Batches are begun in the order of their positions; each stands for all positions from the
// end of the one before it up to its own end, those included that hold no document to send
// (deleted, nested): there is no position that no batch stands for. The position passes a
// batch only when it and all before it are done. It is in the coordinates of the snapshot's
// shard, never a count of documents.
//
// It holds what is between the position and the last batch, and is not safe for concurrent
// use.
type Tracker struct {
	cursor int64
	counts Counts
	end    int64  // of the last batch
	first  Ticket // of the oldest batch that the position has not passed
	open   []begun
}

// Ticket names a batch of one tracker.
type Ticket int64

// begun is a batch that the position has not passed.
type begun struct {
	end    int64
	counts Counts
	done   bool
}

// NewTracker begins at the cursor of an item, with what was counted up to there.
func NewTracker(cursor int64, counts Counts) *Tracker {
	return &Tracker{cursor: cursor, counts: counts, end: cursor}
}

// Begin begins a batch that stands for the positions from the end of the one before up to
// end, which is the position after its last. An end before that of the batch before is taken
// as that.
func (t *Tracker) Begin(end int64) Ticket {
	t.end = max(t.end, end)
	t.open = append(t.open, begun{end: t.end})
	return t.first + Ticket(len(t.open)-1)
}

// Done says that each document of the batch has its answer for good, and what the answers
// were. Saying it again changes nothing.
func (t *Tracker) Done(batch Ticket, counts Counts) {
	at := int(batch - t.first)
	if at < 0 || at >= len(t.open) || t.open[at].done {
		return
	}
	t.open[at].done, t.open[at].counts = true, counts
	passed := 0
	for passed < len(t.open) && t.open[passed].done {
		t.cursor = t.open[passed].end
		t.counts.Add(t.open[passed].counts)
		passed++
	}
	t.open = t.open[:copy(t.open, t.open[passed:])]
	t.first += Ticket(passed)
}

// Position is the first position that is not answered for good, and what was counted of all
// documents before it.
func (t *Tracker) Position() (cursor int64, counts Counts) { return t.cursor, t.counts }
