package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/reshelve/reshelve/internal/coord"
	coordmemory "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/transfer"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
)

var byTest = placement.Change{By: "test", Why: "test", At: time.Unix(1, 0)}

// moves begins the split of the index by movement m1, or goes on with it by what has happened, at a position.
func (r *reshaper) moves(what transfer.Happening, run int, term, seqNo int64) {
	r.Helper()
	_, err := r.store.ChangePlacement(r.ctx, r.index, func(p placement.Placement) (placement.Placement, error) {
		if what == "" {
			plan, err := p.SplitInto(0, 2, nil)
			if err != nil {
				return p, err
			}
			return transfer.Begin(p, plan, transfer.Asked{Movement: "m1", Name: "i", Change: byTest})
		}
		e := transfer.Event{Happened: what, Run: run, At: []transfer.Position{{Term: term, SeqNo: seqNo}}}
		next, _, err := transfer.Advance(p, "m1", e, byTest)
		return next, err
	})
	if err != nil {
		r.Fatal(err)
	}
}

// handsOff does the hand-off of the split.
func (r *reshaper) handsOff() {
	r.Helper()
	record, _, err := transfer.Of(r.placed())
	if err != nil {
		r.Fatal(err)
	}
	g, term := record.Groups[0], record.Groups[0].Sources[0].Before.Term+1
	to := []shard.Incarnation{{Number: 0, Range: g.Sources[0].Keeps.Range, Term: term}, {Number: g.Targets[0].Shard, Range: g.Targets[0].Range, Term: term}}
	h, err := r.store.HandOff(r.ctx, r.index, []uint32{0}, to, plenty, func(p placement.Placement, at map[uint32]int64) (placement.Placement, error) {
		row, _ := p.Shard(0)
		e := transfer.Event{Happened: transfer.WasHanded, At: []transfer.Position{{Term: row.Term, SeqNo: at[0]}}}
		next, _, err := transfer.Advance(p, "m1", e, byTest)
		return next, err
	})
	if err == nil {
		err = h.Staged.Close()
	}
	if err != nil {
		r.Fatal(err)
	}
}

// tail is a disk of a data folder whose last log is to be damaged.
type tail struct {
	testing.TB
	*vfs.MemFS
}

func (d tail) log() (name string, synced int64) {
	d.Helper()
	var number, n int64
	if _, err := fmt.Sscanf(string(d.read("data/truth/synced")), "log %d %d", &number, &n); err != nil {
		d.Fatal(err)
	}
	return fmt.Sprintf("data/truth/%06d.log", number), n
}

func (d tail) read(name string) []byte {
	d.Helper()
	f, err := d.Open(name)
	if err != nil {
		d.Fatal(err)
	}
	defer f.Close()
	all, err := io.ReadAll(f)
	if err != nil {
		d.Fatal(err)
	}
	return all
}

// files are the contents of all files in a folder.
func (d tail) files(dir string) map[string]string {
	d.Helper()
	all := map[string]string{}
	names, err := d.List(dir)
	for _, name := range names {
		name = d.PathJoin(dir, name)
		info, failed := d.Stat(name)
		if err = errors.Join(err, failed); err != nil {
			break
		}
		if info.IsDir() {
			maps.Copy(all, d.files(name))
		} else {
			all[name] = string(d.read(name))
		}
	}
	if err != nil {
		d.Fatal(err)
	}
	return all
}

// damaged is the disk of a process that was killed, with one bit of a log that is another.
func (d tail) damaged(name string, at int64) tail {
	d.Helper()
	killed := d.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 2))})
	data := tail{d.TB, killed}.read(name)
	data[at] ^= 1
	f, err := killed.Create(name, vfs.WriteCategoryUnspecified)
	if err == nil {
		_, err = f.Write(slices.Clone(data))
		err = errors.Join(err, f.Sync(), f.Close())
	}
	if err != nil {
		d.Fatal(err)
	}
	return tail{d.TB, killed}
}

func (d tail) options() embedded.Options {
	return embedded.Options{FS: d.MemFS, Memory: 8 << 20, Ballast: -1, Quiet: -1, Logger: slog.New(slog.DiscardHandler)}
}

// TestLeavingOutWhatRecordsKnow damages a log before, between and behind the steps of a split, and gives up what is
// behind: that is refused, with nothing changed, where the coordination store knows of steps that the documents would not,
// and else the index answers, takes writes, and goes on with the split.
func TestLeavingOutWhatRecordsKnow(t *testing.T) {
	type step func(r *reshaper)
	begun := func(r *reshaper) { r.moves("", 0, 0, 0) }
	cloned := func(r *reshaper) { r.moves(transfer.WasCloned, 0, 1, 19) }
	handed := func(r *reshaper) { cloned(r); r.moves(transfer.Verified, 1, 1, 19); r.handsOff() }
	more := func(r *reshaper) { r.put(30, counted) }
	later := func(r *reshaper) { more(r); r.moves(transfer.WasCloned, 0, 1, 49) }
	for name, of := range map[string]struct {
		before, after []step // the damage
		refused       string
	}{
		"nothing moves":          {nil, []step{more}, ""},
		"begun":                  {nil, []step{begun, more}, ""},
		"cloned before":          {[]step{begun, cloned}, []step{more}, ""},
		"cloned behind":          {[]step{begun}, []step{later}, "movement m1"},
		"cloned again behind":    {[]step{begun, cloned}, []step{later}, "movement m1"},
		"handed off before":      {[]step{begun, handed, more}, []step{more}, ""},
		"handed off behind":      {[]step{begun}, []step{handed, more}, "hand-off"},
		"split without movement": {nil, []step{func(r *reshaper) { r.split(0, 3) }, more}, "hand-off"},
		"merged again":           {nil, []step{func(r *reshaper) { r.split(0, 2); r.merge(0, 1) }, more}, ""},
		"merged":                 {[]step{func(r *reshaper) { r.split(0, 2) }, more}, []step{func(r *reshaper) { r.merge(0, 1) }}, "hand-off"},
	} {
		t.Run(name, func(t *testing.T) {
			disk := tail{t, vfs.NewCrashableMem()}
			e, err := embedded.Open(t.Context(), "data", disk.options())
			if err != nil {
				t.Fatal(err)
			}
			records := coordmemory.New()
			r := reshaped(t, records, e, `"refresh_interval":-1`)
			r.put(20, counted)
			for _, do := range of.before {
				do(r)
			}
			log, at := disk.log()
			for _, do := range of.after {
				do(r)
			}
			if now, _ := disk.log(); now != log {
				t.Fatalf("%s follows %s", now, log)
			}
			leftOut(t, disk.damaged(log, at+40), records, of.refused)
		})
	}
}

// leftOut gives up what is behind the damage, and works with what is left.
func leftOut(t *testing.T, disk tail, records coord.Store, refused string) {
	was, o := disk.files("data"), disk.options()
	_, err := embedded.Open(t.Context(), "data", o)
	_, place, _ := strings.Cut(fault.Next(err), "--leave-out ")
	o.LeaveOut, _, _ = strings.Cut(place, " ")
	if !fault.Is(err, fault.Corrupt) || o.LeaveOut == "" {
		t.Fatal(err, fault.Next(err))
	}
	o.Allow = func(known map[shard.ID]shard.Remains) error { return store.CheckRemains(t.Context(), records, known) }
	e, err := embedded.Open(t.Context(), "data", o)
	if refused != "" {
		if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), refused) || !strings.Contains(fault.Next(err), "backup") {
			t.Errorf("%v; %s", err, fault.Next(err))
		}
		if now := disk.files("data"); !maps.Equal(now, was) {
			t.Errorf("the folder is not as it was: %v, and was %v", slices.Sorted(maps.Keys(now)), slices.Sorted(maps.Keys(was)))
		}
		return
	}
	if err != nil {
		t.Fatal(err, fault.Next(err))
	}
	s, err := store.Open(t.Context(), records, e, store.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	again := &reshaper{t, ctx, s, 1}
	for i := range 20 {
		if found := again.get(fmt.Sprint(i)); !found.Exists {
			t.Errorf("document %d is not there", i)
		}
	}
	again.put(25, counted)
	if _, err := s.Refresh(ctx, expression([]string{"i"}, searched)); err != nil {
		t.Fatal(err)
	}
	if n := len(again.ids(store.Where{})); n < 25 || n > 30 {
		t.Errorf("%d documents are found", n)
	}
	if p := again.placed(); p.Transfer != nil && len(p.Shards) == 1 {
		row, _ := p.Shard(0)
		again.moves(transfer.WasCloned, 0, row.Term, 44)
		again.moves(transfer.Verified, 1, row.Term, 44)
		again.handsOff()
		if n := len(again.ids(store.Where{})); n < 25 {
			t.Errorf("%d documents are found after the hand-off", n)
		}
	}
	if err := errors.Join(s.Close(), e.Close()); err != nil {
		t.Error(err)
	}
}
