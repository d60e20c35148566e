package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/reshelve/reshelve/internal/testing/bench/corpus"
	"github.com/reshelve/reshelve/internal/testing/bench/peers"
)

// get reads random documents by so many clients for a while.
func get(p *peers.Peer, documents, clients int, long time.Duration) (peers.Taken, error) {
	seed := rand.Uint64()
	number := func(i int) int { return int(rand.New(rand.NewPCG(seed, uint64(i))).Uint64N(uint64(documents))) }
	request := func(i int) []byte {
		return peers.Request("GET", "/"+peers.Index+"/_doc/"+strconv.Itoa(number(i)), "", nil)
	}
	return p.Measure(clients, peers.For(long), request, func(i int, answer []byte) error {
		if i%100 == 0 && !bytes.Contains(answer, corpus.Source(number(i))) {
			return fmt.Errorf("another source than that of document %d", number(i))
		}
		return nil
	})
}
