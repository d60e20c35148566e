package proof

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/document"
)

// prints are the fingerprints of documents, how often each is there.
type prints map[string]int

// snapshotPrints are those of what snapshot cat prints.
func snapshotPrints(t *testing.T, repository string) prints {
	t.Helper()
	all, f := prints{}, document.Fingerprinter{}
	for line := range bytes.Lines(runs(t, "snapshot", "cat", "-q", repository)) {
		var d struct {
			Index   string          `json:"_index"`
			ID      string          `json:"_id"`
			Routing string          `json:"_routing"`
			Source  json.RawMessage `json:"_source"`
		}
		if err := json.Unmarshal(line, &d); err != nil {
			t.Fatal(err)
		}
		all[d.Index+" "+f.Of([]byte(d.ID), []byte(d.Routing), d.Source).String()]++
	}
	return all
}

// storePrints are those of what a search in the served folder finds.
func storePrints(t *testing.T, data string) prints {
	t.Helper()
	p, url := serve(t, data)
	defer func() { _ = p.Kill() }()
	talk := NewTalk(time.Minute)
	all, f := prints{}, document.Fingerprinter{}
	var after json.RawMessage
	for {
		body := `{"size":1000,"sort":["_index","_id","_doc"],"query":{"match_all":{}}}`
		if after != nil {
			body = strings.TrimSuffix(body, "}") + `,"search_after":` + string(after) + `}`
		}
		answer, err := talk.Do(t.Context(), "POST", url+"/_all/_search?expand_wildcards=all", []byte(body))
		if err != nil || answer.Status != 200 {
			t.Fatalf("%v %s", err, answer.Body)
		}
		var page struct {
			Hits struct {
				Hits []struct {
					Index   string          `json:"_index"`
					ID      string          `json:"_id"`
					Routing string          `json:"_routing"`
					Source  json.RawMessage `json:"_source"`
					Sort    json.RawMessage `json:"sort"`
				}
			}
		}
		if err := json.Unmarshal(answer.Body, &page); err != nil {
			t.Fatal(err)
		}
		if len(page.Hits.Hits) == 0 {
			return all
		}
		for _, h := range page.Hits.Hits {
			all[h.Index+" "+f.Of([]byte(h.ID), []byte(h.Routing), h.Source).String()]++
			after = h.Sort
		}
	}
}

// TestMigratedIntoAFolder: what a migration writes into a fresh folder is what the snapshot
// holds, document by document, found by a search.
func TestMigratedIntoAFolder(t *testing.T) {
	for _, name := range []string{"opensearch-2.19.0-basic", "elasticsearch-7.17.29-history", "opensearch-2.19.0-streams"} {
		t.Run(name, func(t *testing.T) {
			repository := filepath.Join("..", "..", "..", "testdata", "repositories", name, "repo")
			data := filepath.Join(t.TempDir(), "data")
			var m struct{ State string }
			if err := json.Unmarshal(runs(t, "migrate", "-q", "--output", "json", "--from", repository, "--to", data), &m); err != nil || m.State != "finished" {
				t.Fatalf("%v, it is %s", err, m.State)
			}
			want, got := snapshotPrints(t, repository), storePrints(t, data)
			if len(want) == 0 {
				t.Fatal("the snapshot holds nothing")
			}
			for p, n := range want {
				if got[p] != n {
					t.Errorf("%s: %d in the snapshot, %d found", p, n, got[p])
				}
			}
			for p := range got {
				if want[p] == 0 {
					t.Errorf("%s is not in the snapshot", p)
				}
			}
		})
	}
}

// TestAKilledMigrationGoesOn: killed at any moment, and its successor killed too, a
// migration is finished by whoever comes next, and nothing is missing, doubled or left.
func TestAKilledMigrationGoesOn(t *testing.T) {
	repository := filepath.Join("..", "..", "..", "testdata", "repositories", "opensearch-2.19.0-basic", "repo")
	want := snapshotPrints(t, repository)
	random := rand.New(rand.NewPCG(seed(t), 0))
	killed := func(words ...string) {
		p := start(t, words...)
		time.Sleep(time.Duration(random.Int64N(int64(900 * time.Millisecond))))
		if err := p.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	wanted, finished := number(t, "PROOF_MIGRATIONS", 3), 0
	for round := 0; finished < wanted; round++ {
		if round > 20*wanted {
			t.Fatalf("%d of %d rounds were killed before anything had begun", round-finished, round)
		}
		data := filepath.Join(dataFolder(t), "data")
		killed("migrate", "-q", "--from", repository, "--to", data, "--heartbeat", "200ms", "--initial-lease", "2s")
		if _, err := os.Stat(filepath.Join(data, "format")); err != nil {
			continue // it was killed before there was anything
		}
		killed("worker", "--join", data, "--once")
		var all []struct{ ID, State string }
		for began := time.Now(); ; {
			runs(t, "worker", "--join", data, "--once")
			if err := json.Unmarshal(runs(t, "movement", "ls", "--at", data, "--output", "json"), &all); err != nil {
				t.Fatal(err)
			}
			if len(all) == 0 || all[0].State != "running" {
				break
			}
			if time.Since(began) > time.Minute {
				t.Fatal("the movement does not end")
			}
		}
		if len(all) == 0 || all[0].State == "planned" {
			continue // it was killed before it had begun
		}
		if all[0].State != "finished" {
			t.Fatalf("it is %s\n%s", all[0].State, runs(t, "movement", "status", all[0].ID, "--at", data))
		}
		finished++
		got := storePrints(t, data)
		for p, n := range want {
			if got[p] != n {
				t.Errorf("%s: %d in the snapshot, %d found", p, n, got[p])
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d documents are found, the snapshot has %d", len(got), len(want))
		}
	}
}

// TestAnAbortedMigrationLeavesNothing: what it made is gone, and what was there before is as
// it was.
func TestAnAbortedMigrationLeavesNothing(t *testing.T) {
	repository := filepath.Join("..", "..", "..", "testdata", "repositories", "opensearch-2.19.0-basic", "repo")
	data := filepath.Join(dataFolder(t), "data")
	runs(t, "migrate", "-q", "--from", repository, "--to", data, "--index", "loans", "--rename", "loans=before")
	before := storePrints(t, data)

	var m struct{ ID, State string }
	answer := runs(t, "migrate", "-q", "--from", repository, "--to", data, "--index", "loans", "--rename", "loans=before", "--into-existing",
		"--index", "shelves", "--keep-way-back", "--output", "json")
	if err := json.Unmarshal(answer, &m); err != nil || m.State != "switched" {
		t.Fatalf("%v, it is %s", err, m.State)
	}
	runs(t, "movement", "abort", m.ID, "--at", data, "--why", "a test")
	runs(t, "worker", "--join", data, "--once")
	if err := json.Unmarshal(runs(t, "movement", "status", m.ID, "--at", data, "--output", "json"), &m); err != nil || m.State != "aborted" {
		t.Fatalf("%v, it is %s", err, m.State)
	}
	if after := storePrints(t, data); !maps.Equal(before, after) {
		t.Errorf("before %v\nafter %v", before, after)
	}
}

// TestWhatATargetRefusesIsListed: the migration holds, names each document, sends it again
// when asked to, and ends when somebody accepts the list.
func TestWhatATargetRefusesIsListed(t *testing.T) {
	repository := filepath.Join("..", "..", "..", "testdata", "repositories", "elasticsearch-5.6.16-corners", "repo")
	data := filepath.Join(dataFolder(t), "data")
	p := start(t, "migrate", "-q", "--from", repository, "--to", data, "--index", "forms")
	if code, err := p.Wait(t.Context()); err != nil || code != 6 {
		t.Fatalf("it ends with %d, %v\n%s", code, err, p.Stderr())
	}
	status := func(want string) (id string) {
		t.Helper()
		var all []struct{ ID, State string }
		if err := json.Unmarshal(runs(t, "movement", "ls", "--at", data, "--output", "json"), &all); err != nil || len(all) != 1 || all[0].State != want {
			t.Fatalf("%v %v, want %s", all, err, want)
		}
		return all[0].ID
	}
	id := status("held")
	refused := func() (ids []string) {
		t.Helper()
		var all struct {
			Total     int
			Causes    []struct{ Documents int }
			Documents []struct{ ID, Type, Reason string }
		}
		if err := json.Unmarshal(runs(t, "movement", "failures", id, "--at", data, "--output", "json"), &all); err != nil {
			t.Fatal(err)
		}
		if all.Total != len(all.Documents) || len(all.Causes) == 0 {
			t.Errorf("%+v", all)
		}
		for _, f := range all.Documents {
			ids = append(ids, f.ID+" "+f.Type)
		}
		slices.Sort(ids)
		return ids
	}
	want := []string{"deep mapper_parsing_exception", "twice-the-same-key mapper_parsing_exception"}
	if got := refused(); !slices.Equal(got, want) {
		t.Errorf("refused are %q", got)
	}
	runs(t, "movement", "redrive", id, "--at", data)
	endsWith(t, 6, "worker", "--join", data, "--once")
	if got := refused(); status("held") != id || !slices.Equal(got, want) {
		t.Errorf("after a redrive refused are %q", got)
	}
	runs(t, "movement", "finish", id, "--at", data, "--why", "they are known")
	endsWith(t, 10, "worker", "--join", data, "--once")
	status("finished")
}

// TestAPreviewMakesNothing, and names what forbids the start.
func TestAPreviewMakesNothing(t *testing.T) {
	repository := filepath.Join("..", "..", "..", "testdata", "repositories", "elasticsearch-1.7.6-basic", "repo")
	data := filepath.Join(t.TempDir(), "data")
	var preview struct {
		Indices []struct {
			Index   string
			Changes []struct{ Rule, Where string }
		}
		Problems []struct{ Message string }
	}
	if err := json.Unmarshal(endsWith(t, 5, "migrate", "--dry-run", "--from", repository, "--to", data, "--output", "json"), &preview); err != nil {
		t.Fatal(err)
	}
	if len(preview.Indices) != 4 || len(preview.Indices[3].Changes) == 0 {
		t.Errorf("%+v", preview.Indices)
	}
	if len(preview.Problems) != 1 || !strings.Contains(preview.Problems[0].Message, "families") {
		t.Errorf("%+v", preview.Problems)
	}
	if _, err := os.Stat(data); !os.IsNotExist(err) {
		t.Errorf("the preview has made %s: %v", data, err)
	}
}

// TestTwoMovementsIntoOneIndex: the second is refused, with the first's name.
func TestTwoMovementsIntoOneIndex(t *testing.T) {
	repository := filepath.Join("..", "..", "..", "testdata", "repositories", "opensearch-2.19.0-basic", "repo")
	data := filepath.Join(dataFolder(t), "data")
	var m struct{ ID, State string }
	if err := json.Unmarshal(runs(t, "migrate", "-q", "--from", repository, "--to", data, "--keep-way-back", "--output", "json"), &m); err != nil || m.State != "switched" {
		t.Fatal(m, err)
	}
	p := start(t, "migrate", "-q", "--from", repository, "--to", data, "--into-existing")
	if code, err := p.Wait(t.Context()); err != nil || code != 8 || !strings.Contains(p.Stderr(), m.ID) {
		t.Errorf("it ends with %d, %v\n%s", code, err, p.Stderr())
	}
	var all []struct{ ID string }
	if err := json.Unmarshal(runs(t, "movement", "ls", "--at", data, "--output", "json"), &all); err != nil || len(all) != 1 {
		t.Errorf("%v %v", all, err)
	}
}
