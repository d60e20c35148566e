package snapshot_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/testing/servers"
	"github.com/reshelve/reshelve/snapshot"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/folder"
)

// TestLiveRepositoryIsWrittenTo reads one snapshot again and again, from repositories that were opened before, while a real
// server takes later snapshots of the same index and deletes some of them. RESHELVE_LIVE=1 asks for it.
func TestLiveRepositoryIsWrittenTo(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts real servers")
	}
	for _, version := range []servers.Version{servers.Elasticsearch("7.17.29"), servers.Elasticsearch("5.6.16"), servers.OpenSearch("2.19.0")} {
		t.Run(version.String(), func(t *testing.T) {
			server, err := servers.Start(t.Context(), version, servers.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer server.Stop()
			readWhileWritten(t, server)
		})
	}
}

const rounds = 12 // of a snapshot each

func readWhileWritten(t *testing.T, server *servers.Server) {
	do := func(method, path, body string) error {
		status, answer, err := server.Do(method, path, []byte(body))
		if err == nil && status >= 300 {
			err = fmt.Errorf("%s %s: %d %s", method, path, status, answer)
		}
		return err
	}
	write := func(round int) error {
		var bulk strings.Builder
		for n := range 20 {
			fmt.Fprintf(&bulk, `{"index":{"_index":"books","_type":"doc","_id":"%d"}}`+"\n"+`{"round":%d}`+"\n", 7*round+n, round)
		}
		body := bulk.String()
		if !server.Version.Before(7) {
			body = strings.ReplaceAll(body, `"_type":"doc",`, "")
		}
		if err := do("POST", "/_bulk?refresh=true", body); err != nil {
			return err
		}
		return do("PUT", fmt.Sprintf("/_snapshot/r/s%d?wait_for_completion=true", round), `{}`)
	}
	location := filepath.Join(server.Repos, "r")
	for _, err := range []error{
		do("PUT", "/_snapshot/r", fmt.Sprintf(`{"type":"fs","settings":{"location":%q}}`, location)),
		do("PUT", "/books", `{"settings":{"number_of_shards":3,"number_of_replicas":0}}`),
		do("PUT", "/empty", `{"settings":{"number_of_shards":2,"number_of_replicas":0}}`),
		write(0),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	open := func() (*snapshot.Snapshot, error) {
		bucket, err := blob.Open(t.Context(), location, map[string]blob.Opener{"file": folder.Open})
		if err != nil {
			return nil, err
		}
		repo, err := snapshot.Open(t.Context(), bucket)
		if err != nil {
			return nil, err
		}
		return repo.Find(t.Context(), "s0")
	}
	early, err := open()
	if err != nil {
		t.Fatal(err)
	}
	want, err := contents(t.Context(), early)
	if err != nil || len(want) != 20 {
		t.Fatalf("%d documents, %v", len(want), err)
	}
	var written atomic.Bool
	var passes atomic.Int64
	group, ctx := errgroup.WithContext(t.Context())
	group.Go(func() error {
		defer written.Store(true)
		for round := 1; round <= rounds; round++ {
			if err := write(round); err != nil {
				return err
			}
			if round > 2 && round%2 == 0 {
				if err := do("DELETE", fmt.Sprintf("/_snapshot/r/s%d", round-1), ""); err != nil {
					return err
				}
			}
		}
		return nil
	})
	for reader := range 3 { // the first goes on with what was opened before, the others open it again and again
		group.Go(func() error {
			for !written.Load() {
				s := early
				var err error
				if reader > 0 {
					if s, err = open(); err != nil {
						return fmt.Errorf("reader %d: %w", reader, err)
					}
				}
				got, err := contents(ctx, s)
				if err != nil {
					return fmt.Errorf("reader %d: %w", reader, err)
				}
				if !maps.Equal(got, want) {
					return fmt.Errorf("reader %d: documents %v, want %v", reader, got, want)
				}
				passes.Add(1)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if got, err := contents(t.Context(), early); err != nil || !maps.Equal(got, want) {
		t.Errorf("at the end: %d documents, %v", len(got), err)
	}
	t.Logf("%d passes over %d snapshots", passes.Load(), rounds)
	if err := do("DELETE", "/_snapshot/r/s0", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := contents(t.Context(), early); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "was deleted") {
		t.Errorf("after it was deleted: %v", err)
	}
}

// contents are the sources of a snapshot's documents by index and id.
func contents(ctx context.Context, s *snapshot.Snapshot) (map[string]string, error) {
	all := map[string]string{}
	for _, name := range s.Indices {
		index, err := s.Index(ctx, name)
		if err != nil {
			return nil, err
		}
		for n := range index.Shards {
			shard, err := index.Shard(ctx, n)
			if err != nil {
				return nil, err
			}
			docs, err := shard.Documents(ctx, snapshot.ReadOptions{})
			if err != nil {
				return nil, err
			}
			for docs.Next() {
				all[name+"/"+string(docs.Document().ID)] = string(docs.Document().Source)
			}
			err = docs.Err()
			docs.Close()
			if err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}
