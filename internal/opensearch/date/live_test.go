package date

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/testing/servers"
)

var at = flag.String("at", "", "URL of an OpenSearch 2.19.0 for TestLive; without, one is started")

// liveServer is a real server, for as long as the test.
func liveServer(t *testing.T) *servers.Server {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts real servers")
	}
	if *at != "" {
		return &servers.Server{URL: *at, Version: servers.OpenSearch("2.19.0")}
	}
	server, err := servers.Start(t.Context(), servers.OpenSearch("2.19.0"), servers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Stop() })
	return server
}

// TestLive asks one real server.
func TestLive(t *testing.T) {
	server := liveServer(t)
	t.Run("dates", func(t *testing.T) { liveDates(t, server) })
	t.Run("names", func(t *testing.T) { liveNames(t, server) })
}

// liveDates indexes texts of testdata into date fields of their formats, and
// compares what the server makes of them with what we make of them.
func liveDates(t *testing.T, server *servers.Server) {
	const index = "/reshelve-live-dates"
	formats, texts := map[string]int{}, [][2]string{}
	for line, cells := range questions(t) {
		if cells[0] == "parse" && line%5 == 0 && len(cells[1]) > 0 {
			texts = append(texts, [2]string{cells[1], cells[2]})
			formats[cells[1]] = 0
		}
	}
	properties := map[string]any{}
	for spec := range formats {
		formats[spec] = len(properties)
		properties[field0(len(properties))] = map[string]string{"type": "date", "format": spec}
	}
	mapping, _ := json.Marshal(map[string]any{"mappings": map[string]any{"properties": properties}, "settings": map[string]any{"number_of_replicas": 0}})
	ask(t, server, "DELETE", index, nil)
	defer ask(t, server, "DELETE", index, nil)
	ask(t, server, "PUT", index, mapping)
	var bulk bytes.Buffer
	for i, q := range texts {
		source, _ := json.Marshal(map[string]string{field0(formats[q[0]]): q[1]})
		fmt.Fprintf(&bulk, "{\"index\":{\"_id\":\"%d\"}}\n%s\n", i, source)
	}
	type item struct{ Error *liveError }
	var answered struct{ Items []map[string]item }
	if err := json.Unmarshal(ask(t, server, "POST", index+"/_bulk?refresh=true", bulk.Bytes()), &answered); err != nil || len(answered.Items) != len(texts) {
		t.Fatalf("%d answers to %d documents: %v", len(answered.Items), len(texts), err)
	}
	wrong := 0
	for i, q := range texts {
		f := MustFormat(q[0])
		millis, err := f.ParseMillis(q[1])
		ours := "ok"
		if err != nil {
			ours = chain(err)
		}
		var theirs string
		if e := answered.Items[i]["index"].Error; e != nil {
			theirs = e.Cause.chain()
		} else {
			theirs = stored(t, server, index, i, field0(formats[q[0]]), millis)
		}
		if unordered(ours) != unordered(theirs) {
			if wrong++; wrong < 20 {
				t.Errorf("%q by %q\n ours %s\ntheirs %s", q[1], q[0], ours, theirs)
			}
		}
	}
	t.Logf("%d texts by %d formats, %d differ", len(texts), len(formats), wrong)
}

func field0(n int) string { return "f" + strconv.Itoa(n) }

// stored is ok if the document holds the date.
func stored(t *testing.T, server *servers.Server, index string, id int, field string, millis int64) string {
	body := fmt.Sprintf(`{"query":{"ids":{"values":["%d"]}},"docvalue_fields":[{"field":"%s","format":"epoch_millis"}]}`, id, field)
	var found struct {
		Hits struct {
			Hits []struct{ Fields map[string][]string }
		}
	}
	answer := ask(t, server, "POST", index+"/_search", []byte(body))
	if err := json.Unmarshal(answer, &found); err != nil || len(found.Hits.Hits) != 1 || len(found.Hits.Hits[0].Fields[field]) != 1 {
		return string(answer)
	}
	if text := found.Hits.Hits[0].Fields[field][0]; text != MustFormat("epoch_millis").Format(millis) {
		return "stored " + text + ", not " + strconv.FormatInt(millis, 10)
	}
	return "ok"
}

// liveNames asks for indices whose names hold date math without now.
func liveNames(t *testing.T, server *servers.Server) {
	asked := 0
	for _, cells := range questions(t) {
		if cells[0] != "name" || cells[2] != "-1" || strings.Contains(cells[1], "now") || strings.ContainsAny(cells[1], ",*") || !strings.HasPrefix(cells[1], "<") {
			continue
		}
		asked++
		_, answer, err := server.Do("GET", "/"+url.PathEscape(cells[1])+"/_count", nil)
		if err != nil {
			t.Fatal(err)
		}
		var told struct{ Error liveError }
		if err := json.Unmarshal(answer, &told); err != nil {
			t.Fatalf("%s: %v in %s", cells[1], err, answer)
		}
		theirs := told.Error.chain()
		name, err := ResolveNameIn(cells[1], 0, time.LoadLocation)
		ours := "index_not_found_exception: no such index [" + escape.Replace(name) + "]"
		if err != nil {
			ours = chain(err)
		}
		if ours != theirs && told.Error.Type != "invalid_index_name_exception" {
			t.Errorf("%s\n ours %s\ntheirs %s", cells[1], ours, theirs)
		}
	}
	if asked < 10 {
		t.Errorf("asked for %d names", asked)
	}
}

// liveError is an error as the server tells it.
type liveError struct {
	Type, Reason string
	Cause        *liveError `json:"caused_by"`
}

func (e *liveError) chain() string {
	var parts []string
	for ; e != nil; e = e.Cause {
		parts = append(parts, e.Type+": "+e.Reason)
	}
	return escape.Replace(strings.Join(parts, " <- "))
}

func ask(t *testing.T, server *servers.Server, method, path string, body []byte) []byte {
	t.Helper()
	contentType := "application/json"
	if strings.Contains(path, "_bulk") {
		contentType = "application/x-ndjson"
	}
	status, answer, err := server.Send(method, path, contentType, body)
	if err != nil || status >= 400 && method != "DELETE" {
		t.Fatalf("%s %s: %d %v %.500s", method, path, status, err, answer)
	}
	return answer
}
