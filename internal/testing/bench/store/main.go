package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/testing/bench/peers"
)

func main() { peers.Main(run) }

// bench is one run.
type bench struct {
	documents int
	rounds    int
	long      time.Duration
	warm      int        // documents in a round before it begins; 0: none
	watch     *peers.Run // nil: nothing is compared
	peers     []*peers.Peer
	results   map[*peers.Peer]*result
}

// result is what was measured of one peer; each slice has a value a round.
type result struct {
	ack1, ack4 []float64
	get1, get8 []peers.Taken
	first      []time.Duration
	resident   int64
	anonymous  int64
	loaded     int64 // anonymous, idle after the load
}

func run(ctx context.Context) error {
	documents := flag.Int("documents", 200_000, "documents in each server")
	seconds := flag.Int("seconds", 5, "how long gets are measured, a round")
	rounds := flag.Int("rounds", 3, "rounds of gets and starts; medians are printed")
	warm := flag.Int("warm", 25_000, "documents of a round, of which there are as many before as it takes until they agree")
	curve := flag.String("curve", "", "sizes of this store alone, such as 10000,100000; instead of the comparison")
	flag.Parse()
	long := time.Duration(*seconds) * time.Second
	return peers.InFolder(ctx, "", func(dir, binary string) error {
		if *curve != "" {
			return printCurve(ctx, binary, dir, *curve, *rounds, long)
		}
		return compare(ctx, binary, dir, &bench{documents: *documents, rounds: *rounds, long: long, warm: *warm})
	})
}

// compare measures this store and OpenSearch.
func compare(ctx context.Context, binary, dir string, b *bench) error {
	b.results = map[*peers.Peer]*result{}
	var err error
	if b.watch, err = peers.Watch(); err != nil {
		return err
	}
	defer b.watch.End()
	for _, p := range []*peers.Peer{peers.Reshelve(binary, filepath.Join(dir, "ours")), peers.OpenSearch("2.19.0", filepath.Join(dir, "theirs"))} {
		if err := os.MkdirAll(p.Dir, 0o755); err != nil {
			return err
		}
		b.peers, b.results[p] = append(b.peers, p), &result{}
	}
	if err := b.measure(ctx); err != nil {
		return err
	}
	b.watch.End()
	fmt.Print(b.report(), b.watch)
	return nil
}

// measure runs all phases. Both peers are up all the time but when they are
// killed; only one is asked at a time.
func (b *bench) measure(ctx context.Context) error {
	for _, p := range b.peers {
		if _, err := p.Start(ctx, peers.Request("GET", "/", "", nil), nil); err != nil {
			return err
		}
		defer func() { p.Stop() }()
		if err := b.makeWarm(ctx, p); err != nil {
			return err
		}
		if err := p.Create(peers.Index); err != nil {
			return err
		}
	}
	phases := []func(context.Context, *peers.Peer, *result, int) error{b.loadPhase, b.getPhase, b.startPhase}
	for number, phase := range phases {
		for round := range b.rounds {
			if number == 0 && round > 0 {
				break // the load is taken in slices, all in one round
			}
			for i := range b.peers {
				p := b.peers[(i+round)%len(b.peers)]
				if err := phase(ctx, p, b.results[p], round); err != nil {
					return err
				}
			}
		}
	}
	for _, p := range b.peers {
		if err := p.Settle(ctx, time.Minute); err != nil {
			return err
		}
		r := b.results[p]
		var err error
		if r.resident, r.anonymous, err = p.Memory(); err != nil {
			return err
		}
	}
	return nil
}

// loadPhase loads everything in eight slices, by one and by four clients in turn.
func (b *bench) loadPhase(ctx context.Context, p *peers.Peer, r *result, _ int) error {
	const slices = 8
	for i := range slices {
		clients, into := 1, &r.ack1
		if i%2 == 1 {
			clients, into = 4, &r.ack4
		}
		rate, err := p.Load(peers.Index, b.documents*i/slices, b.documents*(i+1)/slices, clients)
		if err != nil {
			return err
		}
		*into = append(*into, rate)
		peers.Progress("%s: %d clients, %.0f documents/s", p.Name, clients, rate)
	}
	if err := p.Settle(ctx, time.Minute); err != nil {
		return err
	}
	_, anonymous, err := p.Memory()
	r.loaded = anonymous
	return err
}

// makeWarm loads and reads what is not measured, until that takes as long each time.
func (b *bench) makeWarm(ctx context.Context, p *peers.Peer) error {
	if b.watch == nil {
		return nil
	}
	if err := b.watch.WarmUp(ctx, p, b.warm); err != nil {
		return err
	}
	return p.Settle(ctx, time.Minute)
}

func (b *bench) getPhase(ctx context.Context, p *peers.Peer, r *result, _ int) error {
	if b.watch != nil && len(r.get8) == 0 {
		err := b.watch.Warm(p.Name+", getting", func(int) (float64, error) {
			g, err := get(p, b.documents, 8, b.long/3)
			return g.P50.Seconds(), err
		})
		if err != nil {
			return err
		}
	}
	for clients, into := range map[int]*[]peers.Taken{1: &r.get1, 8: &r.get8} {
		g, err := get(p, b.documents, clients, b.long)
		if err != nil {
			return err
		}
		*into = append(*into, g)
		peers.Progress("%s: %d clients, get p50 %v, p99 %v, %.0f/s, CPU %v", p.Name, clients, g.P50, g.P99, g.PerSecond, g.CPU)
	}
	return p.Settle(ctx, 20*time.Second)
}

func (b *bench) startPhase(ctx context.Context, p *peers.Peer, r *result, _ int) error {
	p.Kill()
	took, err := p.Start(ctx, peers.Request("GET", "/"+peers.Index+"/_doc/"+strconv.Itoa(b.documents-1), "", nil), nil)
	r.first = append(r.first, took)
	peers.Progress("%s: killed, first answer after %v", p.Name, took)
	return err
}

// printCurve measures this store by size.
func printCurve(ctx context.Context, binary, dir, sizes string, rounds int, long time.Duration) error {
	fmt.Println("| documents | acknowledged/s | get p50, 8 clients | get p99 | first answer | anonymous, idle | on disk |")
	fmt.Println("|---:|---:|---:|---:|---:|---:|---:|")
	for text := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		p := peers.Reshelve(binary, filepath.Join(dir, text))
		b := &bench{documents: n, rounds: rounds, long: long, peers: []*peers.Peer{p}, results: map[*peers.Peer]*result{p: {}}}
		if err := os.MkdirAll(p.Dir, 0o755); err != nil {
			return err
		}
		if err := b.measure(ctx); err != nil {
			return err
		}
		r := b.results[p]
		fmt.Printf("| %d | %.0f | %v | %v | %v | %.1f MiB | %.2f GB |\n", n, peers.Median(r.ack4), peers.P50(r.get8), peers.P99(r.get8),
			peers.Median(r.first).Round(time.Millisecond), peers.MiB(r.anonymous), float64(p.Disk())/1e9)
		if err := os.RemoveAll(p.Dir); err != nil {
			return err
		}
	}
	return nil
}
