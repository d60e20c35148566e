package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/testing/bench/peers"
)

func main() { peers.Main(run) }

// bench is one run.
type bench struct {
	documents   int
	warm        int
	rounds      int
	long        time.Duration
	kinds       []kind
	first       []byte // the search after a start
	peers       []*peers.Peer
	results     map[*peers.Peer]*result
	differences []string
	watch       *peers.Run // nil: nothing is compared
}

func run(ctx context.Context) error {
	var b bench
	flag.IntVar(&b.documents, "documents", 200_000, "documents in each server")
	flag.IntVar(&b.warm, "warm", 50_000, "documents of a round that is loaded before, into another index, of which there are as many as it takes until they agree")
	flag.IntVar(&b.rounds, "rounds", 3, "rounds of searches and starts; medians are printed")
	flag.DurationVar(&b.long, "each", 3*time.Second, "how long each kind of search is measured, a round")
	some := flag.String("kinds", "", "parts of the names of the kinds to measure; all")
	curve := flag.String("curve", "", "sizes of this store alone, such as 10000,100000; instead of the comparison")
	shards := flag.String("shards", "", "numbers of shards of this store alone, such as 8,64; instead of the comparison")
	binary := flag.String("binary", "", "a reshelve that was built before")
	flag.Parse()
	b.kinds = kinds(peers.Index, strings.Split(*some, ","))
	b.first = kinds(peers.Index, []string{"match"})[0].requests[0]
	return peers.InFolder(ctx, *binary, func(dir, binary string) error {
		if *curve != "" {
			return b.curve(ctx, binary, dir, *curve)
		}
		if *shards != "" {
			return b.shards(ctx, binary, dir, *shards, strings.Split(*some, ","))
		}
		var err error
		if b.watch, err = peers.Watch(); err != nil {
			return err
		}
		defer b.watch.End()
		b.add(peers.Reshelve(binary, filepath.Join(dir, "ours")))
		b.add(peers.OpenSearch("2.19.0", filepath.Join(dir, "theirs")))
		if err := b.run(ctx); err != nil {
			return err
		}
		b.watch.End()
		fmt.Print(b.report(), b.watch)
		return nil
	})
}

func (b *bench) add(p *peers.Peer) {
	if b.results == nil {
		b.results = map[*peers.Peer]*result{}
	}
	b.peers, b.results[p] = append(b.peers, p), &result{searches: map[string][]peers.Taken{}}
}

// run runs all phases. Both peers are up all the time but when they are ended; only
// one is asked at a time.
func (b *bench) run(ctx context.Context) error {
	for _, p := range b.peers {
		if err := b.prepare(ctx, p); err != nil {
			return err
		}
		defer p.Stop()
	}
	for _, p := range b.peers {
		if err := b.load(ctx, p, b.results[p]); err != nil {
			return err
		}
	}
	if len(b.peers) == 2 {
		b.differences = b.compare()
	}
	if err := b.searches(); err != nil {
		return err
	}
	for _, p := range b.peers {
		if err := b.merge(ctx, p, b.results[p]); err != nil {
			return err
		}
	}
	for _, p := range b.peers {
		if err := b.end(ctx, p, b.results[p]); err != nil {
			return err
		}
	}
	return nil
}

// prepare starts a peer and makes it warm.
func (b *bench) prepare(ctx context.Context, p *peers.Peer) error {
	if err := os.MkdirAll(p.Dir, 0o755); err != nil {
		return err
	}
	if _, err := p.Start(ctx, peers.Request("GET", "/", "", nil), nil); err != nil {
		return err
	}
	if b.watch != nil {
		if err := b.watch.WarmUp(ctx, p, b.warm); err != nil {
			return err
		}
	}
	if err := p.Create(peers.Index); err != nil {
		return err
	}
	return p.Settle(ctx, time.Minute)
}

// searches measures all kinds, after rounds that are not counted.
func (b *bench) searches() error {
	if err := b.makeWarm(); err != nil {
		return err
	}
	for round := range b.rounds {
		for _, k := range b.kinds {
			for i := range b.peers {
				p := b.peers[(i+round)%len(b.peers)]
				t, err := measure(p, k, b.long)
				if err != nil {
					return err
				}
				peers.Progress("%s: %s: p50 %v, p99 %v, CPU %v", p.Name, k.name, t.P50, t.P99, t.CPU)
				into := b.results[p].searches
				into[k.name] = append(into[k.name], t)
			}
		}
	}
	return nil
}

// makeWarm asks for each kind until its medians agree; of this store alone once.
func (b *bench) makeWarm() error {
	for _, p := range b.peers {
		for _, k := range b.kinds {
			round := func(int) (float64, error) {
				t, err := measure(p, k, b.long/3)
				return t.P50.Seconds(), err
			}
			if b.watch == nil {
				if _, err := round(0); err != nil {
					return err
				}
				continue
			}
			if err := b.watch.Warm(p.Name+", "+k.name, round); err != nil {
				return err
			}
		}
	}
	return nil
}

// merge lets a peer merge all, and measures what it needs then.
func (b *bench) merge(ctx context.Context, p *peers.Peer, r *result) (err error) {
	if err := order(p, "POST", "/"+peers.Index+"/_forcemerge?max_num_segments=1"); err != nil {
		return err
	}
	if err := p.Settle(ctx, time.Minute); err != nil {
		return err
	}
	r.peak, r.disk = r.watch(), p.Disk()
	r.written, err = p.Written()
	return err
}

// end measures how a peer starts, and what it holds then.
func (b *bench) end(ctx context.Context, p *peers.Peer, r *result) (err error) {
	for range b.rounds {
		stopped, err := b.firstSearch(ctx, p, p.Stop)
		if err != nil {
			return err
		}
		killed, err := b.firstSearch(ctx, p, p.Kill)
		if err != nil {
			return err
		}
		r.stopped, r.killed = append(r.stopped, stopped), append(r.killed, killed)
	}
	peers.Progress("%s: first search %v when stopped, %v when killed", p.Name, r.stopped, r.killed)
	for _, k := range b.kinds {
		if _, err := measure(p, k, b.long/3); err != nil {
			return err
		}
	}
	if err := p.Settle(ctx, time.Minute); err != nil {
		return err
	}
	r.resident, r.after, err = p.Memory()
	return err
}
