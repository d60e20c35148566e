package proof

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"
)

const clients = 6

// The indices of histories: one shard, whose sequence numbers are held to their
// order, and several.
const (
	single  = "proof-single"
	several = "proof-several"
)

// minimumAge is that of tombstones, by the setting index.gc_deletes.
const minimumAge = 2 * time.Second

func newTable(t *testing.T) *table {
	return &table{t: t, talk: talk(t), history: newHistory(), indices: []string{single, several}, docs: 4}
}

// lay makes the indices.
func (b *table) lay(url string) {
	b.t.Helper()
	for name, shards := range map[string]int{single: 1, several: 3} {
		ask(b.t, b.talk, 200, "PUT", url+"/"+name, fmt.Sprintf(`{"settings":{"number_of_shards":%d,"number_of_replicas":0,"index.gc_deletes":"%s"}}`, shards, minimumAge))
	}
}

// sit makes a client that leaves when ctx ends.
func (b *table) sit(ctx context.Context, url string, number, life, generation int, seed uint64) *client {
	return &client{table: b, ctx: b.t.Context(), until: ctx.Done(), url: url, number: number, life: life, generation: generation,
		dice: rand.New(rand.NewPCG(seed, uint64(life<<8|number))), known: map[string]numbers{}}
}

// live has clients play until ctx ends, each finishing its request, or the server
// dies; the function that it returns waits for them.
func (b *table) live(ctx context.Context, url string, life int, seed uint64) (wait func()) {
	var playing sync.WaitGroup
	for number := range clients {
		c := b.sit(ctx, url, number, life, life/8, seed)
		playing.Go(c.play)
	}
	return playing.Wait
}

// TestHistories has clients write and read for some seconds, without kills. PROOF_AT
// names another server to ask instead, to try the test itself.
func TestHistories(t *testing.T) {
	at := os.Getenv("PROOF_AT")
	orders := []string{"_id"}
	if at == "" {
		_, at = serve(t, dataFolder(t))
		orders = append(orders, "_doc")
	}
	b, dice := newTable(t), seed(t)
	b.lay(at)
	defer func() {
		for _, name := range b.indices {
			ask(t, b.talk, 200, "DELETE", at+"/"+name, "")
		}
	}()
	for life := range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		b.live(ctx, at, 8*life, dice)()
		cancel()
		for _, index := range b.indices {
			b.sit(t.Context(), at, clients, life, 0, dice).agree(index, orders...)
		}
	}
	b.history.died(b.history.now())
	b.judge()
}

// judge holds the whole history to the laws.
func (b *table) judge() {
	b.t.Helper()
	began := time.Now()
	b.history.numbered(b.t, single)
	b.history.check(b.t, minimumAge)
	b.t.Logf("%d requests judged in %s", len(b.history.done), time.Since(began).Round(time.Millisecond))
}
