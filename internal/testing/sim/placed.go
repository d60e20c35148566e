package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/reshard"
	"github.com/reshelve/reshelve/internal/movement/transfer"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// placed is who owns what, as it lies in the store.
func (w *shelves) placed() (p placement.Placement) {
	if all := w.records.list("placement/"); len(all) > 0 {
		p, _ = placement.Decode(all[0].Value)
	}
	return p
}

// read is the record of a movement.
func (w *shelves) read(value []byte) (m movement.Record) {
	if err := json.Unmarshal(value, &m); err != nil {
		w.violate("L12", "the record of a movement is not understood: %v", err)
	}
	return m
}

// handedOff tells whether a movement has changed who owns what.
func (w *shelves) handedOff(a *asked) bool {
	return a.before != nil && !slices.Equal(w.placed().Shards, a.before)
}

// askedFor is the movement of an id; nil when there is none.
func (w *shelves) askedFor(id string) *asked {
	if i := slices.IndexFunc(w.movements, func(a *asked) bool { return a.id == id }); i >= 0 {
		return w.movements[i]
	}
	return nil
}

// placementChanged is L6 for who owns what: each key has one owner, who got it from the one
// before in one step, with an epoch and a term that were never given before.
func (w *shelves) placementChanged(was []byte, change coord.Write) {
	if change.Op == coord.OpDelete { // of an index that was not quite made when its process died
		if len(w.given) > 0 && w.deletion == standing {
			w.violate("L1", "%s is removed", change.Key)
		}
		w.versions, w.numbering = nil, map[shard.ID]map[int64]bool{}
		return
	}
	now, err := placement.Decode(change.Value)
	if err != nil {
		w.violate("L12", "%s is not understood: %v", change.Key, err)
		return
	}
	var old placement.Placement
	if was != nil {
		old, _ = placement.Decode(was)
	}
	if now.Version != old.Version {
		w.versions = append(w.versions, now.Version)
	}
	next := old.Version + 1
	if slices.Equal(now.Shards, old.Shards) && now.Version == old.Version { // what is told of a reshaping alone
		next = old.Version
	}
	if now.Version != next || now.Next < old.Next {
		w.violate("L6", "version %d (next %d) of the placement follows %d (next %d)", now.Version, now.Next, old.Version, old.Next)
	}
	r, found, err := transfer.Of(now)
	if err != nil {
		w.violate("L6", "version %d of the placement: %v", now.Version, err)
	}
	if a := w.askedFor(r.Movement); found && a != nil && a.before == nil {
		a.before = old.Shards
	}
	if was, stood, _ := transfer.Of(old); stood && !found {
		w.askedFor(was.Movement).then = now.Shards
	}
	for _, row := range now.Shards {
		if before, is := old.Shard(row.Number); !is || before != row {
			w.owns(&old, &now, row)
		}
	}
}

// owns looks at a row that is new.
func (w *shelves) owns(old, now *placement.Placement, row placement.Shard) {
	id := shard.ID{Index: now.Index, Number: row.Number}
	_, was := old.Shard(row.Number)
	switch {
	case row.Epoch != now.Version:
		w.violate("L6", "shard %d has epoch %d in version %d", row.Number, row.Epoch, now.Version)
	case w.numbering[id][row.Term]:
		w.violate("L6", "shard %d has term %d again", row.Number, row.Term)
	case !was && w.numbering[id] != nil:
		w.violate("L6", "the number %d is given to another shard", row.Number)
	}
	for _, before := range old.Shards {
		if _, meets := before.Range.Meet(row.Range); meets && before.Term >= row.Term {
			w.violate("L6", "shard %d numbers under term %d, and what it comes from under %d", row.Number, row.Term, before.Term)
		}
	}
	if w.numbering[id] == nil {
		w.numbering[id] = map[int64]bool{}
	}
	w.numbering[id][row.Term] = true
}

// unique is L2: no two writes of a document have one number.
func (w *shelves) unique(k *key, a document.Written) {
	at := place{k.id, a.PrimaryTerm, a.SeqNo}
	if w.given[at] {
		w.violate("L2", "two writes of %s have both the number %d of term %d", k.id, a.SeqNo, a.PrimaryTerm)
	}
	w.given[at] = true
}

// movementChanged is what the record of a movement has to keep, and L5 and L1 when it ends.
func (w *shelves) movementChanged(was, is []byte) {
	old, now := w.read(was), w.read(is)
	if old.State.Ended() {
		w.violate("L6", "a movement that is %s is changed", old.State)
	}
	if !now.State.Ended() {
		return
	}
	a, p := w.askedFor(now.ID), w.placed()
	if r, found, _ := transfer.Of(p); found && r.Movement == now.ID && w.isNamed() {
		w.violate("L5", "movement %s is %s, and stands in the placement: %s", now.ID, now.State, r)
	}
	if entries := w.records.list(movement.LedgerPrefix(now.ID)); len(entries) > 0 {
		w.violate("L5", "movement %s is %s, and its ledger has %s", now.ID, now.State, entries[0].Key)
	}
	if w.deletion != standing && a.then == nil { // its reshaping went with the index
		return
	}
	switch now.State {
	case movement.Aborted:
		if !slices.Equal(a.then, a.before) {
			w.violate("L5", "movement %s is aborted, and its shards are not as they were:\n%v\n%v", now.ID, a.then, a.before)
		}
	case movement.Reversed:
		if !slices.EqualFunc(a.then, a.before, func(x, y placement.Shard) bool { return x.Range == y.Range }) {
			w.violate("L5", "movement %s is reversed, and the ranges are not as they were:\n%v\n%v", now.ID, a.then, a.before)
		}
	case movement.Finished:
		if want := len(a.before) + a.more; len(a.then) != want {
			w.violate("L1", "movement %s is finished, and left %d shards instead of %d", now.ID, len(a.then), want)
		}
		w.reported(&now)
	}
}

// reported is L9 and L7: what was compared, and how long requests were held up.
func (w *shelves) reported(m *movement.Record) {
	var report reshard.Progress
	if err := json.Unmarshal(m.Report, &report); err != nil {
		w.violate("L9", "the report of movement %s is not understood: %v", m.ID, err)
		return
	}
	if n := report.Compared.Differences(); n > 0 {
		w.violate("L9", "movement %s is finished with %d differences: %q", m.ID, n, report.Compared.Examples)
	}
	for _, pause := range report.Pauses {
		if w.script.calm() && pause.Fence > report.Budget+slack/2 {
			w.violate("L7", "a hand-off of movement %s held requests up for %s, and %s were allowed", m.ID, pause.Fence, report.Budget)
		}
	}
}

// audit reads everything that was ever written, and compares it with what is known.
func (s *server) audit() {
	w := s.of
	if w.deletion == gone {
		s.auditGone()
		return
	}
	lows := make([]int, len(w.keys))
	for i, k := range w.keys {
		lows[i] = k.low
	}
	s.request("audit", time.Minute, func(ctx context.Context) any {
		found := make([]document.Found, len(w.keys))
		var err error
		for i, k := range w.keys {
			if found[i], err = s.store.Get(ctx, document.Read{Target: indexName, ID: k.id, Routing: k.routing, Version: document.Unset}); err != nil {
				return err
			}
		}
		if _, err := s.store.Refresh(ctx, named()); err != nil {
			return err
		}
		if shown, fine := s.searched(ctx).(shownDocuments); fine {
			return audited{found, shown}
		}
		return fmt.Errorf("it could not be searched")
	}, func(answer any, heard bool) {
		all, fine := answer.(audited)
		if !heard || !fine {
			w.audited = false // another time
			return
		}
		for i, k := range w.keys {
			w.saw("audits", "at last, somebody", k, k.normal(string(all.found[i].Source)), lows[i], len(k.tries))
			lows[i] = k.low
		}
		w.complete("at last, somebody", all.shown, lows)
		if w.follower != nil {
			w.follower.compare(all.found)
		}
		w.close()
	})
}

// audited is what an audit has read.
type audited struct {
	found []document.Found
	shown shownDocuments
}

// calm tells whether nothing befalls anybody but what operators ask for.
func (s *Script) calm() bool {
	return !slices.ContainsFunc(s.Mishaps, func(m Mishap) bool {
		return !slices.Contains([]string{"split", "merge", "split-keeping", "merge-keeping", "verb", "delete", "delete-at"}, m.What)
	})
}
