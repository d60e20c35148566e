package analysis

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

var update = flag.Bool("update", false, "TestLiveAnswers writes what the server says into testdata")

// answer is a line of testdata/answers.jsonl: a body of _analyze, and what OpenSearch
// 2.19.0 says to it.
type answer struct {
	Body   json.RawMessage `json:"body"`
	Tokens []told          `json:"tokens,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// asked is a body of _analyze.
type asked struct {
	Text       any               `json:"text"`
	Analyzer   string            `json:"analyzer"`
	Tokenizer  json.RawMessage   `json:"tokenizer"`
	Filter     []json.RawMessage `json:"filter"`
	CharFilter []json.RawMessage `json:"char_filter"`
}

func (a asked) inline() Inline {
	q := Inline{Analyzer: a.Analyzer, Global: true}
	switch text := a.Text.(type) {
	case string:
		q.Texts = []string{text}
	case []any:
		for _, t := range text {
			q.Texts = append(q.Texts, t.(string))
		}
	}
	if a.Tokenizer != nil {
		part := asPart(a.Tokenizer)
		q.Tokenizer = &part
	}
	for _, f := range a.Filter {
		q.Filters = append(q.Filters, asPart(f))
	}
	for _, f := range a.CharFilter {
		q.CharFilters = append(q.CharFilters, asPart(f))
	}
	return q
}

func asPart(data json.RawMessage) Part {
	var name string
	if json.Unmarshal(data, &name) == nil {
		return Part{Name: name}
	}
	var options map[string]any
	if err := json.Unmarshal(data, &options); err != nil {
		panic(err)
	}
	part := Part{Settings: map[string][]string{}, JSON: string(data)}
	for name, value := range options {
		if list, ok := value.([]any); ok {
			part.Settings[name] = []string{}
			for _, item := range list {
				part.Settings[name] = append(part.Settings[name], fmt.Sprint(item))
			}
		} else {
			part.Settings[name] = []string{fmt.Sprint(value)}
		}
	}
	return part
}

// answerOf is what this package says to a body.
func answerOf(body []byte) answer {
	var a asked
	if err := json.Unmarshal(body, &a); err != nil {
		panic(err)
	}
	none, err := New(nil)
	if err != nil {
		panic(err)
	}
	tokens, err := none.Inline(a.inline())
	if err != nil {
		e := exception.From(err)
		return answer{Body: body, Error: string(e.Type) + ": " + e.Reason}
	}
	got := answer{Body: body, Tokens: []told{}}
	for _, t := range tokens {
		length := t.Length
		if length == 1 {
			length = 0
		}
		got.Tokens = append(got.Tokens, told{string(t.Term), t.Start, t.End, t.Type, t.Position, length})
	}
	return got
}

func (a answer) says() string {
	if a.Error != "" {
		return a.Error
	}
	var b strings.Builder
	for _, t := range a.Tokens {
		fmt.Fprintf(&b, "%q[%d-%d@%d:%d %s] ", t.Token, t.Start, t.End, t.Position, max(t.Length, 1), t.Type)
	}
	return b.String()
}

// difference shows two texts from where they differ.
func difference(got, want string) string {
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	from := strings.LastIndex(got[:at], " ") + 1
	show := func(s string) string { return s[min(from, len(s)):min(from+160, len(s))] }
	return " got " + show(got) + "\nwant " + show(want)
}

// TestAnswers compares with answers of OpenSearch 2.19.0.
func TestAnswers(t *testing.T) {
	data, err := os.ReadFile("testdata/answers.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var want answer
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatal(err)
		}
		if got := answerOf(want.Body); got.says() != want.says() {
			t.Errorf("%s\n%s", want.Body, difference(got.says(), want.says()))
		}
	}
}

// bodies are the questions of the table.
func bodies() []map[string]any {
	var all []map[string]any
	for name := range builtin {
		all = append(all, map[string]any{"analyzer": name, "text": []string{texts["plain"], texts["odd"]}})
		if text, ok := texts[name]; ok {
			all = append(all, map[string]any{"analyzer": name, "text": text})
		}
	}
	slices.SortFunc(all, func(a, b map[string]any) int {
		return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
	})
	for _, f := range filterCases {
		for _, text := range []string{texts["plain"], texts["odd"]} {
			all = append(all, map[string]any{"tokenizer": "whitespace", "filter": f, "text": []string{text, "The end"}})
		}
	}
	for _, tokenizer := range tokenizerCases {
		for _, text := range []string{texts["plain"], texts["odd"], texts["path"]} {
			all = append(all, map[string]any{"tokenizer": tokenizer, "text": []string{text, "The end"}})
		}
	}
	for _, f := range charFilterCases {
		for _, text := range []string{texts["plain"], texts["odd"], texts["html"]} {
			all = append(all, map[string]any{"tokenizer": "standard", "char_filter": f, "text": []string{text, "The end"}})
		}
	}
	return all
}
