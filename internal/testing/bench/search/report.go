package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/testing/bench/corpus"
	"github.com/reshelve/reshelve/internal/testing/bench/peers"
)

// report is the tables, the first peer beside the second, and what differed.
func (b *bench) report() string {
	var t strings.Builder
	b.searchTable(&t)
	b.costTable(&t)
	for _, how := range b.differences {
		fmt.Fprintf(&t, "\nDIFFERENT: %s\n", how)
	}
	return t.String()
}

func (b *bench) searchTable(t *strings.Builder) {
	us, them := b.peers[0], b.peers[1]
	fmt.Fprintf(t, "| search of %d documents, p50 · p99 | %s | %s | ratio | CPU of the server | ratio |\n|---|---:|---:|---:|---:|---:|\n", b.documents, us.Name, them.Name)
	for _, k := range b.kinds {
		ours, theirs := b.results[us].searches[k.name], b.results[them].searches[k.name]
		both := func(taken []peers.Taken) string {
			return peers.Short(peers.P50(taken)) + " · " + peers.Short(peers.P99(taken))
		}
		fmt.Fprintf(t, "| %s | %s | %s | %s · %s | %s · %s | %s |\n", k.name, both(ours), both(theirs),
			b.times(peers.P50(theirs), peers.P50(ours)), b.times(peers.P99(theirs), peers.P99(ours)),
			peers.Short(peers.MedianCPU(ours)), peers.Short(peers.MedianCPU(theirs)), b.times(peers.MedianCPU(theirs), peers.MedianCPU(ours)))
	}
}

func (b *bench) costTable(t *strings.Builder) {
	us, them := b.peers[0], b.peers[1]
	r, o := b.results[us], b.results[them]
	fmt.Fprintf(t, "\n| %d documents of 1 KB, one run | %s | %s | ratio |\n|---|---:|---:|---:|\n", b.documents, us.Name, them.Name)
	row := func(what, ours, theirs string, ratio float64) {
		fmt.Fprintf(t, "| %s | %s | %s | %s |\n", what, ours, theirs, b.watch.Ratio("%.2f×", ratio))
	}
	seconds := func(r *result) string { return fmt.Sprintf("%.2f s", per100k(r.cpu, b.documents)) }
	row("CPU for 100,000 documents, durable and searchable, merges included", seconds(r), seconds(o), r.cpu.Seconds()/o.cpu.Seconds())
	source := b.sourceBytes()
	size := func(bytes int64) string { return fmt.Sprintf("%.2f", float64(bytes)/source) }
	row("bytes on disk for a byte of source, merged", size(r.disk), size(o.disk), float64(r.disk)/float64(o.disk))
	row("the same before, idle", size(r.settled), size(o.settled), float64(r.settled)/float64(o.settled))
	first := func(what string, ours, theirs []time.Duration) {
		a, b := peers.Median(ours), peers.Median(theirs)
		row(what, peers.Short(a), peers.Short(b), a.Seconds()/b.Seconds())
	}
	first("stopped and started again: first search", r.stopped, o.stopped)
	first("killed and started again: first search", r.killed, o.killed)
	memory := func(what string, ours, theirs int64) {
		row(what, fmt.Sprintf("%.1f MiB", peers.MiB(ours)), fmt.Sprintf("%.1f MiB", peers.MiB(theirs)), float64(ours)/float64(theirs))
	}
	memory("anonymous memory, idle after the load", r.loaded, o.loaded)
	memory("the same, started again and searched", r.after, o.after)
	memory("resident memory then", r.resident, o.resident)
}

// times tells how many times faster ours is.
func (b *bench) times(theirs, ours time.Duration) string {
	return b.watch.Ratio("%.1f×", float64(theirs)/float64(ours))
}

// per100k is the seconds of CPU for 100,000 documents.
func per100k(cpu time.Duration, documents int) float64 {
	return cpu.Seconds() / float64(documents) * 100_000
}

// sourceBytes is what the documents hold, from every hundredth of them.
func (b *bench) sourceBytes() float64 {
	bytes, looked := 0, 0
	for n := 0; n < b.documents; n += 100 {
		bytes += len(corpus.Source(n))
		looked++
	}
	return float64(bytes) / float64(looked) * float64(b.documents)
}
