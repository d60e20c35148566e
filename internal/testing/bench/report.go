package main

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/testing/bench/peers"
)

// report renders what was measured as Markdown: medians of all rounds, Reshelve first and Java second in each cell.
func (b *bench) report(results []*result) string {
	var out strings.Builder
	out.WriteString("| shard | documents | documents per second of CPU: Reshelve · Java | ratio | wall, s | peak memory, MB | first document, ms | bytes read, MB (file of documents) |\n")
	out.WriteString("|---|---|---|---|---|---|---|---|\n")
	for _, r := range results {
		out.WriteString(r.row(b.watch))
	}
	out.WriteString("\nJava in other ways, documents per second of CPU time, and Reshelve's whole process against each:\n\n")
	out.WriteString("| shard | a later pass, when warm | ratio | random access, when warm | ratio |\n|---|---|---|---|---|\n")
	for _, r := range results {
		ours := r.rate(r.ours)
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s |\n", r.title(), count(r.steady), b.watch.Ratio("%.1f", ours/r.steady), count(r.random), b.watch.Ratio("%.0f", ours/r.random))
	}
	fmt.Fprintf(&out, "\n%s\n", b.circumstances())
	return out.String()
}

// row is the shard's line of the first table.
func (r *result) row(watch *peers.Run) string {
	both := func(value func(cost) float64) string { return of(r.ours, value) + " · " + of(r.java, value) }
	javaFirst := median(r.java, func(c cost) float64 { return c.First.Seconds() })
	cells := []string{
		r.title(),
		count(float64(r.shard.Content.Documents)),
		count(r.rate(r.ours)) + " · " + count(r.rate(r.java)),
		watch.Ratio("**%.1f**", r.rate(r.ours)/r.rate(r.java)),
		both(wall),
		both(memory),
		fmt.Sprintf("%.1f · %.0f", median(r.first, time.Duration.Seconds)*1e3, javaFirst*1e3),
		fmt.Sprintf("%s · %.1f", of(r.ours, read), float64(r.javaRead)/1e6),
	}
	if stored, err := r.shard.storedBytes(); err == nil {
		cells[7] += fmt.Sprintf(" (%.1f)", float64(stored)/1e6)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

func (r *result) title() string {
	return fmt.Sprintf("%s, Lucene %s, %s", r.shard.Shape, r.shard.Lucene, r.shard.Codec)
}

// rate is documents per second of CPU time.
func (r *result) rate(costs []cost) float64 {
	return float64(r.shard.Content.Documents) / median(costs, func(c cost) float64 { return c.CPU.Seconds() })
}

func wall(c cost) float64   { return c.Wall.Seconds() }
func memory(c cost) float64 { return float64(c.Memory) / 1e6 }
func read(c cost) float64   { return float64(c.Read) / 1e6 }

// of is the median of one thing that runs took.
func of(costs []cost, value func(cost) float64) string {
	return fmt.Sprintf("%.1f", median(costs, value))
}

// median of the values of a list that is not empty: the middle one, the lower of two.
func median[T any, N cmp.Ordered](list []T, value func(T) N) N {
	values := make([]N, len(list))
	for i, element := range list {
		values[i] = value(element)
	}
	slices.Sort(values)
	return values[(len(values)-1)/2]
}

// count renders a number as people read it: 1.27 M, 203 k, 4.6 k.
func count(n float64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.2f M", n/1e6)
	case n >= 1e5:
		return fmt.Sprintf("%.0f k", n/1e3)
	case n >= 1e3:
		return fmt.Sprintf("%.1f k", n/1e3)
	}
	return fmt.Sprintf("%.0f", n)
}

// circumstances is what has to be known to repeat the numbers.
func (b *bench) circumstances() string {
	var javas []string
	for _, f := range families {
		javas = append(javas, fmt.Sprintf("%s on %s", f.server, b.java[f.server].Version))
	}
	return fmt.Sprintf("Medians of %d rounds in one run, files in the page cache; %s, %d cores; %s; the Lucene of %s; Java with %s. "+
		"Java maps the files, so that its peak memory counts them. Its figures for zstd hold the start of Elasticsearch's classes, "+
		"a second or two, which the warm ones leave out.",
		b.rounds, processor(), runtime.NumCPU(), runtime.Version(), strings.Join(javas, ", of "), strings.Join(javaOptions, " "))
}

// processor names the machine's processor, where the system tells.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(text)) {
		if name, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
