package translate

import (
	"slices"
	"strings"
)

// everywhere are the settings, "index." left out, that every target knows, as Elasticsearch
// 7.17, 8.19 and 9.2 and OpenSearch 1.3, 2.19 and 3.6 list them with their defaults. A minor
// version before those may lack a few.
const everywhere = `
allocation.existing_shards_allocator allocation.max_retries analyze.max_token_count auto_expand_replicas codec compound_format
default_pipeline fielddata.cache final_pipeline flush_after_merge force_memory_term_dictionary format gc_deletes hidden highlight.max_analyzed_offset
indexing.slowlog.level indexing.slowlog.reformat indexing.slowlog.source indexing.slowlog.threshold.index.debug indexing.slowlog.threshold.index.info
indexing.slowlog.threshold.index.trace indexing.slowlog.threshold.index.warn load_fixed_bitset_filters_eagerly mapping.coerce
mapping.depth.limit mapping.field_name_length.limit mapping.ignore_malformed mapping.nested_fields.limit mapping.nested_objects.limit
mapping.total_fields.limit max_adjacency_matrix_filters max_docvalue_fields_search max_inner_result_window max_ngram_diff max_refresh_listeners
max_regex_length max_rescore_window max_result_window max_script_fields max_shingle_diff max_slices_per_scroll max_terms_count
merge.policy.deletes_pct_allowed merge.policy.expunge_deletes_allowed merge.policy.floor_segment merge.policy.max_merge_at_once
merge.policy.max_merged_segment merge.policy.segments_per_tier merge.scheduler.auto_throttle merge.scheduler.max_merge_count
merge.scheduler.max_thread_count number_of_replicas number_of_routing_shards number_of_shards
percolator.map_unmapped_fields_as_text priority queries.cache.enabled query.default_field query.parse.allow_unmapped_fields query_string.lenient
recovery.type refresh_interval requests.cache.enable routing.rebalance.enable routing_partition_size search.idle.after search.slowlog.level
search.slowlog.threshold.fetch.debug search.slowlog.threshold.fetch.info search.slowlog.threshold.fetch.trace search.slowlog.threshold.fetch.warn
search.slowlog.threshold.query.debug search.slowlog.threshold.query.info search.slowlog.threshold.query.trace search.slowlog.threshold.query.warn
shard.check_on_startup soft_deletes.enabled soft_deletes.retention.operations soft_deletes.retention_lease.period sort.field sort.missing sort.mode
sort.order store.fs.fs_lock store.preload store.stats_refresh_interval store.type translog.durability translog.flush_threshold_size
translog.generation_threshold_size translog.sync_interval unassigned.node_left.delayed_timeout
warmer.enabled write.wait_for_active_shards`

// somewhere are settings that some majors know: e is Elasticsearch, o is OpenSearch.
var somewhere = map[string]string{
	"e7 e8 e9":       `mapping.dimension_fields.limit shard_limit.group`,
	"e7 e8 e9 o1":    `merge.policy.max_merge_at_once_explicit`,
	"e7 e8 o1 o2 o3": `search.throttled`,
	"e8 e9": `bloom_filter_for_id_field.enabled failure_store.version fast_refresh highlight.weight_matches_mode.enabled indexing.slowlog.include.user
		logsdb.add_host_name_field logsdb.route_on_sort_fields logsdb.sort_on_host_name mapping.ignore_above mapping.semantic_text.use_legacy_format
		mapping.source.mode mapping.synthetic_source.skip_ignored_source_read mapping.synthetic_source.skip_ignored_source_write
		mapping.synthetic_source_keep mapping.total_fields.ignore_dynamic_beyond_limit merge.policy.merge_factor merge.policy.type mode
		recovery.use_synthetic_source routing_path search.slowlog.include.user time_series.end_time time_series.es87tsdb_codec.enabled
		time_series.start_time translog.flush_threshold_age`,
	"e9": `dense_vector.hnsw_enable_early_termination dense_vector.hnsw_filter_heuristic dimensions dimensions_tsid_strategy_enabled
		mapping.exclude_source_vectors seq_no.index_options`,
	"o1 o2 o3": `merge.policy.reclaim_deletes_weight`,
	"o2":       `store.hybrid.mmap.extensions`,
	"o2 o3": `append_only.enabled check_pending_flush.enabled codec.compression_level composite_index composite_index.star_tree.default.max_leaf_docs
		composite_index.star_tree.field.default.date_intervals composite_index.star_tree.field.default.metrics
		composite_index.star_tree.field.max_base_metrics composite_index.star_tree.field.max_date_intervals
		composite_index.star_tree.field.max_dimensions composite_index.star_tree.max_fields max_slices_per_pit
		merge.log_byte_size_policy.max_merge_segment merge.log_byte_size_policy.max_merge_segment_forced_merge
		merge.log_byte_size_policy.max_merged_docs merge.log_byte_size_policy.merge_factor merge.log_byte_size_policy.min_merge
		merge.log_byte_size_policy.no_cfs_ratio merge.policy merge_on_flush.enabled merge_on_flush.max_full_flush_merge_wait_time
		merge_on_flush.policy optimize_doc_id_lookup.fuzzy_set.enabled optimize_doc_id_lookup.fuzzy_set.false_positive_probability
		query.derived_field.enabled query.max_nested_depth replication.type search.concurrent.max_slice_count
		search.concurrent_segment_search.enabled search.concurrent_segment_search.mode search.default_pipeline store.hybrid.nio.extensions
		unreferenced_file_cleanup.enabled use_compound_file`,
	"o3": `aggregation.streaming.min_segment_size auto_expand_search_replicas auto_force_merge.enabled bulk.adaptive_shard_selection.enabled
		composite_store.type context_aware.enabled context_aware.max_retry_on_lookup_map_acquisition_exception derived_source.enabled
		derived_source.translog.enabled ingestion_source.all_active ingestion_source.error_strategy ingestion_source.internal_queue_size
		ingestion_source.mapper_type ingestion_source.num_processor_threads ingestion_source.pointer.init.reset
		ingestion_source.pointer.init.reset.value ingestion_source.pointer_based_lag_update_interval ingestion_source.poll.max_batch_size
		ingestion_source.poll.timeout ingestion_source.type ingestion_source.warmup.lag_threshold ingestion_source.warmup.timeout
		merge.scheduler.max_force_merge_mb_per_sec number_of_search_replicas number_of_virtual_shards periodic_flush_interval
		search.star_tree_index.enabled segment_replication.publish_referenced_segments_interval store.factory translog.read_forward`,
}

// families are prefixes of settings whose last parts are free names, or belong to what is
// shipped with a product and is not in every distribution of it.
var families = map[string]string{
	"analysis.":                    "e7 e8 e9 o1 o2 o3",
	"similarity.":                  "e7 e8 e9 o1 o2 o3",
	"routing.allocation.":          "e7 e8 e9 o1 o2 o3",
	"blocks.":                      "e7 e8 e9 o1 o2 o3",
	"lifecycle.":                   "e7 e8 e9",
	"time_series.":                 "e8 e9",
	"knn":                          "o1 o2 o3",
	"plugins.":                     "o1 o2 o3",
	"opendistro.":                  "o1 o2 o3",
	"opendistro_security.":         "o1 o2 o3",
	"remote_store.":                "o2 o3",
	"composite_index.":             "o2 o3",
	"neural_search.":               "o2 o3",
	"search.semantic_highlighting": "o3",
}

// mark is the mark of the majors in the tables above.
func (s Server) mark() string {
	switch s.Product {
	case elasticsearch:
		return "e" + string(rune('0'+min(max(s.Major, 7), 9)))
	case reshelve:
		return "o2"
	}
	return "o" + string(rune('0'+min(max(s.Major, 1), 3)))
}

var settingsOf = func() map[string][]string {
	marks := map[string][]string{}
	add := func(names, where string) {
		for _, name := range strings.Fields(names) {
			marks[name] = strings.Fields(where)
		}
	}
	add(everywhere, "e7 e8 e9 o1 o2 o3")
	for where, names := range somewhere {
		add(names, where)
	}
	return marks
}()

// knows tells whether a server has an index setting; name begins with "index.".
func (s Server) knows(name string) bool {
	name = strings.TrimPrefix(name, "index.")
	if where, ok := settingsOf[name]; ok {
		return slices.Contains(where, s.mark())
	}
	for prefix, where := range families {
		if strings.HasPrefix(name, prefix) && slices.Contains(strings.Fields(where), s.mark()) {
			return s.Product != reshelve || prefix == "analysis." || prefix == "similarity." || strings.HasPrefix(prefix, "routing.") || prefix == "blocks."
		}
	}
	return false
}
