package cluster_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// null is a target that takes everything: it counts lines and answers as a server does.
func null(request *http.Request) (*http.Response, error) {
	answer := `{"name":"n","cluster_name":"null","version":{"distribution":"opensearch","number":"2.19.0"}}`
	if strings.HasSuffix(request.URL.Path, "_bulk") {
		lines := 0
		buffer := make([]byte, 64<<10)
		for {
			n, err := request.Body.Read(buffer)
			lines += strings.Count(string(buffer[:n]), "\n")
			if err == io.EOF {
				break
			}
		}
		answer = `{"errors":false,"items":[` + strings.Repeat(`{"index":{"status":201}},`, lines/2-1) + `{"index":{"status":201}}]}`
	}
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer)), Request: request}, nil
}

type tripper func(*http.Request) (*http.Response, error)

func (t tripper) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

func TestABatchIsAcknowledged(t *testing.T) {
	c, err := cluster.Open(t.Context(), cluster.Options{Transport: tripper(null), Place: "null"})
	if err != nil {
		t.Fatal(err)
	}
	w, err := c.NewWriter(t.Context(), cluster.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var b cluster.Batch
	for i := range 1000 {
		if err := b.Add(cluster.Op{Index: "a", ID: fmt.Appendf(nil, "%d", i), Version: 1, Source: []byte("{\n}")}); err != nil {
			t.Fatal(err)
		}
	}
	r, err := w.Write(t.Context(), &b)
	if err != nil || r.Acknowledged != 1000 || r.Requests != 1 {
		t.Fatalf("%+v %v", r, err)
	}
}
