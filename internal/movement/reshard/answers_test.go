package reshard_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/reshard"
	"github.com/reshelve/reshelve/internal/movement/transfer"
	"github.com/reshelve/reshelve/internal/store/catalog"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
)

// spy notes which shards do what they are asked for, and can hold up opening one.
type spy struct {
	shard.Engine
	mu      sync.Mutex
	shards  map[uint32]shard.Shard
	did     []uint32
	holds   bool
	opening chan struct{} // gets one for each shard that is held up
	free    chan struct{}
}

func (s *spy) Open(ctx context.Context, id shard.ID, placements shard.Placements, settings shard.Settings) (shard.Shard, error) {
	if s.holds {
		s.opening <- struct{}{}
		<-s.free
	}
	sh, err := s.Engine.Open(ctx, id, placements, settings)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shards[id.Number] = sh
	return spied{sh, s}, nil
}

// note notes that a shard did something.
func (s *spy) note(sh shard.Shard, err error) {
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.did = append(s.did, sh.ID().Number)
	}
}

// asked is which shards have done something since the last call.
func (s *spy) asked() []uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	did := slices.Compact(slices.Sorted(slices.Values(s.did)))
	s.did = nil
	return did
}

// spied is a shard of a spy.
type spied struct {
	shard.Shard
	spy *spy
}

func (s spied) Write(ctx context.Context, epoch int64, ops []shard.Op) []shard.Result {
	results := s.Shard.Write(ctx, epoch, ops)
	for i := range results {
		s.spy.note(s, results[i].Err)
	}
	return results
}

func (s spied) Get(ctx context.Context, epoch int64, ref shard.Ref) (shard.Row, bool, error) {
	row, found, err := s.Shard.Get(ctx, epoch, ref)
	s.spy.note(s, err)
	return row, found, err
}

func (s spied) Acquire(ctx context.Context, epoch int64) (shard.Reader, error) {
	r, err := s.Shard.Acquire(ctx, epoch)
	s.spy.note(s, err)
	return r, err
}

// answering asks for a document of the range of shard 1 once shard 0 is split into 0 and 1.
type answering struct {
	*house
	spy *spy
	id  string // of the document
	ref shard.Ref
}

// operations are what a client asks for. Of all that answer, those of the document's range are told.
var operations = map[transfer.Operation]func(*answering, context.Context) error{
	transfer.Write: func(a *answering, ctx context.Context) error {
		w := document.Write{Operation: document.Index, Target: "books", ID: a.id, Condition: document.Always, Source: []byte(`{"n":1}`)}
		return a.store.Write(ctx, []document.Write{w}, document.Eventually)[0].Err
	},
	transfer.Get: func(a *answering, ctx context.Context) error {
		_, err := a.store.Get(ctx, document.Read{Target: "books", ID: a.id, Version: document.Unset})
		return err
	},
	transfer.Search: func(a *answering, ctx context.Context) error {
		p, err := a.store.OpenPoint(ctx, catalog.Expression{Names: []string{"books"}}, a.id, time.Minute)
		if err == nil {
			_, err = a.store.ClosePoints([]string{p.ID}, false)
		}
		return err
	},
}

// agrees compares who answers now with the table.
func (a *answering) agrees(state transfer.TargetState) {
	a.Helper()
	for operation, ask := range operations {
		want := transfer.WhoAnswers(state, operation)
		number := map[transfer.Role]uint32{transfer.TheSource: 0, transfer.TheTarget: 1}[want.By]
		a.spy.asked()
		ctx, cancel := context.WithTimeout(a.ctx, 10*time.Second)
		if want.Waits {
			cancel()
			ctx, cancel = context.WithTimeout(a.ctx, 50*time.Millisecond)
		}
		err := ask(a, ctx)
		cancel()
		switch did := a.spy.asked(); {
		case want.Waits && (err == nil || len(did) > 0):
			a.Errorf("%s in %s: %v have answered, %v; by the table it waits", operation, state, did, err)
		case !want.Waits && (err != nil || !slices.Equal(did, []uint32{number})):
			a.Errorf("%s in %s: %v have answered, %v; by the table it is shard %d", operation, state, did, err, number)
		}
	}
}

// stale compares what requests with an epoch of before get, of whoever answers.
func (a *answering) stale(state transfer.TargetState, epoch int64) {
	a.Helper()
	number := map[transfer.Role]uint32{transfer.TheSource: 0, transfer.TheTarget: 1}[transfer.WhoAnswers(state, transfer.Get).By]
	var stale *shard.Stale
	if _, _, err := a.spy.shards[number].Get(a.ctx, epoch, a.ref); !errors.As(err, &stale) {
		a.Errorf("in %s shard %d answers a request with epoch %d: %v", state, number, epoch, err)
	}
}

// shows compares what the shards filter.
func (a *answering) shows(state transfer.TargetState) {
	a.Helper()
	want := transfer.WhoAnswers(state, transfer.Search)
	for number, filter := range map[uint32]transfer.Filter{0: want.Source, 1: want.Target} {
		if filter == transfer.NeverAsked || state == transfer.Done && number == 0 { // which is a target of its own
			continue
		}
		p, err := a.store.PlacementOf(a.ctx, "books")
		a.must(err)
		row, _ := p.Shard(number)
		r, err := a.spy.shards[number].Acquire(a.ctx, row.Epoch)
		a.must(err)
		hides := false
		for _, v := range r.Views() {
			hides = hides || v.Hidden != nil && v.Hidden.Count() > 0
		}
		a.must(r.Close())
		if hides != (filter == transfer.OwnRange) {
			a.Errorf("in %s shard %d hides what it holds: %v; by the table it shows %q", state, number, hides, filter)
		}
	}
}

// TestTheTableIsTrue: what the table of package transfer says of writes, gets and searches is what a
// store does, in each state.
func TestTheTableIsTrue(t *testing.T) {
	s := &spy{shards: map[uint32]shard.Shard{}, opening: make(chan struct{}, 1), free: make(chan struct{})}
	var err error
	if s.Engine, err = embedded.Open(t.Context(), t.TempDir(), embedded.Options{Logger: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	a := &answering{house: newHouseOn(t, 1, s), spy: s}
	for n := range 400 {
		id := fmt.Sprint("d", n)
		a.write(document.Index, id)
		if key := routing.KeyOf(id, "", 0); key > ^routing.Key(0)/2 {
			a.id, a.ref = id, shard.Ref{Key: key, ID: id}
		}
	}
	_, err = a.store.Refresh(a.ctx, catalog.Expression{Names: []string{"books"}})
	a.must(err)
	epoch := func() int64 {
		p, err := a.store.PlacementOf(a.ctx, "books")
		a.must(err)
		return p.Owner(a.ref.Key).Epoch
	}
	before := epoch()

	id := a.begin(true, by(2))
	a.workBefore(id, reshard.PhaseSwitch)
	a.agrees(transfer.Clone)
	a.stale(transfer.Clone, before-1)
	a.shows(transfer.Clone)

	s.holds = true
	handed := make(chan struct{})
	go func() { defer close(handed); a.workBefore(id, movement.VerifyPhase) }()
	<-s.opening // the placement names the target, and it is not open
	a.agrees(transfer.Handoff)
	close(s.free)
	<-handed
	s.holds = false
	a.agrees(transfer.InSplit)
	a.stale(transfer.InSplit, before)
	a.shows(transfer.InSplit)

	a.work(id, movement.Switched)
	a.tell(id, movement.Finish)
	a.work(id, movement.Finished)
	a.agrees(transfer.Done)
	a.stale(transfer.Done, before)
	a.shows(transfer.Done)
}
