package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/reshelve/reshelve/internal/testing/bench/peers"
)

// heartbeat is that of the migration that is killed: what another may have to repeat.
const heartbeat = 5 * time.Second

// killed tells what was sent twice when a migration was killed half-way, and another process
// went on with it.
type killed struct {
	sent     int64         // documents, when it was killed
	rate     float64       // of them in a second
	repeated int64         // documents that were sent twice
	within   time.Duration // in which the killed one had sent so many
	waited   time.Duration // until the other sent something
}

// afterKill kills a migration into the null target when half of the documents were sent.
func (b *bench) afterKill(ctx context.Context) (*killed, error) {
	var target null
	url, stop, err := target.serve()
	if err != nil {
		return nil, err
	}
	defer stop()
	w, err := start(ctx, b.binary, nil, b.migration(url, "--heartbeat", heartbeat.String(), "--docs-per-second", strconv.Itoa(b.documents/20))...)
	if err != nil {
		return nil, err
	}
	began := <-target.first
	for target.documents.Load() < int64(b.documents/2) && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	_ = w.cmd.Process.Kill()
	dead := time.Now()
	w.stop()
	k := &killed{sent: target.documents.Load()}
	other, err := start(ctx, b.binary, nil, "worker", "--join", url, "--slots", strconv.Itoa(b.workers))
	if err != nil {
		return nil, err
	}
	defer func() { _ = other.cmd.Process.Kill(); other.stop() }()
	for target.documents.Load() == k.sent && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	k.waited = time.Since(dead)
	if _, _, err := other.sent(&target); err != nil {
		return nil, err
	}
	k.repeated = target.documents.Load() - int64(b.documents)
	k.rate = float64(k.sent) / dead.Sub(began).Seconds()
	k.within = time.Duration(float64(k.repeated) / k.rate * float64(time.Second))
	return k, nil
}

// String is the paragraph behind the table.
func (k *killed) String() string {
	return fmt.Sprintf("Killed with `kill -9` after %d documents, at %.0f a second, and gone on with by another process %s later: %d documents were sent twice, as many as it had sent in %s; a heartbeat is %s.\n",
		k.sent, k.rate, peers.Short(k.waited), k.repeated, peers.Short(k.within), heartbeat)
}
