package reshard_test

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/reshard"
	"github.com/reshelve/reshelve/internal/movement/transfer"
	"github.com/reshelve/reshelve/internal/movement/worker"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// TestAnAbortLeavesTheShardAsItWas: what it owns, its segments and which of their documents it
// shows, and the files, when it was cloned and compared and nobody wrote.
func TestAnAbortLeavesTheShardAsItWas(t *testing.T) {
	h := newHouse(t, 1)
	books := catalog.Expression{Names: []string{"books"}}
	for round := range 3 { // several segments, of which some documents are masked
		var writes []document.Write
		for i := range 60 {
			writes = append(writes, document.Write{Target: "books", ID: fmt.Sprint(i % (40 + round)), Source: fmt.Appendf(nil, `{"n":%d}`, i), Condition: document.Always})
		}
		writes = append(writes, document.Write{Target: "books", ID: "7", Operation: document.Delete, Condition: document.Always})
		for _, w := range h.store.Write(h.ctx, writes, document.AtOnce) {
			h.must(w.Err)
		}
	}
	_, err := h.store.Flush(h.ctx, books)
	h.must(err)
	var before []string
	for round := range 3 {
		id := h.begin(false, by(3))
		ctx, stop := context.WithCancel(h.ctx)
		_ = worker.Run(ctx, h.driver, map[movement.Kind]worker.Lane{movement.Split: stopsWithin{h.lane, reshard.PhaseClone, stop}},
			worker.Options{Name: "w", Movement: id, Logger: quiet, Pause: 10 * time.Millisecond})
		stop()
		if m, err := h.driver.Movement(h.ctx, id); err != nil || m.State != movement.Running {
			t.Fatalf("%+v, %v", m, err)
		}
		p, err := h.store.PlacementOf(h.ctx, "books")
		h.must(err)
		if r, _, err := transfer.Of(p); err != nil || r.Groups[0].Cloned.Run == 0 {
			t.Fatalf("it was not cloned and compared: %s, %v", p.Transfer, err)
		}
		h.tell(id, movement.Abort)
		h.work(id, movement.Aborted)
		after := h.looks()
		if round > 0 && !slices.Equal(after, before) { // the first clone commits what is not on the disk, and that stays
			t.Fatalf("there is\n%q\nand was\n%q", after, before)
		}
		before = after
	}
}

// stopsWithin ends the worker when the work of a phase is done, before that is told.
type stopsWithin struct {
	*reshard.Lane
	phase string
	stop  context.CancelFunc
}

func (s stopsWithin) Turn(ctx context.Context, slot worker.Slot, m *movement.Record, phase *movement.Phase) (worker.Outcome, error) {
	outcome, err := s.Lane.Turn(ctx, slot, m, phase)
	if phase.Name == s.phase && err == nil {
		s.stop()
		return worker.Outcome{}, ctx.Err()
	}
	return outcome, err
}

// looks are the shards, what their segments show, and the files of segments.
func (h *house) looks() (all []string) {
	h.Helper()
	p, err := h.store.PlacementOf(h.ctx, "books")
	h.must(err)
	for _, row := range p.Shards {
		all = append(all, fmt.Sprint(row))
		readers, err := h.store.Readers(h.ctx, p.Index, []uint32{row.Number})
		h.must(err)
		for _, v := range readers[0].Views() {
			all = append(all, fmt.Sprintf("%p", v.Segment))
			for doc := range segment.Doc(v.Docs()) {
				all = append(all, fmt.Sprint(v.ID(doc), v.SeqNo(doc), v.Shows(doc)))
			}
		}
		h.must(readers[0].Close())
	}
	h.must(filepath.WalkDir(h.dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			all = append(all, "FILE "+path)
		}
		return nil
	}))
	return all
}
