package e2e

import (
	"net"
	"sync"
	"testing"
	"time"

	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/blobtest"
)

// inParallel puts all objects, eight at a time.
func inParallel(t *testing.T, contents map[string][]byte, put func(key string, data []byte) error) {
	t.Helper()
	keys := make(chan string)
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for key := range keys {
				if err := put(key, contents[key]); err != nil {
					t.Errorf("put %q: %v", key, err)
				}
			}
		})
	}
	for key := range contents {
		keys <- key
	}
	close(keys)
	workers.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// waitFor waits until a server listens at address. One that ended instead, or
// has not begun after a minute, fails the test.
func waitFor(t *testing.T, address string, ended <-chan error) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		select {
		case err := <-ended:
			t.Fatalf("the emulator ended: %v", err)
		case <-time.After(20 * time.Millisecond):
		}
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return
		}
	}
	t.Fatal("the emulator does not listen")
}

func reads(t *testing.T, bucket blob.Bucket, key, want string) {
	t.Helper()
	if got, err := blobtest.Read(t.Context(), bucket, key, 0, -1); err != nil || string(got) != want {
		t.Errorf("%s: %q, %v; want %q", key, got, err, want)
	}
}

// readsOutside reads the blob that lies outside of the suite's prefix.
func readsOutside(t *testing.T, location string) {
	t.Helper()
	reads(t, open(t, location), "blob", "outside")
}
