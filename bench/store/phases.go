package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const index = "bench"

// load sends the documents [from, to) in bulk requests of 1,000 by so many
// clients, and returns how many were acknowledged in a second. Making the requests
// is not counted, and done in parts to keep them out of memory.
func load(p *peer, from, to, clients int) (perSecond float64, err error) {
	const part = 100_000
	var spent time.Duration
	for at := from; at < to && err == nil; at += part {
		var took time.Duration
		took, err = send(p, requests(at, min(at+part, to)), clients)
		spent += took
	}
	return float64(to-from) / spent.Seconds(), err
}

// requests are bulk requests of 1,000 documents each.
func requests(from, to int) (all [][]byte) {
	const batch = 1000
	for n := from; n < to; n += batch {
		all = append(all, request("POST", "/"+index+"/_bulk", "application/x-ndjson", bulkBody(n, min(n+batch, to))))
	}
	return all
}

// send sends bulk requests and checks the answers.
func send(p *peer, requests [][]byte, clients int) (time.Duration, error) {
	var next atomic.Int64
	began := time.Now()
	err := concurrently(p, clients, func(c *conn) error {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(requests) {
				return nil
			}
			status, answer, err := c.do(requests[i])
			if err != nil || status != 200 || !bytes.Contains(answer[:min(len(answer), 200)], []byte(`"errors":false`)) {
				return fmt.Errorf("%s: bulk: %d %.300s: %w", p.name, status, answer, err)
			}
		}
	})
	return time.Since(began), err
}

// concurrently runs so many clients, each with a connection of its own.
func concurrently(p *peer, clients int, run func(c *conn) error) error {
	var wg sync.WaitGroup
	failed := make(chan error, clients)
	for range clients {
		wg.Go(func() {
			c, err := dial(p.url)
			if err == nil {
				err = run(c)
				_ = c.Close()
			}
			if err != nil {
				failed <- err
			}
		})
	}
	wg.Wait()
	close(failed)
	return <-failed
}

// got is a measurement of gets.
type got struct {
	p50, p99  time.Duration
	perSecond float64
	cpu       time.Duration // of the server, for each get
}

// get reads random documents by so many clients for a while.
func get(p *peer, documents, clients int, long time.Duration) (got, error) {
	var mu sync.Mutex
	var took []time.Duration
	before, err := p.cpu()
	if err != nil {
		return got{}, err
	}
	began := time.Now()
	err = concurrently(p, clients, func(c *conn) error {
		mine := make([]time.Duration, 0, 1<<16)
		for time.Since(began) < long {
			n := rand.IntN(documents)
			ask := request("GET", "/"+index+"/_doc/"+strconv.Itoa(n), "", nil)
			at := time.Now()
			status, answer, err := c.do(ask)
			mine = append(mine, time.Since(at))
			if err != nil || status != 200 {
				return fmt.Errorf("%s: get %d: %d %.300s: %w", p.name, n, status, answer, err)
			}
			if len(mine)%100 == 1 && !bytes.Contains(answer, source(n)) {
				return fmt.Errorf("%s: get %d answers another source: %.300s", p.name, n, answer)
			}
		}
		mu.Lock()
		took = append(took, mine...)
		mu.Unlock()
		return nil
	})
	if err != nil {
		return got{}, err
	}
	spent := time.Since(began)
	after, err := p.cpu()
	slices.Sort(took)
	n := len(took)
	return got{took[n/2], took[n*99/100], float64(n) / spent.Seconds(), (after - before) / time.Duration(n)}, err
}

// create makes the index.
func create(p *peer) error {
	c, err := dial(p.url)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.must("PUT", "/"+index, mappings)
}

// settle lets a peer become idle: what it does behind the requests has an end.
func settle(ctx context.Context, p *peer, long time.Duration) error {
	deadline := time.Now().Add(long)
	for time.Now().Before(deadline) {
		before, err := p.cpu()
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * time.Second):
		}
		after, err := p.cpu()
		if err != nil {
			return err
		}
		if after-before <= 40*time.Millisecond {
			return nil
		}
	}
	return nil
}
