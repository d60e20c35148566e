package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/testing/bench/peers"
)

// report is the table, the first peer beside the second.
func (b *bench) report() string {
	us, them := b.peers[0], b.peers[1]
	r, o := b.results[us], b.results[them]
	var t strings.Builder
	fmt.Fprintf(&t, "| %d documents of 1 KB, one run | %s | %s | ratio |\n|---|---:|---:|---:|\n", b.documents, us.Name, them.Name)
	row := func(what string, ours, theirs, format string, ratio float64) {
		fmt.Fprintf(&t, "| %s | %s | %s | %s |\n", what, ours, theirs, b.watch.Ratio(format, ratio))
	}
	rate := func(v float64) string { return fmt.Sprintf("%.0f/s", v) }
	row("acknowledged, 1 client", rate(peers.Median(r.ack1)), rate(peers.Median(o.ack1)), "%.1f× faster", peers.Median(r.ack1)/peers.Median(o.ack1))
	row("acknowledged, 4 clients", rate(peers.Median(r.ack4)), rate(peers.Median(o.ack4)), "%.1f× faster", peers.Median(r.ack4)/peers.Median(o.ack4))
	times := func(what string, ours, theirs time.Duration, word string) {
		row(what, peers.Short(ours), peers.Short(theirs), "%.1f× "+word, float64(theirs)/float64(ours))
	}
	times("get p50, 1 client", peers.P50(r.get1), peers.P50(o.get1), "faster")
	times("get p99, 1 client", peers.P99(r.get1), peers.P99(o.get1), "faster")
	times("get p50, 8 clients", peers.P50(r.get8), peers.P50(o.get8), "faster")
	times("get p99, 8 clients", peers.P99(r.get8), peers.P99(o.get8), "faster")
	times("CPU of the server for a get", peers.MedianCPU(r.get8), peers.MedianCPU(o.get8), "less")
	times("killed and started again: first answer", peers.Median(r.first), peers.Median(o.first), "faster")
	size := func(v int64) string { return fmt.Sprintf("%.1f MiB", peers.MiB(v)) }
	row("resident memory, idle", size(r.resident), size(o.resident), "%.0f× less", float64(o.resident)/float64(r.resident))
	row("anonymous memory, idle", size(r.anonymous), size(o.anonymous), "%.0f× less", float64(o.anonymous)/float64(r.anonymous))
	row("the same after the load", size(r.loaded), size(o.loaded), "%.0f× less", float64(o.loaded)/float64(r.loaded))
	return t.String()
}
