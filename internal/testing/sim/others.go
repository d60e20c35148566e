package sim

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// condition is what a write asks of what is there.
type condition struct {
	Version *int64 `json:"version"`
	Type    string `json:"version_type"`
	SeqNo   *int64 `json:"if_seq_no"`
}

// version is the one that a write gets, if it is allowed over what is remembered.
func (c condition) version(has *row) (version int64, allowed bool) {
	next := int64(1)
	if has != nil {
		next = has.version + 1
	}
	switch {
	case c.SeqNo != nil:
		return next, has != nil && has.deleted.IsZero() && has.number == *c.SeqNo
	case c.Version == nil:
		return next, true
	case c.Type == "external":
		return *c.Version, has == nil || has.version < *c.Version
	}
	return *c.Version, has == nil || has.version <= *c.Version
}

// letOthersWrite lets others write on the target for a while: they change and delete documents that
// are there, and make some that the snapshot of a delta is about to bring.
func (w *migration) letOthersWrite(m Mishap) {
	every, _ := time.ParseDuration(m.Whom)
	r := rand.New(rand.NewPCG(w.script.Seed, uint64(m.At)))
	for at := m.At; at < m.At+m.For; at += max(every, time.Millisecond) {
		w.after(at, func() { w.othersWrite(r) })
	}
}

func (w *migration) othersWrite(r *rand.Rand) {
	planned := w.truth.plan.Indices[r.IntN(len(w.truth.plan.Indices))]
	into := w.target.indices[planned.Target]
	if into == nil {
		return
	}
	all := into.shown()
	if r.IntN(3) == 0 {
		w.othersMake(r, planned, into)
		return
	}
	if len(all) == 0 {
		return
	}
	n := all[r.IntN(len(all))].name
	if r.IntN(8) == 0 {
		w.othersRemove(planned.Target, into, n)
		return
	}
	w.othersPut(planned.Target, into, n)
}

// othersMake makes a document that a delta is to bring, and that has not come yet.
func (w *migration) othersMake(r *rand.Rand, planned migrate.Index, into *index) {
	if !w.since[planned.Source] {
		return
	}
	var fresh []name
	was := w.older.names(planned.Source)
	for n := range w.truth.names(planned.Source) {
		if _, old := was[n]; !old && into.rows[n] == nil {
			fresh = append(fresh, n)
		}
	}
	if len(fresh) > 0 {
		slices.SortFunc(fresh, func(a, b name) int { return strings.Compare(a.id+"\x00"+a.routing, b.id+"\x00"+b.routing) })
		w.othersPut(planned.Target, into, fresh[r.IntN(len(fresh))])
	}
}

func (w *migration) othersPut(called string, into *index, n name) {
	w.target.put(into, n, condition{}, fmt.Appendf(nil, `{"by":"others","write":%d}`, w.target.writes))
	into.rows[n].others = true
	w.report.Others++
	w.wasStolen(called, n)
}

// othersRemove deletes a document, as steal does for a script.
func (w *migration) othersRemove(called string, into *index, n name) {
	w.target.remove(into, n, condition{})
	into.rows[n].others = true
	w.wasStolen(called, n)
}

// besideOthers is L1 of what others have written: a write of a movement has not replaced or deleted it,
// unless it has created a document and the answer revealed that one was there.
func (w *migration) besideOthers(called string, n name, c condition, was *row, status int) {
	if was == nil || !was.others || !was.deleted.IsZero() || status > 201 {
		return
	}
	if c.Type == "external" && c.SeqNo == nil && status == 200 {
		return
	}
	w.violate("L1", "%v of %s, which others have written in version %d, is replaced or deleted", n, called, was.version)
}

// leftDeleted tells whether others have deleted a document of a delta, which leaves that so, and names it in
// the piece that has sent the failures of its item again, as far as names have room there.
func (w *migration) leftDeleted(index, item string, n name) bool {
	into := w.target.indices[index]
	if into == nil || !w.since[index] {
		return false
	}
	row := into.rows[n]
	return row != nil && row.others && !row.deleted.IsZero() && w.named(item, migrate.Other{ID: n.id, Routing: n.routing, What: "deleted_by_others"})
}

// named tells whether a letter of an item names a document that others have touched.
func (w *migration) named(item string, other migrate.Other) bool {
	const room = 20
	for _, r := range w.records.list("movement/" + w.id + "/letter/") {
		var letter struct{ Others []migrate.Other }
		if !strings.HasSuffix(r.Key, "/"+work.Safe(item)) {
			continue
		}
		if json.Unmarshal(r.Value, &letter) != nil {
			w.violate("L12", "%s is not understood", r.Key)
		} else if len(letter.Others) == room || slices.Contains(letter.Others, other) {
			return true
		}
	}
	return false
}

// versioned is what the version of a document on the target has to keep: the snapshot's, or, after a
// delta, one against which a late write of the older snapshot loses.
func (w *migration) versioned(planned *migrate.Index, h *held, is *row) {
	if h.version <= 0 {
		return
	}
	if !w.since[planned.Source] {
		if is.version != h.version {
			w.violate("L1", "%v of %s has version %d, and the snapshot has %d", h.name, planned.Target, is.version, h.version)
		}
		return
	}
	if old, was := w.older.names(planned.Source)[h.name]; was && old.print(w.script) != h.print(w.script) && is.version <= old.version {
		w.violate("L1", "%v of %s has version %d, and a late write of the older snapshot, in version %d, would replace it", h.name, planned.Target, is.version, old.version)
	}
}
