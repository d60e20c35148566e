package coordtest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
)

// call and answer are what one client said and heard about one key.
type call struct {
	op       string // get, create, swap, delete
	key      string
	revision int64
	value    string
}

type answer struct {
	kind     string // ok, none, conflict
	revision int64
	value    string
}

// register is a key: absent at revision 0, else with the value. Newest is the
// highest revision that it had, which no later one may undercut.
type register struct {
	revision, newest int64
	value            string
}

// model says which answers a register may give. A deletion does not tell its
// revision, so that only what a change answers bounds the next.
var model = porcupine.Model{
	Init: func() any { return register{} },
	Step: func(state, input, output any) (bool, any) {
		r, c, a := state.(register), input.(call), output.(answer)
		absent := r.revision == 0
		matches := !absent && r.revision == c.revision
		changed := register{revision: a.revision, newest: a.revision, value: c.value}
		switch c.op {
		case "get":
			if absent {
				return a.kind == "none", r
			}
			return a == answer{kind: "ok", revision: r.revision, value: r.value}, r
		case "create":
			if absent {
				return a.kind == "ok" && a.revision > r.newest, changed
			}
		case "swap":
			if matches {
				return a.kind == "ok" && a.revision > r.newest, changed
			}
		case "delete":
			if matches {
				return a.kind == "ok", register{newest: r.newest}
			}
		}
		return a.kind == "conflict", r
	},
}

// histories: what concurrent clients heard about each key could have been said one
// after the other.
func histories(t *talk) {
	const clients, rounds, keys = 6, 60, 3
	var (
		mu      sync.Mutex
		heard   = map[string][]porcupine.Operation{}
		running sync.WaitGroup
	)
	start := time.Now()
	for client := range clients {
		running.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(client)))
			known := map[string]int64{}
			for round := range rounds {
				c := call{key: fmt.Sprintf("key/%d", random.IntN(keys)), value: fmt.Sprintf("%d/%d", client, round)}
				c.op = []string{"get", "get", "create", "swap", "swap", "delete"}[random.IntN(6)]
				c.revision = known[c.key]
				from := time.Since(start)
				a, err := say(t, c)
				to := time.Since(start)
				if err != nil {
					t.Errorf("%s %s: %v", c.op, c.key, err)
					return
				}
				if a.revision != 0 {
					known[c.key] = a.revision
				}
				mu.Lock()
				heard[c.key] = append(heard[c.key], porcupine.Operation{
					ClientId: client, Input: c, Call: int64(from), Output: a, Return: int64(to)})
				mu.Unlock()
			}
		})
	}
	running.Wait()
	for key, operations := range heard {
		if result := porcupine.CheckOperationsTimeout(model, operations, patience); result != porcupine.Ok {
			t.Errorf("%s: %d calls by %d clients: %v", key, len(operations), clients, result)
		}
	}
}

// say makes the call; an error is one that nobody may hear here.
func say(t *talk, c call) (answer, error) {
	var (
		a      = answer{kind: "ok"}
		record coord.Record
		err    error
	)
	switch c.op {
	case "get":
		record, err = t.store.Get(t.ctx, c.key)
		a.revision, a.value = record.Revision, string(record.Value)
	case "create":
		a.revision, err = t.store.Create(t.ctx, c.key, []byte(c.value))
	case "swap":
		a.revision, err = t.store.Swap(t.ctx, c.key, c.revision, []byte(c.value))
	case "delete":
		err = t.store.Delete(t.ctx, c.key, c.revision)
	}
	switch {
	case fault.Is(err, fault.NotFound):
		return answer{kind: "none"}, nil
	case fault.Is(err, fault.Conflict):
		return answer{kind: "conflict"}, nil
	}
	return a, err
}
