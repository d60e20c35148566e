package migrate_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/internal/testing/servers"
)

// TestLiveTemplatesOfRealServers: their templates of every kind give an index aliases, and a final pipeline which they
// lack, when it is made. Neither is on it while it is filled, both are when it was compared, and an alias of others is
// added to and stays theirs.
func TestLiveTemplatesOfRealServers(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts real servers")
	}
	for _, version := range []servers.Version{servers.OpenSearch("2.19.0"), servers.Elasticsearch("7.10.2")} {
		t.Run(version.String(), func(t *testing.T) {
			server, err := servers.Start(t.Context(), version, servers.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = server.Stop() }()
			target, err := cluster.New(server.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer target.Close()
			for _, kind := range slices.Sorted(maps.Keys(beforehand)) {
				t.Run(kind, func(t *testing.T) {
					r := newRig(t, streams, "only")
					r.target, r.url = target, server.URL
					r.movesBesideTemplates(kind)
				})
			}
			r := newRig(t, streams, "only")
			r.target, r.url = target, server.URL
			r.sharesAliases()
		})
	}
}

// sharesAliases: what FitAliases says of writes by a shared alias is what this server does.
func (r *rig) sharesAliases() {
	r.Helper()
	add := func(body string) error {
		_, err := r.target.Do(r.Context(), http.MethodPost, []string{"_aliases"}, nil, []byte(`{"actions":[{"add":{"index":"mine","alias":"shared"`+body+`}}]}`))
		return err
	}
	writes := func() string {
		var answer struct {
			Index string `json:"_index"`
		}
		told, err := r.target.Do(r.Context(), http.MethodPut, []string{"shared", "_doc", "1"}, nil, []byte(`{}`))
		if err == nil {
			err = json.Unmarshal(told, &answer)
		}
		if err != nil {
			return "refused"
		}
		return answer.Index
	}
	for _, c := range []struct {
		theirs, mine, added, before, after string
	}{
		{`{}`, ``, "added", "theirs-1", "refused"},
		{`{}`, `,"is_write_index":true`, "added", "theirs-1", "mine"},
		{`{"is_write_index":true}`, ``, "added", "theirs-1", "theirs-1"},
		{`{"is_write_index":true}`, `,"is_write_index":false`, "added", "theirs-1", "theirs-1"},
		{`{"is_write_index":true}`, `,"is_write_index":true`, "refused", "theirs-1", "theirs-1"},
		{`{"is_write_index":true,"is_hidden":true}`, ``, "refused", "theirs-1", "theirs-1"},
		{`{"is_write_index":true,"is_hidden":true}`, `,"is_hidden":true`, "added", "theirs-1", "theirs-1"},
		{`{"is_write_index":true}`, `,"is_hidden":true`, "refused", "theirs-1", "theirs-1"},
	} {
		r.do("PUT", []string{"theirs-1"}, `{"aliases":{"shared":`+c.theirs+`}}`, nil)
		r.do("PUT", []string{"mine"}, "", nil)
		before, added := writes(), "added"
		if err := add(c.mine); err != nil {
			added = "refused"
		}
		if after := writes(); before != c.before || added != c.added || after != c.after {
			r.Errorf("%s beside %s: it is %s, and what is written goes to %s, then to %s", c.mine, c.theirs, added, before, after)
		}
		there, err := r.target.AliasNamed(r.Context(), "shared")
		if err != nil || string(there["theirs-1"]) != c.theirs {
			r.Errorf("theirs is %s, %v", there, err)
		}
		r.do("DELETE", []string{"theirs-1"}, "", nil)
		r.do("DELETE", []string{"mine"}, "", nil)
	}
}

func (r *rig) movesBesideTemplates(kind string) {
	r.Helper()
	templates := beforehand[kind]
	for i, template := range templates {
		body := template[1]
		if i == 0 {
			body = strings.Replace(body, `"aliases":`, `"settings":{"index.final_pipeline":"absent","index.default_pipeline":"absent-too"},"aliases":`, 1)
		}
		path := strings.Split(template[0], "/")
		r.do("PUT", path, body, nil)
		defer r.do("DELETE", path, "", nil)
	}
	r.do("PUT", []string{"theirs"}, `{"aliases":{"reading":{"is_write_index":true}}}`, nil)
	defer r.do("DELETE", []string{"theirs"}, "", nil)
	plan := r.plan("old-shelf")
	for _, template := range allTemplates(r) {
		if template.Name == "old-style" {
			plan.Templates = append(plan.Templates, template)
		}
	}
	seen := r.watched("old-shelf")
	id := r.startAs(kind, plan)
	m, _ := r.work(id)
	if m.State != movement.Switched || !r.has("_template", "old-style") {
		r.Fatalf("%s: %s", m.State, m.Cause)
	}
	if half := seen(); len(half) > 0 {
		r.Errorf("while it was filled, it was shown by %v", half)
	}
	after := r.showing("old-shelf")
	if got := slices.Sorted(maps.Keys(after)); !slices.Equal(got, []string{"folios", "old-shelf-too", "olds", "reading"}) {
		r.Errorf("afterwards it is shown by %v", got)
	}
	if string(after["reading"]) != `{"filter":{"term":{"kind":"folio"}}}` || string(after["old-shelf-too"]) != `{"index_routing":"3","search_routing":"3"}` {
		r.Errorf("with %s", after)
	}
	if settings, err := r.target.Settings(r.Context(), "old-shelf"); err != nil || settings["index.final_pipeline"] != "absent" || settings["index.default_pipeline"] != "absent-too" {
		r.Errorf("%v: %v", settings, err)
	}
	r.tell(id, movement.Abort)
	if m, _ := r.work(id); m.State != movement.Aborted || r.has("old-shelf") || r.has("_template", "old-style") {
		r.Errorf("%s: %s", m.State, m.Cause)
	}
	if theirs := r.showing("theirs"); string(theirs["reading"]) != `{"is_write_index":true}` {
		r.Errorf("of others is left %v", theirs)
	}
}
