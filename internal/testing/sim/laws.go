package sim

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
)

// changed looks at a change of a record that has just been made.
func (w *migration) changed(p *process, change coord.Write, old []byte) {
	key := change.Key
	switch {
	case strings.HasPrefix(key, "movements/") && old != nil:
		w.movementChanged(old, change.Value)
	case w.of(key, "failure/") && old != nil:
		w.failureChanged(key, old, change.Value)
	case change.Op != coord.OpSwap:
	case strings.HasPrefix(key, work.ItemsPrefix(w.id)):
		w.leaseChanged(p, change, old, w.redrives())
		w.itemChanged(key, old, change.Value)
	case w.of(key, "change/"):
		w.leaseChanged(p, change, old, w.redrives())
		w.changeChanged(key, old, change.Value)
	case w.of(key, "phase/", "index/", "check/", "letter/") || key == worker.ClosingKey(w.id):
		w.leaseChanged(p, change, old, w.redrives())
	}
}

// of tells whether a key is that of one of these kinds of records of the movement.
func (w *migration) of(key string, kinds ...string) bool {
	return slices.ContainsFunc(kinds, func(kind string) bool { return strings.HasPrefix(key, "movement/"+w.id+"/"+kind) })
}

// redrives tells whether the movement tries again what failed whole.
func (w *migration) redrives() bool {
	m := w.movement()
	phase := m.Current()
	return phase != nil && phase.Name == movement.RedrivePhase
}

// itemChanged is L8: the cursor goes forward, and passes nothing that the target has not
// taken and nobody has listed.
func (w *migration) itemChanged(key string, was, is []byte) {
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
		if !w.taken(into, h) && !w.listed(now.Name(), h.position) {
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
		if _, there := w.records.all[work.ItemKey(w.id, next, w.truth.plan.Digits)]; !there {
			w.violate("L1", "%s is done, and its successor %s does not exist", key, next)
		}
	}
}

// taken tells whether the target has taken a document, or need not.
func (w *migration) taken(into *index, h held) bool {
	print := h.print(w.script)
	if print == "" || into == nil {
		return print == ""
	}
	row := into.rows[h.name] // a delta that replaces gives the version after the target's
	return into.applied[h.name] >= max(h.version, 1) || row != nil && (row.others && row.deleted.IsZero() || row.fingerprint == print)
}

// listed tells whether a document is in the list of failures of an item.
func (w *migration) listed(item string, position int64) bool {
	for _, r := range w.records.list("movement/" + w.id + "/failure/" + work.Safe(item) + "/") {
		if slices.ContainsFunc(w.failures(r.Value), func(f migrate.Failure) bool { return f.Position == position && f.Reason != "" }) {
			return true
		}
	}
	return false
}

func (w *migration) failures(value []byte) []migrate.Failure {
	var list struct{ Documents []migrate.Failure }
	if len(value) > 0 && json.Unmarshal(value, &list) != nil {
		w.violate("L12", "a list of failures is not understood: %.100q", value)
	}
	return list.Documents
}

// failureChanged is L12: a document leaves the list of failures when the target has it, when others have
// deleted it and a delta says that it leaves that so, or when whoever goes on with the item sends it again.
func (w *migration) failureChanged(key string, was, is []byte) {
	if m := w.movement(); m.Settling || m.State == movement.Aborting || m.State.Ended() {
		return
	}
	parts := strings.Split(strings.TrimPrefix(key, "movement/"+w.id+"/failure/"), "/")
	item, err := work.Plain(parts[0])
	from, err2 := strconv.ParseInt(parts[1], 10, 64)
	names := strings.Split(item, "__")
	if err != nil || err2 != nil || len(names) != 3 {
		w.violate("L12", "%s is no list of failures", key)
		return
	}
	shard, _ := strconv.Atoi(names[1])
	if w.willBeSent(item, names[0], shard, from) {
		return
	}
	still := w.failures(is)
	for _, f := range w.failures(was) {
		for _, h := range w.truth.between(names[0], shard, f.Position, f.Position+1) {
			stays := slices.ContainsFunc(still, func(o migrate.Failure) bool { return o.Position == f.Position })
			if !stays && !w.taken(w.target.indices[names[0]], h) && !w.leftDeleted(names[0], item, h.name) {
				w.violate("L12", "%v leaves the list of failures, and the target has not taken it", h.name)
			}
		}
	}
}

// willBeSent tells whether what stands in a list from a position on is not yet passed by a
// cursor.
func (w *migration) willBeSent(item, index string, shard int, from int64) bool {
	var piece struct {
		work.Lease
		Cursor int64
		Next   int64
	}
	key, beyond := work.ItemKey(w.id, item, w.truth.plan.Digits), func() bool { return from >= piece.Cursor }
	if w.since[index] {
		key, beyond = "movement/"+w.id+"/change/"+work.Safe(fmt.Sprintf("%s__%d", index, shard)), func() bool { return from >= piece.Next<<32 }
	}
	record, there := w.records.all[key]
	return there && json.Unmarshal(record.Value, &piece) == nil && piece.State == work.Waiting && beyond()
}

// changeChanged is L8 for what has changed in a shard.
func (w *migration) changeChanged(key string, was, is []byte) {
	var old, now struct{ Next int64 }
	if json.Unmarshal(was, &old) != nil || json.Unmarshal(is, &now) != nil {
		w.violate("L12", "%s is not understood", key)
	} else if now.Next < old.Next {
		w.violate("L8", "%s goes from bucket %d back to %d", key, old.Next, now.Next)
	}
}

// movementChanged is what the record of a movement has to keep.
func (w *migration) movementChanged(was, is []byte) {
	var old, now movement.Record
	if json.Unmarshal(was, &old) != nil || json.Unmarshal(is, &now) != nil {
		w.violate("L12", "the record of the movement is not understood")
		return
	}
	if old.State.Ended() {
		w.violate("L6", "a movement that is %s is changed", old.State)
	}
	switch from := verifiedFrom(&now); {
	case from.IsZero():
		w.verified = from
	case !from.Equal(verifiedFrom(&old)):
		w.verified = time.Now()
	}
	if !old.State.Ended() && now.State.Ended() {
		w.hasEnded(now)
		if left := w.target.ways(); len(left) > 0 {
			w.violate("L5", "it is %s, and its aliases %v are still there", now.State, left)
		}
	}
}

// hasEnded is asked at the instant at which a movement ends, and again when nobody is at work
// any more.
func (w *migration) hasEnded(m movement.Record) {
	switch m.State {
	case movement.Finished:
		w.finished(m)
	case movement.Aborted:
		if now := w.target.contents(); !w.asBefore(now) {
			w.violate("L5", "it is aborted, and the target is not as it was: %v", slices.Sorted(maps.Keys(now)))
		}
	}
}

// asBefore tells whether the target is as it was; documents that were written into an index
// that was there stay.
func (w *migration) asBefore(now map[string]string) bool {
	now, before := maps.Clone(now), maps.Clone(w.target.before)
	for called := range before {
		if w.script.Into && called == "loans" || w.since[called] {
			if w.target.indices[called] == nil {
				return false
			}
			delete(now, called)
			delete(before, called)
		}
	}
	if into := w.target.indices["loans"]; w.script.Into && into.rows[name{"", "of somebody else"}] == nil {
		return false
	}
	return maps.Equal(now, before)
}

// finished is L1, L2 and L9: each document of the snapshot is there once with its content, and
// nothing else, but for what the report says; and L12: what could not be read is told with its
// cause.
func (w *migration) finished(m movement.Record) {
	var report migrate.Progress
	if err := json.Unmarshal(m.Report, &report); err != nil {
		w.violate("L9", "the report is not understood: %v", err)
		return
	}
	told := map[string]map[reconcile.Class]int64{}
	for _, v := range report.Verified {
		told[v.Index] = v.Result.Counts
	}
	for _, planned := range w.truth.plan.Indices {
		d := w.compare(planned)
		of, compared := told[planned.Source]
		switch {
		case !compared:
			accepted := w.operator.accepted && strings.Contains(w.operator.listed, planned.Source+" could not be compared: ")
			if !failed(&report, planned.Source) && !accepted {
				w.violate("L9", "the report does not name %s", planned.Source)
			}
		case !d.agrees(of):
			w.violate("L9", "of %s the report says %v; it is %+v", planned.Source, of, d)
		}
		if !w.operator.accepted && d.missing+d.stale > 0 {
			w.violate("L1", "it is finished, nobody has accepted that %s lacks %d documents and has %d in another form", planned.Source, d.missing, d.stale)
		}
		if !w.operator.accepted && d.zombies > 0 {
			w.violate("L2", "it is finished, nobody has accepted that %d documents of %s are back that were deleted", d.zombies, planned.Source)
		}
	}
	w.shownAtTheEnd()
	w.limits.settle()
}

// failed tells whether a report says that an index was not moved, and why.
func failed(p *migrate.Progress, index string) bool {
	return slices.ContainsFunc(p.Indices, func(i migrate.IndexProgress) bool {
		return i.Source == index && i.State == work.Failed && i.Cause != ""
	})
}

// verifiedFrom is when the last comparison began, by the store's clock.
func verifiedFrom(m *movement.Record) (from time.Time) {
	for _, phase := range m.Phases {
		if phase.Name == movement.VerifyPhase {
			from = phase.Started
		}
	}
	return from
}

// differing counts documents: that the target lacks, has in another form, and has besides; of
// those, which were deleted in the source. What others have touched since the last comparison began
// is counted apart, since that has seen it before or after: touched are of the snapshot, and
// besides are not.
type differing struct{ missing, stale, others, zombies, touched, besides int64 }

// agrees reports whether a comparison has counted everything that differs, and of what was touched no more than
// there is.
func (d *differing) agrees(told map[reconcile.Class]int64) bool {
	missing, stale := told[reconcile.Missing]-d.missing, told[reconcile.Stale]+told[reconcile.Different]-d.stale
	others := told[reconcile.Ghost] + told[reconcile.Zombie] - d.others
	return missing >= 0 && stale >= 0 && missing+stale <= d.touched && others >= 0 && others <= d.besides
}

// compare counts what of an index differs.
func (w *migration) compare(planned migrate.Index) (d differing) {
	into := w.target.indices[planned.Target]
	if into == nil {
		return differing{missing: w.allOf(planned.Source)}
	}
	touched := func(n name) bool { return w.touched(planned.Target, n) }
	expected := map[name]bool{}
	for n, shard := range w.truth.indices[planned.Source] {
		for _, h := range shard {
			if expected[h.name] {
				w.violate("L1", "the truth has %v twice in shard %d", h.name, n)
			}
			print := h.print(w.script)
			if print == "" {
				continue
			}
			expected[h.name] = true
			row := into.rows[h.name]
			if row != nil && !row.deleted.IsZero() {
				row = nil
			}
			switch {
			case touched(h.name):
				d.touched++
			case row == nil:
				d.missing++
			case row.fingerprint != print && row.others && row.version > h.version: // the comparison says so, and that it is no difference
			case row.fingerprint != print:
				d.stale++
			}
			if row != nil && row.fingerprint == print {
				w.versioned(&planned, &h, row)
			}
		}
	}
	for _, h := range into.shown() {
		if !expected[h.name] && !touched(h.name) {
			d.other(w.gone(planned.Source, h.name))
		}
	}
	d.besides = w.besides(planned.Target, expected)
	return d
}

// besides is how many documents that are not expected others have touched.
func (w *migration) besides(target string, expected map[name]bool) (count int64) {
	for n := range w.stolen[target] {
		if !expected[n] && w.touched(target, n) {
			count++
		}
	}
	return count
}

// touched reports whether others have written or deleted a document of an index since the last
// comparison began.
func (w *migration) touched(target string, n name) bool {
	at, is := w.stolen[target][n]
	return is && !at.Before(w.verified)
}

// other counts a document that should not be there.
func (d *differing) other(deleted bool) {
	d.others++
	if deleted {
		d.zombies++
	}
}

// allOf is how many documents of an index the target should have.
func (w *migration) allOf(source string) (n int64) {
	for _, h := range w.truth.names(source) {
		if h.print(w.script) != "" {
			n++
		}
	}
	return n
}

// steal lets somebody delete a document.
func (w *migration) steal(called string) {
	into := w.target.indices[called]
	if into == nil {
		return
	}
	all := into.shown()
	if len(all) == 0 {
		return
	}
	w.othersRemove(called, into, all[0].name)
}

// wasStolen notes that somebody has deleted or changed a document, or brought it back.
func (w *migration) wasStolen(called string, n name) {
	if w.stolen[called] == nil {
		w.stolen[called] = map[name]time.Time{}
	}
	w.stolen[called][n] = time.Now()
}
