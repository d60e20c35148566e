package control

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/internal/testing/servers"
)

// TestLiveRights asks a real Elasticsearch with security: of each index it is known before the
// copy comes to it whether these credentials may write to it.
func TestLiveRights(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts real servers")
	}
	dir, err := os.MkdirTemp("", "reshelve-rights-") // not t.TempDir: the server runs as another user
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	server, err := servers.Start(t.Context(), servers.Elasticsearch("8.19.0"), servers.Options{Dir: dir, Settings: map[string]any{
		"xpack.security.enabled": true, "xpack.security.http.ssl.enabled": false, "xpack.security.transport.ssl.enabled": false,
		"xpack.security.authc.anonymous.roles": []string{"remote_monitoring_collector", "mover"}, "resource.reload.interval.high": "1s",
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	const roles = `
mover:
  indices:
    - {names: ["books*"], privileges: [all]}
    - {names: [ants], privileges: [create_index, read]}
`
	if err := os.WriteFile(filepath.Join(dir, "config", "roles.yml"), []byte(roles), 0o644); err != nil {
		t.Fatal(err)
	}
	client, err := cluster.New(server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	look := func(indices ...string) (found, problem string) {
		l := &looking{Preview: &Preview{}, req: &MigrateRequest{Target: server.URL}, side: &side{client: client}, done: &Check{}}
		for _, name := range indices {
			l.Indices = append(l.Indices, PreviewIndex{Index: name, Target: name})
		}
		found, err := lookRights(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		var problems []string
		for _, p := range l.done.Problems {
			problems = append(problems, p.Message)
		}
		return found, strings.Join(problems, "; ")
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Second) { // until it has read its roles
		if _, problem := look("books"); problem == "" {
			break
		}
	}
	for _, c := range []struct {
		indices        []string
		found, problem string
	}{
		{[]string{"books", "books-2"}, "may create, write to and read 2 indices", ""},
		{[]string{"books", "ants"}, "", "user _anonymous lacks index, indices:admin/aliases for ants-Reshelve-*; user _anonymous lacks index, indices:admin/aliases, maintenance for ants"},
		{[]string{"books", "wasps", "bees"}, "", "user _anonymous lacks create_index, index, indices:admin/aliases, maintenance, read for bees, wasps; " +
			"user _anonymous lacks index, indices:admin/aliases for bees-Reshelve-*, wasps-Reshelve-*"},
	} {
		if found, problem := look(c.indices...); found != c.found || problem != c.problem {
			t.Errorf("%v: %q, %q", c.indices, found, problem)
		}
	}
	if _, err := client.Do(t.Context(), http.MethodGet, []string{"books"}, nil, nil); err == nil {
		t.Error("asking has made an index")
	}
}
