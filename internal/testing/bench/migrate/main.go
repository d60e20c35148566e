package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/testing/bench/corpus"
	"github.com/reshelve/reshelve/internal/testing/bench/peers"
)

func main() { peers.Main(run) }

// bench is one run.
type bench struct {
	documents, workers, shards int
	binary, dir                string
	repository                 string
	server                     *peers.Peer
	watch                      *peers.Run
	warm                       int
}

func run(ctx context.Context) error {
	var b bench
	flag.IntVar(&b.documents, "documents", 500_000, "documents in the snapshot")
	flag.IntVar(&b.shards, "shards", 8, "shards of their index")
	flag.IntVar(&b.workers, "workers", 8, "slots of the migration")
	only := flag.String("only", "null,killed,server,folder", "what is measured, between commas")
	flag.StringVar(&b.repository, "repository", "", "a repository of such a snapshot that was made before, for all but the server")
	flag.IntVar(&b.warm, "warm", 100_000, "documents of a round that the server loads before, of which there are as many as it takes until they agree")
	binary := flag.String("binary", "", "a reshelve that was built before")
	flag.Parse()
	var err error
	if b.watch, err = peers.Watch(); err != nil {
		return err
	}
	defer b.watch.End()
	return peers.InFolder(ctx, *binary, func(dir, binary string) error {
		b.dir, b.binary = dir, binary
		if b.repository == "" {
			b.server = peers.OpenSearch("2.19.0", filepath.Join(dir, "server"))
			defer b.server.Stop()
			if err := b.snapshot(ctx); err != nil {
				return err
			}
		}
		text, err := b.measure(ctx, strings.Split(*only, ","))
		b.watch.End()
		fmt.Print(text, b.watch)
		return err
	})
}

// measure measures what it is told to, and lets the server settle behind each.
func (b *bench) measure(ctx context.Context, only []string) (text string, err error) {
	var all []*result
	var k *killed
	for _, one := range only {
		switch one {
		case "null":
			all, err = b.add(ctx, all, b.intoNull)
		case "killed":
			k, err = b.afterKill(ctx)
		case "server":
			all, err = b.add(ctx, all, b.intoServer)
		case "folder":
			all, err = b.add(ctx, all, b.intoFolder)
		default:
			err = fmt.Errorf("nobody knows how to measure %q", one)
		}
		if err == nil && b.server != nil {
			err = b.server.Settle(ctx, time.Minute)
		}
		if err != nil {
			return text, err
		}
	}
	text = b.report(all)
	if k != nil {
		text += "\n" + k.String()
	}
	return text, nil
}

func (b *bench) add(ctx context.Context, all []*result, into func(context.Context) (*result, error)) ([]*result, error) {
	r, err := into(ctx)
	if err != nil {
		return nil, err
	}
	peers.Progress("%s: %d documents in %v, CPU %v and %v; compared in %v, CPU %v", r.target, r.documents, r.copied, r.ours, r.theirs, r.compared, r.comparedOurs)
	return append(all, r), nil
}

// migration is the command of a migration into a target.
func (b *bench) migration(to string, more ...string) []string {
	return append([]string{"migrate", "--from", b.repository, "--to", to, "--yes", "--workers", strconv.Itoa(b.workers)}, more...)
}

// snapshot lets an OpenSearch make the repository. It is the target of one migration later.
func (b *bench) snapshot(ctx context.Context) error {
	home := b.server.Dir
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	if _, err := b.server.Start(ctx, peers.Request("GET", "/", "", nil), nil); err != nil {
		return err
	}
	if err := b.watch.WarmUp(ctx, b.server, b.warm); err != nil {
		return err
	}
	body := strings.Replace(corpus.Index, `"number_of_shards":1`, `"number_of_shards":`+strconv.Itoa(b.shards), 1)
	if err := b.server.Concurrently(1, func(c *peers.Conn) error { return c.Must("PUT", "/"+peers.Index, body) }); err != nil {
		return err
	}
	if _, err := b.server.Load(peers.Index, 0, b.documents, 4); err != nil {
		return err
	}
	b.repository = filepath.Join(home, "repos", "bench")
	for _, order := range []struct{ method, path, body string }{
		{"POST", "/" + peers.Index + "/_flush", ""},
		{"PUT", "/_snapshot/bench", `{"type":"fs","settings":{"location":"` + b.repository + `"}}`},
		{"PUT", "/_snapshot/bench/one?wait_for_completion=true", `{"include_global_state":false}`},
	} {
		err := b.server.Concurrently(1, func(c *peers.Conn) error { return c.Must(order.method, order.path, order.body) })
		if err != nil {
			return err
		}
	}
	return b.server.Settle(ctx, 2*time.Minute)
}

// intoServer migrates into the OpenSearch that has made the snapshot, under another name.
func (b *bench) intoServer(ctx context.Context) (*result, error) {
	if b.server == nil {
		return nil, errors.New("there is a repository, and no server")
	}
	r := &result{target: b.server.Name}
	w, err := start(ctx, b.binary, b.server, b.migration(b.server.URL, "--rename", peers.Index+"=copy")...)
	if err != nil {
		return nil, err
	}
	first := b.watchFirst(ctx, "copy", w.ended)
	if err := w.finish(r); err != nil {
		return nil, err
	}
	r.first = (<-first).Sub(w.began)
	return r, nil
}

// watchFirst asks the server, fifty times a second, for the first document of an index.
func (b *bench) watchFirst(ctx context.Context, index string, ended <-chan struct{}) <-chan time.Time {
	first := make(chan time.Time, 1)
	go func() {
		defer close(first)
		_ = b.server.Concurrently(1, func(c *peers.Conn) error {
			ask := peers.Request("GET", "/"+index+"/_stats/indexing?filter_path=_all.primaries.indexing.index_total", "", nil)
			for ctx.Err() == nil {
				_, answer, err := c.Do(ask)
				if err != nil {
					return err
				}
				if bytes.Contains(answer, []byte(`"index_total":`)) && !bytes.Contains(answer, []byte(`"index_total":0}`)) {
					first <- time.Now()
					return nil
				}
				select {
				case <-ended:
					return nil
				case <-time.After(20 * time.Millisecond):
				}
			}
			return nil
		})
	}()
	return first
}

// intoFolder migrates into a new data folder.
func (b *bench) intoFolder(ctx context.Context) (*result, error) {
	r := &result{target: "data folder"}
	w, err := start(ctx, b.binary, nil, b.migration(filepath.Join(b.dir, "folder"))...)
	if err != nil {
		return nil, err
	}
	return r, w.finish(r)
}

// report is the table.
func (b *bench) report(all []*result) string {
	if len(all) == 0 {
		return ""
	}
	var t strings.Builder
	fmt.Fprintf(&t, "| %d documents of 1 KB, %d shards, %d slots, one run | documents/s | of a core of ours | MB/s of a core | ours of the CPU | compared/s | against the copy | memory: anonymous · resident | first document |\n", all[0].documents, b.shards, b.workers)
	t.WriteString("|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, r := range all {
		per := func(d time.Duration) float64 { return float64(r.documents) / max(d.Seconds(), 1e-9) }
		share, compared, against, first := "", "", "", ""
		if r.theirs > 0 {
			share = fmt.Sprintf("%.1f %%", 100*r.ours.Seconds()/(r.ours+r.theirs).Seconds())
		}
		if r.compared > 0 {
			compared, against = fmt.Sprintf("%.0f", per(r.compared)), b.watch.Ratio("%.1f× faster", r.copied.Seconds()/r.compared.Seconds())
		}
		if r.first > 0 {
			first = peers.Short(r.first)
		}
		fmt.Fprintf(&t, "| %s | %.0f | %.0f | %.0f | %s | %s | %s | %.0f · %.0f MiB | %s |\n", r.target, per(r.copied), per(r.ours),
			float64(r.sources)/1e6/r.ours.Seconds(), share, compared, against, peers.MiB(r.peak), peers.MiB(r.resident), first)
	}
	return t.String()
}
