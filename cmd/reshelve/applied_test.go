package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/gateway/gatewaytest"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/store/shard/memory"
	"github.com/reshelve/reshelve/internal/testing/servers"
)

// foretold is what a target has before a migration of old-shelf, and what the plan says of it. Old-shelf has the
// aliases olds and, as its write index, folios.
var foretold = []struct {
	name    string
	has     []string // METHOD path body
	undone  []string
	ask     func(*control.MigrateRequest)
	check   string
	found   string
	problem string // "": the check passes
	next    string
	ours    string // next, of our own store; "": as of others
	adds    string // template where what; those of old-shelf
	warning string
}{
	{name: "nothing applies", check: "target templates", found: "none applies"},
	{name: "legacy templates, the stronger last", check: "target templates", found: "2 apply to 1 index that is created",
		has: []string{`PUT _template/strong {"index_patterns":["old-*"],"order":7,"settings":{"max_result_window":"7000"},"aliases":{"{index}-read":{}},"mappings":{"properties":{"shelved":{"type":"keyword","ignore_above":9},"kind":{"type":"long"}}}}`,
			`PUT _template/weak {"index_patterns":["*"],"order":1,"settings":{"index":{"max_result_window":"1000","gc_deletes":"99s"}},"mappings":{"properties":{"shelved":{"type":"long"},"kind":{"type":"keyword","ignore_above":99},"racks":{"properties":{"n":{"type":"long"}}}}}}`,
			`PUT _template/other {"index_patterns":["new-*"],"settings":{"max_result_window":"8000"}}`},
		undone: []string{"DELETE _template/strong", "DELETE _template/weak", "DELETE _template/other"},
		adds: `strong aliases.old-shelf-read {}
strong mappings.properties.shelved {"ignore_above":9,"type":"keyword"}
strong settings.index.max_result_window 7000
weak mappings.properties.kind.ignore_above 99
weak mappings.properties.racks {"properties":{"n":{"type":"long"}}}
weak settings.index.gc_deletes 99s`},
	{name: "the composable template of the highest priority alone", check: "target templates", found: "1 applies to 1 index that is created",
		has: []string{`PUT _template/weak {"index_patterns":["old-*"],"settings":{"index.gc_deletes":"99s"}}`,
			`PUT _component_template/part {"template":{"settings":{"max_result_window":"7000","index.gc_deletes":"98s"},"mappings":{"properties":{"shelved":{"type":"keyword"},"kind":{"type":"keyword","ignore_above":3}}}}}`,
			`PUT _index_template/high {"index_patterns":["old-*"],"priority":9,"composed_of":["part"],"template":{"settings":{"index.gc_deletes":"97s"},"aliases":{"reading":{"routing":"1"}}}}`,
			`PUT _index_template/low {"index_patterns":["old-*"],"priority":8,"template":{"settings":{"index.max_result_window":"9000"}}}`},
		undone: []string{"DELETE _template/weak", "DELETE _index_template/high", "DELETE _index_template/low", "DELETE _component_template/part"},
		adds: `high aliases.reading {"index_routing":"1","search_routing":"1"}
high settings.index.gc_deletes 97s
part mappings.properties.shelved {"type":"keyword"}
part settings.index.max_result_window 7000`},
	{name: "a template for all names, of a hidden index", check: "target templates", found: "none applies",
		ask: func(r *control.MigrateRequest) { r.Indices = []string{".ds-loans-2024-000001"} },
		has: []string{`PUT _template/all {"index_patterns":["*"],"aliases":{"everything":{}}}`}, undone: []string{"DELETE _template/all"}},
	{name: "its own name", check: "aliases", problem: "old-shelf would be both an alias of old-shelf and an index", next: "--rename",
		has: []string{`PUT _template/own {"index_patterns":["old-*"],"aliases":{"old-shelf":{}}}`}, undone: []string{"DELETE _template/own"},
		adds: "own aliases.old-shelf {}"},
	{name: "a template gives it the name of an index", check: "aliases", next: "take the alias out of the template",
		problem: "index old-shelf: template own of the target gives it the alias taken, which is the name of an index or a data stream: the target refuses to make it",
		has:     []string{`PUT taken {}`, `PUT _template/own {"index_patterns":["old-*"],"aliases":{"taken":{}}}`}, undone: []string{"DELETE _template/own", "DELETE taken"},
		adds: "own aliases.taken {}"},
	{name: "a template gives it a second write index", check: "aliases", next: "take is_write_index out of the template",
		problem: "index old-shelf: template own of the target gives it the alias busy as its write index, and it has one: the target refuses to make it",
		has:     []string{`PUT theirs {"aliases":{"busy":{"is_write_index":true}}}`, `PUT _index_template/own {"index_patterns":["old-*"],"template":{"aliases":{"busy":{"is_write_index":true}}}}`},
		undone:  []string{"DELETE _index_template/own", "DELETE theirs"}, adds: `own aliases.busy {"is_write_index":true}`},
	{name: "an alias is the name of an index", check: "aliases", problem: "index old-shelf: alias olds: left out: the target has an index", next: "--no-aliases leaves out all",
		has: []string{`PUT olds {}`}, undone: []string{"DELETE olds"}},
	{name: "that is accepted", check: "aliases", found: "1 alias is made at the switch", ask: func(r *control.MigrateRequest) { r.Yes = true }, has: []string{`PUT olds {}`}, undone: []string{"DELETE olds"}},
	{name: "an alias of others", check: "aliases", found: "2 aliases are made at the switch", has: []string{`PUT theirs {"aliases":{"olds":{"is_write_index":true}}}`}, undone: []string{"DELETE theirs"}},
	{name: "two write indices", check: "aliases", problem: "index old-shelf: alias folios: is_write_index becomes false: what is written by it goes to theirs",
		next: `{"actions":[{"add":{"alias":"folios","index":"theirs","index_routing":"5","is_write_index":false,"search_routing":"5"}}]}`,
		has:  []string{`PUT theirs {"aliases":{"folios":{"routing":"5","is_write_index":true}}}`}, undone: []string{"DELETE theirs"}},
	{name: "an only index, which is written to", check: "aliases", problem: "index old-shelf: alias olds: what is written by it is refused when the movement switches: it goes to theirs now",
		next: `{"actions":[{"add":{"alias":"olds","index":"theirs","is_write_index":true}}]}`, has: []string{`PUT theirs {"aliases":{"olds":{}}}`}, undone: []string{"DELETE theirs"}},
	{name: "none are to be made", check: "aliases", found: "none are made", ask: func(r *control.MigrateRequest) { r.Metadata.NoAliases = true }, has: []string{`PUT olds {}`}, undone: []string{"DELETE olds"}},
	{name: "its new name is an alias of the snapshot", check: "aliases", problem: "folios would be both an alias of folios and an index", next: "--rename",
		ask: func(r *control.MigrateRequest) { r.Rename = []string{"old-shelf=folios"} }},
	{name: "an empty index that is there is shown", check: "aliases", found: "0 aliases are made at the switch", warning: "index old-shelf of the target is there, and its aliases show it while it is filled: reading",
		has: []string{`PUT old-shelf {"aliases":{"reading":{},"old-shelf-Reshelve-01234567":{}}}`}, undone: []string{"DELETE old-shelf"}},
	{name: "no pipeline", check: "pipelines", found: "nothing that is created goes through one"},
	{name: "a pipeline that the target lacks and the snapshot has", check: "pipelines", ours: "Reshelve has no ingest pipelines: take index.final_pipeline out of template own of the target", next: `| jq '.global.ingest.pipeline[] | select(.id == "nothing").config' | curl -X PUT http`,
		problem: "index.final_pipeline of index old-shelf names the ingest pipeline nothing, which the target lacks: it refuses every document that clients write there",
		has:     []string{`PUT _template/own {"index_patterns":["old-*"],"settings":{"final_pipeline":"nothing"}}`}, undone: []string{"DELETE _template/own"},
		adds: "own settings.index.final_pipeline nothing"},
	{name: "a pipeline that both lack", check: "pipelines", ours: "Reshelve has no ingest pipelines: take index.default_pipeline out of template own of the target", next: `/_ingest/pipeline/absent -H 'Content-Type: application/json' -d '{"processors":[]}'; or take index.default_pipeline out of template own of the target`,
		problem: "index.default_pipeline of index old-shelf names the ingest pipeline absent, which the target lacks",
		has:     []string{`PUT _index_template/own {"index_patterns":["old-*"],"template":{"settings":{"index.default_pipeline":"absent"}}}`}, undone: []string{"DELETE _index_template/own"},
		adds: "own settings.index.default_pipeline absent"},
	{name: "an index that is there has a final pipeline", check: "pipelines", next: `/old-shelf/_settings -H 'Content-Type: application/json' -d '{"index.final_pipeline":"_none"}'`,
		problem: "index old-shelf of the target sends every document through its final pipeline absent", has: []string{`PUT old-shelf {"settings":{"index.final_pipeline":"absent"}}`}, undone: []string{"DELETE old-shelf"}},
	{name: "what templates say of sources", check: "target templates", problem: "index old-shelf: template own of the target adds mappings._source: ", next: "--yes",
		has: []string{`PUT _template/own {"index_patterns":["old-*"],"mappings":{"_source":{"excludes":["kind"]}}}`}, undone: []string{"DELETE _template/own"}, adds: `own mappings._source {"excludes":["kind"]}`},
}

// foretells asks for the plan of a migration of old-shelf into a target.
func foretells(t *testing.T, at string, ask func(*control.MigrateRequest)) *control.Preview {
	t.Helper()
	req := control.MigrateRequest{Target: at, Selection: control.Selection{Repository: filepath.Join("../../testdata/repositories/opensearch-2.19.0-streams/repo"), Indices: []string{"old-shelf"}}}
	req.Templates.None = true
	if ask != nil {
		ask(&req)
	}
	p, err := control.New(wiring).Preview(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// lookForetold compares what plans say with what is expected, and what the target then does with what they say.
func lookForetold(t *testing.T, at string, ours bool) {
	t.Helper()
	asks := func(lines []string) {
		t.Helper()
		for _, line := range lines {
			method, rest, _ := strings.Cut(line, " ")
			path, body, _ := strings.Cut(rest, " ")
			order(t, method, at+"/"+path, body)
		}
	}
	for _, c := range foretold {
		if ours && c.ours != "" {
			c.next = c.ours
		}
		t.Run(c.name, func(t *testing.T) {
			asks(c.has)
			defer asks(c.undone)
			p := foretells(t, at, c.ask)
			var adds []string
			for _, a := range p.Indices[0].Applied {
				for _, add := range a.Adds {
					adds = append(adds, fmt.Sprint(add.Template, " ", add.Where, " ", add.What))
				}
			}
			if got := sorted(adds); got != c.adds {
				t.Errorf("told is\n%s\nnot\n%s", got, c.adds)
			}
			for _, check := range p.Checks {
				if check.Name != c.check {
					continue
				}
				switch {
				case c.problem == "" && (!check.Passed || check.Found != c.found):
					t.Errorf("%+v", check)
				case c.problem != "" && (len(check.Problems) == 0 || !strings.HasPrefix(check.Problems[0].Message, c.problem) || !strings.Contains(check.Problems[0].Next, c.next)):
					t.Errorf("%+v", check)
				}
				if c.warning != "" && (len(check.Warnings) != 1 || check.Warnings[0].Message != c.warning) {
					t.Errorf("%+v", check.Warnings)
				}
			}
			if len(p.Indices[0].Applied) > 0 && c.check == "target templates" {
				made(t, at, &p.Indices[0].Applied[0])
			}
		})
	}
}

func sorted(lines []string) string {
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// made lets the target make such an index, and compares it with what was foretold.
func made(t *testing.T, at string, a *migrate.Applied) {
	t.Helper()
	order(t, http.MethodPut, at+"/"+a.Index, `{"mappings":{"properties":{"kind":{"type":"keyword"}}}}`)
	defer order(t, http.MethodDelete, at+"/"+a.Index, "")
	answer, err := http.Get(at + "/" + a.Index + "?flat_settings=true")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	var shown map[string]map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&shown); err != nil {
		t.Fatal(err)
	}
	foretold := 1 // kind
	for _, add := range a.Adds {
		section, path, _ := strings.Cut(add.Where, ".")
		value := shown[a.Index][section]
		if section == "mappings" {
			for name := range strings.SplitSeq(path, ".") {
				value, _ = value.(map[string]any)[name]
			}
			if strings.HasPrefix(path, "properties.") && strings.Count(path, ".") == 1 {
				foretold++
			}
		} else {
			value = value.(map[string]any)[path]
		}
		text, is := value.(string)
		if !is {
			encoded, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			text = string(encoded)
		}
		if text != add.What {
			t.Errorf("%s is %s, and not %s", add.Where, text, add.What)
		}
	}
	if fields := shown[a.Index]["mappings"].(map[string]any)["properties"].(map[string]any); len(fields) != foretold {
		t.Errorf("%d fields were foretold: %v", foretold, fields)
	}
}

// TestWhatTemplatesDoIsForetold: the plan says which templates of the target apply to an index that is made, what they add,
// and what of it keeps the movement from starting.
func TestWhatTemplatesDoIsForetold(t *testing.T) {
	lookForetold(t, gatewaytest.Serve(t, memory.New(memory.Options{})), true)
}

// TestLiveWhatTemplatesDoIsForetold of real servers.
func TestLiveWhatTemplatesDoIsForetold(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts real servers")
	}
	for _, version := range []servers.Version{servers.OpenSearch("2.19.0"), servers.Elasticsearch("7.10.2"), servers.Elasticsearch("8.19.0")} {
		t.Run(version.String(), func(t *testing.T) {
			server, err := servers.Start(t.Context(), version, servers.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = server.Stop() }()
			lookForetold(t, server.URL, false)
		})
	}
}

// TestWhatTemplatesDoToDataStreamsIsForetold: what backs them is made by the template alone, so that what it adds cannot be
// taken away; and a plain index is not made under a name of theirs.
func TestWhatTemplatesDoToDataStreamsIsForetold(t *testing.T) {
	at := gatewaytest.Serve(t, memory.New(memory.Options{}))
	order(t, http.MethodPut, at+"/_index_template/theirs", `{"index_patterns":["loans-*"],"priority":9,"data_stream":{},"template":{"aliases":{"reading":{}},"settings":{"index.final_pipeline":"absent"}}}`)
	appended := func(r *control.MigrateRequest) {
		r.Indices, r.Metadata.Streams = []string{".ds-loans-*"}, migrate.AppendStreams
	}
	problems := func(p *control.Preview) (all []string) {
		for _, problem := range p.Problems {
			all = append(all, problem.Message)
		}
		return all
	}
	want := []string{"data stream loans-2024: template theirs gives what backs it the alias reading, which shows it while it is filled",
		"data stream loans-2024: every document goes through its final pipeline absent, and may differ in the comparison",
		"index.final_pipeline of data stream loans-2024 names the ingest pipeline absent, which the target lacks: it refuses every document that clients write there"}
	if got := problems(foretells(t, at, appended)); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	// The template that goes along is stronger, and makes the stream in its place.
	if got := problems(foretells(t, at, func(r *control.MigrateRequest) { appended(r); r.Templates.None = false })); len(got) != 0 {
		t.Errorf("%q", got)
	}
	got := problems(foretells(t, at, func(r *control.MigrateRequest) { r.Rename = []string{"old-shelf=loans-1"} }))
	if len(got) == 0 || got[0] != "index loans-1: the target makes no index of that name, since its template theirs makes data streams of such names" {
		t.Errorf("%q", got)
	}
}
