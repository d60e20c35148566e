package proof

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/testing/servers"
)

// The matrix: snapshots of every version into targets of several. What the server that made a
// snapshot says it held is compared with what the target says it holds, and each document is
// accounted for: it is there, or it is listed with its cause, or its index is refused by name.
// What was there of each index stands in testdata/matrix, a file for each target:
//
//	repository snapshot: index documents present listed cause…
//
// -matrix.update writes those files anew.

var updateMatrix = flag.Bool("matrix.update", false, "write testdata/matrix anew")

// held is one document as the server that made the snapshot returned it.
type held struct {
	ID           string  `json:"_id"`
	Routing      string  `json:"_routing"`
	Source       *string `json:"_source"`
	SourceLength int     `json:"_source_length"`
	SourceSHA256 string  `json:"_source_sha256"`
}

// heldBy are the documents of an index in a snapshot.
func heldBy(t *testing.T, repository, snapshot, index string) (all []held) {
	t.Helper()
	file, err := os.Open(filepath.Join(repository, "expected", snapshot, index+".ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var h held
		if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
			t.Fatalf("%s: %v", file.Name(), err)
		}
		all = append(all, h)
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	return all
}

// there is one document of a target.
type there struct {
	ID      string          `json:"_id"`
	Routing string          `json:"_routing"`
	Source  json.RawMessage `json:"_source"`
}

// is tells whether a target's document is the snapshot's. A long source is known by its
// length and its sum; where its line breaks became spaces, by its length alone.
func (h held) is(f *there) bool {
	if f.ID != h.ID || f.Routing != h.Routing {
		return false
	}
	if h.Source == nil {
		sum := sha256.Sum256(f.Source)
		return len(f.Source) == h.SourceLength && (hex.EncodeToString(sum[:]) == h.SourceSHA256 || bytes.Contains(f.Source, []byte("  ")))
	}
	value := decoded(f.Source)
	return bytes.Equal(f.Source, []byte(*h.Source)) || value != nil && reflect.DeepEqual(value, decoded([]byte(*h.Source)))
}

// foundIn are the documents of an index of a target.
func foundIn(t *testing.T, url, index string) (all []there) {
	t.Helper()
	talk := NewTalk(time.Minute)
	path, body := "/"+index+"/_search?scroll=1m", `{"size":500,"sort":["_doc"]}`
	for {
		answer, err := talk.Do(t.Context(), "POST", url+path, []byte(body))
		if err != nil || answer.Status != 200 {
			t.Fatalf("%s: %v %s", index, err, answer.Body)
		}
		var page struct {
			Scroll string `json:"_scroll_id"`
			Hits   struct{ Hits []there }
		}
		if err := json.Unmarshal(answer.Body, &page); err != nil {
			t.Fatal(err)
		}
		if len(page.Hits.Hits) == 0 {
			return all
		}
		all = append(all, page.Hits.Hits...)
		path, body = "/_search/scroll", fmt.Sprintf(`{"scroll":"1m","scroll_id":%q}`, page.Scroll)
	}
}

// matrix moves snapshots into one target.
type matrix struct {
	t   *testing.T
	at  string                              // what --to names
	url func(t *testing.T) (string, func()) // where the target can be asked, until it is done
}

// row is what came of one snapshot.
type row []string

// pair moves one snapshot, and accounts for every document of it.
func (m *matrix) pair(repository, snapshot string) (lines row) {
	m.t.Helper()
	from := filepath.Join(repository, "repo")
	var plan struct {
		Plan struct {
			Indices []struct{ Source, Target string }
		}
		Problem []struct {
			Place   []string
			Message string
		} `json:"problems"`
	}
	code, out, wrong := ends(m.t, "migrate", "-q", "--from", from, "--to", m.at, "--snapshot", snapshot, "--yes", "--allow-partial", "--dry-run", "--output", "json")
	if err := json.Unmarshal([]byte(out), &plan); err != nil {
		var problem struct{ Error struct{ Message string } }
		if err := json.Unmarshal([]byte(wrong), &problem); err != nil {
			m.t.Fatalf("%s %s: exit code %d: %s%s", repository, snapshot, code, out, wrong)
		}
		return row{fmt.Sprintf("refused, exit code %d: %s", code, problem.Error.Message)}
	}
	refused := map[string]string{}
	for _, p := range plan.Problem {
		place := p.Message
		if len(p.Place) > 0 {
			place = p.Place[0]
		}
		index, is := strings.CutPrefix(place, "index ")
		if !is {
			return row{"refused: " + p.Message}
		}
		index, _, _ = strings.Cut(index, " cannot be made: ")
		refused[index] = p.Message
	}
	args := []string{"migrate", "-q", "--from", from, "--to", m.at, "--snapshot", snapshot, "--yes", "--allow-partial", "--keep-way-back", "--output", "json"}
	targets := map[string]string{}
	for _, index := range plan.Plan.Indices {
		if why, is := refused[index.Source]; is {
			lines = append(lines, index.Source+" refused: "+why)
			continue
		}
		args = append(args, "--index", index.Source)
		targets[index.Source] = index.Target
	}
	if len(targets) == 0 {
		return lines
	}
	code, out, wrong = ends(m.t, args...)
	var moved struct {
		ID, State string
		Progress  struct {
			Indices []struct{ Source, Cause string }
		}
	}
	if err := json.Unmarshal([]byte(out), &moved); err != nil || moved.State != "switched" && moved.State != "held" {
		m.t.Errorf("%s %s: exit code %d, %s: %s", repository, snapshot, code, moved.State, wrong)
		return nil
	}
	causes := map[string]string{}
	for _, index := range moved.Progress.Indices {
		causes[index.Source] = strings.ReplaceAll(index.Cause, m.at, "TARGET")
	}
	lines = append(lines, m.account(repository, snapshot, moved.ID, targets, causes)...)
	m.abort(moved.ID, targets)
	slices.Sort(lines)
	return lines
}

// listed are what the movement names as not brought: documents by index and id, with the types
// of their causes; and by index the causes of items that failed whole.
func (m *matrix) listed(id string) (by map[string]map[string]string, pieces map[string]string) {
	m.t.Helper()
	var all struct {
		Documents []struct{ Index, ID, Type string }
		Pieces    []struct{ Index, Item, Cause string }
	}
	code, out, wrong := ends(m.t, "movement", "failures", id, "--at", m.at, "--output", "json", "--all")
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		m.t.Fatalf("failures: exit code %d, %v: %s", code, err, wrong)
	}
	by, pieces = map[string]map[string]string{}, map[string]string{}
	for _, p := range all.Pieces {
		pieces[p.Index] = p.Cause
	}
	for _, f := range all.Documents {
		if by[f.Index] == nil {
			by[f.Index] = map[string]string{}
		}
		by[f.Index][f.ID] = f.Type
	}
	return by, pieces
}

// account holds what the target has against what the snapshot's server said.
func (m *matrix) account(repository, snapshot, id string, targets, causes map[string]string) (lines row) {
	m.t.Helper()
	listed, pieces := m.listed(id)
	url, done := m.url(m.t)
	defer done()
	for _, index := range slices.Sorted(maps.Keys(targets)) {
		want := heldBy(m.t, repository, snapshot, index)
		if cause := causes[index]; cause != "" {
			lines = append(lines, fmt.Sprintf("%s %d not moved: %s", index, len(want), cause))
			continue
		}
		have := foundIn(m.t, url, targets[index])
		byID := map[string][]int{}
		for i, f := range have {
			byID[f.ID] = append(byID[f.ID], i)
		}
		taken, present := make([]bool, len(have)), 0
		kinds := map[string]int{}
		for _, h := range want {
			at := slices.IndexFunc(byID[h.ID], func(i int) bool { return !taken[i] && h.is(&have[i]) })
			switch kind, is := listed[index][h.ID]; {
			case at >= 0:
				taken[byID[h.ID][at]] = true
				present++
			case is:
				kinds[kind]++
			case pieces[index] != "":
				kinds["item failed: "+pieces[index]]++
			default:
				m.t.Errorf("%s %s: %s: document %q is neither there nor listed", repository, snapshot, index, h.ID)
			}
		}
		for i, f := range have {
			if !taken[i] {
				m.t.Errorf("%s %s: %s: document %q is there and not in the snapshot: %.200s", repository, snapshot, index, f.ID, f.Source)
			}
		}
		line := fmt.Sprintf("%s %d present %d", index, len(want), present)
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			line += fmt.Sprintf(" %s %d", kind, kinds[kind])
		}
		lines = append(lines, line)
	}
	return lines
}

// abort takes all back, and finds nothing left of it.
func (m *matrix) abort(id string, targets map[string]string) {
	m.t.Helper()
	for _, args := range [][]string{{"movement", "abort", id, "--at", m.at}, {"worker", "--join", m.at, "--once"}} {
		if code, _, wrong := ends(m.t, args...); code != 0 {
			m.t.Fatalf("%v: exit code %d: %s", args, code, wrong)
		}
	}
	url, done := m.url(m.t)
	defer done()
	for _, index := range targets {
		answer, err := NewTalk(time.Minute).Do(m.t.Context(), "HEAD", url+"/"+index, nil)
		if err != nil || answer.Status != 404 {
			m.t.Errorf("after an abort %s is there: %v %d", index, err, answer.Status)
		}
	}
}

// pairs are the snapshots that are moved: RESHELVE_MATRIX=all takes all that there are, and
// otherwise the corner cases of each version are enough, and what only some versions have.
func pairs(t *testing.T) (all [][2]string) {
	t.Helper()
	kept, err := filepath.Glob("../../../testdata/repositories/*/expected/*/counts.json")
	if err != nil || len(kept) == 0 {
		t.Fatal("there are no repositories", err)
	}
	for _, file := range kept {
		snapshot := filepath.Dir(file)
		repository := filepath.Dir(filepath.Dir(snapshot))
		_, kind, _ := strings.Cut(filepath.Base(repository), "-")
		_, kind, _ = strings.Cut(kind, "-")
		if some := kind == "corners" || kind == "streams" || kind == "join" || kind == "synthetic" || kind == "source-only" || kind == "shallow"; some || os.Getenv("RESHELVE_MATRIX") == "all" {
			all = append(all, [2]string{repository, filepath.Base(snapshot)})
		}
	}
	return all
}

// run moves all pairs into a target, and compares with what is known of it.
func (m *matrix) run(name string) {
	m.t.Helper()
	file := filepath.Join("testdata", "matrix", name+".txt")
	known := map[string]string{}
	text, err := os.ReadFile(file)
	if err != nil && !*updateMatrix {
		m.t.Fatal(err)
	}
	for _, part := range strings.Split(string(text), "\n\n") {
		title, rows, _ := strings.Cut(strings.TrimSpace(part), "\n")
		known[title] = rows
	}
	for _, pair := range pairs(m.t) {
		title := filepath.Base(pair[0]) + " " + pair[1]
		got := strings.Join(m.pair(pair[0], pair[1]), "\n")
		if *updateMatrix {
			known[title] = got
		} else if got != known[title] {
			m.t.Errorf("%s into %s:\n%s\nknown is\n%s", title, name, got, known[title])
		}
	}
	if *updateMatrix {
		var out strings.Builder
		for _, title := range slices.Sorted(maps.Keys(known)) {
			if title != "" {
				fmt.Fprintf(&out, "%s\n%s\n\n", title, known[title])
			}
		}
		if err := os.WriteFile(file, []byte(strings.TrimSpace(out.String())+"\n"), 0o600); err != nil {
			m.t.Fatal(err)
		}
	}
}

// TestMatrixFolder moves every kind of snapshot into a data folder.
func TestMatrixFolder(t *testing.T) {
	data := filepath.Join(dataFolder(t), "data")
	m := &matrix{t: t, at: data, url: func(t *testing.T) (string, func()) {
		p, url := serve(t, data)
		return url, func() { stop(t, p) }
	}}
	m.run("folder")
}

// TestLiveMatrix moves every kind of snapshot into the servers that people run.
func TestLiveMatrix(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("set RESHELVE_LIVE=1 to ask real servers")
	}
	for _, version := range []servers.Version{
		servers.OpenSearch("2.19.0").WithEverything(), servers.OpenSearch("3.6.0"), servers.Elasticsearch("7.17.29"), servers.Elasticsearch("8.19.0"),
	} {
		t.Run(version.String(), func(t *testing.T) {
			server, err := servers.Start(t.Context(), version, servers.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = server.Stop() }()
			m := &matrix{t: t, at: server.URL, url: func(*testing.T) (string, func()) { return server.URL, func() {} }}
			m.run(version.String())
		})
	}
}
