package snapshot

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sort"
	"testing"
	"time"
)

// repositories are the folders of real repositories that have the server's own
// answers beside them, by name: those that are committed, and those of
// RESHELVE_SHARED where it is there.
func repositories(t testing.TB) map[string]string {
	t.Helper()
	shared := sharedFolder()
	found := map[string]string{}
	for tag, pattern := range map[string]string{"": "../testdata/repositories/*", " (shared)": shared + "/snapshots/real/*"} {
		dirs, _ := filepath.Glob(pattern)
		for _, dir := range dirs {
			if _, err := os.Stat(dir + "/expected/snapshots.json"); err == nil {
				found[filepath.Base(dir)+tag] = dir
			}
		}
	}
	if len(found) == 0 {
		t.Fatal("no repository in testdata/repositories")
	}
	return found
}

// sharedFolder may hold more repositories than are committed.
func sharedFolder() string {
	if dir := os.Getenv("RESHELVE_SHARED"); dir != "" {
		return dir
	}
	return "../../shared"
}

// answer is what a server says of a snapshot.
type answer struct {
	Snapshot string
	UUID     string
	Version  string
	Indices  []string
	State    string
	Global   *bool `json:"include_global_state"`
	Start    int64 `json:"start_time_in_millis"`
	End      int64 `json:"end_time_in_millis"`
	Shards   struct{ Total, Successful int }
}

func readAnswer(t testing.TB, file string, out any) bool {
	t.Helper()
	data, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return false
	}
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return true
}

func TestSnapshotsAreThoseThatTheServerLists(t *testing.T) {
	for name, dir := range repositories(t) {
		t.Run(name, func(t *testing.T) {
			var want struct{ Snapshots []answer }
			readAnswer(t, dir+"/expected/snapshots.json", &want)
			sort.SliceStable(want.Snapshots, func(i, j int) bool { return want.Snapshots[i].Start < want.Snapshots[j].Start })
			r, err := Open(context.Background(), folderBucket(dir+"/repo"))
			if err != nil {
				t.Fatal(err)
			}
			all, err := r.All(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if len(all) != len(want.Snapshots) {
				t.Fatalf("%d snapshots, the server lists %d", len(all), len(want.Snapshots))
			}
			for i, got := range all {
				compareSnapshot(t, got, want.Snapshots[i])
			}
		})
	}
}

func compareSnapshot(t *testing.T, got *Snapshot, want answer) {
	t.Helper()
	sort.Strings(want.Indices)
	if want.UUID == "" {
		want.UUID = want.Snapshot
	}
	text := func(v any) string { b, _ := json.Marshal(v); return string(b) }
	for _, field := range []struct {
		what      string
		got, want any
	}{
		{"name", got.Name, want.Snapshot},
		{"uuid", got.UUID, want.UUID},
		{"state", got.State.String(), want.State},
		{"indices", got.Indices, want.Indices},
		{"start", got.Start, time.UnixMilli(want.Start).UTC()},
		{"end", got.End, time.UnixMilli(want.End).UTC()},
		{"shards", got.ShardsTotal, want.Shards.Total},
		{"successful shards", got.ShardsOK, want.Shards.Successful},
	} {
		if text(field.got) != text(field.want) {
			t.Errorf("%s: got %s, want %s", field.what, text(field.got), text(field.want))
		}
	}
	if got.version.number() < firstIndexVersion && got.Version != want.Version {
		t.Errorf("version: got %s, want %s", got.Version, want.Version)
	}
	if want.Global != nil && got.GlobalState != *want.Global {
		t.Errorf("global state: got %v", got.GlobalState)
	}
}
