package translate

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// private are settings that a server writes for itself and never takes: names, and prefixes
// that end with a dot.
var private = []string{"index.uuid", "index.creation_date", "index.creation_date_string", "index.provided_name", "index.version.", "index.resize.",
	"index.routing.allocation.initial_recovery.", "index.routing.allocation.include._tier_preference", "index.shrink.", "index.split.", "index.history.", "index.history_uuid",
	"index.replication.type", "index.remote_store.", "index.verified_before_close", "index.verified_read_only", "index.frozen", "index.search.throttled",
	"index.store.snapshot.", "index.searchable_snapshot.", "index.source_only", "index.xpack.", "index.rollup.", "index.downsample.", "index.context.",
	"index.legacy.", "index.gateway.", "index.lifecycle.indexing_complete"}

func startsWith(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return name == p || strings.HasSuffix(p, ".") && strings.HasPrefix(name, p) })
}

// setting is the value of a setting: a text, or a list of texts.
type setting struct {
	text string
	list []string // nil: a text
}

func (s setting) node() *node {
	if s.list != nil {
		return listNode(s.list)
	}
	return textNode(s.text)
}

func (s setting) texts() []string {
	if s.list != nil {
		return s.list
	}
	return []string{s.text}
}

func (s setting) String() string {
	if s.list != nil {
		return string(s.node().json())
	}
	return s.text
}

// asSetting reads a value as package snapshot gives it: lists are JSON.
func asSetting(value string) setting {
	if len(value) > 1 && value[0] == '[' && value[len(value)-1] == ']' {
		if n, err := parse([]byte(value)); err == nil && !slices.ContainsFunc(n.items, func(item *node) bool { return item.kind != token.String }) {
			return setting{list: n.texts()}
		}
	}
	return setting{text: value}
}

// flatten makes dotted names of settings that may be nested.
func flatten(into map[string]setting, prefix string, n *node) {
	for _, m := range n.members {
		name := prefix + m.key
		switch {
		case m.value.isObject():
			flatten(into, name+".", m.value)
		case m.value.isList():
			into[name] = setting{list: m.value.texts()}
		case m.value.kind != token.Null:
			into[name] = setting{text: m.value.text()}
		}
	}
}

// settings translates the settings of an index or template.
func (t *translation) settings(all map[string]setting) map[string]setting {
	for name := range all {
		if startsWith(name, private) || strings.HasPrefix(name, "index.store.") && searchable(all) {
			delete(all, name)
		}
	}
	if t.needs("numbered-list") {
		t.numbered(all)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !strings.HasPrefix(name, "index.analysis.") && !strings.HasPrefix(name, "index.similarity.") {
			t.setting(all, name)
		}
	}
	if !t.same {
		t.similarities(all)
		t.analysis(all)
		t.spans(all)
	}
	return all
}

// searchable tells whether the index lay in a repository.
func searchable(all map[string]setting) bool {
	kind := all["index.store.type"].text
	return kind == "remote_snapshot" || kind == "snapshot"
}

// numbered makes lists of settings whose names end with .0, .1 and so on.
func (t *translation) numbered(all map[string]setting) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list, first := strings.CutSuffix(name, ".0")
		if !first {
			continue
		}
		texts := []string{}
		for i := 0; ; i++ {
			item, ok := all[list+"."+strconv.Itoa(i)]
			if !ok {
				break
			}
			texts = append(texts, item.text)
			delete(all, list+"."+strconv.Itoa(i))
		}
		all[list] = setting{list: texts}
		t.tell("numbered-list", "settings."+list, "a list of "+strconv.Itoa(len(texts)))
	}
}

// dropped are the rules that leave out settings, by name or by prefix that ends with a dot.
var dropped = []struct {
	rule  string
	names []string
}{
	{"allocation", []string{"index.routing.", "index.data_path", "index.priority", "index.shard_limit.group", "index.unassigned.node_left.delayed_timeout"}},
	{"blocks", []string{"index.blocks."}},
	{"pipeline", []string{"index.default_pipeline", "index.final_pipeline"}},
	{"search-pipeline", []string{"index.search.default_pipeline"}},
	{"single-type", []string{"index.mapping.single_type"}},
	{"dynamic-types", []string{"index.mapper.dynamic"}},
	{"store-type", []string{"index.store."}},
	{"translog-retention", []string{"index.translog.retention."}},
	{"index-mode", []string{"index.mode", "index.routing_path", "index.time_series.", "index.logsdb.", "index.mapping.dimension_fields.limit", "index.dimensions", "index.dimensions_tsid_strategy_enabled"}},
	{"source-mode", []string{"index.mapping.source.mode", "index.recovery.use_synthetic_source", "index.mapping.synthetic_source.", "index.mapping.synthetic_source_keep", "index.derived_source."}},
	{"lifecycle", []string{"index.lifecycle.", "index.opendistro.", "index.plugins."}},
	{"index-sort", []string{"index.sort."}},
	{"knn-setting", []string{"index.knn", "index.knn."}},
	{"star-tree", []string{"index.composite_index", "index.composite_index."}},
	{"append-only", []string{"index.append_only."}},
}

// setting translates one setting that is neither of analysis nor of similarity.
func (t *translation) setting(all map[string]setting, name string) {
	value, where := all[name], "settings."+name
	drop := func(rule string) {
		delete(all, name)
		t.tell(rule, where, "left out: "+value.String())
	}
	for _, d := range dropped {
		if startsWith(name, d.names) && t.needs(d.rule) {
			drop(d.rule)
			return
		}
	}
	if t.same && name != "index.soft_deletes.enabled" {
		return
	}
	switch name {
	case "index.codec", "index.codec.compression_level":
		t.codec(all, name, value.text)
		return
	case "index.soft_deletes.enabled":
		if value.text == "false" && t.needs("soft-deletes") {
			drop("soft-deletes")
		}
		return
	case "index.shard.check_on_startup":
		if value.text == "fix" {
			drop("setting-unknown")
		}
		return
	case "index.query.default_field":
		if value.text == "_all" && t.needs("all-field") {
			drop("all-field")
			return
		}
	}
	switch {
	case t.to.knows(name):
		t.units(all, name, value.text)
	case strings.HasPrefix(name, "index.mapping.") && t.from.knows(name):
		drop("mapping-limit")
	default:
		drop("setting-unknown")
	}
}

// codec keeps the codecs that every target has. Those of zstd come with a plugin, and no
// version tells whether it is there.
func (t *translation) codec(all map[string]setting, name, value string) {
	switch value {
	case "default", "best_compression":
		return
	case "lz4", "zlib":
		if Servers("opensearch 2.10-, reshelve").Has(t.to) {
			return
		}
	}
	delete(all, name)
	if strings.HasPrefix(value, "z") {
		all[name] = setting{text: "best_compression"}
		t.tell("codec", "settings."+name, value+" becomes best_compression")
		return
	}
	t.tell("codec", "settings."+name, "left out: "+value)
}

// timed are settings of times that had no unit once.
var timed = []string{"index.refresh_interval", "index.gc_deletes", "index.translog.sync_interval", "index.search.slowlog.threshold.", "index.indexing.slowlog.threshold."}

// flags are the settings that are true or false.
var flags = []string{"index.auto_expand_replicas", "index.requests.cache.enable", "index.hidden", "index.mapping.coerce", "index.mapping.ignore_malformed", "index.warmer.enabled",
	"index.queries.cache.enabled", "index.merge.scheduler.auto_throttle", "index.query_string.lenient", "index.query.parse.allow_unmapped_fields", "index.compound_format",
	"index.load_fixed_bitset_filters_eagerly", "index.percolator.map_unmapped_fields_as_text"}

// units writes values as they must be from Elasticsearch 5 and 6 on.
func (t *translation) units(all map[string]setting, name, value string) {
	if number, err := strconv.Atoi(value); err == nil && number > 0 && startsWith(name, timed) && t.needs("bare-time") {
		all[name] = setting{text: value + "ms"}
		t.tell("bare-time", "settings."+name, value+" becomes "+value+"ms")
	}
	on, ok := lenient(value)
	if text := strconv.FormatBool(on); ok && text != value && slices.Contains(flags, name) && t.needs("lenient-boolean") {
		if _, err := strconv.ParseFloat(value, 64); err == nil && name == "index.compound_format" {
			return
		}
		all[name] = setting{text: text}
		t.tell("lenient-boolean", "settings."+name, value+" becomes "+text)
	}
}
