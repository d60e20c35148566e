package peers

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

// Main is the main function of a benchmark: it runs until that ends, or somebody interrupts
// it. An error is told, and is exit code 1.
func Main(run func(ctx context.Context) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		Progress("bench: %v", err)
		os.Exit(1)
	}
}

// Progress tells on standard error how far a benchmark is; standard output is the table's.
func Progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// InFolder runs a benchmark in a folder for its servers, which is removed behind it, with
// binary, or, when that is "", with a command that is built there.
func InFolder(ctx context.Context, binary string, run func(dir, binary string) error) error {
	dir, err := os.MkdirTemp("", "reshelve-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // OpenSearch runs as another user
		return err
	}
	if binary == "" {
		binary = filepath.Join(dir, "reshelve")
		if err := Build(ctx, binary); err != nil {
			return err
		}
	}
	return run(dir, binary)
}
