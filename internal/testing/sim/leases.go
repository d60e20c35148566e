package sim

import (
	"encoding/json"
	"strings"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// movement is the record of the movement, as it lies in the store.
func (w *world) movement() movement.Record {
	record, there := w.records.all["movements/"+w.id]
	if !there { // nobody has asked for one yet, or it was refused
		return movement.Record{}
	}
	if w.seen.id != w.id || w.seen.revision != record.Revision {
		w.seen.id, w.seen.revision, w.seen.record = w.id, record.Revision, movement.Record{}
		if err := json.Unmarshal(record.Value, &w.seen.record); err != nil {
			w.violate("L12", "the record of the movement is not understood: %v", err)
		}
	}
	return w.seen.record
}

// left is L5: an ended movement leaves no records but its own. What a worker makes that does not
// know yet that its lease has gone to another, it takes away when it does; so this is asked when
// nobody is at work any more.
func (w *world) left(m movement.Record) {
	for _, r := range w.records.list("movement/") {
		w.violate("L5", "it is %s, and %s is left", m.State, r.Key)
	}
}

// leaseChanged is L6: only the holder changes a piece, and only a free one gets a holder.
func (w *world) leaseChanged(p *process, change coord.Write, was []byte, redrives bool) {
	var old, now work.Lease
	if json.Unmarshal(was, &old) != nil || json.Unmarshal(change.Value, &now) != nil {
		w.violate("L12", "%s is not understood", change.Key)
		return
	}
	ours := strings.HasPrefix(old.LeaseHolderID, p.name+"-")
	leased := old.Leased(w.policy(), w.records.now())
	claims := now.LeaseHolderID != "" && (now.LeaseHolderID != old.LeaseHolderID || !now.Expiration.Equal(old.Expiration))
	switch {
	case old.State == work.Failed && now.State == work.Waiting && now.LeaseHolderID == "" && redrives:
	case old.State != work.Waiting:
		w.violate("L6", "%s changes %s, which is %s", p.name, change.Key, old.State)
	case claims && !strings.HasPrefix(now.LeaseHolderID, p.name+"-"):
		w.violate("L6", "%s claims %s for %s", p.name, change.Key, now.LeaseHolderID)
	case claims && leased && !ours:
		w.violate("L6", "%s takes %s, which %s holds until %s", p.name, change.Key, old.LeaseHolderID, old.Deadline(w.policy()).Sub(w.began))
	case !claims && !ours && (now.State != work.Failed || leased):
		w.violate("L6", "%s changes %s, which is held by %q", p.name, change.Key, old.LeaseHolderID)
	}
}

func (w *world) policy() work.Policy {
	return work.Policy{InitialLease: w.script.Lease, Heartbeat: w.script.Heartbeat, MaxAttempts: w.script.Attempts, ClockTolerance: clockTolerance}
}
