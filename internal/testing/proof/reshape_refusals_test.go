package proof

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// refuses runs a verb that must be refused with this exit code, for this cause.
func refuses(t *testing.T, code int, cause string, words ...string) {
	t.Helper()
	got, out, wrong := ends(t, words...)
	said := out + wrong
	if got != code || !strings.Contains(said, cause) || !strings.Contains(said, "→") {
		t.Errorf("reshelve %s: exit code %d, not %d; it should name %q and the next step:\n%s", strings.Join(words, " "), got, code, cause, said)
	}
}

// TestWhatASplitIsRefusedFor on the real binary: each cause by its name, with its exit code, and
// nothing is begun.
func TestWhatASplitIsRefusedFor(t *testing.T) {
	disk := smallDisk(t, 64)
	_, url := serve(t, filepath.Join(disk, "data"), "--memory", "64MiB")
	lay(t, talk(t), url, 2)
	t.Run("more shards than there can be", func(t *testing.T) {
		refuses(t, 5, "2048 shards, more than 1024", "split", "shelf", "--by", "1024", "--at", url)
	})
	t.Run("more parts than there can be", func(t *testing.T) {
		refuses(t, 5, "1025 parts are more than the 1024 shards", "split", "shelf", "--shard", "0", "--into", "1025", "--at", url)
	})
	t.Run("nothing to halve", func(t *testing.T) {
		ask(t, talk(t), 200, "PUT", url+"/none", "")
		refuses(t, 5, "nothing to halve", "split", "none", "--halve-largest", "--at", url)
	})
	t.Run("no such index", func(t *testing.T) {
		refuses(t, 3, "nosuch", "split", "nosuch", "--by", "2", "--at", url)
	})
	t.Run("no such shard", func(t *testing.T) {
		refuses(t, 3, "shard 7", "split", "shelf", "--shard", "7", "--into", "2", "--at", url)
	})
	t.Run("no neighbours", func(t *testing.T) {
		refuses(t, 5, "make no merge", "merge", "shelf", "--shards", "0", "--at", url)
	})
	t.Run("an index that is closed", func(t *testing.T) {
		ask(t, talk(t), 200, "POST", url+"/shelf/_close", "")
		refuses(t, 5, "is closed", "split", "shelf", "--by", "2", "--at", url)
		ask(t, talk(t), 200, "POST", url+"/shelf/_open", "")
	})
	t.Run("a disk without room for what is shared until it is shed", func(t *testing.T) {
		ask(t, talk(t), 200, "PUT", url+"/wide", `{"settings":{"number_of_replicas":0},"mappings":{"properties":{"a":{"type":"object","enabled":false}}}}`)
		for i := range 50 { // as bytes of sources; packed they take little
			ask(t, talk(t), 201, "PUT", fmt.Sprintf("%s/wide/_doc/%d", url, i), fmt.Sprintf(`{"a":{"b":%q}}`, strings.Repeat("x", 1<<20)))
		}
		refuses(t, 5, "bytes more may be taken", "split", "wide", "--by", "2", "--at", url)
		ask(t, talk(t), 200, "DELETE", url+"/wide", "")
	})
	t.Run("a full disk", func(t *testing.T) {
		give := eat(t, disk)
		time.Sleep(1200 * time.Millisecond) // the free space is looked at each second
		refuses(t, 7, "the disk is nearly full", "split", "shelf", "--by", "2", "--at", url)
		give()
	})
	if out := runs(t, "movement", "ls", "--at", url, "--output", "json"); strings.Contains(string(out), "split") {
		t.Errorf("something was begun: %s", out)
	}
	var placed shelved
	if err := json.Unmarshal(ask(t, talk(t), 200, "GET", url+"/_reshelve/placement/shelf", ""), &placed); err != nil || len(placed.Shards) != 2 || placed.Movement != "" {
		t.Errorf("%+v %v", placed, err)
	}
}

// begins begins a split by the command, and gives its id.
func begins(t *testing.T, url string, words ...string) string {
	t.Helper()
	var m toldMovement
	out := runs(t, append(append([]string{"split", "shelf", "--wait=false", "--output", "json", "--at", url}, words...), "--why", "a test")...)
	if err := json.Unmarshal(out, &m); err != nil || m.ID == "" {
		t.Fatalf("%s %v", out, err)
	}
	return m.ID
}

// becomes waits until a movement is in one of the states, and gives how it is told then.
func becomes(t *testing.T, url, id string, within time.Duration, states ...string) (m toldMovement) {
	t.Helper()
	for deadline := time.Now().Add(within); ; time.Sleep(20 * time.Millisecond) {
		if err := json.Unmarshal(ask(t, talk(t), 200, "GET", url+"/_reshelve/movements/"+id, ""), &m); err != nil {
			t.Fatal(err)
		}
		if slices.Contains(states, m.State) {
			return m
		}
		if time.Now().After(deadline) {
			t.Fatalf("it should become %v: %+v", states, m)
		}
	}
}

// TestASplitIsThrottled: what is shed behind the scenes takes as long as the rate says, which
// the status tells, until movement throttle gives it another one.
func TestASplitIsThrottled(t *testing.T) {
	_, url := serve(t, dataFolder(t))
	lay(t, talk(t), url, 1)
	id := begins(t, url, "--by", "2", "--throttle", "500")
	time.Sleep(3 * time.Second) // without it, that is done within milliseconds
	if m := becomes(t, url, id, time.Second, "running"); m.Cause != "" {
		t.Errorf("%+v", m)
	}
	status := string(runs(t, "movement", "status", id, "--at", url))
	if !strings.Contains(status, "limit of what is written again: 0.5 kB/s") || !strings.Contains(status, "shed") {
		t.Errorf("the status: %s", status)
	}
	runs(t, "movement", "throttle", id, "--bytes-per-second", "100MB", "--at", url)
	becomes(t, url, id, 10*time.Second, "finished")
}

// TestASplitWaitsForRoom: another program takes all space while a split is at work. The status says so within
// seconds, for as long as that lasts, and the movement goes on by itself when there is room.
func TestASplitWaitsForRoom(t *testing.T) {
	disk := smallDisk(t, 128)
	_, url := serve(t, filepath.Join(disk, "data"), "--memory", "64MiB")
	lay(t, talk(t), url, 1)
	id := begins(t, url, "--by", "2", "--throttle", "100")
	give := eat(t, disk)
	for began := time.Now(); time.Since(began) < 35*time.Second; time.Sleep(time.Second) { // longer than what may pass is waited for
		m := becomes(t, url, id, 10*time.Second, "running")
		status := string(runs(t, "movement", "status", id, "--at", url))
		if time.Since(began) > 4*time.Second && !strings.Contains(status, "it waits, and goes on by itself: ") || m.Cause != "" {
			t.Fatalf("on a full disk the status is\n%s", status)
		}
	}
	give()
	time.Sleep(3 * time.Second) // the free space is looked at each second
	runs(t, "movement", "throttle", id, "--bytes-per-second", "100MB", "--at", url)
	becomes(t, url, id, time.Minute, "finished")
	if status := string(runs(t, "movement", "status", id, "--at", url)); strings.Contains(status, "it waits") {
		t.Errorf("in the end the status is\n%s", status)
	}
}

// TestAHeldSplitEndsWithItsIndex: it holds since no hand-off fits its budget, and when its index is
// deleted there is nothing left to be decided.
func TestAHeldSplitEndsWithItsIndex(t *testing.T) {
	_, url := serve(t, dataFolder(t))
	lay(t, talk(t), url, 1)
	id := begins(t, url, "--by", "2", "--pause-budget", "1ns")
	if m := becomes(t, url, id, time.Minute, "held"); !strings.Contains(m.Cause, "pause budget") || m.Next == "" {
		t.Errorf("it holds for %+v", m)
	}
	ask(t, talk(t), 200, "DELETE", url+"/shelf", "")
	m := becomes(t, url, id, 10*time.Second, "aborted", "reversed")
	status := string(runs(t, "movement", "status", id, "--at", url))
	if !strings.Contains(status, "deleted") {
		t.Errorf("why it ended is not told: %+v\n%s", m, status)
	}
}
