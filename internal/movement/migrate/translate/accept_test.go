package translate_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"

	coord "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/gateway"
	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
	"github.com/reshelve/reshelve/internal/store"
	shard "github.com/reshelve/reshelve/internal/store/shard/memory"
	"github.com/reshelve/reshelve/internal/testing/servers"
)

// client sends a request with a JSON body.
type client func(method, path string, body []byte) (status int, answer []byte, err error)

// accepted creates every index that the metadata become on the target, and deletes it.
func accepted(t *testing.T, to translate.Server, send client, all []real, lacks string) {
	t.Helper()
	n, seen := 0, map[string]bool{}
	for _, r := range all {
		for _, types := range []translate.Types{translate.SplitTypes, translate.MergeTypes} {
			if len(r.index.Types) < 2 && types == translate.MergeTypes {
				continue
			}
			bodies, err := translate.Route{From: r.from, To: to, Types: types}.Index(r.index)
			if err != nil {
				t.Errorf("%s: %v", r.place, err)
			}
			for _, body := range bodies {
				if seen[string(body.JSON)] {
					continue
				}
				seen[string(body.JSON)] = true
				n++
				name := "/translated-" + strconv.Itoa(n)
				status, answer, err := send(http.MethodPut, name, body.JSON)
				if err != nil {
					t.Fatalf("%s: %v", r.place, err)
				}
				if status != http.StatusOK && !lacking(string(answer), lacks) {
					t.Errorf("%s into %s: %d %s\n%s", r.place, to, status, answer, body.JSON)
				}
				if status == http.StatusOK {
					send(http.MethodDelete, name, nil)
				}
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d indices were made", n)
	}
}

// lacking tells whether a server refuses because it is a small distribution: what it lacks
// are words, each of a module or plugin.
func lacking(answer, lacks string) bool {
	for _, word := range strings.Fields(lacks) {
		if strings.Contains(answer, word) {
			return true
		}
	}
	return false
}

// handler is a store of our own in memory.
func handler(t *testing.T) client {
	t.Helper()
	s, err := store.Open(t.Context(), coord.New(), shard.New(shard.Options{}), store.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	server := gateway.New(s, gateway.Options{})
	return func(method, path string, body []byte) (int, []byte, error) {
		request := httptest.NewRequest(method, path, strings.NewReader(string(body)))
		if body != nil {
			request.Header.Set("Content-Type", "application/json")
		}
		answer := httptest.NewRecorder()
		server.ServeHTTP(answer, request)
		return answer.Code, answer.Body.Bytes(), nil
	}
}

// TestOursTakesAll: the metadata of every real repository make indices of our own store.
func TestOursTakesAll(t *testing.T) {
	indices, _, _ := metadata(t, committed, "../../../../../shared/snapshots/*")
	accepted(t, ours, handler(t), append(indices, crafted...), "")
}

// TestLiveTargetsTakeAll: and of each real server.
func TestLiveTargetsTakeAll(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("set RESHELVE_LIVE=1 to start real servers")
	}
	indices, _, _ := metadata(t, committed, "../../../../../shared/snapshots/*")
	for _, c := range []struct {
		version servers.Version
		lacks   string // of its small distribution
	}{
		{servers.OpenSearch("2.19.0").WithEverything(), "knn geo_shape"},
		{servers.OpenSearch("3.6.0"), "knn"},
		{servers.Elasticsearch("7.17.29"), "[join] [ngram] [geo_shape] [painless] [uax_url_email] [index.lifecycle.name] [rank_features] [dense_vector]"},
		{servers.Elasticsearch("8.19.0"), "[join] [ngram] [geo_shape] [painless] [uax_url_email] [index.lifecycle.name]"},
	} {
		t.Run(c.version.Product+"-"+c.version.Number, func(t *testing.T) {
			server, err := servers.Start(t.Context(), c.version, servers.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer server.Stop()
			accepted(t, targets[c.version.Product+"-"+c.version.Number], server.Do, append(indices, crafted...), c.lacks)
		})
	}
}
