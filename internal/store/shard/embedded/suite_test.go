package embedded_test

import (
	"io"
	"log/slog"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
	"github.com/reshelve/reshelve/internal/store/shard/shardtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// quiet is a logger that nobody hears.
var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

func open(t testing.TB, dir string) *embedded.Engine {
	t.Helper()
	e, err := embedded.Open(t.Context(), dir, embedded.Options{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func TestConformance(t *testing.T) { shardtest.Run(t, inFolders()) }

// TestConformanceOfManyMerges has an engine that writes and merges segments all the time.
func TestConformanceOfManyMerges(t *testing.T) {
	defer embedded.SetTiers(3, 2000, 3000)()
	shardtest.RunViews(t, inFolders())
}

// inFolders has each engine in a folder of its own.
func inFolders() shardtest.Case {
	var mu sync.Mutex
	dirs := map[shard.Engine]string{}
	openIn := func(t testing.TB, dir string) shard.Engine {
		e := open(t, dir)
		mu.Lock()
		defer mu.Unlock()
		dirs[e] = dir
		return e
	}
	return shardtest.Case{
		Open: func(t testing.TB) shard.Engine { return openIn(t, t.TempDir()) },
		Reopen: func(t testing.TB, closed shard.Engine) shard.Engine {
			mu.Lock()
			dir := dirs[closed]
			mu.Unlock()
			return openIn(t, dir)
		},
	}
}
