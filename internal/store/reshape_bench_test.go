package store_test

import (
	"log/slog"
	"testing"

	"github.com/reshelve/reshelve/internal/coord/local"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
)

// BenchmarkHandOffToMany cuts a shard into 200: how long requests wait for that, and for which of
// its steps.
//
//	go test ./internal/store -run XXX -bench HandOffToMany -benchtime 5x
func BenchmarkHandOffToMany(b *testing.B) {
	const parts, docs = 200, 60_000
	var sum struct{ stage, open, pause float64 }
	for b.Loop() {
		e, err := embedded.Open(b.Context(), b.TempDir(), embedded.Options{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			b.Fatal(err)
		}
		c, err := local.Open(b.Context(), b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		r := reshaped(b, c, e, `"number_of_shards":1`)
		r.put(docs, counted)
		from, to := cut(r.placed(), 0, parts)
		if _, err := r.store.Rehearse(r.ctx, r.index, from, to); err != nil { // as a movement does before
			b.Fatal(err)
		}
		h := r.become(from, to)
		sum.stage += h.Steps.Stage.Seconds()
		sum.open += h.Steps.Open.Seconds()
		sum.pause += h.Pause.Seconds()
	}
	n := float64(b.N) / 1000
	b.ReportMetric(sum.stage/n, "stage-ms")
	b.ReportMetric(sum.open/n, "open-ms")
	b.ReportMetric(sum.pause/n, "pause-ms")
	b.ReportMetric(0, "ns/op") // of loading, mostly
}
