package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/reshelve/reshelve/internal/cli"
	"github.com/reshelve/reshelve/internal/control"
)

// chosen repositories stand for the layouts: the one of Elasticsearch 1.x, shard
// generations, hashed shard paths, zstd, and more than one snapshot.
var chosen = []string{
	"elasticsearch-1.7.6-basic", "elasticsearch-7.10.2-basic", "elasticsearch-9.2.0-basic",
	"opensearch-2.11.0-zstd", "opensearch-3.3.0-basic", "opensearch-3.6.0-basic",
}

// readRepositories prints the documents of each chosen repository through the
// command, from the folder and from the location that the pattern makes of its
// key, and expects the same bytes.
func readRepositories(t *testing.T, pattern string) {
	for _, name := range chosen {
		t.Run(name, func(t *testing.T) {
			want, says := cat(t, filepath.Join(repositories, name, "repo"))
			if bytes.Count(want, []byte("\n")) < 10 {
				t.Fatalf("the folder gives %d bytes: %s", len(want), says)
			}
			if got, says := cat(t, fmt.Sprintf(pattern, name+"/repo")); !bytes.Equal(got, want) {
				t.Errorf("%d bytes, from the folder %d; it says: %s", len(got), len(want), says)
			}
		})
	}
}

// cat runs the command and returns its standard output and error.
func cat(t *testing.T, location string) ([]byte, string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := cli.Run(t.Context(), control.New(control.Wiring{Blobs: openers}), []string{"snapshot", "cat", location}, &stdout, &stderr)
	if code != 0 {
		t.Errorf("%s: exit code %d: %s", location, code, stderr.String())
	}
	return stdout.Bytes(), stderr.String()
}

func TestWeb(t *testing.T) {
	server := httptest.NewServer(http.FileServer(http.Dir(repositories)))
	t.Cleanup(server.Close)
	readRepositories(t, server.URL+"/%s")
}
