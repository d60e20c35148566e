package main

import (
	"context"
	"slices"
	"time"

	"github.com/reshelve/reshelve/internal/testing/bench/peers"
)

// result is everything that was measured of one shard.
type result struct {
	shard    shard
	ours     []cost
	first    []time.Duration // ours; Java's is in its costs
	java     []cost
	javaRead int64   // bytes of files that Java asked for
	steady   float64 // documents per second of CPU time in Java's last pass of several
	random   float64 // the same by random access, in the second pass over the same documents
}

const (
	steadyPasses    = 5
	randomDocuments = 20000
)

// measure checks every shard, then reads them all in rounds, then lets Java show what else it can.
func (b *bench) measure(ctx context.Context) ([]*result, error) {
	var results []*result
	for _, s := range b.shards {
		peers.Progress("checking that both readers deliver the same: %s", s)
		r := &result{shard: s}
		var err error
		if r.javaRead, err = b.check(ctx, s); err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	forgetPeak()
	for round := range b.rounds {
		peers.Progress("round %d of %d", round+1, b.rounds)
		for _, r := range results {
			if err := b.both(ctx, r, round%2 == 1); err != nil {
				return nil, err
			}
		}
	}
	for _, r := range results {
		if err := b.otherWays(ctx, r); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// both runs the two readers one after the other.
func (b *bench) both(ctx context.Context, r *result, javaFirst bool) error {
	readers := []func() error{
		func() error { return b.ourRun(ctx, r) },
		func() error { return b.javaRun(ctx, r) },
	}
	if javaFirst {
		slices.Reverse(readers)
	}
	for _, run := range readers {
		if err := run(); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) ourRun(ctx context.Context, r *result) error {
	c, _, err := measure(ctx, b.cat(r.shard), true)
	if err != nil {
		return err
	}
	first, err := firstLine(ctx, b.cat(r.shard))
	r.ours, r.first = append(r.ours, c), append(r.first, first)
	return err
}

func (b *bench) javaRun(ctx context.Context, r *result) error {
	c, _, err := b.java[r.shard.family.server].run(ctx, r.shard.directory(), "sequential", 1, 0)
	r.java = append(r.java, c)
	return err
}

// otherWays measures Java when it is warm, and by random access.
func (b *bench) otherWays(ctx context.Context, r *result) error {
	peers.Progress("Java when warm and by random access: %s", r.shard)
	java := b.java[r.shard.family.server]
	_, passes, err := java.run(ctx, r.shard.directory(), "sequential", steadyPasses, 0)
	if err != nil {
		return err
	}
	err = b.watch.Warm("Java, "+r.title(), func(i int) (float64, error) {
		if i == len(passes) { // more of them, in a process that begins anew
			if _, passes, err = java.run(ctx, r.shard.directory(), "sequential", 2*len(passes), 0); err != nil {
				return 0, err
			}
		}
		r.steady = passes[i].rate()
		return r.steady, nil
	})
	if err != nil {
		return err
	}
	if _, passes, err = java.run(ctx, r.shard.directory(), "random", 2, randomDocuments); err != nil {
		return err
	}
	r.random = passes[1].rate()
	return nil
}

// rate is documents per second of CPU time.
func (p javaPass) rate() float64 {
	return float64(p.Documents) / time.Duration(p.CPU).Seconds()
}
