package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/testing/bench/peers"
)

// result is what was measured of one peer; slices have a value a round.
type result struct {
	rate            float64       // documents acknowledged in a second
	cpu             time.Duration // of the load, refreshes and merges
	searches        map[string][]peers.Taken
	stopped, killed []time.Duration // until the first search is answered
	loaded, after   int64           // anonymous bytes, idle, after the load and after everything
	resident        int64           // after everything
	settled, disk   int64           // bytes after the load, and when merged
	watch           func() int64    // ends the watch over peak
	peak            int64           // most anonymous bytes, from the load to the last merge
	written         int64           // bytes that went to files meanwhile
}

// load loads the documents and measures what that takes until the server is idle.
func (b *bench) load(ctx context.Context, p *peers.Peer, r *result) error {
	r.watch = p.Peak()
	before, err := p.CPU()
	if err != nil {
		return err
	}
	if r.rate, err = p.Load(peers.Index, 0, b.documents, 4); err != nil {
		return err
	}
	if err := order(p, "POST", "/"+peers.Index+"/_refresh"); err != nil {
		return err
	}
	if err := p.Settle(ctx, 5*time.Minute+time.Duration(b.documents)*time.Millisecond/10); err != nil {
		return err
	}
	after, err := p.CPU()
	if err != nil {
		return err
	}
	r.cpu, r.settled = after-before, p.Disk()
	_, r.loaded, err = p.Memory()
	peers.Progress("%s: %.0f documents/s, CPU %v, %.2f GB on disk", p.Name, r.rate, r.cpu, float64(r.settled)/1e9)
	return err
}

// order sends a request without a body that has to succeed.
func order(p *peers.Peer, method, path string) error {
	return p.Concurrently(1, func(c *peers.Conn) error { return c.Must(method, path, "") })
}

// ask sends the requests of a kind once and returns the answers.
func ask(p *peers.Peer, k kind) (answers [][]byte, err error) {
	err = p.Concurrently(1, func(c *peers.Conn) error {
		for _, request := range k.requests {
			status, body, err := c.Do(request)
			if err != nil {
				return fmt.Errorf("%s: %s: %s: %w", p.Name, k.name, request, err)
			}
			if status != 200 {
				return fmt.Errorf("%s: %s: %s: %w: %d %.600s", p.Name, k.name, request, errRefused, status, body)
			}
			answers = append(answers, slices.Clone(body))
		}
		return nil
	})
	return answers, err
}

var errRefused = errors.New("it is refused")

// compare asks all searches of both peers. It leaves out the kinds that are refused,
// and tells which answers differ.
func (b *bench) compare() (differences []string) {
	for i := 0; i < len(b.kinds); i++ {
		k := b.kinds[i]
		var answers [2][][]byte
		var failed error
		for which, p := range b.peers {
			var err error
			if answers[which], err = ask(p, k); err != nil {
				failed = err
			}
		}
		if failed != nil {
			differences = append(differences, failed.Error())
			b.kinds = slices.Delete(b.kinds, i, i+1)
			i--
			continue
		}
		different := 0
		for j, request := range k.requests {
			how := differs(answers[0][j], answers[1][j])
			if how == "" {
				continue
			}
			if different++; different == 1 {
				_, body, _ := strings.Cut(string(request), "\r\n\r\n")
				differences = append(differences, fmt.Sprintf("%s: %s: %s", k.name, body, how))
			}
		}
		if different > 0 {
			differences = append(differences, fmt.Sprintf("%s: %d of %d answers differ", k.name, different, len(k.requests)))
		}
	}
	for _, how := range differences {
		peers.Progress("%s", how)
	}
	return differences
}

// measure sends searches of a kind for a while.
func measure(p *peers.Peer, k kind, long time.Duration) (peers.Taken, error) {
	request := func(i int) []byte { return k.requests[i%len(k.requests)] }
	return p.Measure(k.clients, peers.For(long), request, func(int, []byte) error { return nil })
}

// firstSearch ends the peer and measures how long its next start takes until a search
// has the total that it had before.
func (b *bench) firstSearch(ctx context.Context, p *peers.Peer, end func()) (time.Duration, error) {
	first := kind{name: "first search", requests: [][]byte{b.first}}
	answers, err := ask(p, first)
	if err != nil {
		return 0, err
	}
	end()
	return p.Start(ctx, b.first, func(answer []byte) bool { return differs(answer, answers[0]) == "" })
}
