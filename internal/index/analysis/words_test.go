package analysis

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// wordsOf is a line of testdata/words.jsonl: a filter, words, and the terms that
// OpenSearch 2.19.0 makes of them. The words were chosen out of some 20,000 of each
// language, and as many made of beginnings and endings, so that each change of letters
// that these showed is there.
type wordsOf struct {
	Filter json.RawMessage `json:"filter"`
	Words  string          `json:"words"`
	Terms  string          `json:"terms"`
}

func (w wordsOf) body() map[string]any {
	return map[string]any{"tokenizer": object{"type": "char_group", "tokenize_on_chars": []string{" "}}, "filter": []any{w.Filter}, "text": w.Words}
}

// difference tells the words that got other terms.
func (w wordsOf) difference(terms []told) []string {
	var all []string
	words, want := strings.Fields(w.Words), strings.Split(w.Terms, " ")
	if len(words) != len(want) || len(terms) != len(want) {
		return []string{fmt.Sprintf("%d words, %d terms, and %d of the test", len(words), len(terms), len(want))}
	}
	for i, term := range terms {
		if term.Token != want[i] {
			all = append(all, words[i]+": "+term.Token+", want "+want[i])
		}
	}
	return all
}

func readWords(t testing.TB) []wordsOf {
	t.Helper()
	var all []wordsOf
	for _, line := range readLines(t, "testdata/words.jsonl") {
		var w wordsOf
		if err := json.Unmarshal(line, &w); err != nil {
			t.Fatal(err)
		}
		all = append(all, w)
	}
	return all
}

func TestWords(t *testing.T) {
	for _, w := range readWords(t) {
		body, err := json.Marshal(w.body())
		if err != nil {
			t.Fatal(err)
		}
		for _, wrong := range w.difference(answerOf(body).Tokens) {
			t.Errorf("%s %s", w.Filter, wrong)
		}
	}
}

// TestTogether: texts that are taken apart at the same time get the tokens that they get alone.
func TestTogether(t *testing.T) {
	all, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name := range builtin {
		text := []byte(texts[name] + " " + texts["odd"] + texts["plain"])
		a, _ := all.Analyzer(name)
		got := make([]string, 4)
		var done sync.WaitGroup
		for i := range got {
			done.Go(func() {
				for range 3 {
					got[i] = fmt.Sprint(a.Analyze(nil, text))
				}
			})
		}
		done.Wait()
		want := fmt.Sprint(a.Analyze(nil, text))
		for _, other := range got {
			if other != want {
				t.Errorf("%s: %s, want %s", name, other, want)
			}
		}
	}
}

// TestLiveWords asks a real server again for what testdata holds.
func TestLiveWords(t *testing.T) {
	server := liveServer(t)
	for _, w := range readWords(t) {
		got, refused := asServer(t, server, w.body())
		if wrong := w.difference(got); refused != "" || len(wrong) > 0 {
			t.Errorf("%s %s %s", w.Filter, refused, wrong)
		}
	}
}

// stopCounts are how many words the server's lists have.
var stopCounts = map[string]int{
	"_english_": 33, "_indonesian_": 355, "_lithuanian_": 125, "_german_": 231, "_irish_": 109, "_russian_": 159,
	"_thai_": 115, "_catalan_": 218, "_dutch_": 101, "_galician_": 160, "_italian_": 279, "_sorani_": 62, "_spanish_": 308,
	"_estonian_": 1470, "_finnish_": 229, "_persian_": 308, "_portuguese_": 203, "_armenian_": 45, "_danish_": 94,
	"_hindi_": 225, "_norwegian_": 172, "_arabic_": 119, "_basque_": 98, "_bulgarian_": 190, "_czech_": 171, "_french_": 154,
	"_greek_": 75, "_hungarian_": 198, "_romanian_": 230, "_swedish_": 114, "_turkish_": 209, "_bengali_": 116,
	"_brazilian_": 126, "_latvian_": 161, "_none_": 0,
}

func TestStopLists(t *testing.T) {
	for name, list := range stopLists {
		if got := len(wordSet(list())); got != stopCounts[name] {
			t.Errorf("%s has %d words, want %d", name, got, stopCounts[name])
		}
	}
}

// TestLiveStopLists: of the words of all lists, the server removes those that its list of a
// name has.
func TestLiveStopLists(t *testing.T) {
	server := liveServer(t)
	union := map[string]bool{}
	for _, list := range stopLists {
		for _, word := range list() {
			union[word] = true
		}
	}
	var words []string
	for word := range union {
		words = append(words, word)
	}
	slices.Sort(words)
	for name, list := range stopLists {
		kept := map[string]bool{}
		for chunk := range slices.Chunk(words, 5000) {
			got, refused := asServer(t, server, map[string]any{"tokenizer": "whitespace", "text": strings.Join(chunk, " "),
				"filter": []any{object{"type": "stop", "stopwords": name}}})
			if refused != "" {
				t.Fatal(refused)
			}
			for _, token := range got {
				kept[token.Token] = true
			}
		}
		ours := wordSet(list())
		for _, word := range words {
			if ours[word] == kept[word] {
				t.Errorf("%s %q: kept by the server %v", name, word, kept[word])
			}
		}
	}
}

// TestLiveStemExclusion: language analyzers keep their stemmers off the words that settings
// name, and take the stop words of settings for their own.
func TestLiveStemExclusion(t *testing.T) {
	server := liveServer(t)
	const index = "reshelve-analysis"
	byLanguage := map[string][]string{}
	for _, w := range readWords(t) {
		var filter struct{ Language string }
		if json.Unmarshal(w.Filter, &filter) == nil {
			byLanguage[strings.ToLower(filter.Language)] = strings.Fields(w.Words)
		}
	}
	for name := range languageKinds() {
		words := byLanguage[name]
		if len(words) == 0 || languageKinds()[name] == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			words = append(words[:min(200, len(words))], stopLists["_"+name+"_"]()...)
			var few []string
			for i := 0; i < len(words); i += 5 {
				few = append(few, words[i])
			}
			settings := map[string][]string{"index.analysis.analyzer.a.type": {name}, "index.analysis.analyzer.a.stem_exclusion": few,
				"index.analysis.analyzer.b.type": {name}, "index.analysis.analyzer.b.stopwords": few}
			ours, err := New(settings)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := json.Marshal(object{"settings": object{"analysis": object{"analyzer": object{
				"a": object{"type": name, "stem_exclusion": few}, "b": object{"type": name, "stopwords": few}}}}})
			_, _, _ = server.Do("DELETE", "/"+index, nil)
			if status, answer, err := server.Do("PUT", "/"+index, body); err != nil || status != 200 {
				t.Fatal(status, string(answer), err)
			}
			text := strings.Join(words, " ")
			for _, analyzer := range []string{"a", "b"} {
				question, _ := json.Marshal(object{"analyzer": analyzer, "text": text})
				status, answer, err := server.Do("POST", "/"+index+"/_analyze", question)
				var want struct{ Tokens []told }
				if err != nil || status != 200 || json.Unmarshal(answer, &want) != nil {
					t.Fatal(status, string(answer), err)
				}
				a, _ := ours.Analyzer(analyzer)
				if got := fmt.Sprint(asOurs(a, text)); got != fmt.Sprint(want.Tokens) {
					t.Error(analyzer, difference(got, fmt.Sprint(want.Tokens)))
				}
			}
		})
	}
	_, _, _ = server.Do("DELETE", "/"+index, nil)
}
