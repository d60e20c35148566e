package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/testing/bench/peers"
)

// figures are what one size took.
type figures struct {
	documents                                int
	moved                                    told
	before, first, then                      work           // until it began, for two seconds, and for a minute at most
	unsplit                                  [3]peers.Taken // searches of an index that was not split, for as long
	wrote                                    int            // by the clients
	split, fresh                             []peers.Taken
	splitSegments, freshSegments             segments
	copied                                   time.Duration
	memory                                   int64 // the most of the movement
	diskBefore, diskMost, diskAfter, written int64
}

// answering is the time from the start until every target answers.
func (f *figures) answering() time.Duration {
	return f.moved.phase("switch").Ended.Sub(f.moved.Started)
}

// table is that of docs/benchmarks.md.
func table(columns []*figures, t theirs, watch *peers.Run) string {
	over := func(a, b time.Duration) string { return watch.Ratio("%.2f×", float64(a)/float64(b)) }
	var b strings.Builder
	row := func(name string, cell func(*figures) string, theirs string) {
		fmt.Fprintf(&b, "| %s |", name)
		for _, f := range columns {
			fmt.Fprintf(&b, " %s |", cell(f))
		}
		fmt.Fprintf(&b, " %s |\n", theirs)
	}
	row("documents of 1 KB", func(f *figures) string { return fmt.Sprint(f.documents) }, fmt.Sprintf("OpenSearch 2.19, %d", t.documents))
	b.WriteString(strings.Repeat("|---", len(columns)+2) + "|\n")
	short := peers.Short
	row("from start to all targets answering", func(f *figures) string { return short(f.answering()) }, "")
	row("a write that waits for the hand-off: p50 · p99 · max", func(f *figures) string {
		p := f.moved.Reshaping.Pauses[0]
		return fmt.Sprintf("%s · %s · %s (%d waited)", short(p.P50), short(p.P99), short(p.Max), p.Waited)
	}, "writes blocked "+short(t.blocked))
	row("of that: drain · stage · change · open", func(f *figures) string {
		s := f.moved.Reshaping.Pauses[0].Steps
		return fmt.Sprintf("%s · %s · %s · %s", short(s.Drain), short(s.Stage), short(s.Change), short(s.Open))
	}, "")
	row("writes a second: before → in its first 2 s → then, for a minute at most", func(f *figures) string {
		return fmt.Sprintf("%.0f → %.0f → %.0f", f.before.writes, f.first.writes, f.then.writes)
	}, "")
	row("searches, p95: the same", func(f *figures) string {
		before, first, then := f.before.searches.P95, f.first.searches.P95, f.then.searches.P95
		return fmt.Sprintf("%s → %s (%s) → %s (%s)", short(before), short(first), over(first, before), short(then), over(then, before))
	}, "")
	row("the same of an index that is not split", func(f *figures) string {
		u := f.unsplit
		return fmt.Sprintf("%s → %s (the split one %s) → %s (%s)", short(u[0].P95),
			short(u[1].P95), over(f.first.searches.P95, u[1].P95), short(u[2].P95), over(f.then.searches.P95, u[2].P95))
	}, "")
	row("from start to finished, clients being at work for that minute", func(f *figures) string { return short(f.moved.phase("retire").Ended.Sub(f.moved.Started)) }, "")
	row("searches after it: p50 · p95 beside a fresh index of this shape", func(f *figures) string {
		split, fresh := f.split, f.fresh
		return fmt.Sprintf("%s · %s beside %s · %s (%s)", short(peers.P50(split)), short(peers.P95(split)), short(peers.P50(fresh)), short(peers.P95(fresh)),
			over(peers.P95(split), peers.P95(fresh)))
	}, "")
	row("documents and segments then", func(f *figures) string {
		return fmt.Sprintf("%s beside %s", f.splitSegments, f.freshSegments)
	}, "")
	row("written until the hand-off", func(f *figures) string {
		return fmt.Sprintf("%.2f MiB (%.1f %%)", peers.MiB(f.written), 100*float64(f.written)/float64(f.diskBefore))
	}, "")
	row("disk: before → most → after", func(f *figures) string {
		return fmt.Sprintf("%.0f → %.0f → %.0f MiB", peers.MiB(f.diskBefore), peers.MiB(f.diskMost), peers.MiB(f.diskAfter))
	}, "")
	row("verified, most memory of the server", func(f *figures) string {
		verify := f.moved.phase("verify")
		return fmt.Sprintf("%.0f documents/s, %.0f MiB", float64(f.moved.Reshaping.Compared.Documents)/verify.Ended.Sub(verify.Started).Seconds(), peers.MiB(f.memory))
	}, "")
	row("otherwise: a client copies it into an index of two shards", func(f *figures) string { return short(f.copied) }, short(t.copied))
	return b.String()
}
