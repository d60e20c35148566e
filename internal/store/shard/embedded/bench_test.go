package embedded_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
	"github.com/reshelve/reshelve/internal/store/shard/shardtest"
)

// benchDocs are sources of about 1 KB of 13 fields, words among them.
var benchDocs = func() [][]byte {
	rng := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 5000)
	for i := range words {
		b := make([]byte, 3+rng.IntN(8))
		for j := range b {
			b[j] = 'a' + byte(rng.IntN(26))
		}
		words[i] = string(b)
	}
	docs := make([][]byte, 2000)
	for i := range docs {
		var b strings.Builder
		fmt.Fprintf(&b, `{"n":%d,"price":%.2f,"at":"2026-11-%02dT03:04:05Z","user":"%08x","flag":%t`, i, rng.Float64()*1000, 1+rng.IntN(28), rng.Uint32(), i%2 == 0)
		for f := 0; b.Len() < 1000; f++ {
			fmt.Fprintf(&b, `,"field%d":"`, f)
			for range 16 {
				b.WriteString(words[int(rng.ExpFloat64()*300)%len(words)])
				b.WriteByte(' ')
			}
			b.WriteByte('"')
		}
		b.WriteByte('}')
		docs[i] = []byte(b.String())
	}
	return docs
}()

// benchID is spread over the keys as real ids are.
func benchOp(i int) shard.Op {
	id := fmt.Sprintf("%020d", i)
	return shard.Op{Key: routing.KeyOf(id, "", 0), ID: id, Source: benchDocs[i%len(benchDocs)], Condition: document.Always}
}

func benchShard(b *testing.B, dir string) (*embedded.Engine, shard.Shard) {
	b.Helper()
	e, err := embedded.Open(context.Background(), dir, embedded.Options{Logger: quiet})
	if err != nil {
		b.Fatal(err)
	}
	places := &shardtest.Places{}
	places.Put(placement.New(7, 1, placement.Local, placement.Change{By: "bench", Why: "bench"}))
	s, err := e.Open(context.Background(), shard.ID{Index: 7}, places, shard.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	return e, s
}

func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measured reports what n operations took since then, beside the time.
func measured(b *testing.B, n int, then time.Duration) {
	b.ReportMetric(float64(cpu()-then)/float64(n)/1e3, "cpu-µs/op")
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "ops/s")
}

func load(b *testing.B, s shard.Shard, from, n, batch int, auto bool) {
	ops := make([]shard.Op, 0, batch)
	for i := from; i < from+n; {
		ops = ops[:0]
		for ; len(ops) < batch && i < from+n; i++ {
			op := benchOp(i)
			op.AutoID = auto
			ops = append(ops, op)
		}
		for _, r := range s.Write(context.Background(), 1, ops) {
			if r.Err != nil {
				b.Fatal(r.Err)
			}
		}
	}
}

// BenchmarkBulk writes documents of 1 KB, 1000 to a synced request.
func BenchmarkBulk(b *testing.B) {
	for _, auto := range []bool{false, true} {
		b.Run(fmt.Sprintf("autoid=%t", auto), func(b *testing.B) {
			e, s := benchShard(b, b.TempDir())
			then := cpu()
			b.ResetTimer()
			load(b, s, 0, b.N, 1000, auto)
			b.StopTimer()
			measured(b, b.N, then)
			s.Close()
			e.Close()
		})
	}
}

// BenchmarkOverwrite writes documents that are there, 1000 to a synced request.
func BenchmarkOverwrite(b *testing.B) {
	e, s := benchShard(b, b.TempDir())
	load(b, s, 0, 200_000, 1000, true)
	rng := rand.New(rand.NewPCG(1, 2))
	then := cpu()
	b.ResetTimer()
	for n := 0; n < b.N; n += 1000 {
		ops := make([]shard.Op, min(1000, b.N-n))
		for i := range ops {
			ops[i] = benchOp(rng.IntN(200_000))
		}
		s.Write(context.Background(), 1, ops)
	}
	b.StopTimer()
	measured(b, b.N, then)
	s.Close()
	e.Close()
}

// BenchmarkSingle writes one document to a synced request, with some clients.
func BenchmarkSingle(b *testing.B) {
	for _, clients := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			e, s := benchShard(b, b.TempDir())
			var next atomic.Int64
			then := cpu()
			b.SetParallelism(clients / 2) // GOMAXPROCS is 2 here; RunParallel multiplies
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					s.Write(context.Background(), 1, []shard.Op{benchOp(int(next.Add(1)))})
				}
			})
			b.StopTimer()
			measured(b, b.N, then)
			s.Close()
			e.Close()
		})
	}
}

// BenchmarkGet reads documents at random out of 200,000.
func BenchmarkGet(b *testing.B) {
	e, s := benchShard(b, b.TempDir())
	load(b, s, 0, 200_000, 1000, true)
	for _, found := range []bool{true, false} {
		b.Run(fmt.Sprintf("found=%t", found), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			refs := make([]shard.Ref, 20000)
			for i := range refs {
				op := benchOp(rng.IntN(200_000))
				refs[i] = shard.Ref{Key: op.Key, ID: op.ID}
				if !found {
					refs[i].ID += "x"
				}
			}
			then := cpu()
			b.ResetTimer()
			for i := range b.N {
				if _, ok, err := s.Get(context.Background(), 1, refs[i%len(refs)]); ok != found || err != nil {
					b.Fatal(ok, err)
				}
			}
			measured(b, b.N, then)
		})
	}
	s.Close()
	e.Close()
}

// BenchmarkScan reads all of 200,000 documents.
func BenchmarkScan(b *testing.B) {
	e, s := benchShard(b, b.TempDir())
	load(b, s, 0, 200_000, 1000, true)
	s.Refresh(context.Background())
	r, err := s.Acquire(context.Background(), 1)
	if err != nil {
		b.Fatal(err)
	}
	for _, noSource := range []bool{false, true} {
		b.Run(fmt.Sprintf("nosource=%t", noSource), func(b *testing.B) {
			then := cpu()
			n := 0
			for b.Loop() {
				for _, err := range r.Scan(context.Background(), shard.Select{Range: routing.Whole, NoSource: noSource}) {
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
			}
			measured(b, n, then)
		})
	}
	r.Close()
	s.Close()
	e.Close()
}

// BenchmarkRefresh writes some documents, beside 100,000, and makes them findable.
func BenchmarkRefresh(b *testing.B) {
	for _, n := range []int{1, 1000, 100_000} {
		for _, what := range []string{"new", "overwritten"} {
			b.Run(fmt.Sprintf("%d %s", n, what), func(b *testing.B) {
				e, s := benchIndexed(b, b.TempDir())
				load(b, s, 0, 100_000, 1000, true)
				s.Refresh(context.Background())
				next := 100_000
				spent := time.Duration(0)
				b.ResetTimer()
				for b.Loop() {
					b.StopTimer()
					if what == "new" {
						load(b, s, next, n, 1000, true)
						next += n
					} else {
						load(b, s, next%50_000, n, 1000, false)
						next += n
					}
					then := cpu()
					b.StartTimer()
					if _, err := s.Refresh(context.Background()); err != nil {
						b.Fatal(err)
					}
					spent += cpu() - then
				}
				b.StopTimer()
				b.ReportMetric(float64(spent)/float64(b.N)/1e3, "cpu-µs/op")
				s.Close()
				e.Close()
			})
		}
	}
}

func benchIndexed(b *testing.B, dir string) (*embedded.Engine, shard.Shard) {
	b.Helper()
	e, err := embedded.Open(context.Background(), dir, embedded.Options{Logger: quiet})
	if err != nil {
		b.Fatal(err)
	}
	s, err := e.Open(context.Background(), shard.ID{Index: 7}, whole(), shard.Settings{Indexer: shardtest.Words{}})
	if err != nil {
		b.Fatal(err)
	}
	return e, s
}

// BenchmarkIndexing writes documents and makes them findable, durably, all in all.
func BenchmarkIndexing(b *testing.B) {
	e, s := benchIndexed(b, b.TempDir())
	then := cpu()
	b.ResetTimer()
	load(b, s, 0, b.N, 1000, true)
	if _, err := s.Refresh(context.Background()); err != nil {
		b.Fatal(err)
	}
	s.Close()
	b.StopTimer()
	measured(b, b.N, then)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/1e6, "MB")
	e.Close()
}

// BenchmarkOpenIndexed opens a folder of 200,000 documents up to the first look at its
// segments.
func BenchmarkOpenIndexed(b *testing.B) {
	dir := b.TempDir()
	e, s := benchIndexed(b, dir)
	load(b, s, 0, 200_000, 1000, true)
	s.Refresh(context.Background())
	s.Close()
	e.Close()
	for b.Loop() {
		e, s := benchIndexed(b, dir)
		r, err := s.Acquire(context.Background(), 1)
		if err != nil {
			b.Fatal(err)
		}
		for _, v := range r.Views() {
			v.Field("word").Lookup([]byte("x"))
		}
		r.Close()
		b.StopTimer()
		s.Close()
		e.Close()
		b.StartTimer()
	}
}
