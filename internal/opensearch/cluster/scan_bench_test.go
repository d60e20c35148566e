package cluster_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/internal/testing/bench/corpus"
)

// BenchmarkScan reads pages of documents of 1 KB, and takes their fingerprints.
func BenchmarkScan(b *testing.B) {
	var page bytes.Buffer
	page.WriteString(`{"pit_id":"p1","timed_out":false,"_shards":{"total":1,"failed":0},"hits":{"max_score":null,"hits":[`)
	for n := range benchDocs {
		if n > 0 {
			page.WriteByte(',')
		}
		fmt.Fprintf(&page, `{"_index":"a","_id":"%d","_version":1,"_seq_no":%d,"_primary_term":1,"_score":null,"_source":%s,"sort":[%d]}`, n, n, corpus.Source(n), n)
	}
	page.WriteString(`]}}`)
	empty := `{"pit_id":"p1","timed_out":false,"_shards":{"total":1,"failed":0},"hits":{"max_score":null,"hits":[]}}`
	pages := 0
	c, err := cluster.New("http://a", tripper(func(r *http.Request) (*http.Response, error) {
		body := empty
		switch {
		case strings.Contains(r.URL.Path, "_settings"):
			body = `{"a":{"settings":{"index.number_of_shards":"1"}}}`
		case strings.HasSuffix(r.URL.Path, "point_in_time"):
			body = `{"pit_id":"p1"}`
		case r.Body == nil:
			body = `{"version":{"distribution":"opensearch","number":"2.19.0"}}`
		default:
			if pages++; pages%2 == 1 {
				return &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: int64(page.Len()), Body: io.NopCloser(bytes.NewReader(page.Bytes())), Request: r}, nil
			}
		}
		return &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}))
	if err != nil {
		b.Fatal(err)
	}
	scan, err := c.OpenScan(b.Context(), "a", cluster.ScanOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(page.Len()))
	var f document.Fingerprinter
	for b.Loop() {
		slice := scan.Slice(0, "")
		for {
			doc, err := slice.Next(b.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			f.Of(doc.ID, doc.Routing, doc.Source)
		}
	}
	b.ReportMetric(float64(benchDocs*b.N)/b.Elapsed().Seconds(), "docs/s")
}
