package opensearch_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/coord/coordtest"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/internal/testing/servers"
)

// real are the servers that the adapter is held to.
var real = []servers.Version{
	servers.OpenSearch("1.3.0"), servers.OpenSearch("2.19.0"), servers.OpenSearch("3.3.0"),
	servers.Elasticsearch("7.10.2"), servers.Elasticsearch("7.17.29"), servers.Elasticsearch("8.19.0"), servers.Elasticsearch("9.2.0"),
}

// eachServer starts the servers one after the other, when RESHELVE_LIVE=1 asks for them; RESHELVE_LIVE=opensearch-2.19.0
// chooses one, and RESHELVE_LIVE_AT=URL one that runs.
func eachServer(t *testing.T, test func(t *testing.T, address string)) {
	if address := os.Getenv("RESHELVE_LIVE_AT"); address != "" {
		test(t, address)
		return
	}
	choice := os.Getenv("RESHELVE_LIVE")
	if choice == "" {
		t.Skip("RESHELVE_LIVE=1 starts real servers")
	}
	versions := real
	if product, number, ok := strings.Cut(choice, "-"); ok {
		versions = []servers.Version{{Product: product, Number: number}}
	}
	for _, version := range versions {
		t.Run(version.String(), func(t *testing.T) {
			// By default a request may take a tenth of the heap: too little for a value of 64 MB.
			server, err := servers.Start(t.Context(), version, servers.Options{Heap: "1200m", Settings: map[string]any{"indexing_pressure.memory.limit": "60%"}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = server.Stop() })
			test(t, server.URL)
		})
	}
}

func TestLiveTheContract(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		coordtest.Run(t, cases(client(t, address)))
		t.Run("the index", func(t *testing.T) { theIndex(t, address) })
		t.Run("while answers get lost", func(t *testing.T) { whileAnswersGetLost(t, address) })
	})
}

// TestLiveMeasure prints the numbers of the package's documentation; it measures one server.
func TestLiveMeasure(t *testing.T) {
	if os.Getenv("RESHELVE_MEASURE") == "" {
		t.Skip("RESHELVE_MEASURE=1 with RESHELVE_LIVE=opensearch-2.19.0 measures it")
	}
	eachServer(t, func(t *testing.T, address string) {
		way := &coordtest.Counting{Base: http.DefaultTransport}
		t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
		c, err := cluster.New(address, way)
		if err != nil {
			t.Fatal(err)
		}
		s := cases(c).Open(t)
		defer s.Close()
		coordtest.Measure(t, s, way)
	})
}
