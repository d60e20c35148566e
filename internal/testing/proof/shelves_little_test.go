package proof

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestASplitTakesLittle: neither disk nor memory grows with what the shard holds until it is
// handed over, and when it is over no more is taken than before.
func TestASplitTakesLittle(t *testing.T) {
	const (
		documents = 30_000
		batch     = 1000
	)
	dir, b := dataFolder(t), talk(t)
	p, url := serve(t, dir)
	ask(t, b, 200, "PUT", url+"/books", `{"settings":{"number_of_shards":1,"refresh_interval":"1s"},"mappings":{"properties":{"t":{"type":"text"},"n":{"type":"long"}}}}`)
	dice := rand.New(rand.NewPCG(27, 27))
	for from := 0; from < documents; from += batch {
		var bulk strings.Builder
		for i := range batch {
			fmt.Fprintf(&bulk, "{\"index\":{\"_id\":\"%d\"}}\n{\"n\":%d,\"t\":\"", from+i, i)
			for range 90 {
				fmt.Fprintf(&bulk, "%x ", dice.IntN(1<<40))
			}
			bulk.WriteString("\"}\n")
		}
		ask(t, b, 200, "POST", url+"/books/_bulk?filter_path=errors", bulk.String())
	}
	ask(t, b, 200, "POST", url+"/books/_refresh", "")
	ask(t, b, 200, "POST", url+"/books/_flush", "")
	peak(t, p) // of what was written
	held := quiet(t, p, dir)
	before, written := peak(t, p), wrote(t, p)
	at := url + beginSplit(t, b, url)
	reaches(t, b, at, "switched")
	handed, took := wrote(t, p)-written, peak(t, p)
	during := onDisk(t, dir)
	t.Logf("%d MB were held; until the hand-off %d KB were written, %d KB of disk and %d MB of memory taken beside %d MB", held>>20, handed>>10, (during-held)>>10, (took-before)>>20, before>>20)
	if limit := held/50 + 1<<20; handed > limit || during-held > limit {
		t.Errorf("%d bytes were written and %d taken until the hand-off, of %d that the shard holds", handed, during-held, held)
	}
	if took > before+96<<20 {
		t.Errorf("it took %d MB at most, and %d MB before", took>>20, before>>20)
	}
	ask(t, b, 200, "POST", at+"/finish", "")
	reaches(t, b, at, "finished")
	after, worst := quiet(t, p, dir), peak(t, p)
	t.Logf("%d MB are held afterwards; shedding took %d MB of memory", after>>20, worst>>20)
	if after > held*115/100+1<<20 || worst > before+192<<20 {
		t.Errorf("of %d bytes became %d, and %d MB of memory were taken at most", held, after, worst>>20)
	}
	var count struct{ Count int }
	if err := json.Unmarshal(ask(t, b, 200, "GET", url+"/books/_count", ""), &count); err != nil || count.Count != documents {
		t.Errorf("%d documents are counted: %v", count.Count, err)
	}
	stop(t, p)
}

// beginSplit begins a split into four, and gives the path of the movement.
func beginSplit(t *testing.T, b *Talk, url string) string {
	t.Helper()
	var m struct{ ID string }
	if err := json.Unmarshal(ask(t, b, 202, "POST", url+"/_reshelve/movements", `{"kind":"split","index":"books","into":4,"keepWayBack":true}`), &m); err != nil {
		t.Fatal(err)
	}
	return "/_reshelve/movements/" + m.ID
}

// reaches waits until a movement is in a state.
func reaches(t *testing.T, b *Talk, at, state string) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		var m toldMovement
		text := ask(t, b, 200, "GET", at, "")
		if err := json.Unmarshal(text, &m); err != nil || m.State == "held" || time.Now().After(end) {
			t.Fatalf("it is not %s: %v %s", state, err, text)
		}
		if m.State == state {
			return
		}
	}
}

// quiet waits until a server writes no more, and gives what its folder takes.
func quiet(t *testing.T, p *Process, dir string) int64 {
	t.Helper()
	for last, since, end := int64(-1), time.Now(), time.Now().Add(time.Minute); time.Since(since) < 2*time.Second && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if now := wrote(t, p); now != last {
			last, since = now, time.Now()
		}
	}
	return onDisk(t, dir)
}

// onDisk is what the files of a folder take, each inode once.
func onDisk(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	met := map[uint64]bool{}
	err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if os.IsNotExist(err) {
			return nil
		}
		if stat, is := info.Sys().(*syscall.Stat_t); err == nil && is && !met[stat.Ino] {
			met[stat.Ino] = true
			bytes += stat.Blocks * 512
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

// wrote is how many bytes a process has given to files.
func wrote(t *testing.T, p *Process) int64 { return figure(t, p, "io", `wchar: (\d+)`) }

// peak is the most memory that a process has had since the last call, in bytes.
func peak(t *testing.T, p *Process) int64 {
	t.Helper()
	kilobytes := figure(t, p, "status", `VmHWM:\s+(\d+) kB`)
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.PID()), []byte("5"), 0) // forget the peak
	return kilobytes << 10
}

// figure is a number that the kernel tells of a process.
func figure(t *testing.T, p *Process, file, pattern string) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", p.PID(), file))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(pattern).FindSubmatch(text)
	if found == nil {
		t.Fatalf("/proc/…/%s tells no %s", file, pattern)
	}
	n, _ := strconv.ParseInt(string(found[1]), 10, 64)
	return n
}
