//go:build unix

package cluster_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

const benchDocs = 5000

// taken answers a bulk request of benchDocs operations.
var taken = []byte(`{"errors":false,"items":[` + strings.Repeat(`{"index":{"status":201}},`, benchDocs-1) + `{"index":{"status":201}}]}`)

// TestNullTarget is no test but the other process of BenchmarkBulk: a target that
// throws everything away.
func TestNullTarget(t *testing.T) {
	if os.Getenv("RESHELVE_NULL_TARGET") == "" {
		t.Skip("for BenchmarkBulk")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := taken
		if !strings.HasSuffix(r.URL.Path, "_bulk") {
			answer = []byte(`{"version":{"distribution":"opensearch","number":"2.19.0"}}`)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write(answer)
	}))
	fmt.Println(server.URL)
	_, _ = io.Copy(io.Discard, os.Stdin) // until the benchmark ends
	server.Close()
}

// nullTarget starts it.
func nullTarget(b *testing.B) string {
	command := exec.CommandContext(b.Context(), os.Args[0], "-test.run", "^TestNullTarget$", "-test.v")
	command.Env = append(os.Environ(), "RESHELVE_NULL_TARGET=1")
	stdin, _ := command.StdinPipe()
	stdout, _ := command.StdoutPipe()
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { stdin.Close(); _ = command.Wait() })
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "http") {
			return lines.Text()
		}
	}
	b.Fatal("no target")
	return ""
}

// BenchmarkBulk appends documents of 1 KB and sends them to a target in another
// process, reading its answers. What counts is docs/cpu-s: documents for each
// second of this process's processor time, in the kernel too.
//
//	go test ./internal/opensearch/cluster -run '^$' -bench Bulk
func BenchmarkBulk(b *testing.B) {
	at := nullTarget(b)
	for _, gzip := range []bool{false, true} {
		b.Run(fmt.Sprintf("gzip=%v", gzip), func(b *testing.B) {
			c, err := cluster.Open(b.Context(), cluster.Options{URL: at})
			if err != nil {
				b.Fatal(err)
			}
			benchmarkBulk(b, c, gzip)
		})
	}
	b.Run("in-process", func(b *testing.B) { // without a network: our own work
		c, err := cluster.Open(b.Context(), cluster.Options{Transport: discarding(taken), Place: "null"})
		if err != nil {
			b.Fatal(err)
		}
		benchmarkBulk(b, c, false)
	})
}

// processor is the time that this process has had.
func processor() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// discarding is a target without a network: what is left is our own work.
func discarding(answer []byte) tripper {
	return func(r *http.Request) (*http.Response, error) {
		body := answer
		if r.Body == nil {
			body = []byte(`{"version":{"distribution":"opensearch","number":"2.19.0"}}`)
		} else {
			_, _ = io.Copy(io.Discard, r.Body)
		}
		return &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body)), Request: r}, nil
	}
}

func benchmarkBulk(b *testing.B, c *cluster.Client, gzip bool) {
	const docs = benchDocs
	source := []byte(`{"text":"` + strings.Repeat("plain words ", 80) + `","n":12345}`)
	w, err := c.NewWriter(b.Context(), cluster.WriterOptions{Gzip: gzip})
	if err != nil {
		b.Fatal(err)
	}
	var batch cluster.Batch
	id := []byte("AE0-Zo4B7T-RS_C5iG5e")
	b.SetBytes(int64(docs * len(source)))
	before := processor()
	for b.Loop() {
		batch.Reset()
		for range docs {
			if err := batch.Add(cluster.Op{Index: "books-2024", ID: id, Version: 17, Source: source}); err != nil {
				b.Fatal(err)
			}
		}
		if r, err := w.Write(b.Context(), &batch); err != nil || r.Acknowledged != docs {
			b.Fatalf("%+v %v", r, err)
		}
	}
	b.ReportMetric(float64(docs*b.N)/(processor()-before).Seconds(), "docs/cpu-s")
	b.ReportMetric(float64(docs*b.N)/b.Elapsed().Seconds(), "docs/s")
}
