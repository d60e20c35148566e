package drive_test

import (
	"context"
	"errors"
	"testing"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// late is a store of which the next reads are answered by a copy that has not heard of the last changes.
type late struct {
	*unsure
	old []coord.Record
}

func (l *late) Get(ctx context.Context, key string) (coord.Record, error) {
	if len(l.old) == 0 {
		return l.Store.Get(ctx, key)
	}
	record := l.old[0]
	l.old = l.old[1:]
	return record, nil
}

// TestAStaleReadEndsNoWork: of a change whose answer got lost, a copy of the store that lags shows that
// it was not made, or what was there before the lease was taken. The one is no conflict with somebody
// else, and the other no lost lease.
func TestAStaleReadEndsNoWork(t *testing.T) {
	for name, shown := range map[string]func(free, claimed coord.Record) []coord.Record{
		"what the holder has stored before":       func(_, claimed coord.Record) []coord.Record { return []coord.Record{claimed} },
		"the same, also after the second attempt": func(_, claimed coord.Record) []coord.Record { return []coord.Record{claimed, claimed} },
		"what was there before its lease":         func(free, _ coord.Record) []coord.Record { return []coord.Record{free} },
		"both":                                    func(free, claimed coord.Record) []coord.Record { return []coord.Record{free, claimed, free} },
	} {
		u := &unsure{Store: memory.New()}
		l := &late{unsure: u}
		b := bench{u, drive.New(l, 0), t}
		b.make(work.Item{Index: "books", End: 100})
		read := func() coord.Record {
			record, err := u.Get(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			return record
		}
		free := read()
		h := b.claim("worker")
		b.lose, b.made, l.old = 1, true, shown(free, read())
		if err := errors.Join(advance(h, "worker", 100), h.Complete()); err != nil || len(l.old) > 0 {
			t.Errorf("%s: %v", name, err)
		}
		if i := b.stored(); i.State != work.Done || i.Cursor != 100 {
			t.Errorf("%s: %s", name, i)
		}
	}
}
