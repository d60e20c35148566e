package gateway

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	coord "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
	inmemory "github.com/reshelve/reshelve/internal/store/shard/memory"
)

// TestTwins sends scripts that are drawn to two indices: one whose shards stay, and one whose
// shards are staged, handed over, shed, forgotten, led back and given up between the requests and
// under them. Every answer has to be the same. What is not compared:
//
//   - how long it took, of how many shards, and the names of indices, points and scrolls;
//   - sequence numbers and primary terms, which each shard counts for itself: instead, those of
//     one document never go back, and conditions quote what the same index has told;
//   - the order of hits whose order nobody asked for;
//   - on a disk scores, once a document was changed or deleted, or a shard was handed over: they
//     count what is hidden until it is merged away, which each shard does when it likes (see
//     TestASplitChangesNoAnswer). In memory nothing is hidden, and all scores are the same.
//
// What was written and not refreshed may be shown by a hand-off, which refreshes: therefore both
// are refreshed before one, and after requests that refresh some shards.
func TestTwins(t *testing.T) {
	onDisk := func() shard.Engine {
		e, err := embedded.Open(t.Context(), t.TempDir(), embedded.Options{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	for _, c := range []struct {
		name   string
		engine func() shard.Engine
		hides  bool // it counts what is hidden
	}{
		{"memory", func() shard.Engine { return inmemory.New(inmemory.Options{}) }, false},
		{"embedded", onDisk, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := c.engine()
			s, err := store.Open(t.Context(), coord.New(), e, store.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _, _ = s.Close(), e.Close() }()
			server, n := New(s, Options{}), 0
			rapid.Check(t, func(t *rapid.T) {
				if n++; n%5 == 0 || !testing.Short() {
					play(t, server, s, n, c.hides)
				}
			})
		})
	}
}

// twins are two indices that are told the same.
type twins struct {
	*rapid.T
	server  http.Handler
	store   *store.Store
	names   [2]string              // the one that stays, the one that moves
	index   uint32                 // number of the one that moves
	parted  bool                   // routing is required, and partitioned
	hides   bool                   // what is hidden counts for scores
	changed bool                   // a document was changed or deleted, or a shard handed over
	told    [2]map[string]versions // what each index has told of a document last
	points  [2]string
	scrolls [2]string
	moving
}

type versions struct{ SeqNo, Term int64 }

func play(t *rapid.T, server http.Handler, s *store.Store, n int, hides bool) {
	w := &twins{T: t, hides: hides, server: server, store: s, names: [2]string{fmt.Sprint("stays-", n), fmt.Sprint("moves-", n)}, told: [2]map[string]versions{{}, {}}}
	shards := rapid.IntRange(1, 3).Draw(t, "shards")
	w.parted = shards > 2 && rapid.Bool().Draw(t, "partitioned")
	settings, mapping := fmt.Sprintf(`"number_of_shards":%d,"refresh_interval":-1`, shards), ""
	if w.parted {
		settings, mapping = settings+`,"routing_partition_size":2`, `"_routing":{"required":true},`
	}
	w.both("PUT", "", `{"settings":{`+settings+`},"mappings":{`+mapping+
		`"properties":{"n":{"type":"long"},"t":{"type":"text"},"k":{"type":"keyword"},"c":{"type":"nested","properties":{"x":{"type":"keyword"}}}}}}`)
	p, err := s.PlacementOf(t.Context(), w.names[1])
	if err != nil {
		t.Fatal(err)
	}
	w.index = p.Index
	defer w.end()
	if rapid.IntRange(0, 2).Draw(t, "only new documents") == 0 {
		w.onlyNew()
	}
	t.Repeat(map[string]func(*rapid.T){
		"write": w.write, "write again": w.write, "bulk": w.bulk, "by query": w.byQuery, "refresh": w.refreshed, "get": w.get, "multi get": w.multiGet,
		"search": w.search, "search again": w.search, "point": w.point, "scroll": w.scroll,
		"stage": w.stage, "give up": w.giveUp, "hand over": w.handOver, "hand over under requests": w.handOverUnder, "lead back": w.leadBack, "tidy up": w.tidyUp,
		"": func(t *rapid.T) { w.T = t },
	})
	w.refresh()
	for _, body := range searches {
		w.compare("POST", "/_search", strings.ReplaceAll(body, "$", "1"), w.scored())
	}
}

func (w *twins) end() {
	w.giveUp(w.T)
	w.endReading()
	for _, name := range w.names {
		w.ask(name, "DELETE", "", "")
	}
	w.tidyUp(w.T)
}

// ask sends a request to one index; a path that begins with two slashes names none.
func (w *twins) ask(index, method, path, body string) (int, []byte) {
	path, elsewhere := strings.CutPrefix(path, "//")
	if path = "/" + path; !elsewhere {
		path = "/" + index + strings.TrimPrefix(path, "/")
	}
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	a := httptest.NewRecorder()
	w.server.ServeHTTP(a, r)
	return a.Code, a.Body.Bytes()
}

// both sends the same to both, and expects the same.
func (w *twins) both(method, path, body string) { w.compare(method, path, body, false) }

// compare is both, with scores or without. In path and body, «…» is where what an index has told
// of the document comes in.
func (w *twins) compare(method, path, body string, scored bool) (answers [2]map[string]any) {
	w.Helper()
	var texts [2]string
	for side, name := range w.names {
		code, answer := w.ask(name, method, w.quoting(side, path), w.quoting(side, body))
		if err := json.Unmarshal(answer, &answers[side]); err != nil {
			w.Fatalf("%s %s %s: %d %v: %s", method, path, body, code, err, answer)
		}
		w.learn(side, answers[side])
		if id, is := answers[side]["pit_id"].(string); is {
			w.points[side] = id
		}
		if id, is := answers[side]["_scroll_id"].(string); is {
			w.scrolls[side] = id
		}
		texts[side] = fmt.Sprint(code, " ", plainly(answers[side], name, scored))
	}
	if texts[0] != texts[1] {
		p, _ := w.store.PlacementOf(w.Context(), w.names[1])
		w.Fatalf("%s %s %s\nthe one that stays: %s\nthe one that moves: %s\n%v", method, path, body, texts[0], texts[1], p)
	}
	return answers
}

var quoted = regexp.MustCompile(`«(seq|term|point|scroll)([^»]*)»`)

// quoting puts in what an index has told.
func (w *twins) quoting(side int, text string) string {
	return quoted.ReplaceAllStringFunc(text, func(q string) string {
		m := quoted.FindStringSubmatch(q)
		switch m[1] {
		case "point":
			return w.points[side]
		case "scroll":
			return w.scrolls[side]
		}
		told, is := w.told[side][m[2]]
		switch {
		case !is: // of a document that nobody has met
			return "999999"
		case m[1] == "seq":
			return fmt.Sprint(told.SeqNo)
		}
		return fmt.Sprint(told.Term)
	})
}

// learn keeps the numbers of a document, which go on and never back.
func (w *twins) learn(side int, answer any) {
	switch a := answer.(type) {
	case []any:
		for _, one := range a {
			w.learn(side, one)
		}
	case map[string]any:
		for _, one := range a {
			w.learn(side, one)
		}
		id, is := a["_id"].(string)
		seqNo, numbered := a["_seq_no"].(float64)
		if !is || !numbered || a["_routing"] != nil && a["found"] == nil && a["result"] == nil {
			return
		}
		if routing, has := a["_routing"].(string); has {
			id += "/" + routing
		}
		now, was := versions{int64(seqNo), int64(a["_primary_term"].(float64))}, w.told[side][id]
		if a["result"] == nil { // it was read
			return
		}
		if was.Term > 0 && (now.Term < was.Term || now.SeqNo < was.SeqNo || now.SeqNo == was.SeqNo && a["result"] != "noop" && a["result"] != "not_found") {
			w.Errorf("%s: %s had %+v, and now %+v", w.names[side], id, was, now)
		}
		w.told[side][id] = now
	}
}

// shardNumbers are those of a shard in what errors tell.
var shardNumbers = regexp.MustCompile(`(seqNo|seq no|primary term|term) \[-?\d+\]`)

// plainly is an answer without what is not compared.
func plainly(answer any, name string, scored bool) string {
	var strip func(any) any
	strip = func(a any) any {
		switch a := a.(type) {
		case string:
			return shardNumbers.ReplaceAllString(strings.ReplaceAll(a, name, "INDEX"), "$1 []")
		case []any:
			for i := range a {
				a[i] = strip(a[i])
			}
		case map[string]any:
			for _, key := range []string{"took", "_shards", "_seq_no", "_primary_term", "_scroll_id", "pit_id", "id", "creation_time", "index_uuid", "uuid", "shard", "batches"} {
				delete(a, key)
			}
			if !scored {
				delete(a, "_score")
				delete(a, "max_score")
			}
			for key, value := range a {
				delete(a, key)
				a[strings.ReplaceAll(key, name, "INDEX")] = strip(value)
			}
			if hits, is := a["hits"].([]any); is && (len(hits) == 0 || hits[0].(map[string]any)["sort"] == nil) {
				slices.SortFunc(hits, func(x, y any) int { return cmp.Compare(fmt.Sprint(x), fmt.Sprint(y)) })
			}
		}
		return a
	}
	text, _ := json.Marshal(strip(answer))
	return string(text)
}
