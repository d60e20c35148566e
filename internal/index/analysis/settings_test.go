package analysis

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// definition is a line of testdata/settings.jsonl: what is defined under "analysis", and the
// error of OpenSearch 2.19.0 about it; "" when it makes the index.
type definition struct {
	Analysis json.RawMessage `json:"analysis"`
	Error    string          `json:"error"`
}

// flat are settings by their keys with dots.
func flat(all map[string][]string, prefix string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			flat(all, prefix+"."+name, inner)
		}
	case []any:
		all[prefix] = []string{}
		for _, item := range value {
			all[prefix] = append(all[prefix], fmt.Sprint(item))
		}
	default:
		all[prefix] = []string{fmt.Sprint(value)}
	}
}

func settingsOf(definition []byte) map[string][]string {
	var tree any
	if err := json.Unmarshal(definition, &tree); err != nil {
		panic(err)
	}
	all := map[string][]string{}
	flat(all, "index.analysis", tree)
	return all
}

func errorOf(err error) string {
	if err == nil {
		return ""
	}
	e := exception.From(err)
	return fmt.Sprintf("%d %s: %s", e.Status(), e.Type, e.Reason)
}

// TestDefinitions compares what may be defined with answers of OpenSearch 2.19.0.
func TestDefinitions(t *testing.T) {
	data, err := os.ReadFile("testdata/settings.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var want definition
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatal(err)
		}
		_, err := New(settingsOf(want.Analysis))
		if got := errorOf(err); got != want.Error {
			t.Errorf("%s\n got %s\nwant %s", want.Analysis, got, want.Error)
		}
	}
}

// TestUnsupported: what cannot be done exactly is refused by its name.
func TestUnsupported(t *testing.T) {
	for settings, want := range map[string]string{
		`{"analyzer":{"m":{"type":"thai"}}}`:               "analyzer [thai] is not supported",
		`{"analyzer":{"m":{"tokenizer":"uax_url_email"}}}`: "tokenizer [uax_url_email] is not supported",
		`{"filter":{"m":{"type":"multiplexer","filters":["lowercase","shingle"]}},"analyzer":{"a":{"tokenizer":"standard","filter":["m"]}}}`: "filter [shingle] in multiplexer [m] is not supported",
		`{"analyzer":{"m":{"tokenizer":"standard","filter":["kstem"]}}}`:                                                                     "filter [kstem] is not supported",
		`{"filter":{"m":{"type":"min_hash"}}}`:                                                                                               "filter [min_hash] is not supported",
		`{"filter":{"m":{"type":"stemmer","language":"kstem"}}}`:                                                                             "stemmer [Kstem] is not supported",
		`{"filter":{"m":{"type":"stop","remove_trailing":false}}}`:                                                                           "option [remove_trailing] of [m] is not supported",
		`{"filter":{"m":{"type":"synonym","synonyms":["a,b"],"format":"wordnet"}}}`:                                                          "synonyms of format [wordnet] are not supported",
		`{"tokenizer":{"m":{"type":"pattern","pattern":"(?<=a)b"}}}`:                                                                         "pattern [(?<=a)b] is not supported",
		`{"tokenizer":{"m":{"type":"pattern","pattern":"a\\b"}}}`:                                                                            `pattern [a\b] is not supported`,
		`{"tokenizer":{"m":{"type":"pattern","pattern":"a","flags":"MULTILINE"}}}`:                                                           "flags of pattern [a] are not supported",
		`{"tokenizer":{"m":{"type":"simple_pattern","pattern":"a"}}}`:                                                                        "tokenizer [simple_pattern] is not supported",
	} {
		_, err := New(settingsOf([]byte(settings)))
		if got := errorOf(err); got != "400 illegal_argument_exception: "+want {
			t.Errorf("%s: %s, want %s", settings, got, want)
		}
	}
}

// TestNames: an index knows its own parts, and those of the server; its own come first.
func TestNames(t *testing.T) {
	a, err := FromSettings(map[string]string{
		"index.analysis.analyzer.mine.tokenizer": "whitespace", "analysis.analyzer.mine.filter": `["lowercase", "short"]`,
		"index.analysis.analyzer.mine.position_increment_gap": "7", "index.analysis.filter.short.type": "length", "index.analysis.filter.short.max": "3",
		"index.analysis.analyzer.default.type": "keyword", "index.analysis.normalizer.loud.filter": "uppercase",
		"index.number_of_shards": "1",
	})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, name := range []string{"mine", "default", "standard", "english", "nope"} {
		analyzer, ok := a.Analyzer(name)
		if !ok {
			fmt.Fprintf(&b, "%s: none\n", name)
			continue
		}
		fmt.Fprintf(&b, "%s %d:", name, analyzer.Gap())
		tokens, next := Continue(nil, analyzer, []byte("The Foxes run"), 10)
		for _, token := range tokens {
			fmt.Fprintf(&b, " %s@%d", token.Term, token.Position)
		}
		fmt.Fprintf(&b, ", next %d\n", next)
	}
	for _, name := range []string{"loud", "lowercase", "default", "nope"} {
		n, ok := a.Normalizer(name)
		if !ok {
			fmt.Fprintf(&b, "%s: none\n", name)
			continue
		}
		fmt.Fprintf(&b, "%s: %s\n", name, n.Normalize([]byte(">"), []byte("aBc ß")))
	}
	want := `mine 7: the@10 run@12, next 20
default 100: The Foxes run@10, next 111
standard 100: the@10 foxes@11 run@12, next 113
english 100: fox@11 run@12, next 113
nope: none
loud: >ABC ß
lowercase: >abc ß
default: >aBc ß
nope: none
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func readLines(t testing.TB, name string) [][]byte {
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(bytes.TrimSpace(data), []byte("\n"))
}

// settingsOfLine are the settings of a line of testdata/settings.jsonl, if it is one.
func settingsOfLine(line []byte) (map[string][]string, bool) {
	var d struct{ Analysis any }
	if json.Unmarshal(line, &d) != nil {
		return nil, false
	}
	all := map[string][]string{}
	flat(all, "index.analysis", d.Analysis)
	return all, true
}

func remarshal(from, to any) {
	data, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(data, to)
	}
	if err != nil {
		panic(err)
	}
}
