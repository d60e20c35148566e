package main

import (
	"fmt"
	"strings"
	"time"
)

// report is the table, the first peer beside the second.
func (b *bench) report() string {
	us, them := b.peers[0], b.peers[1]
	r, o := b.results[us], b.results[them]
	var t strings.Builder
	fmt.Fprintf(&t, "| %d documents of 1 KB, one run | %s | %s | ratio |\n|---|---:|---:|---:|\n", b.documents, us.name, them.name)
	row := func(what string, ours, theirs, format string, ratio float64) {
		fmt.Fprintf(&t, "| %s | %s | %s | "+format+" |\n", what, ours, theirs, ratio)
	}
	rate := func(v float64) string { return fmt.Sprintf("%.0f/s", v) }
	row("acknowledged, 1 client", rate(median(r.ack1)), rate(median(o.ack1)), "%.1f× faster", median(r.ack1)/median(o.ack1))
	row("acknowledged, 4 clients", rate(median(r.ack4)), rate(median(o.ack4)), "%.1f× faster", median(r.ack4)/median(o.ack4))
	times := func(what string, ours, theirs time.Duration, word string) {
		row(what, short(ours), short(theirs), "%.1f× "+word, float64(theirs)/float64(ours))
	}
	times("get p50, 1 client", p50(r.get1), p50(o.get1), "faster")
	times("get p99, 1 client", p99(r.get1), p99(o.get1), "faster")
	times("get p50, 8 clients", p50(r.get8), p50(o.get8), "faster")
	times("get p99, 8 clients", p99(r.get8), p99(o.get8), "faster")
	times("CPU of the server for a get", cpu(r.get8), cpu(o.get8), "less")
	times("killed and started again: first answer", median(r.first), median(o.first), "faster")
	size := func(v int64) string { return fmt.Sprintf("%.1f MiB", mib(v)) }
	row("resident memory, idle", size(r.resident), size(o.resident), "%.0f× less", float64(o.resident)/float64(r.resident))
	row("anonymous memory, idle", size(r.anonymous), size(o.anonymous), "%.0f× less", float64(o.anonymous)/float64(r.anonymous))
	row("the same after the load", size(r.loaded), size(o.loaded), "%.0f× less", float64(o.loaded)/float64(r.loaded))
	return t.String()
}

func each(gets []got, of func(got) time.Duration) time.Duration {
	var values []time.Duration
	for _, g := range gets {
		values = append(values, of(g))
	}
	return median(values)
}

func p50(gets []got) time.Duration { return each(gets, func(g got) time.Duration { return g.p50 }) }
func p99(gets []got) time.Duration { return each(gets, func(g got) time.Duration { return g.p99 }) }
func cpu(gets []got) time.Duration { return each(gets, func(g got) time.Duration { return g.cpu }) }

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// short is a duration with three digits.
func short(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
