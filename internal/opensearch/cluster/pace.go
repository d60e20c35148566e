package cluster

import (
	"context"
	"slices"
	"sync"
	"time"
)

// verdict is what a request says about the cluster's load.
type verdict uint8

const (
	kept     verdict = iota // it was taken
	rejected                // too much: fewer requests at once
	broke                   // nobody knows
)

// pace says how many requests are in flight: one more for each round that was
// taken, half as many after a rejection (additive increase, multiplicative
// decrease), a fifth fewer when answers take much longer than they did. After a
// rejection all wait a moment, or as long as the cluster asked for.
type pace struct {
	most int

	mu     sync.Mutex
	limit  float64 // between 1 and most
	flying int
	resume time.Time     // nobody goes before
	cut    time.Time     // when the limit was last lowered: what was sent before does not lower it again
	usual  time.Duration // how long answers take when all is well
	judged time.Time     // when an answer was last compared with that
	freed  chan struct{} // closed when something changes
	line   []int         // of who waits, by the order of their batches: the first goes first
}

func newPace(most int) *pace {
	return &pace{most: most, limit: float64(min(most, 2)), freed: make(chan struct{})}
}

// enter waits until one more may be in flight. Of those who wait the batch goes first that
// was started first.
func (p *pace) enter(ctx context.Context, batch int) error {
	p.join(batch)
	defer p.stepOut(batch)
	for {
		p.mu.Lock()
		pause := time.Until(p.resume)
		if pause <= 0 && p.flying < int(p.limit) && p.line[0] == batch {
			p.flying++
			p.mu.Unlock()
			return nil
		}
		freed := p.freed
		p.mu.Unlock()
		if pause <= 0 {
			select {
			case <-freed:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		} else if err := rest(ctx, pause); err != nil {
			return err
		}
	}
}

// join puts a batch into the line, if it is not there.
func (p *pace) join(batch int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at, there := slices.BinarySearch(p.line, batch); !there {
		p.line = slices.Insert(p.line, at, batch)
	}
}

// stepOut takes a batch out of the line, if it is there, and lets the others look.
func (p *pace) stepOut(batch int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at, there := slices.BinarySearch(p.line, batch); there {
		p.line = slices.Delete(p.line, at, at+1)
		p.changed()
	}
}

// changed wakes who waits.
func (p *pace) changed() {
	close(p.freed)
	p.freed = make(chan struct{})
}

// rest waits for a while.
func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// The slowness at which fewer requests are sent, and below which nothing counts as slow.
const (
	slow         = 4
	quick        = 500 * time.Millisecond
	becomesUsual = 5 * time.Minute // after about which what was slow is how it is
	coolFirst    = 100 * time.Millisecond
)

// leave ends a request that was sent at began. Asked is how long the cluster
// wants to be left alone, cool how long it is after a rejection in any case.
func (p *pace) leave(v verdict, began time.Time, asked, cool time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flying--
	now := time.Now()
	took := now.Sub(began)
	fresh := began.After(p.cut)
	switch {
	case v == rejected:
		if fresh {
			p.lower(now, 0.5)
		}
		if r := now.Add(max(cool, min(asked, longestWish))); r.After(p.resume) {
			p.resume = r
		}
	case v == broke:
	case p.usual > 0 && took > quick && took > slow*p.usual:
		if fresh {
			p.lower(now, 0.8)
		}
		// What is slow for minutes is usual, however many answers there are in them.
		p.usual += time.Duration(float64(took-p.usual) * min(1, now.Sub(p.judged).Seconds()/becomesUsual.Seconds()))
	default:
		if p.usual == 0 {
			p.usual = took
		}
		p.usual += (took - p.usual) / 16
		p.limit = min(p.limit+1/p.limit, float64(p.most))
	}
	p.judged = now
	p.changed()
}

func (p *pace) lower(now time.Time, factor float64) {
	p.limit = max(1, p.limit*factor)
	p.cut = now
}

// state is what is shown: the limit, how many are in flight, how long answers take.
func (p *pace) state() (limit, flying int, usual time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return int(p.limit), p.flying, p.usual
}
