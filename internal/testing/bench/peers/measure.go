package peers

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Taken is what requests of one sort took in one round.
type Taken struct {
	P50, P95, P99 time.Duration
	PerSecond     float64
	CPU           time.Duration // of the server, for each request
}

// For says yes for a while.
func For(long time.Duration) (more func() bool) {
	began := time.Now()
	return func() bool { return time.Since(began) < long }
}

// Measure sends requests by so many clients for as long as more says, which all of them ask:
// request(i) for the i-th of all. Each has to be answered with status 200, and check to return nil.
func (p *Peer) Measure(clients int, more func() bool, request func(i int) []byte, check func(i int, answer []byte) error) (Taken, error) {
	var mu sync.Mutex
	var all []time.Duration
	var next atomic.Int64
	before, err := p.CPU()
	if err != nil {
		return Taken{}, err
	}
	began := time.Now()
	err = p.Concurrently(clients, func(c *Conn) error {
		mine := make([]time.Duration, 0, 1<<16)
		for more() {
			i := int(next.Add(1)) - 1
			ask := request(i)
			at := time.Now()
			status, answer, err := c.Do(ask)
			mine = append(mine, time.Since(at))
			if err == nil && status == 200 {
				err = check(i, answer)
			}
			if err != nil || status != 200 {
				return fmt.Errorf("%s: %s: %d %.300s: %w", p.Name, ask, status, answer, err)
			}
		}
		mu.Lock()
		all = append(all, mine...)
		mu.Unlock()
		return nil
	})
	if err != nil {
		return Taken{}, err
	}
	spent := time.Since(began)
	after, err := p.CPU()
	slices.Sort(all)
	n := len(all)
	return Taken{all[n/2], all[n*95/100], all[n*99/100], float64(n) / spent.Seconds(), (after - before) / time.Duration(n)}, err
}
