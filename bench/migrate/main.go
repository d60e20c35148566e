package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/bench/peers"
)

func main() { peers.Main(run) }

// bench is one run.
type bench struct {
	documents, workers int
	binary, dir        string
	repository         string
	server             *peers.Peer
}

func run(ctx context.Context) error {
	var b bench
	flag.IntVar(&b.documents, "documents", 500_000, "documents in the snapshot")
	flag.IntVar(&b.workers, "workers", 2, "slots of the migration")
	binary := flag.String("binary", "", "a reshelve that was built before")
	flag.Parse()
	return peers.InFolder(ctx, *binary, func(dir, binary string) error {
		b.dir, b.binary = dir, binary
		if err := b.snapshot(ctx); err != nil {
			return err
		}
		defer b.server.Stop()
		var all []*result
		for _, into := range []func(context.Context) (*result, error){b.intoNull, b.intoServer, b.intoFolder} {
			r, err := into(ctx)
			if err != nil {
				return err
			}
			peers.Progress("%s: %d documents in %v, CPU %v and %v", r.target, r.documents, r.copied, r.ours, r.theirs)
			all = append(all, r)
			if err := b.server.Settle(ctx, time.Minute); err != nil {
				return err
			}
		}
		fmt.Print(report(all))
		return nil
	})
}

// snapshot lets an OpenSearch make the repository. It is the target of one migration later.
func (b *bench) snapshot(ctx context.Context) error {
	home := filepath.Join(b.dir, "server")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	b.server = peers.OpenSearch("2.19.0", home)
	if _, err := b.server.Start(ctx, peers.Request("GET", "/", "", nil), nil); err != nil {
		return err
	}
	if err := b.server.Create(peers.Index); err != nil {
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
	r := &result{target: b.server.Name}
	w, err := start(ctx, b.binary, b.server, "--from", b.repository, "--to", b.server.URL, "--rename", peers.Index+"=copy",
		"--yes", "--workers", strconv.Itoa(b.workers))
	if err == nil {
		err = w.finish(r)
	}
	return r, err
}

// intoFolder migrates into a new data folder.
func (b *bench) intoFolder(ctx context.Context) (*result, error) {
	r := &result{target: "data folder"}
	folder := filepath.Join(b.dir, "folder")
	w, err := start(ctx, b.binary, nil, "--from", b.repository, "--to", folder, "--yes", "--workers", strconv.Itoa(b.workers))
	if err == nil {
		err = w.finish(r)
	}
	if err == nil {
		r.disk = (&peers.Peer{Dir: folder}).Disk()
	}
	return r, err
}

// report is the table.
func report(all []*result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %d documents, one run | documents/s | of a core of ours | MB/s | ours of the processor time | comparison | against the copy | anonymous, at most | first document |\n", all[0].documents)
	b.WriteString("|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, r := range all {
		per := func(d time.Duration) float64 { return float64(r.documents) / max(d.Seconds(), 1e-9) }
		share, compared, against, first := "", "", "", ""
		if r.theirs > 0 {
			share = fmt.Sprintf("%.0f %%", 100*r.ours.Seconds()/(r.ours+r.theirs).Seconds())
		}
		if r.compared > 0 {
			compared, against = fmt.Sprintf("%.0f/s", per(r.compared)), fmt.Sprintf("%.1f×", r.copied.Seconds()/r.compared.Seconds())
		}
		if r.first > 0 {
			first = peers.Short(r.first)
		}
		fmt.Fprintf(&b, "| %s | %.0f | %.0f | %.0f | %s | %s | %s | %.0f MiB | %s |\n", r.target, per(r.copied), per(r.ours),
			float64(r.sources)/1e6/r.copied.Seconds(), share, compared, against, peers.MiB(r.peak), first)
	}
	return b.String()
}
