package gateway

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	coord "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/shard"
	shardmemory "github.com/reshelve/reshelve/internal/store/shard/memory"
)

// dim is an engine whose shards cannot show what was written.
type dim struct{ shard.Engine }

func (e dim) Open(ctx context.Context, id shard.ID, placements shard.Placements, settings shard.Settings) (shard.Shard, error) {
	sh, err := e.Engine.Open(ctx, id, placements, settings)
	return dimShard{sh}, err
}

type dimShard struct{ shard.Shard }

var errDark = fault.New(fault.Unavailable, "no space left on device")

func (dimShard) Refresh(context.Context) (int64, error)    { return 0, errDark }
func (dimShard) AwaitRefresh(context.Context, int64) error { return errDark }

// TestWhatCouldNotBeRefreshedIsNotSaidToBe: the writes are applied and answered so, and no answer has forced_refresh,
// which the server gives for a refresh that was made.
func TestWhatCouldNotBeRefreshedIsNotSaidToBe(t *testing.T) {
	st, err := store.Open(t.Context(), coord.New(), dim{shardmemory.New(shardmemory.Options{})}, store.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	s := New(st, Options{})
	do := func(method, path, body string) string {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", applicationJSON)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code >= 300 {
			t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
		if warned := strings.Contains(w.Header().Get("Warning"), "not visible to searches"); warned != strings.Contains(path, "refresh=") {
			t.Errorf("%s %s: %v", method, path, w.Header())
		}
		return w.Body.String()
	}
	if told := do("PUT", "/p/_doc/1?refresh=true", `{"n":1}`); strings.Contains(told, "forced_refresh") {
		t.Error(told)
	}
	for _, path := range []string{"/p/_doc/0?refresh=wait_for", "/p/_doc/0"} {
		do("PUT", path, `{"n":1}`)
	}
	do("POST", "/p/_bulk?refresh=wait_for", `{"index":{"_id":"3"}}`+"\n{}\n")
	do("POST", "/p/_bulk", `{"index":{"_id":"3"}}`+"\n{}\n")
	const source = `{"n":1,"forced_refresh":true}`
	told := do("POST", "/p/_bulk?refresh=true", `{"index":{"_id":"2"}}`+"\n"+source+"\n"+
		`{"update":{"_id":"2","_source":true}}`+"\n"+`{"doc":{"n":1}}`+"\n"+`{"delete":{"_id":"1"}}`+"\n")
	if strings.Count(told, `"forced_refresh"`) != 1 || !strings.Contains(told, `"_source":`+source) ||
		strings.Contains(told, `"result":"created","forced`) || !strings.Contains(told, `"result":"deleted","_shards":{"total":`) || !strings.Contains(told, `"errors":false`) {
		t.Error(told)
	}
}
