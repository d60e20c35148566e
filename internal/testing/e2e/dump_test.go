package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// dumped is more documents than a search counts unless it is asked to.
const dumped = 12_345

// TestDump has elasticdump, which reads by scrolls until it has as many documents as the first
// answer counts, copy an index into a file, from there into another index, and from that into
// a third.
func TestDump(t *testing.T) {
	tools, err := filepath.Abs("testdata/elasticdump")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(installPackages(t, "elasticdump", tools), ".bin", "elasticdump")
	_, url := serve(t)
	send(t, http.MethodPut, url+"/books", `{"settings":{"number_of_shards":3}}`)
	var lines strings.Builder
	for i := range dumped {
		fmt.Fprintf(&lines, "{\"index\":{\"_id\":\"%d\"}}\n{\"n\":%d,\"text\":\"page %d\"}\n", i, i, i%97)
	}
	if answer := send(t, http.MethodPost, url+"/books/_bulk?refresh=true&filter_path=errors", lines.String()); answer != `{"errors":false}` {
		t.Fatal(answer)
	}
	file := filepath.Join(t.TempDir(), "books.json")
	for _, step := range [][2]string{{url + "/books", file}, {file, url + "/copy"}, {url + "/copy", url + "/again"}} {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		command := exec.CommandContext(ctx, program, "--input="+step[0], "--output="+step[1], "--type=data", "--limit=2000")
		said, err := command.CombinedOutput()
		cancel()
		if err != nil {
			t.Fatalf("%v: %v\n%s", step, err, said)
		}
	}
	text, err := os.ReadFile(file)
	if n := bytes.Count(text, []byte("\n")); n != dumped || err != nil {
		t.Errorf("the file has %d lines, want %d; %v", n, dumped, err)
	}
	for _, index := range []string{"copy", "again"} {
		send(t, http.MethodPost, url+"/"+index+"/_refresh", "")
		var found struct {
			Hits struct{ Total struct{ Value int } }
			Aggs struct{ Sum, Differ struct{ Value float64 } } `json:"aggregations"`
		}
		answer := send(t, http.MethodPost, url+"/"+index+"/_search", `{"size":0,"track_total_hits":true,"aggs":{"sum":{"sum":{"field":"n"}},"differ":{"cardinality":{"field":"text.keyword"}}}}`)
		if err := json.Unmarshal([]byte(answer), &found); err != nil {
			t.Fatal(err)
		}
		if found.Hits.Total.Value != dumped || found.Aggs.Sum.Value != dumped*(dumped-1)/2 || found.Aggs.Differ.Value != 97 {
			t.Errorf("%s: %s", index, answer)
		}
	}
}

// send asks the server, and returns what it answers with 200.
func send(t *testing.T, method, url, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusOK || err != nil {
		t.Fatalf("%s %s: %d %s %v", method, url, answer.StatusCode, text, err)
	}
	return string(text)
}
