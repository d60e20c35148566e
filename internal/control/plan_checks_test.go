package control

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	coord "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// answers are those of an OpenSearch 2.19.0 with one node, by method and path.
var answers = map[string]string{
	"GET /":                         `{"cluster_name":"c","version":{"distribution":"opensearch","number":"2.19.0"}}`,
	"GET /_cluster/health":          `{"active_shards":990,"unassigned_shards":5,"number_of_data_nodes":1}`,
	"GET /_cluster/settings":        `{"defaults":{"cluster.max_shards_per_node":"1000","cluster.routing.allocation.disk.watermark.high":"90%"}}`,
	"GET /_cat/allocation":          `[{"node":"n1","disk.total":"1000000","disk.avail":"150000"}]`,
	"PUT /books":                    `400 {"error":{"type":"illegal_argument_exception","reason":"number_of_shards must be >= 1"}}`,
	"POST /_bulk":                   `{"errors":true,"items":[{"create":{"status":404,"error":{"reason":"no such index"}}}]}`,
	"PUT /_index_template/shelving": `400 {"error":{"type":"invalid_index_template_exception","reason":"number_of_shards must be >= 1"}}`,
}

// elastic is the greeting of an Elasticsearch.
const elastic = `{"cluster_name":"c","version":{"number":"8.19.0","build_flavor":"default"},"tagline":"You Know, for Search"}`

// looks makes a look at a plan of one index of 2 shards and one template, into a cluster that
// answers as above but for what changed says.
func looks(t *testing.T, look string, stored int64, changed map[string]string, others ...string) *looking {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := r.Method + " " + r.URL.Path
		answer, ok := changed[call]
		if !ok {
			answer, ok = answers[call]
		}
		if !ok {
			t.Errorf("nobody knows what %s answers", call)
		}
		status := http.StatusOK
		if strings.HasPrefix(answer, "4") {
			status = int(answer[0]-'0')*100 + int(answer[1]-'0')*10 + int(answer[2]-'0')
			answer = answer[4:]
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	client, err := cluster.New(server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan := &migrate.Plan{Target: server.URL, ItemBytes: 1 << 30, Indices: []migrate.Index{{Source: "books", Target: "books", Shards: 2, Documents: 7, Bytes: 1000, Stored: stored}}}
	body := translate.Body{Name: "books", JSON: json.RawMessage(`{"settings":{"index.number_of_replicas":"1"}}`)}
	l := &looking{
		Preview: &Preview{Plan: plan, Indices: []PreviewIndex{{Index: "books", Target: "books", bodies: []translate.Body{body}}},
			Templates: []PreviewTemplate{{Template: migrate.Template{Kind: migrate.ComposableTemplate, Name: "shelving"}}}},
		planned: &planned{plan: plan, exact: true}, req: &MigrateRequest{Target: server.URL}, side: &side{client: client, coord: coord.New()}, done: &Check{},
	}
	for _, name := range others {
		l.Indices = append(l.Indices, PreviewIndex{Index: name, Target: name})
	}
	if look == "disk" {
		if err := l.costs(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, check := range checks() {
		if check.name == look {
			if l.done.Found, err = check.look(t.Context(), l); err != nil {
				t.Fatal(err)
			}
		}
	}
	return l
}

func TestChecksOfATarget(t *testing.T) {
	for _, c := range []struct {
		name, look string
		stored     int64
		indices    []string // besides books
		changed    map[string]string
		found      string
		problem    string // "": it passes
		next       string
	}{
		{name: "there is room for the shards", look: "shards", found: "4 to create, 995 of 1000 are open"},
		{name: "too many shards", look: "shards", changed: map[string]string{"GET /_cluster/health": `{"active_shards":997,"number_of_data_nodes":1}`},
			problem: "4 shards would be made, replicas counted, and the target has room for 3", next: "cluster.max_shards_per_node"},
		{name: "a service that hides its shards", look: "shards", changed: map[string]string{"GET /_cluster/health": `400 {"error":"no handler found for uri [/_cluster/health]"}`},
			found: "the target does not tell its shards"},
		{name: "there is room on the disk", look: "disk", stored: 40_000, found: "about 78.1 KiB of disk to take (the files of the snapshot, times the copies of each shard), room for 97.7 KiB"},
		{name: "replicas need room too", look: "disk", stored: 60_000, problem: "about 117.2 KiB of disk would be taken (the files of the snapshot, times the copies of each shard), and the target has room for 97.7 KiB", next: "free disk space"},
		{name: "above the high watermark", look: "disk", changed: map[string]string{"GET /_cat/allocation": `[{"node":"n1","disk.total":"1000000","disk.avail":"90000"}]`},
			problem: "node n1 has used 888.7 KiB of 976.6 KiB: it is above the high watermark", next: "add nodes"},
		{name: "the watermark of the cluster counts", look: "disk", changed: map[string]string{
			"GET /_cluster/settings": `{"persistent":{"cluster.routing.allocation.disk.watermark.high":"80%"}}`}, problem: "above the high watermark", next: "add nodes"},
		{name: "nobody tells the disks", look: "disk", changed: map[string]string{"GET /_cat/allocation": `[]`}, found: "the target does not tell its disks"},
		{name: "all rights", look: "rights", found: "may create index books, create template shelving, write to index books"},
		{name: "no right to create", look: "rights", changed: map[string]string{"PUT /books": `403 {"error":{"type":"security_exception","reason":"no permissions for [indices:admin/create]"}}`},
			found: "may create template shelving, write to index books", problem: "create index books: ", next: "rights"},
		{name: "no right to write", look: "rights", changed: map[string]string{"POST /_bulk": `{"items":[{"create":{"status":403,"error":{"reason":"no permissions for [indices:data/write/bulk[s]]"}}}]}`},
			found: "may create index books, create template shelving", problem: "write to index books: no permissions for [indices:data/write/bulk[s]]", next: "rights"},
		{name: "no right to write to one of two", look: "rights", indices: []string{"ants"}, changed: map[string]string{"PUT /ants": answers["PUT /books"],
			"POST /_bulk": `{"items":[{"create":{"status":404}},{"create":{"status":403,"error":{"reason":"no permissions for [indices:data/write/bulk[s]]"}}}]}`},
			found: "may create index ants, books, create template shelving, write to index ants", problem: "write to index books: no permissions", next: "rights"},
		{name: "no right to create the second", look: "rights", indices: []string{"ants"}, changed: map[string]string{
			"PUT /ants": `403 {"error":{"type":"security_exception","reason":"no permissions for [indices:admin/create]"}}`},
			found: "may create index books, create template shelving, write to index ants, books", problem: "create index ants: ", next: "rights"},
		{name: "an Elasticsearch without security", look: "rights", changed: map[string]string{"GET /": elastic, "POST /_security/user/_has_privileges": `400 {"error":"no handler found"}`},
			found: "may create index books, create template shelving, write to index books"},
		{name: "an Elasticsearch with security", look: "rights", changed: map[string]string{"GET /": elastic,
			"POST /_security/user/_has_privileges": `{"username":"ann","index":{"books":{"create_index":true,"index":true,"read":true,"maintenance":true}}}`},
			found: "may create, write to and read 1 index, create template shelving"},
		{name: "rights of an Elasticsearch are missing", look: "rights", indices: []string{"ants"}, changed: map[string]string{"GET /": elastic,
			"POST /_security/user/_has_privileges": `{"username":"ann","index":{"ants":{"create_index":true,"index":true},"books":{"create_index":false,"index":true,"read":false}}}`},
			found: "may create template shelving", problem: "user ann lacks create_index, read for books", next: "privileges"},
		{name: "wrong credentials", look: "rights", changed: map[string]string{"PUT /_index_template/shelving": `401 {"error":"unauthorized"}`},
			problem: "create template shelving: ", next: "credentials"},
		{name: "a probe that a strange server takes is taken back", look: "rights", changed: map[string]string{"PUT /books": `{}`, "DELETE /books": `{}`}, found: "may create index books,"},
	} {
		t.Run(c.name, func(t *testing.T) {
			done := looks(t, c.look, c.stored, c.changed, c.indices...).done
			if !strings.Contains(done.Found, c.found) {
				t.Errorf("found is %q", done.Found)
			}
			switch {
			case c.problem == "" && len(done.Problems) > 0:
				t.Errorf("it fails: %+v", done.Problems)
			case c.problem != "" && (len(done.Problems) != 1 || !strings.Contains(done.Problems[0].Message, c.problem) || !strings.Contains(done.Problems[0].Next, c.next)):
				t.Errorf("the problems are %+v", done.Problems)
			}
		})
	}
}

// TestCosts: what a plan takes is added up, and a time is told only where a movement of before
// has copied for long enough to tell a rate.
func TestCosts(t *testing.T) {
	l := looks(t, "disk", 40_000, nil)
	l.Plan.Indices[0] = migrate.Index{Source: "books", Target: "books", Shards: 2, Documents: 12_000, Bytes: 3 << 30, Stored: 1 << 30}
	began := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	record := func(id string, took time.Duration, bytes string) movement.Record {
		return movement.Record{ID: id, Kind: movement.Migrate, State: movement.Finished, Created: began,
			Plan: json.RawMessage(`{"target":"` + l.Plan.Target + `"}`), Report: json.RawMessage(`{"read":4000,"bytes":` + bytes + `}`),
			Phases: []movement.Phase{{Name: "documents", Started: began, Ended: began.Add(took)}}}
	}
	for _, c := range []struct {
		before  movement.Record
		seconds float64
	}{{record("short", 4*time.Second, "99999999"), 0}, {record("long", 8*time.Second, "1073741824"), 24}} {
		store := coord.New()
		value, err := json.Marshal(c.before)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Create(t.Context(), "movements/"+c.before.ID, value); err != nil {
			t.Fatal(err)
		}
		l.side.coord = store
		if err := l.costs(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := l.Cost
		if got.Seconds != c.seconds || got.Documents != 12_000 || got.Items != 2+3 || got.Requests != 384 || got.DiskBytes != 2<<30 || got.SourceBytes != 3<<30 || got.FileBytes != 1<<30 {
			t.Errorf("after %s: %+v", c.before.ID, got)
		}
	}
}

// TestATargetThatIsNoOpenIndex: an alias and a data stream lead to indices of other names, and a
// closed index takes nothing; each is refused before the start with what to do.
func TestATargetThatIsNoOpenIndex(t *testing.T) {
	for _, c := range []struct{ name, indices, count, says, next string }{
		{"an alias", `{"books-2":{"aliases":{"books":{}}},"books-1":{"aliases":{"books":{}}}}`, `{"count":3}`, "books is an alias of the target, of books-1, books-2", "--rename shelf=books-1 --into-existing"},
		{"a data stream", `{".ds-books-000001":{"aliases":{},"data_stream":"books"}}`, `{"count":3}`, "books is a data stream", "--data-streams append"},
		{"a full disk", `{"books":{"aliases":{},"settings":{"index.blocks.read_only_allow_delete":"true"}}}`, `{"count":3}`, "books of the target has the block blocks.read_only_allow_delete, which a server sets when its disk is full", `PUT /books/_settings {"index.blocks.read_only_allow_delete":null}`},
		{"a read-only index", `{"books":{"aliases":{},"settings":{"index.blocks.write":"true"}}}`, `{"count":3}`, "books of the target has the block blocks.write", `remove it: PUT /books/_settings {"index.blocks.write":null}`},
		{"a closed index", `{"books":{"aliases":{}}}`, `400 {"error":{"type":"index_closed_exception","reason":"closed","index":"books"}}`, "index_closed_exception", "open the index"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := looks(t, "", 0, map[string]string{"HEAD /books": "", "GET /books": c.indices, "GET /books/_count": c.count, "POST /books/_refresh": c.count})
			_, err := previewIndex(t.Context(), nil, l.side.client, l.Plan, migrate.Index{Source: "shelf", Target: "books"})
			if l.fail(err) != nil || len(l.done.Problems) != 1 {
				t.Fatalf("%v %+v", err, l.done.Problems)
			}
			if p := l.done.Problems[0]; !strings.Contains(p.Message, c.says) || !strings.Contains(p.Next, c.next) {
				t.Errorf("%+v", p)
			}
		})
	}
}

// TestStreamsThatTheTargetMakesByItself are warned of: they are written to by their own names.
func TestStreamsThatTheTargetMakesByItself(t *testing.T) {
	for setting, next := range map[string]string{
		``: "to -loans,* for", `{"defaults":{"action.auto_create_index":"true"}}`: "to -loans,* for", `{"persistent":{"action.auto_create_index":"+l*"}}`: "to -loans,+l* for",
		`{"persistent":{"action.auto_create_index":"false"}}`: "", `{"transient":{"action.auto_create_index":"-loans,*"},"defaults":{}}`: "", `{"persistent":{"action.auto_create_index":"books"}}`: "",
	} {
		changed := map[string]string{"GET /_cluster/settings": setting}
		if setting == "" {
			changed["GET /_cluster/settings"] = `403 {"error":"no rights"}`
		}
		l := looks(t, "", 0, changed)
		l.Plan.Indices = []migrate.Index{{Source: ".ds-loans-000001", Target: "loans", Stream: &migrate.InStream{Name: "loans"}}, {Source: "books", Target: "books"}}
		if err := l.lookImplicit(t.Context()); err != nil {
			t.Fatal(err)
		}
		switch {
		case next == "" && len(l.done.Warnings) > 0:
			t.Errorf("%s: %+v", setting, l.done.Warnings)
		case next != "" && (len(l.done.Warnings) != 1 || !strings.Contains(l.done.Warnings[0].Next, next)):
			t.Errorf("%s: %+v", setting, l.done.Warnings)
		}
	}
}
