package coordtest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
)

// unknownRevision is that of a register whose change was not answered, until a read tells it.
const unknownRevision = -1

// uncertainModel is model with calls that were not answered: they happened, or not.
var uncertainModel = porcupine.NondeterministicModel{
	Init: func() []any { return []any{register{}} },
	Step: func(state, input, output any) []any {
		r, c, a := state.(register), input.(call), output.(answer)
		if r.revision == unknownRevision && c.op == "get" && a.kind == "ok" && a.value == r.value && a.revision > r.newest {
			return []any{register{revision: a.revision, newest: a.revision, value: r.value}}
		}
		if a.kind != "unknown" {
			if ok, next := model.Step(r, c, a); ok {
				return []any{next}
			}
			return nil
		}
		happened := register{revision: unknownRevision, newest: r.newest, value: c.value}
		switch {
		case c.op == "create" && r.revision == 0, c.op == "swap" && r.revision > 0 && r.revision == c.revision:
			return []any{r, happened}
		case c.op == "delete" && r.revision > 0 && r.revision == c.revision:
			return []any{r, register{newest: r.newest}}
		}
		return []any{r}
	},
}

// RunUncertain holds an adapter to the contract while answers get lost: open gives an
// empty store on a way that loses, delays and refuses, and the same store on a good way. The suite closes both.
// Who hears fault.Unavailable reads again and sees what happened; a watch that ended so goes on from
// the last revision that it told.
func RunUncertain(t *testing.T, open func(t *testing.T) (lossy, calm coord.Store)) {
	lossy, calm := open(t)
	talk := &talk{T: t, store: calm, ctx: t.Context()}
	told := make(chan map[string][]byte, 1)
	go func() { told <- talk.follow(lossy) }()
	heard := talk.uncertain(lossy)
	talk.creates("key/end", "end")
	want := map[string][]byte{}
	listed, err := calm.List(t.Context(), "key/")
	talk.ok(err)
	for _, record := range listed {
		want[record.Key] = record.Value
	}
	if got := <-told; !maps.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("the watch told of %q, and there is %q", got, want)
	}
	unknown := 0
	for key, operations := range heard {
		for _, o := range operations {
			if o.Output.(answer).kind == "unknown" {
				unknown++
			}
		}
		if result := porcupine.CheckOperationsTimeout(uncertainModel.ToModel(), operations, patience); result != porcupine.Ok {
			t.Errorf("%s: %d calls: %v", key, len(operations), result)
		}
	}
	if unknown == 0 {
		t.Error("no answer was lost: this was no trial")
	}
	t.Logf("%d changes were not answered", unknown)
	talk.ok(lossy.Close())
	talk.ok(calm.Close())
}

// uncertain is histories on a way that loses answers, with a last look on the good one.
func (t *talk) uncertain(lossy coord.Store) map[string][]porcupine.Operation {
	const clients, rounds, keys = 4, 50, 4
	var (
		mu      sync.Mutex
		heard   = map[string][]porcupine.Operation{}
		running sync.WaitGroup
		start   = time.Now()
	)
	note := func(client int, c call, from time.Duration, a answer) {
		to := int64(time.Since(start))
		if a.kind == "unknown" {
			to = math.MaxInt64 // it may still happen
			if c.op == "get" {
				return
			}
		}
		mu.Lock()
		defer mu.Unlock()
		heard[c.key] = append(heard[c.key], porcupine.Operation{ClientId: client, Input: c, Call: int64(from), Output: a, Return: to})
	}
	for client := range clients {
		running.Go(func() {
			random := rand.New(rand.NewPCG(2, uint64(client)))
			known := map[string]int64{}
			again := ""
			for round := range rounds {
				c := call{op: "get", key: again, value: fmt.Sprintf(`{"by":"%d/%d"}`, client, round)}
				if again == "" {
					c.key = fmt.Sprintf("key/%d", random.IntN(keys))
					c.op = []string{"get", "create", "swap", "swap", "swap", "delete"}[random.IntN(6)]
				}
				c.revision = known[c.key]
				from := time.Since(start)
				a, err := say(&talk{T: t.T, store: lossy, ctx: t.ctx}, c)
				again = ""
				if fault.Is(err, fault.Unavailable) {
					a, again, err = answer{kind: "unknown"}, c.key, nil
				}
				if err != nil {
					t.Errorf("%s %s: %v", c.op, c.key, err)
					return
				}
				note(client, c, from, a)
				if a.revision != 0 {
					known[c.key] = a.revision
				}
			}
		})
	}
	running.Wait()
	for key := range maps.Clone(heard) {
		c, from := call{op: "get", key: key}, time.Since(start)
		a, err := say(t, c)
		t.ok(err)
		note(clients, c, from, a)
	}
	return heard
}

// follow watches until key/end is told, beginning again where a watch ended, and returns what is there by what
// it was told.
func (t *talk) follow(lossy coord.Store) map[string][]byte {
	ctx, cancel := context.WithTimeout(t.ctx, 2*patience)
	defer cancel()
	told, last := map[string][]byte{}, int64(0)
	for ctx.Err() == nil {
		for event, err := range lossy.Watch(ctx, "key/", last) {
			if err != nil {
				if !fault.Is(err, fault.Unavailable) {
					t.Errorf("the watch: %v", err)
					return told
				}
				break
			}
			if event.Revision <= last {
				t.Errorf("%q at %d was told after %d", event.Key, event.Revision, last)
			}
			last = event.Revision
			if delete(told, event.Key); !event.Deleted {
				told[event.Key] = event.Value
			}
			if event.Key == "key/end" {
				return told
			}
		}
	}
	t.Error("the watch did not come to the end")
	return told
}
