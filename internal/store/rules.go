package store

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// rules are the settings of an index that requests need, read once.
type rules struct {
	limits     mapping.Limits
	partitions int
	interval   time.Duration // of refreshes; negative: only when asked
	tombstones time.Duration // how long deletes are remembered at least; 0: as the engine does
	defaults   []string      // patterns of index.query.default_field; nil: all fields
	analyzed   int           // index.highlight.max_analyzed_offset
	searches   search.Limits // index.max_terms_count, index.max_regex_length and the like
	lenient    bool          // index.query_string.lenient
	slices     int           // index.max_slices_per_scroll
	pinned     int           // index.max_slices_per_pit
	readOnly   *exception.Error
	unreadable *exception.Error // gets and searches are refused
	active     string           // index.write.wait_for_active_shards
	pipeline   *exception.Error // writes that would go through a pipeline, of which there are none
}

// readRules reads out of an index's flat settings what requests need. A value that
// cannot be is fault.Corrupt: settings are checked before they are stored.
func readRules(settings map[string]string) (rules, error) {
	r := settingReader{settings: settings}
	name := settings["index.provided_name"]
	rules := rules{
		limits: mapping.Limits{
			TotalFields:     r.number("index.mapping.total_fields.limit", mapping.DefaultLimits.TotalFields),
			Depth:           r.number("index.mapping.depth.limit", mapping.DefaultLimits.Depth),
			NestedFields:    r.number("index.mapping.nested_fields.limit", mapping.DefaultLimits.NestedFields),
			NestedObjects:   r.number("index.mapping.nested_objects.limit", mapping.DefaultLimits.NestedObjects),
			FieldNameLength: r.number("index.mapping.field_name_length.limit", mapping.DefaultLimits.FieldNameLength),
			IgnoreMalformed: settings["index.mapping.ignore_malformed"] == "true",
			Coerce:          settings["index.mapping.coerce"] != "false",
			Analysis: mapping.Analysis{
				Analyzers:    defined(settings, "index.analysis.analyzer."),
				Normalizers:  defined(settings, "index.analysis.normalizer."),
				Similarities: defined(settings, "index.similarity."),
			},
		},
		partitions: r.number("index.routing_partition_size", 1),
		interval:   r.span("index.refresh_interval", time.Second),
		tombstones: max(r.span("index.gc_deletes", 0), 0),
		defaults:   list(settings["index.query.default_field"]),
		analyzed:   r.number("index.highlight.max_analyzed_offset", 1_000_000),
		searches: search.Limits{
			Terms: r.number("index.max_terms_count", 0), Regexp: r.number("index.max_regex_length", 0),
			Hits: r.number("index.max_result_window", 10000), Inner: r.number("index.max_inner_result_window", 0),
			Columns: cmp.Or(r.number("index.max_docvalue_fields_search", 100), -1),
		},
		lenient:    settings["index.query_string.lenient"] == "true",
		slices:     r.number("index.max_slices_per_scroll", 1024),
		pinned:     r.number("index.max_slices_per_pit", 1024),
		readOnly:   catalog.Blocked(name, settings, catalog.WriteDocuments),
		unreadable: catalog.Blocked(name, settings, catalog.ReadDocuments),
		active:     settings["index.write.wait_for_active_shards"],
	}
	for _, key := range []string{"index.default_pipeline", "index.final_pipeline"} {
		if id := settings[key]; id != "" && id != "_none" {
			rules.pipeline = exception.New(exception.IllegalArgument, "pipeline with id [%s] does not exist", id)
		}
	}
	return rules, r.err
}

// settingReader reads values, and keeps the first error.
type settingReader struct {
	settings map[string]string
	err      error
}

func (r *settingReader) fail(name string, err error) {
	if r.err == nil {
		r.err = fault.At(fault.New(fault.Corrupt, "%w", err), "setting "+name)
	}
}

func (r *settingReader) number(name string, fallback int) int {
	value, set := r.settings[name]
	if !set {
		return fallback
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		r.fail(name, err)
	}
	return n
}

func (r *settingReader) span(name string, fallback time.Duration) time.Duration {
	value, set := r.settings[name]
	if !set {
		return fallback
	}
	d, err := catalog.ParseSpan(name, value)
	if err != nil {
		r.fail(name, err)
	}
	return d
}

// defined are the names that settings under a prefix define; nil when there are none.
func defined(settings map[string]string, prefix string) map[string]bool {
	var names map[string]bool
	for key := range settings {
		rest, ok := strings.CutPrefix(key, prefix)
		if !ok {
			continue
		}
		if names == nil {
			names = map[string]bool{}
		}
		name, _, _ := strings.Cut(rest, ".")
		names[name] = true
	}
	return names
}
