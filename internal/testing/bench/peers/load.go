package peers

import (
	"bytes"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reshelve/reshelve/internal/testing/bench/corpus"
)

// Index is the name of the index of the documents.
const Index = "bench"

// Create makes an index for documents of the corpus.
func (p *Peer) Create(index string) error {
	c, err := Dial(p.URL)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Must("PUT", "/"+index, corpus.Index)
}

// Load sends the documents [from, to) of the corpus in bulk requests of 1,000 by so many
// clients, and returns how many were acknowledged in a second. Making the requests
// is not counted, and done in parts to keep them out of memory.
func (p *Peer) Load(index string, from, to, clients int) (perSecond float64, err error) {
	const part = 100_000
	var spent time.Duration
	for at := from; at < to && err == nil; at += part {
		var took time.Duration
		took, err = p.send(bulks(index, at, min(at+part, to)), clients)
		spent += took
	}
	return float64(to-from) / spent.Seconds(), err
}

// bulks are bulk requests of 1,000 documents each.
func bulks(index string, from, to int) (all [][]byte) {
	const batch = 1000
	for n := from; n < to; n += batch {
		all = append(all, Request("POST", "/"+index+"/_bulk", "application/x-ndjson", corpus.Bulk(n, min(n+batch, to))))
	}
	return all
}

// send sends bulk requests and checks the answers.
func (p *Peer) send(requests [][]byte, clients int) (time.Duration, error) {
	var next atomic.Int64
	began := time.Now()
	err := p.Concurrently(clients, func(c *Conn) error {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(requests) {
				return nil
			}
			if err := c.Bulk(requests[i]); err != nil {
				return fmt.Errorf("%s: %w", p.Name, err)
			}
		}
	})
	return time.Since(began), err
}

// Bulk sends one bulk request, and again when it is too much for the server just now.
func (c *Conn) Bulk(request []byte) error {
	const tries = 30
	for try := 1; ; try++ {
		status, answer, err := c.Do(request)
		switch {
		case err != nil:
			return err
		case status == http.StatusTooManyRequests && try < tries:
			time.Sleep(time.Second)
		case status != http.StatusOK || !bytes.Contains(answer[:min(len(answer), 200)], []byte(`"errors":false`)):
			return fmt.Errorf("a bulk request: %d %.300s", status, answer)
		default:
			return nil
		}
	}
}

// Concurrently runs so many clients, each with a connection of its own.
func (p *Peer) Concurrently(clients int, run func(c *Conn) error) error {
	var wg sync.WaitGroup
	failed := make(chan error, clients)
	for range clients {
		wg.Go(func() {
			c, err := Dial(p.URL)
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
