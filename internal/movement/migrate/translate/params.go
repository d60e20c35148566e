package translate

import (
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// legacyParams makes of a field of Elasticsearch 1 to 5 what later versions mean by it.
func (t *translation) legacyParams(f *node, where string) {
	if t.needs("string-type") && (f.at("type").text() == "string" || f.at("type") == nil && f.at("properties") == nil && f.at("index") != nil) {
		t.stringType(f, where)
	}
	if !t.needs("index-word") {
		return
	}
	if index := f.at("index"); index != nil {
		switch index.text() {
		case "no":
			f.set("index", boolNode(false))
			t.tell("index-word", join(where, "index"), "no becomes false")
		case "analyzed", "not_analyzed":
			f.take("index")
			t.tell("index-word", join(where, "index"), index.text()+" is left out: the type says it")
		}
	}
	t.norms(f, where)
	if on, _ := lenient(f.at("omit_term_freq_and_positions").text()); on {
		f.set("index_options", textNode("docs"))
	}
	if f.at("index_analyzer") != nil {
		f.rename("index_analyzer", "analyzer")
		t.tell("index-analyzer", join(where, "index_analyzer"), "becomes analyzer")
	}
	if f.at("search_analyzer") != nil && f.at("analyzer") == nil && f.at("type").text() == "text" {
		f.set("analyzer", textNode("default"))
		t.tell("index-analyzer", join(where, "analyzer"), "default is added: search_analyzer needs it beside")
	}
	if f.at("position_offset_gap") != nil {
		f.rename("position_offset_gap", "position_increment_gap")
		t.tell("position-gap", join(where, "position_offset_gap"), "becomes position_increment_gap")
	}
	t.fielddata(f, where)
	t.geoPoint(f, where)
	t.dropParams(f, where, "obsolete-parameter-old", "omit_norms", "omit_term_freq_and_positions", "precision_step", "postings_format", "doc_values_format",
		"numeric_resolution", "round_ceil", "rounding", "fuzzy_factor", "fielddata_frequency_filter_format", "tokenized")
	t.dropParams(f, where, "index-name", "index_name")
	t.lenientParams(f, where, "index", "store", "doc_values", "coerce", "ignore_malformed", "eager_global_ordinals", "split_queries_on_whitespace", "index_phrases")
}

// stringType takes string apart into text and keyword.
func (t *translation) stringType(f *node, where string) {
	index := f.at("index").text()
	on, word := lenient(index)
	keyword := index == "not_analyzed" || index == "no" || word && !on
	typ := "text"
	if keyword {
		typ = "keyword"
	}
	f.set("type", textNode(typ))
	t.tell("string-type", join(where, "type"), "string becomes "+typ)
	if !keyword {
		t.dropParams(f, where, "text-parameter", "null_value", "ignore_above")
		t.dropParams(f, where, "obsolete-parameter-old", "doc_values")
		return
	}
	if (index == "no" || word) && f.at("doc_values") == nil {
		f.set("doc_values", boolNode(false))
	}
	t.dropParams(f, where, "obsolete-parameter-old", "analyzer", "index_analyzer", "search_analyzer", "search_quote_analyzer", "term_vector", "position_increment_gap",
		"position_offset_gap")
	if options := f.at("index_options").text(); options != "" && options != "docs" && options != "freqs" {
		t.dropParams(f, where, "obsolete-parameter-old", "index_options")
	}
}

// norms reads what was an object, or said the other way round.
func (t *translation) norms(f *node, where string) {
	typ := f.at("type").text()
	if omit, ok := lenient(f.at("omit_norms").text()); ok && f.at("norms") == nil {
		f.take("omit_norms")
		f.set("norms", boolNode(!omit))
		t.tell("norms", join(where, "norms"), "omit_norms becomes norms")
	}
	if norms := f.at("norms"); norms.isObject() {
		on, ok := lenient(norms.at("enabled").text())
		if ok {
			f.set("norms", boolNode(on))
		} else {
			f.take("norms")
		}
		t.tell("norms", join(where, "norms"), "becomes "+f.at("norms").text()+" of "+brief(norms))
	}
	t.lenientParams(f, where, "norms")
	if typ != "text" && typ != "keyword" {
		t.dropParams(f, where, "obsolete-parameter-old", "norms")
	}
}

// fielddata was an object with the format and the way of loading.
func (t *translation) fielddata(f *node, where string) {
	old := f.at("fielddata")
	if !old.isObject() {
		return
	}
	f.take("fielddata")
	t.tell("fielddata", join(where, "fielddata"), "left out: "+brief(old))
	typ := f.at("type").text()
	if old.at("loading").text() == "eager_global_ordinals" && (typ == "text" || typ == "keyword") {
		f.set("eager_global_ordinals", boolNode(true))
	}
}

// geoPoint has the parameters that Elasticsearch 5 took away.
func (t *translation) geoPoint(f *node, where string) {
	if f.at("type").text() != "geo_point" {
		return
	}
	if on, ok := lenient(f.at("validate").text()); ok && !on && f.at("ignore_malformed") == nil {
		f.set("ignore_malformed", boolNode(true))
	}
	t.dropParams(f, where, "geo-point", "lat_lon", "geohash", "geohash_precision", "geohash_prefix", "validate", "validate_lat", "validate_lon",
		"normalize", "normalize_lat", "normalize_lon", "coerce", "index", "fielddata")
}

// multiField makes of the type multi_field, and of path, what came after.
func (t *translation) multiField(f *node, where, path string) {
	if f.at("type").text() != "multi_field" || !t.needs("multi-field") {
		if f.at("fields") != nil {
			t.dropParams(f, where, "object-path", "path")
		}
		return
	}
	name := path[strings.LastIndexByte(path, '.')+1:]
	fields := f.take("fields")
	f.take("type")
	f.take("path")
	if fields.isObject() {
		if own := fields.take(name); own.isObject() {
			for _, m := range own.members {
				f.set(m.key, m.value)
			}
		}
		f.set("fields", fields)
	}
	if f.at("type") == nil {
		f.set("type", textNode("string"))
		if t.needs("string-type") {
			t.stringType(f, where)
		}
	}
	t.tell("multi-field", join(where, "type"), "multi_field becomes "+f.at("type").text()+" with fields")
}

// params translates the parameters of a field whose type is the target's.
func (t *translation) params(f *node, where string) {
	typ := f.at("type").text()
	if typ == "date" || typ == "date_nanos" || typ == "date_range" || strings.HasPrefix(typ, "{") {
		t.dates(f, where)
	}
	t.dropParams(f, where, "include-in-all", "include_in_all")
	t.dropParams(f, where, "time-series", "time_series_dimension", "time_series_metric", "time_series_dimensions")
	t.dropParams(f, where, "source-mode", "synthetic_source_keep")
	t.dropParams(f, where, "script", "script", "on_script_error")
	t.dropParams(f, where, "print-format", "print_format")
	t.dropParams(f, where, "opensearch-parameter", "skip_list", "use_similarity")
	if typ == "text" || typ == "keyword" || typ == "date" || typ == "boolean" || typ == "ip" || slices.Contains(numbers, typ) {
		t.dropParams(f, where, "boost", "boost")
	}
	if typ == "boolean" || typ == "keyword" {
		t.dropParams(f, where, "malformed", "ignore_malformed")
	}
	if typ == "geo_shape" {
		t.dropParams(f, where, "geo-shape", "tree", "tree_levels", "precision", "strategy", "distance_error_pct", "points_only")
	}
	if typ == "completion" {
		t.dropParams(f, where, "obsolete-parameter-old", "payloads", "context")
	}
	if similarity := f.at("similarity"); similarity != nil {
		switch similarity.text() {
		case "classic", "default", "TFIDF":
			if t.needs("similarity-classic") {
				f.take("similarity")
				t.tell("similarity-classic", join(where, "similarity"), similarity.text()+" is left out: BM25 scores")
			}
		}
	}
	for _, key := range []string{"analyzer", "search_analyzer", "search_quote_analyzer"} {
		if f.at(key) != nil {
			t.analyzerName(f, key, where)
		}
	}
}

var numbers = []string{"byte", "short", "integer", "long", "unsigned_long", "half_float", "float", "double", "scaled_float"}

// dates translates the format of a field of dates.
func (t *translation) dates(f *node, where string) {
	format := f.at("format")
	if format == nil || format.kind != token.String {
		return
	}
	if text, changed := t.dateFormat(format.text(), join(where, "format"), false); changed {
		f.set("format", textNode(text))
	}
}
