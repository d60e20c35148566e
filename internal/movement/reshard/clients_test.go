package reshard_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// clients write, delete and get without end; each owns its ids, and knows what is there.
type clients struct {
	h    *house
	stop context.CancelFunc
	wait sync.WaitGroup
	mu   sync.Mutex
	have map[string]string
	came *sync.Cond // a round of one of them has ended
	n    int        // rounds
}

// clients begin, and have written something when it returns.
func (h *house) clients(n int) *clients {
	ctx, cancel := context.WithCancel(h.ctx)
	c := &clients{h: h, stop: cancel, have: map[string]string{}}
	c.came = sync.NewCond(&c.mu)
	for who := range n {
		c.wait.Go(func() { c.run(ctx, who) })
	}
	c.rounds(30 * n)
	return c
}

// rounds waits for so many more.
func (c *clients) rounds(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for until := c.n + n; c.n < until; {
		c.came.Wait()
	}
}

// round tells that one has ended.
func (c *clients) round() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	c.came.Broadcast()
}

func (c *clients) run(ctx context.Context, who int) {
	rng := rand.New(rand.NewPCG(uint64(who), 1))
	mine := map[string]string{}
	for n := 0; ctx.Err() == nil; n++ {
		var writes []document.Write
		var is []string
		for range 1 + rng.IntN(5) {
			id := fmt.Sprintf("%d-%d", who, rng.IntN(300))
			w := document.Write{Operation: document.Index, Target: "books", ID: id, Condition: document.Always}
			text := fmt.Sprintf(`{"n":%d,"who":%d}`, n, who)
			if w.Source = []byte(text); rng.IntN(4) == 0 {
				w.Operation, w.Source, text = document.Delete, nil, ""
			}
			writes, is = append(writes, w), append(is, text)
		}
		for i, a := range c.h.store.Write(context.WithoutCancel(ctx), writes, document.Eventually) {
			if a.Err != nil && !fault.Is(a.Err, fault.NotFound) {
				c.h.Errorf("a write of %s: %v", writes[i].ID, a.Err)
			}
			mine[writes[i].ID] = is[i]
		}
		id := fmt.Sprintf("%d-%d", who, rng.IntN(300))
		found, err := c.h.store.Get(context.WithoutCancel(ctx), document.Read{Target: "books", ID: id, Version: document.Unset})
		if want := mine[id]; err != nil || string(found.Source) != want {
			c.h.Errorf("get %s: %q %v, expected %q", id, found.Source, err, want)
		}
		c.round()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.Copy(c.have, mine)
}

// end stops the clients and compares what is there with what they know.
func (c *clients) end() {
	c.h.Helper()
	c.stop()
	c.wait.Wait()
	c.agree()
}

func (c *clients) agree() {
	h := c.h
	h.Helper()
	live := int64(0)
	for id, want := range c.have {
		found, err := h.store.Get(h.ctx, document.Read{Target: "books", ID: id, Version: document.Unset})
		if err != nil || string(found.Source) != want {
			h.Errorf("in the end %s is %q (%v), expected %q", id, found.Source, err, want)
		}
		if want != "" {
			live++
		}
	}
	if _, err := h.store.Refresh(h.ctx, catalog.Expression{Names: []string{"books"}}); err != nil {
		h.Error(err)
	}
	total, _, err := h.store.Count(h.ctx, store.Where{Expression: catalog.Expression{Names: []string{"books"}}}, nil)
	if err != nil || total != live {
		h.Errorf("%d documents are found (%v), expected %d", total, err, live)
	}
}
