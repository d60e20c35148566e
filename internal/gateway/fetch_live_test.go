package gateway

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var liveWords = rapid.SampledFrom(strings.Fields(`fox Fox dog dog. quick brown, run runs the a of jump. Jumps! lazy don't 3.14 U.S.A. é日本 cat house, tree; Why? (yes) "no" e-mail x.y end.`))

func drawText(t *rapid.T, most int) string {
	return strings.Join(rapid.SliceOfN(liveWords, 1, most).Draw(t, "words"), " ")
}

// drawFound draws a query of words in texts.
func drawFound(t *rapid.T) string {
	field := rapid.SampledFrom([]string{"t", "t", "s"}).Draw(t, "field")
	one := rapid.SampledFrom([]string{"fox", "dog", "quick", "run", "the", "jump", "lazy", "3.14", "é"})
	a, b := one.Draw(t, "a"), one.Draw(t, "b")
	switch rapid.IntRange(0, 6).Draw(t, "query") {
	case 0, 1:
		return fmt.Sprintf(`{"match":{"%s":"%s %s"}}`, field, a, b)
	case 2:
		return fmt.Sprintf(`{"match_phrase":{"%s":{"query":"%s %s","slop":%d}}}`, field, a, b, rapid.SampledFrom([]int{0, 0, 2, 5}).Draw(t, "slop"))
	case 3:
		return fmt.Sprintf(`{"prefix":{"%s":"%s"}}`, field, string([]rune(a)[:1]))
	case 4:
		return fmt.Sprintf(`{"query_string":{"query":"%s OR %s:%s*"}}`, a, field, b)
	case 5:
		return fmt.Sprintf(`{"bool":{"should":[%s,%s],"must_not":{"term":{"%s":"zzz"}}}}`, drawFound(t), drawFound(t), field)
	}
	return fmt.Sprintf(`{"wildcard":{"%s":"*%s*"}}`, field, string([]rune(a)[1:]))
}

func drawHighlight(t *rapid.T) string {
	kind := rapid.SampledFrom([]string{`"type":"unified"`, `"type":"unified","boundary_scanner":"word"`, `"type":"plain"`, `"type":"plain","fragmenter":"simple"`}).Draw(t, "type")
	parts := []string{kind, fmt.Sprintf(`"number_of_fragments":%d`, rapid.SampledFrom([]int{0, 1, 2, 3, 5}).Draw(t, "number"))}
	for _, o := range []string{`"order":"score"`, `"no_match_size":10`, `"require_field_match":false`, `"encoder":"html"`} {
		if rapid.IntRange(0, 3).Draw(t, o) == 0 {
			parts = append(parts, o)
		}
	}
	parts = append(parts, fmt.Sprintf(`"fragment_size":%d`, rapid.SampledFrom([]int{0, 1, 10, 18, 50, 100, 300}).Draw(t, "size")))
	return `{` + strings.Join(parts, ",") + `,"fields":{"t":{},"s":{}}}`
}

// TestLiveHighlights asks a real server for the same fragments.
func TestLiveHighlights(tt *testing.T) {
	at, round := liveServer(tt), 0
	rapid.Check(tt, func(t *rapid.T) {
		round++
		index := fmt.Sprintf("gwh-%d-%d", os.Getpid(), round)
		ours := newServer(tt, Options{})
		defer func() { askReal(t, at, sent{"DELETE", "/" + index, "", ""}).Body.Close() }()
		both := func(s sent) (want, got map[string]any) {
			real, here := askReal(t, at, s), askOurs(ours, s)
			defer real.Body.Close()
			if err := json.NewDecoder(real.Body).Decode(&want); err != nil {
				t.Fatal(err)
			}
			if err := json.NewDecoder(here.Body).Decode(&got); err != nil {
				t.Fatal(err)
			}
			return want, got
		}
		both(sent{"PUT", "/" + index, applicationJSON, `{"settings":{"number_of_replicas":0},"mappings":{"properties":{"t":{"type":"text"},"s":{"type":"text","analyzer":"simple"}}}}`})
		texts, _ := json.Marshal([]string{drawText(t, 60), drawText(t, 30)})
		other, _ := json.Marshal(drawText(t, 80))
		both(sent{"PUT", "/" + index + "/_doc/1?refresh=true", applicationJSON, fmt.Sprintf(`{"t":%s,"s":%s}`, texts, other)})
		for range 4 {
			s := sent{"POST", "/" + index + "/_search?filter_path=hits.hits.highlight,error", applicationJSON,
				fmt.Sprintf(`{"query":%s,"highlight":%s}`, drawFound(t), drawHighlight(t))}
			if want, got := both(s); !reflect.DeepEqual(want, got) {
				t.Fatalf("%v\nof %s and %s\nOpenSearch: %v\nhere:       %v", s, texts, other, want, got)
			}
		}
	})
}
