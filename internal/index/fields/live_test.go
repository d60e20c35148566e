package fields_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/testing/servers"
)

var (
	update = flag.Bool("update", false, "TestLiveAnswers writes what the server says into testdata")
	at     = flag.String("at", "", "URL of an OpenSearch 2.19.0 with all modules for TestLiveAnswers; without, one is started")
)

const liveIndex = "/fld-answers"

// TestLiveAnswers asks a real server again for what testdata holds.
func TestLiveAnswers(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts real servers")
	}
	server := &servers.Server{URL: *at, Version: servers.OpenSearch("2.19.0").WithEverything()}
	if *at == "" {
		var err error
		if server, err = servers.Start(t.Context(), server.Version, servers.Options{}); err != nil {
			t.Fatal(err)
		}
		defer server.Stop()
	}
	texts, lines := readLines(t)
	do := func(method, path string, body any) []byte {
		data, _ := json.Marshal(body)
		_, answer, err := server.Do(method, liveIndex+path, data)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	do("DELETE", "", nil)
	defer do("DELETE", "", nil)
	for i := range lines {
		l := &lines[i]
		switch {
		case l.Mapping != nil:
			do("PUT", "", map[string]any{"settings": map[string]any{"number_of_shards": 1, "number_of_replicas": 0}, "mappings": l.Mapping})
		case l.Source != nil:
			if answer := do("PUT", "/_doc/"+l.ID+"?refresh&routing="+l.Routing, l.Source); !bytes.Contains(answer, []byte(`"created"`)) {
				t.Fatalf("%s: %s", l.ID, answer)
			}
		case l.Ask != nil:
			now := *l
			now.answer(t, do("POST", "/_search", map[string]any{"size": 100, "query": l.Ask}))
			text := encodeLine(t, now)
			if encodeLine(t, *l) != text && !*update {
				t.Errorf("%d: %s\n now %s", i+1, texts[i], text)
			}
			texts[i] = text
		}
	}
	write(t, "testdata/queries.jsonl", texts)
	texts, fields := readShown(t)
	for i, l := range fields {
		if l.Field == "" {
			continue
		}
		l.showLive(t, do)
		text := encodeLine(t, l)
		if was := encodeLine(t, fields[i]); was != text && !*update {
			t.Errorf("%d: %s\n now %s", i+1, was, text)
		}
		texts[i] = text
	}
	write(t, "testdata/shown.jsonl", texts)
}

// write writes a file anew, if that is asked for.
func write(t *testing.T, name string, lines []string) {
	if !*update {
		return
	}
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

func encodeLine(t *testing.T, l any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(l); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

// answer puts what the server said into the line.
func (l *line) answer(t *testing.T, said []byte) {
	type cause struct {
		told
		Cause *told `json:"caused_by"`
	}
	var a struct {
		Hits struct {
			Hits []struct {
				ID    string  `json:"_id"`
				Score float64 `json:"_score"`
			}
		}
		Error struct {
			cause
			Shards []struct{ Reason cause } `json:"failed_shards"`
		}
	}
	if err := json.Unmarshal(said, &a); err != nil {
		t.Fatalf("%s: %v", said, err)
	}
	l.Found, l.Error, l.Scored = nil, nil, false
	if a.Error.Type == "" {
		ids := make([]string, 0, len(a.Hits.Hits))
		for _, h := range a.Hits.Hits {
			ids = append(ids, h.ID)
			l.Scored = l.Scored || h.Score != 1
		}
		slices.Sort(ids)
		found := strings.Join(ids, " ")
		l.Found = &found
		return
	}
	e := a.Error.cause
	if len(a.Error.Shards) > 0 {
		e = a.Error.Shards[0].Reason
	}
	l.Error = &e.told
	if e.Cause != nil && e.Reason == fmt.Sprintf("failed to create query: %s", e.Cause.Reason) {
		l.Error = e.Cause
	}
}

// showLive asks what a server shows of a field.
func (l *shown) showLive(t *testing.T, do func(method, path string, body any) []byte) {
	l.Values, l.Error = nil, nil
	field := map[string]any{"field": l.Field}
	if l.Format != "" {
		field["format"] = l.Format
	}
	said := do("POST", "/_search", map[string]any{"size": 100, "_source": false, "docvalue_fields": []any{field}})
	var e line
	e.answer(t, said)
	if e.Error != nil {
		l.Error = e.Error
		return
	}
	var a struct {
		Hits struct {
			Hits []struct {
				ID     string                     `json:"_id"`
				Fields map[string]json.RawMessage `json:"fields"`
			}
		}
	}
	if err := json.Unmarshal(said, &a); err != nil {
		t.Fatalf("%s: %v", said, err)
	}
	for _, h := range a.Hits.Hits {
		if v, ok := h.Fields[l.Field]; ok {
			if l.Values == nil {
				l.Values = map[string]json.RawMessage{}
			}
			l.Values[h.ID] = v
		}
	}
}
