package gateway

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

const statsParams = "completion_fields fielddata_fields fields groups level include_segment_file_sizes include_unloaded_segments " +
	"expand_wildcards forbid_closed_indices ignore_unavailable allow_no_indices types"

var statsRoutes = []route{
	{"GET", "/_stats", statsParams, (*call).indexStats},
	{"GET", "/_stats/{metric}", statsParams, (*call).indexStats},
	{"GET", "/{index}/_stats", statsParams, (*call).indexStats},
	{"GET", "/{index}/_stats/{metric}", statsParams, (*call).indexStats},
}

// totals are counts over shards. What is not counted (what searches fetch, and the time that
// anything else took) is told as 0 in the server's shape; what cannot be there (caches,
// merges, warmers, segments) is told as 0 because it is.
type totals struct {
	docs, deleted, bytes        int64
	indexed, deletions          int64
	gets, refreshes, operations int64
	searches, flushes, noops    int64
	searching                   time.Duration
	segments                    int64
	unsized                     bool // bytes are not known
}

func (t *totals) add(s catalog.ShardStatus) {
	t.docs += s.Searchable
	t.deleted += s.Tombstones
	if t.bytes += s.Bytes; s.Bytes < 0 {
		t.unsized = true
	}
	t.indexed += s.Indexed
	t.deletions += s.Deleted
	t.gets += s.Gets
	t.refreshes += s.Refreshes
	t.operations += s.SeqNo + 1
	t.segments += int64(s.Segments)
	t.searches += s.Searches
	t.searching += s.Searching
	t.flushes += s.Flushes
	t.noops += s.Noops
}

// stored is the cell of how much they take on disk; empty where that is not known.
func (t *totals) stored() any {
	if t.unsized {
		return nil
	}
	return size(t.bytes)
}

func totalOf(found []catalog.Status) totals {
	var t totals
	for _, s := range found {
		for _, shard := range s.Shards {
			t.add(shard)
		}
	}
	return t
}

// section is one part of statistics: what it is asked for as, and what it is
// called in the answer.
type section struct {
	metric, name string
	show         func(t totals, human bool) object
}

// measure is one value of a section: its name says what it is. A name that ends
// with _in_bytes or _in_millis is told in words too when a client asks.
type measure struct {
	name  string
	value int64
}

// sectionOf makes a section out of measures.
func sectionOf(metric, name string, measures func(t totals) []measure) section {
	return section{metric, name, func(t totals, human bool) object {
		o := object{}
		for _, m := range measures(t) {
			if human {
				addInWords(&o, m)
			}
			o.add(m.name, m.value)
		}
		return o
	}}
}

func addInWords(o *object, m measure) {
	if name, ok := strings.CutSuffix(m.name, "_in_bytes"); ok {
		o.add(name, bytesInWords(m.value))
	}
	if name, ok := strings.CutSuffix(m.name, "_in_millis"); ok {
		o.add(name, timeInWords(millis(m.value)))
	}
}

// sections are the parts in the server's order.
var sections = []section{
	sectionOf("docs", "docs", func(t totals) []measure { return []measure{{"count", t.docs}, {"deleted", t.deleted}} }),
	sectionOf("store", "store", func(t totals) []measure {
		if t.unsized {
			return []measure{{"reserved_in_bytes", 0}}
		}
		return []measure{{"size_in_bytes", t.bytes}, {"reserved_in_bytes", 0}}
	}),
	{"indexing", "indexing", indexingJSON},
	{"get", "get", getJSON},
	{"search", "search", searchJSON},
	sectionOf("merge", "merges", func(totals) []measure {
		return []measure{{"current", 0}, {"current_docs", 0}, {"current_size_in_bytes", 0}, {"total", 0}, {"total_time_in_millis", 0},
			{"total_docs", 0}, {"total_size_in_bytes", 0}, {"total_stopped_time_in_millis", 0}, {"total_throttled_time_in_millis", 0},
			{"total_auto_throttle_in_bytes", 0}, {"unreferenced_file_cleanups_performed", 0}}
	}),
	sectionOf("refresh", "refresh", func(t totals) []measure {
		return []measure{{"total", t.refreshes}, {"total_time_in_millis", 0}, {"external_total", t.refreshes},
			{"external_total_time_in_millis", 0}, {"listeners", 0}}
	}),
	sectionOf("flush", "flush", func(t totals) []measure {
		return []measure{{"total", t.flushes}, {"periodic", 0}, {"total_time_in_millis", 0}}
	}),
	sectionOf("warmer", "warmer", func(totals) []measure { return []measure{{"current", 0}, {"total", 0}, {"total_time_in_millis", 0}} }),
	sectionOf("query_cache", "query_cache", func(totals) []measure {
		return []measure{{"memory_size_in_bytes", 0}, {"total_count", 0}, {"hit_count", 0}, {"miss_count", 0}, {"cache_size", 0},
			{"cache_count", 0}, {"evictions", 0}}
	}),
	sectionOf("fielddata", "fielddata", func(totals) []measure { return []measure{{"memory_size_in_bytes", 0}, {"evictions", 0}} }),
	sectionOf("completion", "completion", func(totals) []measure { return []measure{{"size_in_bytes", 0}} }),
	sectionOf("segments", "segments", func(t totals) []measure {
		return []measure{{"count", t.segments}, {"memory_in_bytes", 0}, {"terms_memory_in_bytes", 0}, {"stored_fields_memory_in_bytes", 0},
			{"term_vectors_memory_in_bytes", 0}, {"norms_memory_in_bytes", 0}, {"points_memory_in_bytes", 0},
			{"doc_values_memory_in_bytes", 0}, {"index_writer_memory_in_bytes", 0}, {"version_map_memory_in_bytes", 0},
			{"fixed_bit_set_memory_in_bytes", 0}, {"max_unsafe_auto_id_timestamp", -1}}
	}),
	sectionOf("translog", "translog", func(t totals) []measure {
		return []measure{{"operations", t.operations}, {"size_in_bytes", 0}, {"uncommitted_operations", 0},
			{"uncommitted_size_in_bytes", 0}, {"earliest_last_modified_age", 0}}
	}),
	sectionOf("request_cache", "request_cache", func(totals) []measure {
		return []measure{{"memory_size_in_bytes", 0}, {"evictions", 0}, {"hit_count", 0}, {"miss_count", 0}}
	}),
	sectionOf("recovery", "recovery", func(totals) []measure {
		return []measure{{"current_as_source", 0}, {"current_as_target", 0}, {"throttle_time_in_millis", 0}}
	}),
}

func indexingJSON(t totals, human bool) object {
	before := sectionOf("", "", func(totals) []measure {
		return []measure{{"index_total", t.indexed}, {"index_time_in_millis", 0}, {"index_current", 0}, {"index_failed", 0},
			{"delete_total", t.deletions}, {"delete_time_in_millis", 0}, {"delete_current", 0}, {"noop_update_total", t.noops}}
	}).show(t, human)
	before.add("is_throttled", false)
	return append(before, sectionOf("", "", func(totals) []measure { return []measure{{"throttle_time_in_millis", 0}} }).show(t, human)...)
}

func getJSON(t totals, human bool) object {
	o := object{{"total", t.gets}, {"getTime", "0s"}}
	return append(o, sectionOf("", "", func(totals) []measure {
		return []measure{{"time_in_millis", 0}, {"exists_total", 0}, {"exists_time_in_millis", 0}, {"missing_total", 0},
			{"missing_time_in_millis", 0}, {"current", 0}}
	}).show(t, human)...)
}

func searchJSON(t totals, human bool) object {
	o := object{{"open_contexts", 0}}
	for _, phase := range []string{"query", "concurrent_query", "fetch", "scroll", "point_in_time", "suggest"} {
		var count, took int64
		if phase == "query" {
			count, took = t.searches, t.searching.Milliseconds()
		}
		o = append(o, sectionOf("", "", func(totals) []measure {
			return []measure{{phase + "_total", count}, {phase + "_time_in_millis", took}, {phase + "_current", 0}}
		}).show(t, human)...)
		if phase == "concurrent_query" {
			o.add("concurrent_avg_slice_count", 0.0)
		}
	}
	o.add("search_idle_reactivate_count_total", 0)
	return o
}

// statsJSON shows the wanted sections; all when wanted is nil.
func statsJSON(t totals, wanted []string, human bool) object {
	o := object{}
	for _, s := range sections {
		if wanted == nil || slices.Contains(wanted, s.metric) {
			o.add(s.name, s.show(t, human))
		}
	}
	return o
}

// metrics are the sections that stand in the path; nil for all.
func (c *call) metrics() ([]string, error) {
	wanted := splitList(c.name("metric"))
	if len(wanted) == 0 || len(wanted) == 1 && wanted[0] == "_all" {
		return nil, nil
	}
	if slices.Contains(wanted, "_all") {
		return nil, exception.New(exception.IllegalArgument, "request [%s] contains _all and individual metrics [%s]", c.r.URL.Path, c.name("metric"))
	}
	known := map[string]bool{}
	for _, s := range sections {
		known[s.metric] = true
	}
	return wanted, c.unknown(wanted, known, "metric")
}

func (c *call) indexStats() error {
	wanted, err := c.metrics()
	if err != nil {
		return err
	}
	level := c.text("level", "indices")
	if level != "cluster" && level != "indices" && level != "shards" {
		return exception.New(exception.IllegalArgument, "level parameter must be one of [cluster] or [indices] or [shards] but was [%s]", level)
	}
	human, err := c.boolean("human", false)
	if err != nil {
		return err
	}
	options := searched
	if options.ForbidClosed, err = c.boolean("forbid_closed_indices", true); err != nil {
		return err
	}
	found, err := c.metadata(options)
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(found, func(s catalog.Status) bool { return s.Entry.Closed })
	h := healthOf(found)
	all := object{{"primaries", object{}}, {"total", object{}}}
	if len(found) > 0 {
		all = twice(statsJSON(totalOf(found), wanted, human))
	}
	answer := object{{"_shards", shardCounts(h.wanted(), h.active)}, {"_all", all}}
	if level != "cluster" {
		answer.add("indices", eachIndex(found, func(s catalog.Status) object {
			o := append(object{{"uuid", s.UUID}}, twice(statsJSON(totalOf([]catalog.Status{s}), wanted, human))...)
			if level == "shards" {
				o.add("shards", c.shardStats(s, wanted, human))
			}
			return o
		}))
	}
	return c.answer(http.StatusOK, answer)
}

// twice tells statistics of primaries and of all copies, which are the primaries.
func twice(stats object) object { return object{{"primaries", stats}, {"total", stats}} }

func (c *call) shardStats(s catalog.Status, wanted []string, human bool) object {
	o := object{}
	for _, shard := range s.Shards {
		var t totals
		t.add(shard)
		one := object{{"routing", object{{"state", "STARTED"}, {"primary", true}, {"node", c.s.nodeID()}, {"relocating_node", nil}}}}
		one = append(one, statsJSON(t, wanted, human)...)
		one.add("seq_no", object{{"max_seq_no", shard.SeqNo}, {"local_checkpoint", shard.Synced}, {"global_checkpoint", shard.Synced}})
		o.add(strconv.Itoa(int(shard.Number)), array{one})
	}
	return o
}
