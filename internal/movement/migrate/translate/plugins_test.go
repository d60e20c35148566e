package translate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
)

// TestNeeds: what plugins bring is found by its place, and what an index defines itself, or every server has, is not.
func TestNeeds(t *testing.T) {
	for body, want := range map[string]string{
		`{"settings":{"index.codec":"zstd_no_dict"}}`:     "settings.index.codec zstd_no_dict opensearch-custom-codecs index.codec=best_compression",
		`{"settings":{"index.codec":"best_compression"}}`: "",
		`{"settings":{"index.knn":"true"}}`:               "settings.index.knn true opensearch-knn index.knn=null",
		`{"settings":{"index.analysis.analyzer.ja.type":"kuromoji"}}`: "settings.index.analysis.analyzer.ja.type kuromoji analysis-kuromoji " +
			"index.analysis.analyzer.ja.type=standard",
		`{"settings":{"index.analysis.analyzer.a.tokenizer":"icu_tokenizer","index.analysis.analyzer.a.filter":["lowercase","icu_folding"]}}`: "settings.index.analysis.analyzer.a.filter icu_folding analysis-icu " +
			`index.analysis.analyzer.a.filter=["lowercase"]; settings.index.analysis.analyzer.a.tokenizer icu_tokenizer analysis-icu index.analysis.analyzer.a.tokenizer=standard`,
		`{"settings":{"index.analysis.analyzer.a.filter":["phonetic"],"index.analysis.filter.phonetic.type":"lowercase"}}`: "",
		`{"settings":{"index.analysis.filter.p.type":"phonetic"}}`:                                                         "settings.index.analysis.filter.p.type phonetic analysis-phonetic index.analysis.filter.p.type=lowercase",
		`{"mappings":{"properties":{"a":{"type":"text","analyzer":"smartcn","fields":{"h":{"type":"murmur3"}}}},"_size":{"enabled":true}}}`: "mappings._size _size mapper-size ; " +
			"mappings.properties.a.analyzer smartcn analysis-smartcn ; mappings.properties.a.fields.h.type murmur3 mapper-murmur3 ",
		`{"mappings":{"properties":{"type":{"properties":{"v":{"type":"knn_vector"}}}}}}`:              "mappings.properties.type.properties.v.type knn_vector opensearch-knn ",
		`{"mappings":{"dynamic_templates":[{"s":{"match":"*","mapping":{"type":"annotated_text"}}}]}}`: "mappings.dynamic_templates.s.mapping.type annotated_text mapper-annotated-text ",
	} {
		needs, err := translate.Needs([]byte(body))
		var texts []string
		for _, n := range needs {
			texts = append(texts, fmt.Sprint(n.Where, " ", n.Value, " ", n.Plugin, " ", n.Instead))
		}
		if got := strings.Join(texts, "; "); err != nil || got != want {
			t.Errorf("%s: %s %v", body, got, err)
		}
	}
}

// TestUnsettable: what would keep documents out, or nobody can ask for, is refused, and the rest is the target's to judge.
func TestUnsettable(t *testing.T) {
	for name, refused := range map[string]bool{
		"index.uuid": true, "index.version.created": true, "index.blocks.write": true, "index.default_pipeline": true, "index.append_only.enabled": true,
		"index.codec": false, "index.number_of_shards": false, "index.routing.allocation.include.zone": false, "index.lifecycle.name": false, "index.hidden": false,
	} {
		if why := translate.Unsettable(name, "x"); (why != "") != refused {
			t.Errorf("%s: %q", name, why)
		}
	}
}
