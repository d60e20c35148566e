package shardtest

import (
	"maps"
	"math"
	"slices"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// model is what a shard is, said as plainly as possible: a map of rows and a list of
// changes. It knows no time: all changes are old when they are pruned.
type model struct {
	rows   map[shard.Ref]shard.Row
	log    []shard.Change // all that ever were, by sequence number
	ends   []int64        // the last sequence numbers of writes
	pruned int64
	shown  snapshot // by the last refresh
	holds  map[string]shard.Position
	term   int64
}

// snapshot is the model at one sequence number.
type snapshot struct {
	seqNo int64
	rows  map[shard.Ref]shard.Row
}

func newModel() *model {
	return &model{rows: map[shard.Ref]shard.Row{}, pruned: -1, shown: snapshot{seqNo: -1}, holds: map[string]shard.Position{}, term: 1}
}

func (m *model) last() int64 { return int64(len(m.log)) - 1 }

// write is one operation: whether it is applied, and the outcome.
func (m *model) write(op shard.Op) (applied bool, outcome document.Outcome) {
	r := shard.Ref{Key: op.Key, ID: op.ID}
	old, known := m.rows[r]
	present := known && !old.Deleted
	c := op.Condition
	matches := present && old.SeqNo == c.SeqNo && old.PrimaryTerm == c.PrimaryTerm
	if op.MustCreate && present || c.SeqNo != document.Unset && !matches {
		return false, 0
	}
	version, previous := int64(1), int64(-1)
	if known {
		version, previous = old.Version, old.SeqNo
		if version < math.MaxInt64 {
			version++
		}
	}
	if c.Version != document.Unset {
		switch {
		case c.VersionType == document.Internal && (!known || old.Version != c.Version),
			c.VersionType == document.External && known && old.Version >= c.Version,
			c.VersionType == document.ExternalGTE && known && old.Version > c.Version:
			return false, 0
		case c.VersionType != document.Internal:
			version = c.Version
		}
	}
	change := shard.Change{Ref: r, SeqNo: m.last() + 1, Previous: previous}
	row := shard.Row{Ref: r, Routing: op.Routing, Source: op.Source, Deleted: op.Delete,
		Versions: document.Versions{Version: version, SeqNo: change.SeqNo, PrimaryTerm: m.term}}
	outcome = map[bool]document.Outcome{false: document.Created, true: document.Updated}[present]
	if op.Delete {
		row.Source, change.Op = nil, shard.Delete
		outcome = map[bool]document.Outcome{false: document.Missing, true: document.Deleted}[present]
	}
	m.rows[r], m.log = row, append(m.log, change)
	return true, outcome
}

func (m *model) refresh() {
	if m.shown.seqNo != m.last() {
		m.show()
	}
}

// show publishes what there is, as a shard does that is opened.
func (m *model) show() { m.shown = snapshot{m.last(), maps.Clone(m.rows)} }

// prunable is up to where nobody needs changes, and the end of the last write that
// lies before it wholly. The readers that are open are at these numbers.
func (m *model) prunable(readers []int64) (whole, bound int64) {
	bound, whole = m.shown.seqNo, m.pruned
	for _, seqNo := range readers {
		bound = min(bound, seqNo)
	}
	for _, p := range m.holds {
		bound = min(bound, p.SeqNo)
	}
	for _, end := range m.ends {
		if end <= bound {
			whole = max(whole, end)
		}
	}
	return whole, max(bound, m.pruned)
}

// prune forgets the changes up to a number, and their tombstones.
func (m *model) prune(to int64) {
	m.pruned = to
	maps.DeleteFunc(m.rows, func(_ shard.Ref, row shard.Row) bool { return row.Deleted && row.SeqNo <= m.pruned })
}

func (m *model) hold(name string, p shard.Position) bool {
	if p.SeqNo < m.pruned {
		return false
	}
	if old, is := m.holds[name]; !is || p.SeqNo >= old.SeqNo {
		m.holds[name] = p
	}
	return true
}

// scan lists the rows that a select asks for.
func (s snapshot) scan(what shard.Select) (rows []shard.Row) {
	for ref, row := range s.rows {
		if what.Range.Contains(ref.Key) && (what.After == nil || before(*what.After, ref)) && (what.Tombstones || !row.Deleted) {
			if what.NoSource {
				row.Source = nil
			}
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b shard.Row) int {
		if before(a.Ref, b.Ref) {
			return -1
		}
		return 1
	})
	return rows
}

// count is what the statistics and the readers count.
func (s snapshot) count() (docs, tombstones, bytes int64) {
	for _, row := range s.rows {
		if row.Deleted {
			tombstones++
			continue
		}
		docs++
		bytes += int64(len(row.ID) + len(row.Routing) + len(row.Source))
	}
	return docs, tombstones, bytes
}
