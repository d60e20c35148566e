package translate

import (
	"encoding/json"
	"slices"
	"strings"
)

// Need is a part of the settings or the mapping of an index for which a server needs a plugin.
type Need struct {
	Where  string // "settings.index.codec"
	Value  string // "zstd"
	Plugin string // as servers name it: "opensearch-custom-codecs"
	// Instead is a setting without that need, such as "index.codec=best_compression"; "": there is none.
	Instead string
}

// plugged are the names that each plugin provides, by kind of part, as the documentation of both
// products has them.
var plugged = map[string][]struct{ plugin, names string }{
	"codec": {{"opensearch-custom-codecs", "zstd zstd_no_dict qat_lz4 qat_deflate qat_zstd"}},
	"analyzer": {
		{"analysis-icu", "icu_analyzer"}, {"analysis-kuromoji", "kuromoji kuromoji_completion"}, {"analysis-nori", "nori"},
		{"analysis-smartcn", "smartcn"}, {"analysis-stempel", "polish"}, {"analysis-ukrainian", "ukrainian"},
		{"analysis-phonenumber", "phone phone-search phone-email"}, {"analysis-ik", "ik_smart ik_max_word"}, {"analysis-pinyin", "pinyin"},
	},
	"tokenizer": {
		{"analysis-icu", "icu_tokenizer"}, {"analysis-kuromoji", "kuromoji_tokenizer"}, {"analysis-nori", "nori_tokenizer"},
		{"analysis-smartcn", "smartcn_tokenizer smartcn_sentence"}, {"analysis-ik", "ik_smart ik_max_word"}, {"analysis-pinyin", "pinyin"},
	},
	"filter": {
		{"analysis-icu", "icu_normalizer icu_folding icu_collation icu_transform"},
		{"analysis-kuromoji", "kuromoji_baseform kuromoji_part_of_speech kuromoji_readingform kuromoji_stemmer kuromoji_number kuromoji_completion ja_stop hiragana_uppercase katakana_uppercase"},
		{"analysis-nori", "nori_part_of_speech nori_readingform nori_number"}, {"analysis-phonetic", "phonetic"},
		{"analysis-smartcn", "smartcn_stop smartcn_word"}, {"analysis-stempel", "polish_stem polish_stop"},
		{"analysis-ukrainian", "ukrainian_stem"}, {"analysis-pinyin", "pinyin"},
	},
	"char_filter": {{"analysis-icu", "icu_normalizer"}, {"analysis-kuromoji", "kuromoji_iteration_mark"}},
	"type": {
		{"analysis-icu", "icu_collation_keyword"}, {"mapper-murmur3", "murmur3"}, {"mapper-annotated-text", "annotated_text"},
		{"opensearch-knn", "knn_vector"}, {"opensearch-neural-search", "semantic"}, {"opensearch-geospatial", "xy_point xy_shape"},
	},
	"root": {{"mapper-size", "_size"}},
}

// pluginOf is the plugin that provides a part; "": servers have it built in, or no plugin here is known to.
func pluginOf(kind, name string) string {
	for _, p := range plugged[kind] {
		if slices.Contains(strings.Fields(p.names), name) {
			return p.plugin
		}
	}
	return ""
}

// Needs are the parts of a body that makes an index for which a server needs a plugin, in the order
// of their places.
func Needs(body json.RawMessage) ([]Need, error) {
	root, err := parse(body)
	if err != nil {
		return nil, err
	}
	n := needing{all: map[string]setting{}}
	if settings := root.at("settings"); settings.isObject() {
		flatten(n.all, "", settings)
	}
	n.settings()
	if mapping := root.at("mappings"); mapping.isObject() {
		if mapping.at("_size") != nil {
			n.need("root", "_size", "mappings._size", "")
		}
		n.fields(mapping, "mappings", 0)
		if list := mapping.at("dynamic_templates"); list.isList() {
			for _, item := range list.items {
				if item.isObject() && len(item.members) == 1 && item.members[0].value.at("mapping").isObject() {
					n.field(item.members[0].value.at("mapping"), "mappings.dynamic_templates."+item.members[0].key+".mapping", 0)
				}
			}
		}
	}
	slices.SortStableFunc(n.needs, func(a, b Need) int { return strings.Compare(a.Where, b.Where) })
	return n.needs, nil
}

// needing collects the needs of a body, all of whose settings are in all.
type needing struct {
	all   map[string]setting
	needs []Need
}

func (n *needing) need(kind, name, where, instead string) {
	if plugin := pluginOf(kind, name); plugin != "" {
		n.needs = append(n.needs, Need{where, name, plugin, instead})
	}
}

// replacing are parts that every server has built in, without options, to use in the place of those of plugins.
var replacing = map[string]string{"analyzer": "standard", "tokenizer": "standard", "filter": "lowercase"}

func (n *needing) settings() {
	for name, value := range n.all {
		where := "settings." + name
		if name == "index.codec" {
			n.need("codec", value.text, where, "index.codec=best_compression")
		}
		if name == "index.knn" || strings.HasPrefix(name, "index.knn.") {
			n.needs = append(n.needs, Need{where, value.String(), "opensearch-knn", name + "=null"})
		}
		group, _, option, ok := analysisName(name)
		if !ok {
			continue
		}
		switch option {
		case "type":
			instead := ""
			if other := replacing[group]; other != "" {
				instead = name + "=" + other
			}
			n.need(group, value.text, where, instead)
		case "tokenizer", "filter", "char_filter":
			n.chain(group, option, name, value)
		}
	}
}

// chain adds the needs of the parts that an analyzer names. A part that the index defines itself has a type, which settings
// checks.
func (n *needing) chain(group, option, name string, value setting) {
	if group != "analyzer" && group != "normalizer" && group != "filter" {
		return
	}
	var kept, lacking []string
	for _, text := range value.texts() {
		if !n.defines(option, text) && pluginOf(option, text) != "" {
			lacking = append(lacking, text)
		} else {
			kept = append(kept, text)
		}
	}
	instead := name + "=standard"
	if option != "tokenizer" {
		list, _ := json.Marshal(append([]string{}, kept...)) // strings
		instead = name + "=" + string(list)
	}
	for _, text := range lacking {
		n.need(option, text, "settings."+name, instead)
	}
}

// defines reports whether the index defines a part of that name itself.
func (n *needing) defines(group, name string) bool {
	prefix := "index.analysis." + group + "." + name + "."
	for other := range n.all {
		if strings.HasPrefix(other, prefix) {
			return true
		}
	}
	return false
}

func (n *needing) fields(object *node, where string, depth int) {
	for _, list := range []string{"properties", "fields"} {
		fields := object.at(list)
		if !fields.isObject() || depth > deepest {
			continue
		}
		for _, m := range fields.members {
			if m.value.isObject() {
				n.field(m.value, where+"."+list+"."+m.key, depth+1)
			}
		}
	}
}

func (n *needing) field(f *node, where string, depth int) {
	n.need("type", f.at("type").text(), where+".type", "")
	for _, key := range []string{"analyzer", "search_analyzer", "search_quote_analyzer"} {
		if name := f.at(key).text(); name != "" && !n.defines("analyzer", name) {
			n.need("analyzer", name, where+"."+key, "")
		}
	}
	n.fields(f, where, depth)
}
