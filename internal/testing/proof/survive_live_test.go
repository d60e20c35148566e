package proof

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/testing/servers"
)

// survival is a real server that is source and target, with a snapshot of what befalls a
// migration most: shards with deletions, names of any characters, documents of any length.
type survival struct {
	*deltaLive
	front *front // before the server as a target
}

// survives are documents of before: large shards, as far as a test has time for them.
const survives = 6_000

func startSurvival(t *testing.T) *survival {
	t.Helper()
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts a real server")
	}
	s := &survival{deltaLive: startWith(t, servers.OpenSearch("2.19.0"), servers.Options{Heap: "2g"})}
	s.must("PUT", "/before", `{"settings":{"number_of_shards":2,"number_of_replicas":0,"refresh_interval":"-1"},"mappings":{"dynamic":false}}`)
	for from := 0; from < survives; from += 3_000 {
		s.write("index", from, from+3_000, 0)
	}
	s.write("delete", 1_000, 2_500, 0) // positions are no counts
	s.write("index", 3_000, 3_500, 1)
	s.front = newFront(t, s.server.URL)
	s.front.set(func() { s.front.most, s.front.slow = 0, 0 })
	return s
}

// take takes a snapshot of an index.
func (s *survival) take(index string) {
	s.t.Helper()
	s.must("PUT", "/_snapshot/delta", fmt.Sprintf(`{"type":"fs","settings":{"location":%q}}`, s.repo))
	s.must("PUT", "/_snapshot/delta/of-"+index+"?wait_for_completion=true", fmt.Sprintf(`{"indices":%q}`, index))
}

// words are those of a migration of an index to another name, through the front.
func (s *survival) words(index, to string, more ...string) []string {
	return append([]string{"migrate", "-q", "--from", s.repo, "--snapshot", "of-" + index, "--to", s.front.URL, "--rename", index + "=" + to, "--output", "json"}, more...)
}

// begun waits until documents arrive in an index.
func (s *survival) begun(index string) {
	s.t.Helper()
	until(s.t, "documents arrive in "+index, func() bool {
		status, answer, err := s.server.Do("GET", "/"+index+"/_stats/indexing", nil)
		var told struct {
			All struct {
				Primaries struct {
					Indexing struct {
						Total int `json:"index_total"`
					}
				}
			} `json:"_all"`
		}
		return err == nil && status == 200 && json.Unmarshal(answer, &told) == nil && told.All.Primaries.Indexing.Total > 0
	})
}

// equal asks for every document of both indices.
func (s *survival) equal(t *testing.T, index, to string) {
	t.Helper()
	want, got := s.documents(index), s.documents(to)
	wrong := 0
	for id, source := range want {
		if got[id] != source {
			if wrong++; wrong < 5 {
				t.Errorf("%s: %q is %.200q, want %.200q", to, id, got[id], source)
			}
		}
	}
	if len(want) == 0 || len(want) != len(got) || wrong > 0 {
		t.Errorf("%s: %d documents, want %d, and %d are wrong", to, len(got), len(want), wrong)
	}
}

// TestLiveSurvival: a real cluster is source, target and coordination store.
func TestLiveSurvival(t *testing.T) {
	s := startSurvival(t)
	s.take("before")
	run := func(name string, survive func(*testing.T)) {
		t.Run(name, func(t *testing.T) {
			s.t = t
			survive(t)
		})
	}
	for _, workers := range []int{1, 8} {
		run(fmt.Sprintf("leases end and %d workers are killed", workers), func(t *testing.T) { s.fleet(t, workers) })
	}
	run("the target's disks are full for a while", s.flood)
	run("the target's index is closed for a while", s.closed)
	run("the target's index is closed for good", s.closedForGood)
	run("names of any characters", s.names)
	run("a document of 90 MB", s.large)
	run("newer documents on the target", s.newer)
	run("the target rejects and is restarted", s.restarted)
}

// fleet works in leases so short that each shard has successors, and is killed meanwhile.
func (s *survival) fleet(t *testing.T, workers int) {
	to := fmt.Sprintf("after-%d", workers)
	s.front.set(func() { s.front.most, s.front.slow = 12_000, 100*time.Millisecond }) // long work, in small steps
	defer s.front.set(func() { s.front.most, s.front.slow = 0, 0 })
	random := rand.New(rand.NewPCG(seed(t), uint64(workers)))
	fleet := []*Process{start(t, s.words("before", to, "--initial-lease", "1s", "--heartbeat", "300ms", "--max-attempts", "100")...)}
	join := func() *Process { return start(t, "worker", "--join", s.front.URL) }
	s.begun(to)
	for len(fleet) < workers {
		fleet = append(fleet, join())
	}
	id := movements(t, s.front.URL)[len(movements(t, s.front.URL))-1].ID
	state := func() string {
		for _, m := range movements(t, s.front.URL) {
			if m.ID == id {
				return m.State
			}
		}
		return "nowhere"
	}
	kills, killed, seen := 0, time.Now(), map[string]bool{}
	for began := time.Now(); state() == "running"; {
		if time.Since(began) > 3*time.Minute {
			for _, p := range fleet {
				t.Logf("a worker says\n%s", p.Stderr())
			}
			t.Fatalf("it does not end\n%s", runs(t, "movement", "status", id, "--at", s.front.URL))
		}
		time.Sleep(time.Duration(200+random.IntN(600)) * time.Millisecond)
		s.items(seen)
		for i, p := range fleet { // as whoever keeps processes alive does
			if over(p.Exited()) && state() == "running" {
				t.Logf("a worker has ended with %d and is started again: %s", p.ExitCode(), p.Stderr())
				fleet[i] = join()
			}
		}
		if kills < number(t, "PROOF_KILLS", 4) && successors(seen, "before__0__") >= 3 && successors(seen, "before__1__") >= 3 && time.Since(killed) > 4*time.Second/time.Duration(workers) {
			whom := random.IntN(len(fleet))
			if err := fleet[whom].Kill(); err != nil {
				t.Fatal(err)
			}
			fleet[whom], killed = join(), time.Now()
			kills++
		}
	}
	if t.Logf("%d kills", kills); kills == 0 {
		t.Error("nobody was killed")
	}
	if is := state(); is != "finished" {
		t.Fatalf("it is %s\n%s", is, runs(t, "movement", "status", id, "--at", s.front.URL))
	}
	for _, p := range fleet {
		_ = p.Kill()
	}
	for _, shard := range []string{"before__0__", "before__1__"} {
		if n := successors(seen, shard); n < 3 {
			t.Errorf("%s has had %d successors", shard, n)
		} else {
			t.Logf("%s has had %d successors", shard, n)
		}
	}
	s.equal(t, "before", to)
}

// successors are the items of a shard but the first.
func successors(seen map[string]bool, shard string) int {
	n := -1
	for item := range seen {
		if strings.HasPrefix(item, shard) {
			n++
		}
	}
	return n
}

func over(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// items adds the names of those items that the target's records have now.
func (s *survival) items(seen map[string]bool) {
	s.t.Helper()
	s.must("POST", "/.reshelve/_refresh", "")
	answer := s.must("POST", "/.reshelve/_search", `{"size":10000,"_source":false}`)
	for _, item := range itemOf.FindAllString(string(answer), -1) {
		seen[item] = true
	}
}

var itemOf = regexp.MustCompile(`before__\d+__\d+`)

// waiting is what a movement tells that it waits for.
func (s *survival) waiting(t *testing.T, id string) string {
	t.Helper()
	var m struct{ Progress struct{ Waiting string } }
	if err := json.Unmarshal(runs(t, "movement", "status", id, "--at", s.front.URL, "--output", "json"), &m); err != nil {
		t.Fatal(err)
	}
	return m.Progress.Waiting
}

// last is the movement that was planned last.
func (s *survival) last(t *testing.T) listed {
	t.Helper()
	all := movements(t, s.front.URL)
	return all[len(all)-1]
}

// hindered moves while the target takes no writes, until that is told and then mended.
func (s *survival) hindered(t *testing.T, to, tells string, hinder, mend func()) {
	t.Helper()
	p := start(t, s.words("before", to, "--docs-per-second", "1500", "--initial-lease", "3s", "--heartbeat", "300ms")...)
	s.begun(to)
	hinder()
	id := s.last(t).ID
	until(t, "it tells what it waits for", func() bool { return strings.Contains(s.waiting(t, id), tells) })
	mend()
	if code, err := p.Wait(t.Context()); err != nil || code != 0 {
		t.Fatalf("it ends with %d, %v\n%s", code, err, p.Stderr())
	}
	s.equal(t, "before", to)
}

func (s *survival) flood(t *testing.T) {
	block := func(value string) func() {
		return func() { s.must("PUT", "/after-flood/_settings", `{"index.blocks.read_only_allow_delete":`+value+`}`) }
	}
	s.hindered(t, "after-flood", "read-only", block("true"), block("null"))
}

func (s *survival) closed(t *testing.T) {
	s.hindered(t, "after-closed", "closed", func() { s.must("POST", "/after-closed/_close", "") }, func() { s.must("POST", "/after-closed/_open", "") })
}

// closedForGood: the attempts run out, with the cause and what to do; and when that is done, a
// redrive brings the rest.
func (s *survival) closedForGood(t *testing.T) {
	p := start(t, s.words("before", "after-shut", "--docs-per-second", "1500", "--initial-lease", "3s", "--heartbeat", "300ms", "--max-attempts", "2")...)
	s.begun("after-shut")
	s.must("POST", "/after-shut/_close", "")
	if code, err := p.Wait(t.Context()); err != nil || code != 9 {
		t.Fatalf("it ends with %d, %v\n%s", code, err, p.Stderr())
	}
	id := s.last(t).ID
	if told := string(runs(t, "movement", "failures", id, "--at", s.front.URL)); !strings.Contains(told, "index_closed_exception") || !strings.Contains(told, "before__0__") {
		t.Errorf("it lists\n%s", told)
	}
	s.must("POST", "/after-shut/_open", "")
	runs(t, "movement", "redrive", id, "--at", s.front.URL)
	runs(t, "worker", "--join", s.front.URL, "--once")
	s.equal(t, "before", "after-shut")
}

// restarted: the target, which coordinates too, rejects, is stopped, and comes back elsewhere.
func (s *survival) restarted(t *testing.T) {
	p := start(t, s.words("before", "after-restart", "--docs-per-second", "1000", "--initial-lease", "4s", "--heartbeat", "300ms", "--max-attempts", "20")...)
	s.begun("after-restart")
	s.front.set(func() { s.front.refuses = http.StatusTooManyRequests })
	time.Sleep(time.Second)
	s.front.set(func() { s.front.refuses = 0 })
	time.Sleep(500 * time.Millisecond)
	if err := s.server.Stop(); err != nil {
		t.Fatal(err)
	}
	again, err := servers.Start(t.Context(), servers.OpenSearch("2.19.0"), servers.Options{Heap: "2g", Dir: s.server.Dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Stop() }()
	s.server = again
	s.front.leadTo(t, again.URL)
	if code, err := p.Wait(t.Context()); err != nil || code != 0 {
		t.Fatalf("it ends with %d, %v\n%s", code, err, p.Stderr())
	}
	s.equal(t, "before", "after-restart")
}

// oddNames are ids and routing values that something on the way may take for something else.
func oddNames() (all []string) {
	for _, c := range []string{"/", "%", "%2F", "%25", "\"", "'", "\\", " ", "  ", "\t", "\n", "\r\n", "\x00", "\x01", "\x1f", "\x7f", "\u0085", "\u2028", "\ufeff", "#", "?", "&", "+", "*", ",", ";",
		":", "__", "_", "..", "../..", "<a>", "{}", "[]", "null", "true", "0", "-1", "9007199254740993", "1e400", "\U0001F4DA", "\U0001F469\u200D\U0001F4BB", "é", "e\u0301", "本", "\U00010000", "\uffff"} {
		all = append(all, c, "a"+c+"b")
	}
	return append(all, strings.Repeat("x", 512), strings.Repeat("\U0001F4DA", 128))
}

// names: each odd name as an id, and as a routing value of the next.
func (s *survival) names(t *testing.T) {
	var lines strings.Builder
	names := oddNames()
	for n, id := range names {
		meta, err := json.Marshal(map[string]any{"index": map[string]string{"_id": id, "routing": names[(n+7)%len(names)]}})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&lines, "%s\n{\"n\" : %d }\n", meta, n)
	}
	s.must("PUT", "/odd__0__d", `{"settings":{"number_of_shards":3,"number_of_replicas":0}}`)
	if answer := s.must("POST", "/odd__0__d/_bulk?refresh=true", lines.String()); !strings.Contains(string(answer[:100]), `"errors":false`) {
		t.Fatalf("%.2000s", answer)
	}
	s.take("odd__0__d")
	runs(t, s.words("odd__0__d", "after-odd")...)
	want, got := s.routed("odd__0__d"), s.routed("after-odd")
	if len(want) != len(names) {
		t.Fatalf("%d of %d documents", len(want), len(names))
	}
	for id, there := range want {
		if got[id] != there {
			t.Errorf("%q is %q, want %q", id, got[id], there)
		}
		answer := s.must("GET", "/after-odd/_doc/"+url.PathEscape(id)+"?routing="+url.QueryEscape(strings.SplitN(there, " → ", 2)[0]), "")
		if !strings.Contains(string(answer), `"found":true`) {
			t.Errorf("%q is not where its routing leads: %s", id, answer)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d documents, want %d", len(got), len(want))
	}
}

// routed are the documents of a small index by id: routing and source.
func (s *survival) routed(index string) map[string]string {
	s.must("POST", "/"+index+"/_refresh", "")
	var page struct {
		Hits struct {
			Hits []struct {
				ID      string          `json:"_id"`
				Routing string          `json:"_routing"`
				Source  json.RawMessage `json:"_source"`
			}
		}
	}
	if err := json.Unmarshal(s.must("POST", "/"+index+"/_search", `{"size":10000}`), &page); err != nil {
		s.t.Fatal(err)
	}
	all := map[string]string{}
	for _, h := range page.Hits.Hits {
		all[h.ID] = h.Routing + " → " + string(h.Source)
	}
	return all
}

// large moves one document of 90 MB among small ones.
func (s *survival) large(t *testing.T) {
	s.must("PUT", "/large", `{"settings":{"number_of_shards":1,"number_of_replicas":0},"mappings":{"enabled":false}}`)
	for n, length := range []int{10, 90_000_000, 20} {
		s.must("PUT", fmt.Sprintf("/large/_doc/%d", n), `{"t":"`+strings.Repeat("folio quarto ", length/13)+`"}`)
	}
	s.must("POST", "/large/_flush", "")
	s.take("large")
	began := time.Now()
	var m struct {
		Progress struct {
			Acknowledged int
			Verified     []struct{ Expected, Found string }
		}
	}
	if err := json.Unmarshal(runs(t, s.words("large", "after-large")...), &m); err != nil {
		t.Fatal(err)
	}
	t.Logf("moved and proved in %s", time.Since(began).Round(time.Millisecond))
	if p := m.Progress; p.Acknowledged != 3 || len(p.Verified) != 1 || p.Verified[0].Expected != p.Verified[0].Found {
		t.Errorf("%+v", m)
	}
	for n := range 3 {
		path := fmt.Sprintf("_source/%d", n)
		if string(s.must("GET", "/large/"+path, "")) != string(s.must("GET", "/after-large/"+path, "")) {
			t.Errorf("document %d is another one", n)
		}
	}
}

// newer: what is newer on the target stays, and is listed; without versions it is overwritten.
func (s *survival) newer(t *testing.T) {
	s.must("PUT", "/few", `{"settings":{"number_of_shards":1,"number_of_replicas":0}}`)
	s.must("POST", "/few/_bulk?refresh=true", `{"index":{"_id":"a"}}`+"\n"+`{"from":"snapshot"}`+"\n"+`{"index":{"_id":"b"}}`+"\n"+`{"from":"snapshot"}`+"\n")
	s.take("few")
	s.must("PUT", "/after-few", `{"settings":{"number_of_replicas":0}}`)
	s.must("PUT", "/after-few/_doc/b?version=9&version_type=external&refresh=true", `{"from":"target"}`)
	code, out, wrong := ends(t, s.words("few", "after-few", "--into-existing")...)
	var m struct {
		Progress struct {
			Acknowledged, Conflicts int
			Verified                []struct {
				Result struct{ Examples []struct{ Class, ID string } }
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &m); err != nil || code != 0 || m.Progress.Conflicts != 1 || m.Progress.Acknowledged != 1 {
		t.Errorf("%d %v %+v %s", code, err, m, wrong)
	}
	if told := fmt.Sprint(m.Progress.Verified); told != "[{{[{newer b}]}}]" {
		t.Errorf("listed is %s", told)
	}
	if got := s.documents("after-few"); got["b"] != `{"from":"target"}` || got["a"] != `{"from":"snapshot"}` || len(got) != 2 {
		t.Errorf("%v", got)
	}
	runs(t, s.words("few", "after-few", "--into-existing", "--no-versions")...)
	s.equal(t, "few", "after-few")
}
