package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/testing/bench/peers"
)

// within is the memory that this store is told to stay below when it is measured by size.
const within = "256MiB"

// curve measures this store by size: what a load takes and leaves, and a second table
// with the kinds of searches, before all is merged.
func (b *bench) curve(ctx context.Context, binary, dir, sizes string) error {
	fmt.Println("| documents | acknowledged/s | CPU s a 100,000 | written | anonymous, at most | idle | stopped: first search | killed | on disk | a byte of source |")
	fmt.Println("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
	var searches strings.Builder
	fmt.Fprint(&searches, "| documents, p50 · p99")
	for _, k := range b.kinds {
		fmt.Fprintf(&searches, " | %s", k.name)
	}
	fmt.Fprintf(&searches, " |\n|---:%s|\n", strings.Repeat("|---:", len(b.kinds)))
	for text := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		p := peers.Reshelve(binary, filepath.Join(dir, text), "--memory", within)
		one := &bench{documents: n, rounds: b.rounds, long: b.long, first: b.first, kinds: b.kinds}
		one.add(p)
		if err := one.run(ctx); err != nil {
			return err
		}
		r, source := one.results[p], one.sourceBytes()
		fmt.Printf("| %d | %.0f | %.2f | %.1f× | %.0f MiB | %.0f MiB | %s | %s | %.2f GB | %.2f |\n", n, r.rate, per100k(r.cpu, n), float64(r.written)/source,
			peers.MiB(r.peak), peers.MiB(r.after), peers.Short(peers.Median(r.stopped)), peers.Short(peers.Median(r.killed)), float64(r.disk)/1e9, float64(r.disk)/source)
		fmt.Fprintf(&searches, "| %d", n)
		for _, k := range b.kinds {
			fmt.Fprintf(&searches, " | %s · %s", peers.Short(peers.P50(r.searches[k.name])), peers.Short(peers.P99(r.searches[k.name])))
		}
		fmt.Fprintln(&searches, " |")
		if err := os.RemoveAll(p.Dir); err != nil {
			return err
		}
	}
	fmt.Print("\n", searches.String())
	return nil
}
