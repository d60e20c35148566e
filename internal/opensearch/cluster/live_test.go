package cluster_test

import (
	"os"
	"testing"

	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/internal/testing/servers"
)

// TestLiveServersDoEverything asks each server that people run, one after the other.
func TestLiveServersDoEverything(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts real servers")
	}
	for _, v := range []servers.Version{
		servers.OpenSearch("1.3.0"), servers.OpenSearch("2.19.0"), servers.OpenSearch("3.0.0"),
		servers.Elasticsearch("7.10.2"), servers.Elasticsearch("7.17.29"), servers.Elasticsearch("8.15.0"), servers.Elasticsearch("9.0.0"),
	} {
		t.Run(v.String(), func(t *testing.T) {
			server, err := servers.Start(t.Context(), v, servers.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = server.Stop() }()
			c, err := cluster.Open(t.Context(), cluster.Options{URL: server.URL})
			must(t, err)
			who, err := c.Server(t.Context())
			must(t, err)
			if want := v.Product + " " + v.Number; who.String() != want {
				t.Errorf("it is %s, want %s", who, want)
			}
			everything(t, c, "live", server.Repos)
		})
	}
}
