package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/testing/servers"
	"github.com/reshelve/reshelve/snapshot"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/blobtest"
	"github.com/reshelve/reshelve/snapshot/blob/folder"
)

// TestLiveLatency reads one shard that a real server wrote from a folder, and
// from a store that takes 50 ms for each request, and compares how fast the
// documents stream once the first is there. RESHELVE_LATENCY_REPOSITORY names
// another repository and, after a comma, its index.
func TestLiveLatency(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts real servers")
	}
	repo, index, given := strings.Cut(os.Getenv("RESHELVE_LATENCY_REPOSITORY"), ",")
	if !given {
		l := startLive(t, servers.OpenSearch("2.19.0"))
		repo, index = l.bigShard(400_000), "big" // large enough that the first round trips, while reads grow, weigh little
	}
	location := blob.Location{Scheme: "file", Prefix: repo}
	local, err := folder.Open(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	best := 0.0
	for range 3 { // the machine may be busy with something else for a moment
		near := streamRate(t, local, index)
		stacked, _ := blob.Stack(blobtest.Slow(local, 50*time.Millisecond), blob.StackPolicy{})
		far := streamRate(t, stacked, index)
		t.Logf("local: %v; 50 ms a request: %v; ratio %.2f", near, far, far.perSecond()/near.perSecond())
		best = max(best, far.perSecond()/near.perSecond())
	}
	if best < 0.6 {
		t.Errorf("with 50 ms a request the shard streams at %.0f %% of its local speed", best*100)
	}
}

// rate is how fast a shard's documents came.
type rate struct {
	documents   int64
	first, rest time.Duration // to the first document; from it to the last
}

func (r rate) perSecond() float64 { return float64(r.documents) / r.rest.Seconds() }

func (r rate) String() string {
	return fmt.Sprintf("%d documents, the first after %v, then %.0f/s", r.documents, r.first.Round(time.Millisecond), r.perSecond())
}

func streamRate(t *testing.T, bucket blob.Bucket, index string) (r rate) {
	t.Helper()
	begin := time.Now()
	var first time.Time
	repo, err := snapshot.Open(t.Context(), bucket)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := repo.Find(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	idx, err := snap.Index(t.Context(), index)
	if err != nil {
		t.Fatal(err)
	}
	shard, err := idx.Shard(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	docs, err := shard.Documents(t.Context(), snapshot.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer docs.Close()
	for docs.Next() {
		if r.documents == 0 {
			first = time.Now()
		}
		r.documents++
	}
	if docs.Err() != nil {
		t.Fatal(docs.Err())
	}
	r.first, r.rest = first.Sub(begin), time.Since(first)
	return r
}

// bigShard writes one shard of n documents of about 2.4 KB in one segment and
// returns the repository of its snapshot.
func (l *live) bigShard(n int) string {
	words := make([]string, 3000)
	for i := range words {
		words[i] = strconv.FormatUint(l.rng.Uint64()>>(24+l.rng.IntN(30)), 36) + " "
	}
	l.must("PUT", "/big", []byte(`{"settings":{"number_of_shards":1,"number_of_replicas":0,"refresh_interval":"-1"},"mappings":{"enabled":false}}`))
	for done := 0; done < n; {
		var lines strings.Builder
		for ; done < n && lines.Len() < 10<<20; done++ {
			fmt.Fprintf(&lines, "{\"index\":{\"_id\":\"%d\"}}\n{\"n\":%d,\"x\":%g,\"text\":\"", done, done, l.rng.NormFloat64())
			for range 330 {
				lines.WriteString(words[l.rng.IntN(len(words))])
			}
			lines.WriteString("\"}\n")
		}
		l.must("POST", "/big/_bulk", []byte(lines.String()))
	}
	l.must("POST", "/big/_forcemerge?max_num_segments=1", nil)
	where := filepath.Join(l.dir, "repos", "big")
	l.must("PUT", "/_snapshot/big", fmt.Appendf(nil, `{"type":"fs","settings":{"location":%q}}`, where))
	l.must("PUT", "/_snapshot/big/one?wait_for_completion=true", []byte(`{"indices":"big"}`))
	return where
}
