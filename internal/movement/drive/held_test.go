package drive_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// unsure is a store whose answers to changes get lost, after or before they were made.
type unsure struct {
	coord.Store
	lose int  // how many answers to lose next
	made bool // whether what is not answered has happened
}

var errLost = fault.New(fault.Unavailable, "the answer got lost")

func (u *unsure) Swap(ctx context.Context, key string, revision int64, value []byte) (int64, error) {
	if u.lose == 0 {
		return u.Store.Swap(ctx, key, revision, value)
	}
	u.lose--
	if u.made {
		if _, err := u.Store.Swap(ctx, key, revision, value); err != nil {
			return 0, err
		}
	}
	return 0, errLost
}

var policy = work.Policy{InitialLease: time.Minute, Heartbeat: 10 * time.Second, MaxAttempts: 3, ClockTolerance: time.Minute}

// bench is a store with one item, from 0 to 100.
type bench struct {
	*unsure
	*drive.Driver
	t *testing.T
}

const key = "movement/m/item/-/books__0__0"

func newBench(t *testing.T) bench {
	t.Helper()
	u := &unsure{Store: memory.New()}
	b := bench{u, drive.New(u, time.Minute), t}
	b.make(work.Item{Index: "books", End: 100})
	return b
}

func (b bench) make(i work.Item) {
	b.t.Helper()
	if err := b.Make(b.t.Context(), key, i); err != nil {
		b.t.Fatal(err)
	}
}

type held = drive.Held[work.Item, *work.Item]

func (b bench) claim(worker string) *held {
	b.t.Helper()
	h, _, err := drive.Claim[work.Item](b.t.Context(), b.Driver, key, worker, policy)
	if err != nil {
		b.t.Fatal(err)
	}
	return h
}

// stored is the item as it lies in the store.
func (b bench) stored() (i work.Item) {
	b.t.Helper()
	record, err := b.Get(b.t.Context(), key)
	if err == nil {
		err = json.Unmarshal(record.Value, &i)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return i
}

func advance(h *held, worker string, cursor int64) error {
	return h.Update(func(i work.Item, now time.Time) (work.Item, error) {
		return i.Advance(worker, now, cursor, work.Counts{Read: cursor})
	})
}

func TestOneHolder(t *testing.T) {
	b := newBench(t)
	first := b.claim("first")
	if first == nil || b.claim("second") != nil {
		t.Fatal("two hold the lease, or nobody does")
	}
	if err := advance(first, "first", 40); err != nil {
		t.Fatal(err)
	}
	if err := first.Release("it was interrupted"); err != nil {
		t.Fatal(err)
	}
	if first.Context().Err() == nil {
		t.Error("who gave the lease back may go on")
	}
	second := b.claim("second")
	if second == nil || second.Piece().Cursor != 40 {
		t.Fatalf("the second does not go on where the first was: %+v", second)
	}
	if err := advance(first, "first", 60); err == nil {
		t.Error("the first still stores how far it is")
	}
	if err := errors.Join(advance(second, "second", 70), second.Complete()); !fault.Is(err, fault.Bug) {
		t.Errorf("a piece is complete before its end: %v", err)
	}
	second = b.claim("second")
	if err := errors.Join(advance(second, "second", 100), second.Complete()); err != nil {
		t.Fatal(err)
	}
	if i := b.stored(); i.State != work.Done || i.Cursor != 100 || i.Read != 100 {
		t.Errorf("%+v", i)
	}
	if b.claim("third") != nil {
		t.Error("what is done is claimed again")
	}
}

// TestLostAnswers: a change whose answer got lost is made once, whether it had been made or
// not.
func TestLostAnswers(t *testing.T) {
	for _, made := range []bool{false, true} {
		b := newBench(t)
		h := b.claim("worker")
		b.lose, b.made = 2, made
		if err := advance(h, "worker", 100); err != nil {
			t.Fatal(err)
		}
		b.lose = 1
		if err := h.Complete(); err != nil {
			t.Fatalf("made %t: %v", made, err)
		}
		if i := b.stored(); i.State != work.Done || i.Cursor != 100 {
			t.Errorf("made %t: %+v", made, i)
		}
	}
}

// TestTakenOver: whoever finds that someone else holds the lease stops.
func TestTakenOver(t *testing.T) {
	b := newBench(t)
	h := b.claim("sleeper")
	record, err := b.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	taken := b.stored()
	taken.LeaseHolderID = "other"
	value, _ := json.Marshal(taken)
	if _, err := b.unsure.Store.Swap(t.Context(), key, record.Revision, value); err != nil {
		t.Fatal(err)
	}
	if err := advance(h, "sleeper", 10); !fault.Is(err, fault.LostLease) {
		t.Errorf("the sleeper wakes and goes on: %v", err)
	}
	<-h.Context().Done()
	if i := b.stored(); i.LeaseHolderID != "other" || i.Cursor != 0 {
		t.Errorf("%+v", i)
	}
}

// TestLeasesEndByTheMachinesOwnTime, whoever is asked.
func TestLeasesEnd(t *testing.T) {
	b := newBench(t)
	short := policy
	short.InitialLease, short.Heartbeat = 50*time.Millisecond, 0
	h, _, err := drive.Claim[work.Item](t.Context(), b.Driver, key, "worker", short)
	if err != nil || h == nil {
		t.Fatal(h, err)
	}
	<-h.Context().Done()
	if err := advance(h, "worker", 10); err == nil {
		t.Error("an ended lease stores a cursor")
	}
	if b.claim("other") == nil {
		t.Error("an ended lease is not free")
	}
}

// TestAStopLeavesTimeToGiveBack: the context of the work ends with the caller's, but the
// lease can still be given back.
func TestAStopLeavesTimeToGiveBack(t *testing.T) {
	b := newBench(t)
	ctx, stop := context.WithCancel(t.Context())
	h, _, err := drive.Claim[work.Item](ctx, b.Driver, key, "worker", policy)
	if err != nil {
		t.Fatal(err)
	}
	stop()
	<-h.Context().Done()
	if err := errors.Join(advance(h, "worker", 30), h.Release("")); err != nil {
		t.Fatal(err)
	}
	if i := b.stored(); i.LeaseHolderID != "" || i.Cursor != 30 || i.Attempts != 0 {
		t.Errorf("%+v", i)
	}
}

// skewed is a store whose clock is another.
type skewed struct {
	coord.Store
	by time.Duration
}

func (s skewed) Now(ctx context.Context) (coord.Time, error) {
	at, err := s.Store.Now(ctx)
	at.At = at.At.Add(s.by)
	return at, err
}

func TestAClockThatIsWrongClaimsNothing(t *testing.T) {
	for _, by := range []time.Duration{-2 * time.Minute, 2 * time.Minute} {
		store := skewed{memory.New(), by}
		d := drive.New(store, time.Minute)
		if err := d.Make(t.Context(), key, work.Item{End: 100}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := drive.Claim[work.Item](t.Context(), d, key, "worker", policy); !fault.Is(err, fault.Refused) || fault.Next(err) == "" {
			t.Errorf("%s off: %v", by, err)
		}
	}
}
