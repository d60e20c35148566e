package analysis

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/internal/testing/servers"
)

// liveServer is a real OpenSearch 2.19.0 with all its modules: that of RESHELVE_LIVE_AT,
// or one that the test starts.
func liveServer(t *testing.T) *servers.Server {
	t.Helper()
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts a real server")
	}
	if at := os.Getenv("RESHELVE_LIVE_AT"); at != "" {
		return &servers.Server{URL: at}
	}
	server, err := servers.Start(t.Context(), servers.OpenSearch("2.19.0").WithEverything(), servers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	return server
}

// told is a token as _analyze tells it.
type told struct {
	Token    string `json:"token"`
	Start    int    `json:"start_offset"`
	End      int    `json:"end_offset"`
	Type     string `json:"type"`
	Position int    `json:"position"`
	Length   int    `json:"positionLength,omitempty"`
}

// asServer asks the server; an error is told by its type and reason.
func asServer(t interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}, server *servers.Server, body map[string]any) ([]told, string) {
	request, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	status, answer, err := server.Do("POST", "/_analyze", request)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Tokens []told
		Error  struct{ Type, Reason string }
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		t.Fatalf("%d %s: %v", status, answer, err)
	}
	if status != 200 {
		return nil, got.Error.Type + ": " + got.Error.Reason
	}
	return got.Tokens, ""
}

// utf16At are the places of a text's bytes in UTF-16 units.
func utf16At(text string) []int {
	places := make([]int, len(text)+1)
	units := 0
	for i, r := range text {
		for j := range utf8.RuneLen(r) {
			places[i+j] = units
		}
		units += utf16Units(r)
	}
	places[len(text)] = units
	return places
}

func asOurs(a Analyzer, text string) []told {
	places := utf16At(text)
	var all []told
	for _, token := range a.Analyze(nil, []byte(text)) {
		length := token.Length
		if length == 1 {
			length = 0
		}
		all = append(all, told{string(token.Term), places[token.Start], places[token.End], token.Type, token.Position, length})
	}
	return all
}

// words of texts that are generated: code points of each class, and what people write.
var alphabets = []string{
	"aBz", "1٣９", "_\u203f", ".,:;'’·\"", " \t\n\u00a0", "אב׳״", "アｱー", "漢字々", "ひらゟ", "가나ᄀ", "ไทยัက",
	"\u0301\u00ad\u200d\ufe0f\ufe0e\u20e3", "😀❤👩👨💻🏳🌈", "🇩🇪🇫", "🏽🏿", "#*", "-+@/\\", "éÉßİıΣς", "𝒳𠀀😀", "ℹⓂ🅰",
}

func liveText(t *rapid.T) string {
	var b strings.Builder
	for range rapid.IntRange(0, 14).Draw(t, "pieces") {
		runes := []rune(rapid.SampledFrom(alphabets).Draw(t, "alphabet"))
		for range rapid.IntRange(1, 3).Draw(t, "length") {
			b.WriteRune(rapid.SampledFrom(runes).Draw(t, "rune"))
		}
	}
	return b.String()
}

// TestLiveBuiltin compares the built-in analyzers with the server's on generated texts.
func TestLiveBuiltin(t *testing.T) {
	server := liveServer(t)
	ours, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name := range builtin {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				text := liveText(t)
				if _, isLanguage := languageKinds()[name]; isLanguage {
					text = basicPlane(text)
				}
				want, refused := asServer(t, server, map[string]any{"analyzer": name, "text": text})
				if refused != "" {
					t.Fatal(refused)
				}
				a, _ := ours.Analyzer(name)
				if got := asOurs(a, text); fmt.Sprint(got) != fmt.Sprint(want) && !reflect.DeepEqual(got, want) {
					t.Fatalf("%q (%+q)\n got %v\nwant %v", text, text, got, want)
				}
			})
		})
	}
}

// TestLiveAnswers asks a real server again for what testdata holds.
func TestLiveAnswers(t *testing.T) {
	server := liveServer(t)
	var out bytes.Buffer
	for _, body := range bodies() {
		data, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		want := answer{Body: data}
		want.Tokens, want.Error = asServer(t, server, body)
		line, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(line, '\n'))
	}
	hold(t, "testdata/answers.jsonl", out.Bytes())
}

// TestLiveChains compares chains of parts, with generated options, on generated texts.
func TestLiveChains(t *testing.T) {
	server := liveServer(t)
	rapid.Check(t, func(t *rapid.T) {
		body := map[string]any{"tokenizer": rapid.SampledFrom(tokenizerCases).Draw(t, "tokenizer")}
		if rapid.Bool().Draw(t, "words") {
			body["tokenizer"] = rapid.SampledFrom([]any{"standard", "whitespace"}).Draw(t, "splitter")
		}
		filters := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "filters") {
			filters = append(filters, rapid.OneOf(rapid.Custom(someFilter), rapid.Custom(someDelimiter), rapid.Custom(someSynonyms)).Draw(t, "filter"))
		}
		body["filter"] = filters
		if rapid.IntRange(0, 3).Draw(t, "rewritten") == 0 {
			body["char_filter"] = rapid.SampledFrom(charFilterCases).Draw(t, "char filter")
		}
		body["text"] = []string{someText(t), someText(t)}
		compare(t, server, body)
	})
}

func compare(t *rapid.T, server *servers.Server, body map[string]any) {
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	got, want := answerOf(data), answer{}
	if strings.HasSuffix(got.Error, "is not supported") || strings.HasSuffix(got.Error, "are not supported") {
		return
	}
	want.Tokens, want.Error = asServer(t, server, body)
	if strings.Contains(want.Error, "startOffset must be non-negative") {
		return // the server fails where a filter before has mixed up the places
	}
	if got.Error != "" && want.Error != "" {
		return // of several errors the server tells that of its first step
	}
	if got.says() != want.says() {
		t.Fatalf("%s\n%s\nall %s", data, difference(got.says(), want.says()), want.says())
	}
}

func someText(t *rapid.T) string {
	if rapid.IntRange(0, 4).Draw(t, "any") == 0 {
		return basicPlane(liveText(t))
	}
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "the", "The", "of", "x", "Wi-Fi", "fox's", "PowerShot", "SD500", "2-3", "l'avion",
		"running", "RUNNING", "quick,", "é", "aa", "_x_", "10.5", "a_b-c", "O'Neil's", "J2SE", "XMLHttp2", "--", "'s"}), 0, 8).Draw(t, "words")
	return strings.Join(words, rapid.SampledFrom([]string{" ", " ", "  ", "-", "/"}).Draw(t, "between"))
}

// basicPlane leaves out what is two UTF-16 units, with which stemmers and patterns of the
// server go by halves: see doc.go.
func basicPlane(text string) string {
	return strings.Map(func(r rune) rune {
		if r > 0xffff {
			return -1
		}
		return r
	}, text)
}

func someFilter(t *rapid.T) any {
	f := rapid.SampledFrom(rapid.SampledFrom(filterCases).Draw(t, "case")).Draw(t, "filter")
	if strings.Contains(fmt.Sprint(f), "limit") || strings.Contains(fmt.Sprint(f), "truncate") {
		return "lowercase" // where a text ends when it is not read to its end depends on the tokenizer
	}
	return f
}

func someDelimiter(t *rapid.T) any {
	f := object{"type": rapid.SampledFrom([]string{"word_delimiter_graph", "word_delimiter"}).Draw(t, "type")}
	for _, option := range []string{"generate_word_parts", "generate_number_parts", "catenate_words", "catenate_numbers", "catenate_all",
		"preserve_original", "split_on_case_change", "split_on_numerics", "stem_english_possessive", "adjust_offsets", "ignore_keywords"} {
		if rapid.IntRange(0, 3).Draw(t, option) == 0 {
			f[option] = rapid.Bool().Draw(t, "value")
		}
	}
	return f
}

func someSynonyms(t *rapid.T) any {
	word := rapid.SampledFrom([]string{"a", "b", "c", "d", "x", "the"})
	side := rapid.Custom(func(t *rapid.T) string {
		var items []string
		for range rapid.IntRange(1, 3).Draw(t, "items") {
			items = append(items, strings.Join(rapid.SliceOfN(word, 1, 3).Draw(t, "words"), " "))
		}
		return strings.Join(items, ", ")
	})
	var rules []any
	for range rapid.IntRange(1, 3).Draw(t, "rules") {
		rule := side.Draw(t, "left")
		if rapid.Bool().Draw(t, "explicit") {
			rule += " => " + side.Draw(t, "right")
		}
		rules = append(rules, rule)
	}
	return object{"type": rapid.SampledFrom([]string{"synonym", "synonym_graph"}).Draw(t, "type"), "synonyms": rules,
		"expand": rapid.Bool().Draw(t, "expand"), "lenient": rapid.Bool().Draw(t, "lenient")}
}

// TestLiveClassic compares the classic tokenizer on what it takes for words.
func TestLiveClassic(t *testing.T) {
	server := liveServer(t)
	pieces := []string{"a", "b", "U", "1", "2x", "x2", "é", "ก", "ั", "ก1", "漢", "ア", "가", "_", "-", "/", ".", ",", "'", "&", "@", " ",
		"a.b", "x@y", "com", "😀", "a1", "٣", "+", ".", ".", "@", "-"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 14).Draw(t, "pieces"), "")
		var tokenizer any = "classic"
		if rapid.IntRange(0, 4).Draw(t, "short") == 0 {
			tokenizer = object{"type": "classic", "max_token_length": rapid.IntRange(1, 4).Draw(t, "length")}
		}
		filter := rapid.SampledFrom([]string{"classic", "lowercase"}).Draw(t, "filter")
		compare(t, server, map[string]any{"tokenizer": tokenizer, "text": []string{text, "x"}, "filter": []any{filter}})
	})
}

// TestLiveHTML compares html_strip on generated markup.
func TestLiveHTML(t *testing.T) {
	server := liveServer(t)
	pieces := []string{"<b>", "</b>", "<p>", "</p >", "<br/>", "a", "b c", " ", "&amp;", "&lt;", "&eacute", "&#65;", "&#x1F600;", "&nope;", "&",
		"<!-- c -->", "<!--", "-->", "<a href=\"x>y\">", "<a b='c' d=e>", "<div class=\"f\">", "<script>", "</script>", "<style>x</style>", "<!DOCTYPE html>",
		"<?xml x?>", "<![CDATA[", "]]>", "é", "1 < 2", "<x:y z>", "\n", "<td/>", "&nbsp;", "<", ">", "\"", "=", "/", "<i ", "x=\"", "--", "&#", ";", "<!", "?"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(t, "pieces"), "")
		tokenizer := rapid.SampledFrom([]string{"standard", "keyword", "whitespace"}).Draw(t, "tokenizer")
		compare(t, server, map[string]any{"tokenizer": tokenizer, "char_filter": []string{"html_strip"}, "text": text})
	})
}

// TestLiveDefinitions asks a real server again what testdata says of definitions.
func TestLiveDefinitions(t *testing.T) {
	server := liveServer(t)
	var out bytes.Buffer
	for _, text := range definitions {
		body := fmt.Sprintf(`{"settings":{"number_of_shards":1,"number_of_replicas":0,"analysis":%s}}`, text)
		status, answer, err := server.Do("PUT", "/analysis-definitions", []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Error struct{ Type, Reason string }
		}
		if err := json.Unmarshal(answer, &got); err != nil {
			t.Fatal(err)
		}
		d := definition{Analysis: json.RawMessage(text)}
		if status != 200 {
			d.Error = fmt.Sprintf("%d %s: %s", status, got.Error.Type, got.Error.Reason)
		}
		if _, _, err := server.Do("DELETE", "/analysis-definitions", nil); err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(line, '\n'))
	}
	hold(t, "testdata/settings.jsonl", out.Bytes())
}

// hold writes a file of testdata when that is asked for, and else compares with it.
func hold(t *testing.T, name string, data []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	was, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(was, data) {
		t.Errorf("the server answers otherwise than %s says", name)
	}
}
