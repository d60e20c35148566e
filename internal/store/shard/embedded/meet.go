package embedded

import (
	"cmp"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// met is a row as writes meet it.
type met struct {
	shard.Met
	bytes int64         // that it counts for, when present: of id, routing and source
	head  [maxHead]byte // as it is stored
	size  int           // of the head
}

// nothing is what is met where no row is.
var nothing = met{Met: shard.Met{Versions: document.Versions{Version: -1, SeqNo: -1, PrimaryTerm: -1}}}

// metUnder is the row under an iterator. Its value is not read.
func metUnder(rows *pebble.Iterator) (met, error) {
	_, id, h, err := splitRow(rows.Key())
	if err != nil {
		return nothing, err
	}
	lazy := rows.LazyValue()
	size := lazy.Len()
	if h.packed > 0 {
		size = h.routing + h.packed
	}
	row := met{Met: shard.Met{Known: true, Present: !h.deleted, Versions: h.Versions}, bytes: int64(len(id) + size)}
	row.size = copy(row.head[:], rows.Key()[rowPrefix+len(id)+1:])
	return row, nil
}

// meeting is what the operations of one group meet: each document once, however many
// of them are about it.
type meeting struct {
	rows    []met   // of each document
	slots   []int32 // of each operation, in rows
	order   []int32 // the operations by (order key, id)
	name    []byte
	changes []byte // of the group, in the making
}

var meetings = sync.Pool{New: func() any { return new(meeting) }}

// meet looks the documents of a group up, in their order: neighbours lie in one file.
// The mutex is held.
func (s *local) meet(db *store, m *meeting, ops []shard.Op) error {
	m.sort(ops)
	var rows *pebble.Iterator
	defer func() {
		if rows != nil {
			_ = rows.Close() // what failed was told by its Error
		}
	}()
	for i, at := range m.order {
		op := &ops[at]
		if i > 0 {
			if last := &ops[m.order[i-1]]; last.Key == op.Key && last.ID == op.ID {
				m.slots[at] = int32(len(m.rows) - 1)
				continue
			}
		}
		m.slots[at] = int32(len(m.rows))
		m.rows = append(m.rows, nothing)
		if op.AutoID {
			continue
		}
		if rows == nil {
			var err error
			if rows, err = s.rows(db, true); err != nil {
				return err
			}
		}
		m.name = appendName(m.name[:0], s.id.Index, op.Key, op.ID)
		if rows.SeekPrefixGE(m.name) {
			row, err := metUnder(rows)
			if err != nil {
				return err
			}
			m.rows[len(m.rows)-1] = row
		}
		if err := rows.Error(); err != nil {
			return err
		}
	}
	return nil
}

// sort orders the operations; those that promise to meet nothing come last where
// they are wrong.
func (m *meeting) sort(ops []shard.Op) {
	m.rows, m.order = m.rows[:0], m.order[:0]
	m.slots = slices.Grow(m.slots[:0], len(ops))[:len(ops)]
	for i := range ops {
		m.order = append(m.order, int32(i))
	}
	slices.SortFunc(m.order, func(a, b int32) int {
		if by := cmp.Compare(ops[a].Key, ops[b].Key); by != 0 {
			return by
		}
		if by := cmp.Compare(ops[a].ID, ops[b].ID); by != 0 {
			return by
		}
		switch {
		case ops[a].AutoID == ops[b].AutoID:
			return 0
		case ops[a].AutoID:
			return 1
		}
		return -1
	})
}
