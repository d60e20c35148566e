package lucene

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// BenchmarkStored reads whole segments, looks for line breaks in their sources,
// and reports documents and source bytes per second of CPU time. It takes the
// folders that RESHELVE_SEGMENTS lists, else small ones of the test data.
func BenchmarkStored(b *testing.B) {
	folders := filepath.SplitList(os.Getenv("RESHELVE_SEGMENTS"))
	if len(folders) == 0 {
		folders = []string{"testdata/stored/lucene-9.12.0", "testdata/stored/lucene-9.12.0-high", "testdata/segments/opensearch-2.11.0-zstd-0"}
	}
	for _, folder := range folders {
		b.Run(filepath.Base(folder), func(b *testing.B) {
			seg := testSegments(b, folder)[0]
			var docs, content int64
			begin := cpuTime()
			for b.Loop() {
				n, size := scanSegment(b, seg)
				docs += n
				content += size
			}
			seconds := (cpuTime() - begin).Seconds()
			b.ReportMetric(float64(docs)/seconds, "docs/cpu-s")
			b.ReportMetric(float64(content)/1e6/seconds, "MB/cpu-s")
		})
	}
}

func scanSegment(b *testing.B, seg *Segment) (docs, content int64) {
	r, err := seg.OpenStored(context.Background(), 0, seg.MaxDoc)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
		values, err := r.Values()
		if err != nil {
			b.Fatal(err)
		}
		for _, v := range values {
			if bytes.IndexByte(v.Bytes, '\n') < 0 {
				content += int64(len(v.Bytes))
			}
		}
		docs++
	}
	if !r.Confirmed() {
		b.Fatal(r.Err())
	}
	return docs, content
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
