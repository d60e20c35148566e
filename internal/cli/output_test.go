package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
)

func TestOnlyAFileKeepsAllThatItWasGiven(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "part-1"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	reader, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	defer pipe.Close()
	if !keepsAll(file) || keepsAll(pipe) || keepsAll(new(bytes.Buffer)) {
		t.Errorf("a file %t, a pipe %t, a buffer %t", keepsAll(file), keepsAll(pipe), keepsAll(new(bytes.Buffer)))
	}
}

func TestASignalMayComeAfterItsBrokenPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a machine that is busy does not fire timers in their order
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, cancel)
		if err := interruptedToo(ctx); !fault.Is(err, fault.Interrupted) {
			t.Errorf("stopped as a whole: %v", err)
		}
		if err := interruptedToo(t.Context()); err != nil {
			t.Errorf("only the reader went away: %v", err)
		}
	})
}
