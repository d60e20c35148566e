package store_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/testing/servers"
)

// daily is the day in names with date math, which another day's answers have otherwise.
var daily = regexp.MustCompile(`\d{4}\.\d\d\.\d\d`)

// TestLiveConversations holds the conversations of testdata/admin against a real server
// again. RESHELVE_LIVE_AT=URL asks one that runs already.
func TestLiveConversations(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts real servers")
	}
	url := os.Getenv("RESHELVE_LIVE_AT")
	if url == "" {
		server, err := servers.Start(t.Context(), servers.OpenSearch("2.19.0"), servers.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer server.Stop()
		url = server.URL
	}
	files, err := filepath.Glob("testdata/admin/*.talk")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".talk"), func(t *testing.T) { ask(t, url, file) })
	}
}

// ask plays one conversation with a server, and leaves nothing there.
func ask(t *testing.T, url, file string) {
	forget(t, url)
	defer forget(t, url)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for i := 0; i < len(lines); i++ {
		if lines[i] == "" || strings.HasPrefix(lines[i], "#") {
			continue
		}
		parts := strings.SplitN(lines[i]+"  ", " ", 3)
		status, answer := send(t, parts[0], url+parts[1], strings.TrimSpace(parts[2]))
		i++
		got := status[:3] + " " + answer
		want := strings.TrimPrefix(lines[i], "< ")
		if !alike(want, got) && !strings.Contains(want, `"_id"`) {
			t.Errorf("%s:%d: %s\n  the file says %s\nthe server says %s", file, i, lines[i-1], want, got)
		}
	}
}

// alike compares two answers as far as they do not depend on chance and the day.
func alike(a, b string) bool {
	read := func(text string) (v any) {
		text = daily.ReplaceAllString(normal([]byte(text[4:])), "DAY")
		if json.Unmarshal([]byte(text), &v) != nil {
			return text
		}
		return ordered(rootless(v))
	}
	return a[:3] == b[:3] && reflect.DeepEqual(read(a), read(b))
}

// rootless leaves out what the conversations leave out, and the order of sets.
func rootless(v any) any {
	if m, ok := v.(map[string]any); ok {
		delete(m, "root_cause")
		delete(m, "suppressed")
		for key := range m {
			m[key] = rootless(m[key])
		}
	}
	return v
}

func send(t *testing.T, method, url, body string) (status, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.Status, string(data)
}

// forget removes everything whose name begins as those of the conversations do.
func forget(t *testing.T, url string) {
	send(t, "PUT", url+"/ca-*/_settings", `{"index.blocks.metadata":null}`)
	send(t, "PUT", url+"/ca-*/_settings", `{"index.blocks.read_only":null}`)
	send(t, "DELETE", url+"/_data_stream/ca-*", "")
	send(t, "DELETE", url+"/ca-*,.ca-*?expand_wildcards=all", "")
	for _, kind := range []string{"_index_template", "_template", "_component_template"} {
		send(t, "DELETE", url+"/"+kind+"/ca-*", "")
	}
}
