package opensearch_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/coord/coordtest"
	"github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/coord/opensearch"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/gateway"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/internal/store"
	shard "github.com/reshelve/reshelve/internal/store/shard/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve is the address of a store of our own, which speaks the same API.
func serve(t *testing.T) string {
	t.Helper()
	s, err := store.Open(context.Background(), memory.New(), shard.New(shard.Options{}), store.Options{
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	server := httptest.NewServer(gateway.New(s, gateway.Options{}))
	t.Cleanup(server.Close)
	return server.URL
}

// names makes the indices of the tests differ.
var names atomic.Int64

// poll is how often the watches of these tests ask.
const poll = 20 * time.Millisecond

// cases are stores at an address, each in an index of its own, which is removed at the end.
func cases(client *cluster.Client) coordtest.Case {
	indices := map[coord.Store]string{}
	open := func(t *testing.T, index string) coord.Store {
		t.Helper()
		s, err := opensearch.Open(t.Context(), client, opensearch.Options{Index: index, Poll: poll})
		if err != nil {
			t.Fatal(err)
		}
		indices[s] = index
		return s
	}
	return coordtest.Case{
		Open: func(t *testing.T) coord.Store {
			index := fmt.Sprintf(".coordtest-%d-%d", time.Now().UnixNano(), names.Add(1))
			t.Cleanup(func() {
				if _, err := client.Do(context.Background(), "DELETE", []string{index}, nil, nil); err != nil {
					t.Error(err)
				}
			})
			return open(t, index)
		},
		Reopen: func(t *testing.T, old coord.Store) coord.Store {
			t.Helper()
			if err := old.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, indices[old])
		},
	}
}

func client(t *testing.T, address string) *cluster.Client {
	t.Helper()
	c, err := cluster.New(address, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestTheContractWithAStoreOfOurOwn(t *testing.T) {
	coordtest.Run(t, cases(client(t, serve(t))))
}

func TestTheContractWhileAnswersGetLost(t *testing.T) { whileAnswersGetLost(t, serve(t)) }

func whileAnswersGetLost(t *testing.T, address string) {
	coordtest.RunUncertain(t, func(t *testing.T) (lossy, calm coord.Store) {
		good := client(t, address)
		bad, err := cluster.New(address, &coordtest.Lossy{Base: http.DefaultTransport, Every: 6})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(bad.Close)
		t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
		calm = cases(good).Open(t)
		for lossy == nil {
			o := opensearch.Options{Index: opensearch.IndexOf(calm), Poll: poll}
			if s, err := opensearch.Open(t.Context(), bad, o); err == nil {
				lossy = s
			} else if !fault.Is(err, fault.Unavailable) {
				t.Fatal(err)
			}
		}
		return lossy, calm
	})
}
