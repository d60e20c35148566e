package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/reshelve/reshelve/internal/testing/bench/peers"
	"github.com/reshelve/reshelve/internal/testing/servers"
)

func main() { peers.Main(run) }

// bench is one run of the benchmark.
type bench struct {
	shards   []shard
	reshelve string // the command under test
	java     map[servers.Version]javaReader
	rounds   int
	watch    *peers.Run
}

func run(ctx context.Context) error {
	size := flag.String("size", "1G", "bytes of sources of a shard: a number with K, M or G")
	rounds := flag.Int("rounds", 5, "runs of each reader over each shard; medians are printed")
	only := flag.String("only", "", "only shards whose name holds this, such as \"deflate\" or \"9.12 lz4 300\"")
	flag.Parse()
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	all, err := loadShards(ctx, cache, *size)
	if err != nil {
		return err
	}
	b := &bench{rounds: max(*rounds, 1)}
	for _, s := range all {
		if strings.Contains(s.String(), strings.ToLower(*only)) {
			b.shards = append(b.shards, s)
		}
	}
	if len(b.shards) == 0 {
		return fmt.Errorf("-only %q: no shard is named so; they are %s", *only, all)
	}
	if err := b.build(ctx, cache); err != nil {
		return err
	}
	if b.watch, err = peers.Watch(); err != nil {
		return err
	}
	defer b.watch.End()
	results, err := b.measure(ctx)
	if err != nil {
		return err
	}
	b.watch.End()
	fmt.Print(b.report(results), b.watch)
	return nil
}

// build makes the command as it is released, and the Java readers.
func (b *bench) build(ctx context.Context, cache string) error {
	b.reshelve = filepath.Join(cache, "reshelve")
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", b.reshelve,
		"github.com/reshelve/reshelve/cmd/reshelve")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build reshelve: %w\n%s", err, output)
	}
	b.java = map[servers.Version]javaReader{}
	for _, f := range families {
		reader, err := newJavaReader(ctx, f, filepath.Join(cache, "java-"+f.server.String()))
		if err != nil {
			return fmt.Errorf("prepare the Java reader: %w", err)
		}
		b.java[f.server] = reader
	}
	return nil
}

// cat is the command under test over one shard.
func (b *bench) cat(s shard) []string {
	return []string{b.reshelve, "snapshot", "cat", s.repository(), "--index", s.Name}
}
