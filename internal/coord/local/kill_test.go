package local_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/coord/local"
	"github.com/reshelve/reshelve/internal/fault"
)

// writerEnv names the folder in which this test binary, run again, writes until it
// is killed.
const writerEnv = "RESHELVE_COORD_WRITER"

const killWriters = 4

// writeForever counts in killWriters records and makes and deletes as many others,
// and prints each change when it is acknowledged: key, number, revision.
func writeForever(dir string) {
	ctx := context.Background()
	s, err := local.Open(ctx, dir)
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	var running sync.WaitGroup
	for w := range killWriters {
		running.Go(func() {
			for {
				record, err := coord.Update(ctx, s, fmt.Sprintf("count/%d", w), func(value []byte) ([]byte, error) {
					n := 0
					_, _ = fmt.Sscan(string(value), &n)
					return fmt.Append(nil, n+1), nil
				})
				if err != nil {
					fmt.Println("error", err)
					os.Exit(1)
				}
				fmt.Printf("count %d %s %d\n", w, record.Value, record.Revision)
			}
		})
		running.Go(func() {
			key := fmt.Sprintf("flag/%d", w)
			for {
				record, err := s.Get(ctx, key)
				if fault.Is(err, fault.NotFound) {
					record.Revision, err = s.Create(ctx, key, nil)
				}
				if err == nil {
					fmt.Printf("made %d 0 %d\n", w, record.Revision)
					err = s.Delete(ctx, key, record.Revision)
				}
				if err != nil {
					fmt.Println("error", err)
					os.Exit(1)
				}
				fmt.Printf("deleted %d 0 %d\n", w, record.Revision)
			}
		})
	}
	running.Wait()
}

// TestAKilledWriterLosesNothing kills it in the midst of its writes, again and
// again: what it had acknowledged is there, and revisions go on above.
func TestAKilledWriterLosesNothing(t *testing.T) {
	kills := 20
	if testing.Short() {
		kills = 3
	}
	dir := t.TempDir()
	acknowledged := &acks{deleted: map[int]int64{}, counts: map[int]int{}}
	for kill := range kills {
		acknowledged.readUntilKilled(t, dir, 40+37*kill)
		acknowledged.compare(t, dir)
	}
	t.Logf("%d kills, revision %d, counts %v", kills, acknowledged.newest, acknowledged.counts)
}

type acks struct {
	counts  map[int]int   // by writer
	deleted map[int]int64 // the revision at which a flag was acknowledged as deleted
	newest  int64
}

// readUntilKilled runs a writer, kills it when it has acknowledged so many changes,
// and takes note of all that it printed.
func (a *acks) readUntilKilled(t *testing.T, dir string, changes int) {
	t.Helper()
	writer := exec.CommandContext(t.Context(), os.Args[0])
	writer.Env = append(os.Environ(), writerEnv+"="+dir)
	writer.Stderr = os.Stderr
	printed, err := writer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	n := 0
	for lines := bufio.NewScanner(printed); lines.Scan(); {
		var (
			verb     string
			w, count int
			revision int64
		)
		if _, err := fmt.Sscan(lines.Text(), &verb, &w, &count, &revision); err != nil {
			if verb == "error" {
				t.Errorf("the writer says: %s", lines.Text())
			}
			continue // the kill cut the last line
		}
		switch verb {
		case "count":
			a.counts[w] = max(a.counts[w], count)
		case "deleted":
			a.deleted[w] = max(a.deleted[w], revision)
		}
		a.newest = max(a.newest, revision)
		if n++; n == changes {
			if err := writer.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = writer.Wait() // killed
	if n < changes {
		t.Fatalf("the writer ended by itself after %d changes", n)
	}
}

func (a *acks) compare(t *testing.T, dir string) {
	t.Helper()
	s := opened(t, dir)
	defer s.Close()
	for w := range killWriters {
		record, err := s.Get(t.Context(), fmt.Sprintf("count/%d", w))
		if err != nil && a.counts[w] > 0 {
			t.Fatalf("count %d: %v", w, err)
		}
		count := 0
		_, _ = fmt.Sscan(string(record.Value), &count)
		if count < a.counts[w] || count > a.counts[w]+1 {
			t.Errorf("count %d is %d, and %d was acknowledged", w, count, a.counts[w])
		}
		a.counts[w] = count
		record, err = s.Get(t.Context(), fmt.Sprintf("flag/%d", w))
		if err == nil && record.Revision <= a.deleted[w] {
			t.Errorf("flag %d is back, of revision %d", w, record.Revision)
		}
	}
	revision, err := s.Revision(t.Context())
	if err != nil || revision < a.newest {
		t.Errorf("the store is at revision %d (%v), and %d was given", revision, err, a.newest)
	}
}
