package translate

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Names of analysis that were given others.
var (
	tokenizerNames  = map[string]string{"nGram": "ngram", "edgeNGram": "edge_ngram", "PathHierarchy": "path_hierarchy"}
	filterNames     = map[string]string{"nGram": "ngram", "edgeNGram": "edge_ngram", "delimited_payload_filter": "delimited_payload"}
	charFilterNames = map[string]string{"htmlStrip": "html_strip"}
)

// parts are what reshelve lacks of the analysis of OpenSearch 2.19, with what comes nearest.
var nearest = map[string]string{"tokenizer.uax_url_email": "standard", "tokenizer.thai": "standard", "analyzer.thai": "standard"}

const stripAnalyzer = "standard_html_strip"

// analysis translates the settings of analysis.
func (t *translation) analysis(all map[string]setting) {
	defined := map[string]bool{} // "tokenizer.NAME"
	for name := range all {
		if group, part, _, ok := analysisName(name); ok {
			defined[group+"."+part] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		group, part, option, ok := analysisName(name)
		if _, there := all[name]; !ok || !there {
			continue
		}
		switch option {
		case "type":
			t.partType(all, name, group, part)
		case "tokenizer", "ignore_case":
			if group == "analyzer" && option == "tokenizer" {
				t.partNames(all, name, option, defined)
			}
			if group == "filter" && t.needs("synonym-option") && strings.HasPrefix(all["index.analysis.filter."+part+".type"].text, "synonym") {
				t.tell("synonym-option", "settings."+name, "left out: "+all[name].String())
				delete(all, name)
			}
		case "filter", "char_filter":
			if group == "analyzer" || group == "normalizer" || option == "filter" && group == "filter" {
				t.partNames(all, name, option, defined)
			}
		case "position_offset_gap":
			if t.needs("position-gap") {
				all["index.analysis."+group+"."+part+".position_increment_gap"] = all[name]
				delete(all, name)
				t.tell("position-gap", "settings."+name, "becomes position_increment_gap")
			}
		}
	}
}

// spans raises the limits on how far the lengths of n-grams and shingles may be apart.
func (t *translation) spans(all map[string]setting) {
	if !t.needs("ngram-span") {
		return
	}
	for _, kind := range []struct {
		typ, low, high, limit      string
		lowest, highest, allowance int
	}{
		{"ngram", "min_gram", "max_gram", "index.max_ngram_diff", 1, 2, 1},
		{"shingle", "min_shingle_size", "max_shingle_size", "index.max_shingle_diff", 2, 2, 3},
	} {
		most := kind.allowance
		for name, value := range all {
			group, part, option, ok := analysisName(name)
			if !ok || option != "type" || value.text != kind.typ || group != "tokenizer" && group != "filter" {
				continue
			}
			prefix := "index.analysis." + group + "." + part + "."
			most = max(most, number(all[prefix+kind.high], kind.highest)-number(all[prefix+kind.low], kind.lowest))
		}
		if most > number(all[kind.limit], kind.allowance) {
			all[kind.limit] = setting{text: strconv.Itoa(most)}
			t.tell("ngram-span", "settings."+kind.limit, "becomes "+strconv.Itoa(most))
		}
	}
}

func number(s setting, fallback int) int {
	if n, err := strconv.Atoi(s.text); err == nil {
		return n
	}
	return fallback
}

// analysisName takes "index.analysis.GROUP.NAME.OPTION" apart.
func analysisName(name string) (group, part, option string, ok bool) {
	rest, ok := strings.CutPrefix(name, "index.analysis.")
	group, rest, _ = strings.Cut(rest, ".")
	i := strings.LastIndexByte(rest, '.')
	if !ok || i < 0 {
		return "", "", "", false
	}
	return group, rest[:i], rest[i+1:], true
}

// partType translates the type of a part that the index defines.
func (t *translation) partType(all map[string]setting, name, group, part string) {
	typ, where := all[name].text, "settings."+name
	prefix := "index.analysis." + group + "." + part + "."
	if renamed, ok := renames(group)[typ]; ok && t.needs("analysis-name") {
		all[name] = setting{text: renamed}
		t.tell("analysis-name", where, typ+" becomes "+renamed)
		return
	}
	switch {
	case group == "filter" && typ == "standard" && t.needs("standard-filter"):
		for other := range all {
			if strings.HasPrefix(other, prefix) {
				delete(all, other)
			}
		}
		t.tell("standard-filter", where, "left out: it did nothing")
	case group == "analyzer" && typ == stripAnalyzer && t.needs("standard-html-strip"):
		t.strip(all, prefix)
		t.tell("standard-html-strip", where, "becomes a custom analyzer that does the same")
	case nearest[group+"."+typ] != "" && t.needs("analysis-unsupported"):
		all[name] = setting{text: nearest[group+"."+typ]}
		t.tell("analysis-unsupported", where, typ+" becomes "+all[name].text)
	}
}

// strip defines what standard_html_strip was.
func (t *translation) strip(all map[string]setting, prefix string) {
	filters := []string{"lowercase"}
	if words, ok := all[prefix+"stopwords"]; ok {
		filter := strings.TrimSuffix(strings.ReplaceAll(strings.TrimPrefix(prefix, "index.analysis.analyzer."), ".", "_"), "_") + "_stop"
		all["index.analysis.filter."+filter+".type"] = setting{text: "stop"}
		all["index.analysis.filter."+filter+".stopwords"] = words
		delete(all, prefix+"stopwords")
		filters = append(filters, filter)
	}
	all[prefix+"type"] = setting{text: "custom"}
	all[prefix+"tokenizer"] = setting{text: "standard"}
	all[prefix+"char_filter"] = setting{list: []string{"html_strip"}}
	all[prefix+"filter"] = setting{list: filters}
}

func renames(group string) map[string]string {
	switch group {
	case "tokenizer":
		return tokenizerNames
	case "filter":
		return filterNames
	case "char_filter":
		return charFilterNames
	}
	return nil
}

// partNames translates names of parts that are built in and used by an analyzer.
func (t *translation) partNames(all map[string]setting, name, group string, defined map[string]bool) {
	value, where := all[name], "settings."+name
	texts := slices.Clone(value.texts())
	if value.list == nil && strings.Contains(value.text, ",") {
		texts = strings.Split(strings.ReplaceAll(value.text, " ", ""), ",")
	}
	out, changed := make([]string, 0, len(texts)), false
	for _, text := range texts {
		renamed, ok := renames(group)[text]
		own := defined[group+"."+text]
		typ := text
		if own {
			typ = all["index.analysis."+group+"."+text+".type"].text
		}
		switch {
		case group == "filter" && (typ == "standard" || typ == "") && t.needs("standard-filter"):
			changed = true
			t.tell("standard-filter", where, text+" is left out: it did nothing")
			continue
		case own:
		case ok && t.needs("analysis-name"):
			changed = true
			t.tell("analysis-name", where, text+" becomes "+renamed)
			text = renamed
		case nearest[group+"."+text] != "" && t.needs("analysis-unsupported"):
			changed = true
			t.tell("analysis-unsupported", where, text+" becomes "+nearest[group+"."+text])
			text = nearest[group+"."+text]
		}
		out = append(out, text)
	}
	switch {
	case !changed:
	case group == "tokenizer":
		all[name] = setting{text: out[0]}
	default:
		all[name] = setting{list: out}
	}
}

// analyzerName translates the name of a built-in analyzer that a field uses.
func (t *translation) analyzerName(n *node, key, where string) {
	switch name := n.at(key).text(); {
	case name == stripAnalyzer && t.needs("standard-html-strip"):
		t.stripped = true
	case nearest["analyzer."+name] != "" && t.needs("analysis-unsupported"):
		n.set(key, textNode(nearest["analyzer."+name]))
		t.tell("analysis-unsupported", where+"."+key, name+" becomes "+nearest["analyzer."+name])
	}
}

// similarities translates the similarities that the index defines.
func (t *translation) similarities(all map[string]setting) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		part, ok := strings.CutPrefix(name, "index.similarity.")
		if !ok {
			continue
		}
		part, option, _ := strings.Cut(part, ".")
		model := all["index.similarity."+part+".basic_model"].text
		switch typ := all[name].text; {
		case option != "type":
		case (typ == "classic" || typ == "default" || typ == "TFIDF") && t.needs("similarity-classic"):
			t.toBM25(all, part)
			t.tell("similarity-classic", "settings."+name, typ+" becomes BM25")
		case typ == "DFR" && (model == "be" || model == "d" || model == "p" || all["index.similarity."+part+".after_effect"].text == "no") && t.needs("similarity-dfr"):
			t.toBM25(all, part)
			t.tell("similarity-dfr", "settings."+name, "DFR becomes BM25")
		}
	}
}

func (t *translation) toBM25(all map[string]setting, part string) {
	for name := range all {
		if strings.HasPrefix(name, "index.similarity."+part+".") {
			delete(all, name)
		}
	}
	all["index.similarity."+part+".type"] = setting{text: "BM25"}
}
