package cluster_test

import (
	"net/http"
	"os"
	"testing"

	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/internal/testing/servers"
)

// TestLiveScansOfIndicesWithoutAMapping are empty: OpenSearch refuses the slices of such an index.
func TestLiveScansOfIndicesWithoutAMapping(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts real servers")
	}
	for _, v := range []servers.Version{servers.OpenSearch("1.3.0"), servers.OpenSearch("2.19.0"), servers.Elasticsearch("7.17.29")} {
		t.Run(v.String(), func(t *testing.T) {
			server, err := servers.Start(t.Context(), v, servers.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = server.Stop() }()
			c, err := cluster.Open(t.Context(), cluster.Options{URL: server.URL})
			must(t, err)
			for name, body := range map[string]string{"unmapped": `{"settings":{"number_of_shards":2,"number_of_replicas":0}}`, "unmapped-too": `{"settings":{"number_of_shards":1,"number_of_replicas":0}}`} {
				_, err = c.Do(t.Context(), http.MethodPut, []string{name}, nil, []byte(body))
				must(t, err)
				scan, err := c.OpenScan(t.Context(), name, cluster.ScanOptions{Slices: 4})
				must(t, err)
				for n := range scan.Slices() {
					if count, err := walk(t, scan.Slice(n, "")); err != nil || count != 0 {
						t.Errorf("%s, slice %d of %d: %d documents, %v", name, n, scan.Slices(), count, err)
					}
				}
				must(t, scan.Close(t.Context()))
			}
		})
	}
}
