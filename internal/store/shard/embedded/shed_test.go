package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
)

// TestSheddingLeavesFewSegments: what a split shares is written again part by part, and small
// segments together: a target is not searched in as many as its source had. What is shown
// stays the same, and in the end no segment holds a doc of another shard.
func TestSheddingLeavesFewSegments(t *testing.T) {
	defer embedded.SetTiers(16, 1<<20, 0)()
	ctx, rng := t.Context(), rand.New(rand.NewPCG(4, 4))
	r := newReshaped()
	if err := r.open(ctx, vfs.NewMem()); err != nil {
		t.Fatal(err)
	}
	defer r.close()
	for range 12 {
		if err := r.write(ctx, rng, 30); err != nil {
			t.Fatal(err)
		}
		if _, err := r.shards[0].Refresh(ctx); err != nil {
			t.Fatal(err)
		}
	}
	before, _ := r.segments(t, 0)
	if before < 10 {
		t.Fatalf("the source has %d segments only", before)
	}
	halves := routing.Equal(2)
	if err := r.hand(ctx, []uint32{0}, []shard.Incarnation{{Number: 0, Term: 2, Range: halves[0]}, {Number: 1, Term: 2, Range: halves[1]}}, false); err != nil {
		t.Fatal(err)
	}
	for number, s := range r.shards {
		for left, last := int64(1), int64(-1); left > 0; {
			read, now, err := s.Shed(ctx, nil)
			if err != nil || read == 0 && now > 0 || last >= 0 && now > last {
				t.Fatalf("shard %d: %d bytes read, %d left after %d, %v", number, read, now, last, err)
			}
			left, last = now, now
		}
		if n, foreign := r.segments(t, number); n > before/3 || foreign > 0 {
			t.Errorf("shard %d has %d segments of its source's %d, with %d docs of the other", number, n, before, foreign)
		}
	}
	if err := r.agree(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestWhatAnotherShowsIsLeftToShedding: a shard does not write its segments again by itself because
// another one shows the most of them, at once and as quickly as it can: whoever sheds has a pace.
func TestWhatAnotherShowsIsLeftToShedding(t *testing.T) {
	defer embedded.SetCommit(time.Millisecond)()
	defer embedded.SetRest(10 * time.Millisecond)()
	ctx, rng := t.Context(), rand.New(rand.NewPCG(5, 5))
	r := newReshaped()
	if err := r.open(ctx, vfs.NewMem()); err != nil {
		t.Fatal(err)
	}
	defer r.close()
	var ops []shard.Op
	for n := range 9000 {
		id := fmt.Sprint(n)
		ops = append(ops, shard.Op{Key: routing.KeyOf(id, "", 0), ID: id, Condition: document.Always, Source: []byte("w n")})
	}
	for _, result := range r.shards[0].Write(ctx, 1, ops) {
		if result.Err != nil {
			t.Fatal(result.Err)
		}
	}
	thirds := routing.Equal(3)
	if err := r.hand(ctx, []uint32{0}, []shard.Incarnation{{Number: 0, Term: 2, Range: thirds[0]}, {Number: 1, Term: 2, Range: thirds[1]},
		{Number: 2, Term: 2, Range: thirds[2]}}, false); err != nil {
		t.Fatal(err)
	}
	if err := r.write(ctx, rng, 20); err != nil { // so that they look at their segments
		t.Fatal(err)
	}
	for _, s := range r.shards {
		if _, err := s.Refresh(ctx); err != nil {
			t.Fatal(err)
		}
	}
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		for number := range r.shards {
			if _, foreign := r.segments(t, number); foreign == 0 {
				t.Fatalf("shard %d has shed by itself", number)
			}
		}
	}
	for number, s := range r.shards {
		for left := int64(1); left > 0; {
			var err error
			if _, left, err = s.Shed(ctx, nil); err != nil {
				t.Fatal(err)
			}
		}
		if _, foreign := r.segments(t, number); foreign > 0 {
			t.Errorf("shard %d has %d docs of others", number, foreign)
		}
	}
}

// TestSheddingMakesRoom: who is told of what is written may end it, and nothing has changed then;
// and while he waits, others merge.
func TestSheddingMakesRoom(t *testing.T) {
	defer embedded.LendOften()()
	ctx, rng := t.Context(), rand.New(rand.NewPCG(5, 5))
	r := newReshaped()
	if err := r.open(ctx, vfs.NewMem()); err != nil {
		t.Fatal(err)
	}
	defer r.close()
	if err := r.write(ctx, rng, 100); err != nil {
		t.Fatal(err)
	}
	halves := routing.Equal(2)
	if err := r.hand(ctx, []uint32{0}, []shard.Incarnation{{Number: 0, Term: 2, Range: halves[0]}, {Number: 1, Term: 2, Range: halves[1]}}, false); err != nil {
		t.Fatal(err)
	}
	enough := errors.New("enough")
	if _, _, err := r.shards[0].Shed(ctx, func(context.Context, int) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("it ended with %v", err)
	}
	if _, foreign := r.segments(t, 0); foreign == 0 {
		t.Error("what was ended has shed")
	}
	told := 0
	_, _, err := r.shards[0].Shed(ctx, func(ctx context.Context, bytes int) error {
		if told += bytes; told > bytes {
			return nil
		}
		_, _, err := r.shards[1].Shed(ctx, nil)
		return err
	})
	if err != nil || told == 0 {
		t.Errorf("told of %d bytes, %v", told, err)
	}
	for number := range uint32(2) {
		if _, foreign := r.segments(t, number); foreign > 0 {
			t.Errorf("shard %d has %d docs of the other", number, foreign)
		}
	}
	if err := r.agree(ctx); err != nil {
		t.Fatal(err)
	}
}
