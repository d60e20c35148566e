package sim

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reshelve/reshelve/coord"
	"github.com/reshelve/reshelve/migrate"
	"github.com/reshelve/reshelve/movement"
	"github.com/reshelve/reshelve/reconcile"
	"github.com/reshelve/reshelve/work"
	"github.com/reshelve/reshelve/worker"
)

const movementID = "m"

// movement is the record of the movement, as it lies in the store.
func (w *world) movement() (m movement.Record) {
	if err := json.Unmarshal(w.records.all["movements/"+movementID].Value, &m); err != nil {
		w.violate("L12", "the record of the movement is not understood: %v", err)
	}
	return m
}

// changed looks at a change of a record that has just been made.
func (w *world) changed(p *process, change coord.Write, old []byte) {
	key := change.Key
	switch {
	case key == "movements/"+movementID && old != nil:
		w.movementChanged(old, change.Value)
	case change.Op != coord.OpSwap:
	case strings.HasPrefix(key, work.ItemsPrefix(movementID)):
		w.leaseChanged(p, change, old)
		w.itemChanged(key, old, change.Value)
	case leased(key):
		w.leaseChanged(p, change, old)
	}
}

// leased tells whether a key is that of a piece that is no item.
func leased(key string) bool {
	for _, kind := range []string{"phase/", "index/", "check/"} {
		if strings.HasPrefix(key, "movement/"+movementID+"/"+kind) {
			return true
		}
	}
	return key == worker.ClosingKey(movementID)
}

// leaseChanged is L6: only the holder changes a piece, and only a free one gets a holder.
func (w *world) leaseChanged(p *process, change coord.Write, was []byte) {
	var old, now work.Lease
	if json.Unmarshal(was, &old) != nil || json.Unmarshal(change.Value, &now) != nil {
		w.violate("L12", "%s is not understood", change.Key)
		return
	}
	ours := strings.HasPrefix(old.LeaseHolderID, p.name+"-")
	leased := old.Leased(w.policy(), w.records.now())
	claims := now.LeaseHolderID != "" && (now.LeaseHolderID != old.LeaseHolderID || !now.Expiration.Equal(old.Expiration))
	switch {
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

// itemChanged is L8: the cursor goes forward, and passes nothing that the target has not
// taken and nobody has listed.
func (w *world) itemChanged(key string, was, is []byte) {
	var old, now work.Item
	if json.Unmarshal(was, &old) != nil || json.Unmarshal(is, &now) != nil {
		w.violate("L12", "%s is not understood", key)
		return
	}
	if now.Cursor < old.Cursor {
		w.violate("L8", "the cursor of %s goes from %d back to %d", key, old.Cursor, now.Cursor)
	}
	if !now.Balanced() {
		w.violate("L8", "the counts of %s are not balanced: %+v", key, now.Counts)
	}
	into := w.target.indices[now.Index]
	for _, h := range w.truth.between(now.Index, now.Shard, old.Cursor, now.Cursor) {
		if into == nil || into.applied[h.name] < max(h.version, 1) {
			w.violate("L8", "the cursor of %s goes to %d past %v, which the target has not taken", key, now.Cursor, h.name)
		}
	}
	if now.State != work.Done {
		return
	}
	if !now.Named() && now.End != work.ToEnd && now.Cursor != now.End {
		w.violate("L6", "%s is done at %d of %d", key, now.Cursor, now.End)
	}
	for _, next := range now.SuccessorWorkItems {
		if _, there := w.records.all[work.ItemKey(movementID, next, w.truth.plan.Digits)]; !there {
			w.violate("L1", "%s is done, and its successor %s does not exist", key, next)
		}
	}
}

// movementChanged is what the record of a movement has to keep.
func (w *world) movementChanged(was, is []byte) {
	var old, now movement.Record
	if json.Unmarshal(was, &old) != nil || json.Unmarshal(is, &now) != nil {
		w.violate("L12", "the record of the movement is not understood")
		return
	}
	if old.State.Ended() {
		w.violate("L6", "a movement that is %s is changed", old.State)
	}
	if !old.State.Ended() && now.State.Ended() {
		w.ended(now)
	}
}

// ended is asked at the instant at which a movement ends, and again when nobody is at work
// any more.
func (w *world) ended(m movement.Record) {
	switch m.State {
	case movement.Finished:
		w.finished(m)
	case movement.Aborted:
		if now := w.target.contents(); !w.asBefore(now) {
			w.violate("L5", "it is aborted, and the target is not as it was: %v", slices.Sorted(maps.Keys(now)))
		}
	}
	for _, r := range w.records.list("movement/") {
		w.violate("L5", "it is %s, and %s is left", m.State, r.Key)
	}
}

// asBefore tells whether the target is as it was; documents that were written into an index
// that was there stay.
func (w *world) asBefore(now map[string]string) bool {
	if w.script.Into {
		now, before := maps.Clone(now), maps.Clone(w.target.before)
		kept := w.target.indices["loans"]
		delete(now, "loans")
		delete(before, "loans")
		return maps.Equal(now, before) && kept != nil && kept.rows[name{"", "of somebody else"}] != nil
	}
	return maps.Equal(now, w.target.before)
}

// finished is L1 and L9: each document of the snapshot is there once with its content, and
// nothing else, but for what the report says.
func (w *world) finished(m movement.Record) {
	var report migrate.Progress
	if err := json.Unmarshal(m.Report, &report); err != nil {
		w.violate("L9", "the report is not understood: %v", err)
		return
	}
	said := map[string]map[reconcile.Class]int64{}
	for _, v := range report.Verified {
		said[v.Index] = map[reconcile.Class]int64{reconcile.Missing: v.Result.Counts[reconcile.Missing], reconcile.Ghost: v.Result.Counts[reconcile.Ghost]}
	}
	verified := w.verifiedFrom(m)
	for _, planned := range w.truth.plan.Indices {
		missing, others := w.compare(planned, verified)
		if of, told := said[planned.Source]; !told {
			if !failed(&report, planned.Source) {
				w.violate("L9", "the report does not name %s", planned.Source)
			}
		} else if of[reconcile.Missing] != missing || of[reconcile.Ghost] != others {
			w.violate("L9", "%s lacks %d documents and has %d others; the report says %v", planned.Source, missing, others, of)
		}
		if missing > 0 && !w.operator.accepted {
			w.violate("L1", "it is finished, nobody has accepted that %s lacks %d documents", planned.Source, missing)
		}
	}
}

// failed tells whether a report says that an index was not moved, and why.
func failed(p *migrate.Progress, index string) bool {
	return slices.ContainsFunc(p.Indices, func(i migrate.IndexProgress) bool {
		return i.Source == index && i.State == work.Failed && i.Cause != ""
	})
}

// verifiedFrom is when the last comparison began.
func (w *world) verifiedFrom(m movement.Record) (from time.Time) {
	for _, phase := range m.Phases {
		if phase.Name == movement.VerifyPhase {
			from = phase.Started
		}
	}
	return from
}

// compare counts what of an index the target lacks, and what it has besides. What was stolen
// while it was compared counts as being there.
func (w *world) compare(planned migrate.Index, verified time.Time) (missing, others int64) {
	into := w.target.indices[planned.Target]
	if into == nil {
		return planned.Documents, 0
	}
	expected := map[name]bool{}
	for n, shard := range w.truth.indices[planned.Source] {
		for _, h := range shard {
			if expected[h.name] {
				w.violate("L1", "the truth has %v twice in shard %d", h.name, n)
			}
			expected[h.name] = true
			row := into.rows[h.name]
			switch {
			case row == nil || !row.deleted.IsZero():
				if at := w.stolen[planned.Target][h.name]; at.IsZero() || at.Add(w.records.ahead).Before(verified) {
					missing++
				}
			case row.fingerprint != h.fingerprint:
				w.violate("L1", "%v of %s has another content", h.name, planned.Target)
			case h.version > 0 && row.version != h.version:
				w.violate("L1", "%v of %s has version %d, and the snapshot has %d", h.name, planned.Target, row.version, h.version)
			}
		}
	}
	for _, h := range into.shown() {
		if !expected[h.name] {
			others++
		}
	}
	return missing, others
}

// steal lets somebody delete a document.
func (w *world) steal(called string) {
	into := w.target.indices[called]
	if into == nil {
		return
	}
	all := into.shown()
	if len(all) == 0 {
		return
	}
	w.target.remove(into, all[0].name)
	if w.stolen[called] == nil {
		w.stolen[called] = map[name]time.Time{}
	}
	w.stolen[called][all[0].name] = time.Now()
}

func (w *world) policy() work.Policy {
	return work.Policy{InitialLease: w.script.Lease, Heartbeat: w.script.Heartbeat, MaxAttempts: w.script.Attempts, ClockTolerance: 10 * time.Minute}
}
