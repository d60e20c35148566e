package mapping

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/testing/servers"
)

var (
	update = flag.Bool("update", false, "TestLiveAnswers writes what the server says into testdata")
	at     = flag.String("at", "", "URL of an OpenSearch 2.19.0 with all modules for TestLiveAnswers; without, one without modules is started")
)

// asked are the members of a line of testdata, in their order.
type asked struct {
	Mapping  json.RawMessage `json:"mapping,omitempty"`
	Update   json.RawMessage `json:"update,omitempty"`
	Source   json.RawMessage `json:"source,omitempty"`
	Text     *string         `json:"text,omitempty"`
	Settings json.RawMessage `json:"settings,omitempty"`
	Loose    bool            `json:"loose,omitempty"`
	Status   int             `json:"status"`
	Result   json.RawMessage `json:"result,omitempty"`
	Error    *told           `json:"error,omitempty"`
	Root     string          `json:"root,omitempty"`
}

// TestLiveAnswers asks a real server again for what testdata holds.
func TestLiveAnswers(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts real servers")
	}
	server, whole := &servers.Server{URL: *at, Version: servers.OpenSearch("2.19.0")}, true
	if *at == "" {
		var err error
		if server, err = servers.Start(t.Context(), server.Version, servers.Options{}); err != nil {
			t.Fatal(err)
		}
		defer server.Stop()
		whole = false // a small server knows fewer types and analyzers
	}
	files, _ := filepath.Glob("testdata/*.jsonl")
	compared := 0
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		for n, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
			if line == "" || line[0] == '#' {
				out.WriteString(line + "\n")
				continue
			}
			var want asked
			if err := json.Unmarshal([]byte(line), &want); err != nil {
				t.Fatalf("%s:%d: %v", name, n+1, err)
			}
			got := askLive(t, server, want)
			text := encodeLine(t, got)
			out.WriteString(text + "\n")
			if missing := strings.Contains(text, "No handler for type") || strings.Contains(text, "not been configured") || strings.Contains(text, "[scaled_float]"); missing && !whole {
				continue
			}
			compared++
			if want.Loose && got.Error != nil && want.Error != nil {
				got.Error.Reason, got.Error.Cause = want.Error.Reason, want.Error.Cause
				text = encodeLine(t, got)
			}
			if was := encodeLine(t, want); was != text && !*update {
				t.Errorf("%s:%d\n now %s\n was %s", name, n+1, text, was)
			}
		}
		if *update {
			if err := os.WriteFile(name, out.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d answers compared", compared)
}

// encodeLine is one line of testdata.
func encodeLine(t *testing.T, a asked) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(a); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

// askLive makes an index, changes it as a line says, and tells what came of it.
func askLive(t *testing.T, server *servers.Server, a asked) asked {
	const index = "/mapping-answers"
	do := func(method, path string, body string) (int, []byte) {
		status, answer, err := server.Do(method, index+path, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return status, answer
	}
	settings := strings.TrimSuffix(strings.TrimPrefix(string(a.Settings), "{"), "}")
	if settings != "" {
		settings = "," + settings
	}
	mapping := a.Mapping
	if mapping == nil {
		mapping = json.RawMessage("{}")
	}
	status, answer := do("PUT", "", `{"settings":{"number_of_shards":1,"number_of_replicas":0,"refresh_interval":-1`+settings+`},"mappings":`+string(mapping)+`}`)
	defer do("DELETE", "", "")
	if status == 200 && a.Update != nil {
		status, answer = do("PUT", "/_mapping", string(a.Update))
	}
	if status == 200 && a.Source != nil {
		status, answer = do("PUT", "/_doc/1", string(a.Source))
	}
	if status == 200 && a.Text != nil {
		status, answer = do("PUT", "/_doc/1", *a.Text)
	}
	a.Status, a.Result, a.Error, a.Root = status, nil, nil, ""
	if status < 300 {
		_, answer = do("GET", "/_mapping", "")
		a.Result = answer[len(`{"mapping-answers":{"mappings":`) : len(answer)-2]
		return a
	}
	var said struct {
		Error struct {
			told
			RootCause []told `json:"root_cause"`
		}
	}
	if err := json.Unmarshal(answer, &said); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	a.Error, a.Root = &said.Error.told, said.Error.RootCause[0].Type
	return a
}

func itoa(n int) string { return strconv.Itoa(n) }
