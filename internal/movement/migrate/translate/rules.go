package translate

// Rule is one named change of metadata.
type Rule struct {
	Name string
	What string // in words
	// From and To are the routes that need it. Into the very version that something comes
	// from, no rule is needed but those that are Always.
	From, To Servers
	Loses    bool // meaning is lost where it applies
	// Always is said of rules that apply even there, because what they leave out belongs to
	// the source's machines, or would keep documents from being moved.
	Always bool
}

// The servers that rules name more than once.
const (
	before5  Servers = "elasticsearch 1-4"
	before6  Servers = "elasticsearch 1-5"
	before7  Servers = "elasticsearch 1-6"
	elastic  Servers = "elasticsearch"
	elastic8 Servers = "elasticsearch 8-"
	anyOpen  Servers = "opensearch"
	openLike Servers = "opensearch, reshelve"
	ours     Servers = "reshelve"
)

var rules = []Rule{
	{"private", "What a server writes for itself (uuid, creation date, versions, marks of snapshots, shrinking, remote stores, `_data_stream_timestamp`) is left out, and not told.", "", "", false, true},

	{"setting-unknown", "A setting that the target does not know is left out.", "", "", false, false},
	{"mapping-limit", "A setting `index.mapping.*` that the target does not know is left out: it decides which documents and fields are taken.", "", "", true, false},
	{"shards", "The number of shards is the one that was asked for; `number_of_routing_shards` is left out.", "", "", false, true},
	{"allocation", "Settings that place shards on nodes are left out: they name nodes of the source.", "", "", false, true},
	{"blocks", "Blocks are left out, for the documents must be written.", "", "", false, true},
	{"pipeline", "`default_pipeline` and `final_pipeline` are left out: documents have been through them, and would go through them again.", "", "", true, true},
	{"search-pipeline", "`index.search.default_pipeline` has no counterpart.", anyOpen, "elasticsearch, opensearch 1-2.8, reshelve", true, false},
	{"single-type", "`index.mapping.single_type` is left out: there are no types.", before7, "", false, false},
	{"dynamic-types", "`index.mapper.dynamic` is left out: there are no types that could come up.", before7, "", false, false},
	{"store-type", "Settings of the store are left out: the target decides.", "", "", false, true},
	{"translog-retention", "`index.translog.retention.*` is left out: targets refuse it.", "", "", false, true},
	{"soft-deletes", "`index.soft_deletes.enabled: false` is left out: targets refuse it.", "", "", false, true},
	{"codec", "A codec that not every target of this version has (`zstd` comes with a plugin) becomes `best_compression`, or is left out.", "", "", false, false},
	{"index-mode", "Time series and logs are kept as plain indices.", elastic, "elasticsearch 7, opensearch, reshelve", false, false},
	{"source-mode", "Sources that are put together again are stored instead.", "", "elasticsearch 7, opensearch, reshelve", false, false},
	{"lifecycle", "Policies of the indices' life are left out: they name policies of the source.", "", "", false, false},
	{"index-sort", "The order of documents inside of an index is left out; only searches without any order can tell.", "", ours, false, false},
	{"knn-setting", "`index.knn` is left out where there are no vectors.", anyOpen, "elasticsearch, reshelve", false, false},
	{"star-tree", "Star trees are left out: indices with one take no document twice. They make aggregations faster and do not change them.", anyOpen, "elasticsearch, opensearch, reshelve", false, true},
	{"append-only", "`index.append_only.enabled` is left out: it would refuse what is sent again.", anyOpen, "elasticsearch, opensearch, reshelve", false, true},
	{"bare-time", "A time without a unit was milliseconds.", before5, "", false, false},
	{"lenient-boolean", "`yes`, `no`, `on`, `off`, `0`, `1` become `true` or `false`.", before6, "", false, false},
	{"numbered-list", "Settings that are numbered from `.0` become a list.", before6, "", false, false},

	{"analysis-name", "Names of analysis: `nGram`, `edgeNGram`, `PathHierarchy`, `htmlStrip` and `delimited_payload_filter` become `ngram`, `edge_ngram`, `path_hierarchy`, `html_strip`, `delimited_payload`.", "", "", false, false},
	{"standard-filter", "The token filter `standard` is left out: it did nothing.", before7, "", false, false},
	{"standard-html-strip", "The analyzer `standard_html_strip` becomes a custom one that does the same.", before7, "", false, false},
	{"synonym-option", "`ignore_case` and `tokenizer` of synonyms are left out: synonyms go through the analyzer's own chain.", before6, "", true, false},
	{"position-gap", "`position_offset_gap` becomes `position_increment_gap`.", before5, "", false, false},
	{"ngram-span", "`index.max_ngram_diff` and `index.max_shingle_diff` are raised to what the analysis asks for: there was no limit.", before7, "", false, false},
	{"similarity-classic", "The similarity `classic` (or `default`) becomes BM25: scores differ.", before7, "", true, false},
	{"similarity-dfr", "DFR with the models `be`, `d`, `p` or the after-effect `no` becomes BM25: scores differ.", before7, "", true, false},
	{"analysis-unsupported", "What reshelve lacks of analysis (`thai`, `uax_url_email`) becomes `standard`.", "", ours, true, false},

	{"types-split", "Each mapping type becomes an index of its own, NAME-TYPE.", before6, "", false, false},
	{"types-merged", "The fields of all mapping types are in one index. Which ids the types have in common is counted by the check *mapping types* of the plan.", before6, "", false, false},
	{"types-conflict", "Two types had one field in two ways: the way of the type whose name comes first is kept.", before6, "", true, false},
	{"types-routing", "`_routing` of merged types is left out where only some of them required it: documents keep theirs, and those of the others have none.", before6, "", false, false},
	{"default-mapping", "The mapping `_default_` is left out: there are no types that could come up.", before7, "", false, false},
	{"type-name", "The name of the only mapping type is gone; its mapping is the index's.", before7, "", false, false},

	{"parent", "`_parent` has no counterpart: the documents do not tell their parents in their sources.", before6, "", true, false},
	{"all-field", "`_all` is left out: queries that name no field go to all fields.", before7, "", false, false},
	{"include-in-all", "`include_in_all` is left out: there is no `_all`.", before7, "", false, false},
	{"timestamp-field", "`_timestamp` has no counterpart, and the times that it holds are not in the sources.", before5, "", true, false},
	{"ttl-field", "`_ttl` has no counterpart: documents do not go away by themselves.", before6, "", true, false},
	{"own-field", "What the server keeps of itself in a mapping, and is no more, was off, or was empty, is left out.", "", "", false, false},
	{"analyzer-field", "`_analyzer`: the analyzer cannot be taken from a field of the document.", "elasticsearch 1", "", true, false},
	{"boost-field", "`_boost`: the weight cannot be taken from a field of the document.", "elasticsearch 1", "", true, false},
	{"field-names", "`_field_names` is left out: it costs nothing any more.", "", "", false, false},
	{"size-field", "`_size` is left out: it needs a plugin, and no source tells it.", "", "", true, false},
	{"recovery-source", "`_source.recovery_source_*` is left out.", anyOpen, "elasticsearch, opensearch 1-2.18", false, false},
	{"transform", "`transform` has no counterpart: fields that a script computed stay empty.", "elasticsearch 1-2", "", true, false},
	{"runtime-fields", "Runtime fields have no counterpart.", elastic, openLike, true, false},
	{"derived-fields", "Derived fields have no counterpart.", anyOpen, "elasticsearch, opensearch 1-2.13, reshelve", true, false},
	{"root-analyzer", "Analyzers of a whole type have no counterpart.", "elasticsearch 1", "", true, false},
	{"dynamic-runtime", "`dynamic: runtime` becomes `true`: new fields are indexed.", elastic, openLike, false, false},
	{"dynamic-templates-only", "`strict_allow_templates` becomes `strict`, `false_allow_templates` becomes `false`.", anyOpen, elastic, true, false},
	{"dynamic-template", "A dynamic template that matches by lists of types has no counterpart.", elastic, "elasticsearch 7-8.8, opensearch, reshelve", true, false},
	{"subobjects", "`subobjects` is left out: names with dots are objects, and documents that hold both `a` and `a.b` are refused.", elastic, "elasticsearch 7-8.2, opensearch, reshelve", true, false},
	{"object-path", "`path` of objects and multi-fields (`full`, `just_name`) is left out: fields have their full names.", "elasticsearch 1", "", true, false},
	{"obsolete-parameter", "Parameters that change nothing on the target are left out.", "", "elasticsearch 7, opensearch, reshelve", false, false},
	{"obsolete-parameter-old", "Parameters of Elasticsearch 1 to 5 that had no effect there, or say how and not what, are left out.", before6, "", false, false},

	{"string-type", "`string` becomes `text`, or `keyword` where it was not analyzed.", before6, "", false, false},
	{"text-parameter", "`null_value` and `ignore_above` of an analyzed string have no counterpart.", before6, "", true, false},
	{"index-word", "`index: no` becomes `false`; `analyzed` and `not_analyzed` are said by the type.", before6, "", false, false},
	{"norms", "`omit_norms`, and `norms` as an object, become true or false.", before6, "", false, false},
	{"index-analyzer", "`index_analyzer` becomes `analyzer`, which must stand beside `search_analyzer`.", before6, "", false, false},
	{"index-name", "`index_name` is left out: a field is found by its path.", before5, "", true, false},
	{"fielddata", "`fielddata` as an object is left out. Sorting by an analyzed text needs `fielddata: true`, which can be set later.", before6, "", false, false},
	{"multi-field", "`multi_field` becomes the field of its own name, with the others in `fields`.", "elasticsearch 1", "", false, false},
	{"geo-point", "Parameters of geo_point that Elasticsearch 5 took away are left out; `validate: false` becomes `ignore_malformed`.", before6, "", false, false},
	{"geo-shape", "Parameters of prefix trees are left out: shapes are indexed exactly.", "elasticsearch 1-7, opensearch", "", false, false},
	{"boost", "`boost` of a field has no counterpart: scores differ.", "", elastic8, true, false},
	{"malformed", "`ignore_malformed` of this type has no counterpart: documents with such values are refused.", elastic, "elasticsearch 7, opensearch, reshelve", true, false},
	{"time-series", "Dimensions and metrics of time series are left out.", elastic, "elasticsearch 7, opensearch, reshelve", false, false},
	{"script", "A field that a script computes has no counterpart: it stays empty.", elastic, openLike, true, false},
	{"print-format", "`print_format` is left out.", anyOpen, elastic, false, false},
	{"opensearch-parameter", "`skip_list` and `use_similarity` are left out: they say how and not what.", anyOpen, "elasticsearch, opensearch 1-2, reshelve", false, false},
	{"vector-parameter", "Parameters of indexed vectors are left out: Elasticsearch 7 compares all of them.", elastic, "elasticsearch 7", false, false},

	{"date-name", "Named date formats in camel case (`dateOptionalTime`) get underscores.", "elasticsearch 1-7, opensearch 1", "", false, false},
	{"joda-date", "Letters of Joda-Time become java.time's: `Y` becomes `y`, `x` becomes `Y`, `Z` becomes `XX`, `ZZ` becomes `XXX`, `ZZZ` becomes `VV`; brackets are quoted.", before7, "", false, false},
	{"joda-digits", "Joda-Time took one digit for `dd`, `MM`, `HH` and so on: an alternative that does so is added.", before7, "", false, false},
	{"java-mark", "The `8` before a pattern of java.time is left out.", "elasticsearch 6", "", false, false},
	{"date-letter", "A pattern with a letter that java.time lacks (`C`, the century) is left out.", before7, "", true, false},
	{"date-numbers", "A date took numbers of milliseconds whatever its format: `epoch_millis` is added.", "elasticsearch 1", "", false, false},

	{"field-type", "A type that the target lacks becomes an object that is stored and not searched; among `fields` it is left out.", "", "", true, false},
	{"match-only-text", "`match_only_text` becomes `text` without norms.", elastic, "", false, false},
	{"wildcard", "`wildcard` becomes `keyword`: values of more than 8191 characters are not found.", "", "", true, false},
	{"constant-keyword", "`constant_keyword` becomes `keyword`: documents without the field lose the value.", "", "", true, false},
	{"unsigned-long", "`unsigned_long` becomes `double`: numbers above 2^53 are rounded.", "", "", true, false},
	{"flattened", "`flattened` and `flat_object` stand for each other; their parameters differ and are left out.", "", "", false, false},
	{"dense-vector", "`dense_vector` becomes `knn_vector`, with `index.knn` where it was indexed. Quantization is left out.", elastic, anyOpen, false, false},
	{"knn-vector", "`knn_vector` becomes `dense_vector`.", anyOpen, elastic, false, false},
	{"sparse-vector", "`sparse_vector` becomes `rank_features`.", elastic, "", true, false},
	{"rank-feature", "`rank_feature` becomes `float`: no query scores by it.", "", ours, true, false},
	{"semantic", "`semantic_text` and `semantic` become `text`: they are found by words alone.", "", "", true, false},
	{"version", "`version` becomes `keyword`: order and ranges are those of text.", "", "", true, false},
	{"counted-keyword", "`counted_keyword` becomes `keyword`: repeated values count once.", elastic, "", true, false},
	{"passthrough", "`passthrough` becomes `object`: its fields are found by their full names alone.", elastic, "", true, false},
	{"search-as-you-type", "`search_as_you_type` becomes `text`.", "", ours, true, false},
	{"annotated-text", "`annotated_text` becomes `text`: marks are words.", "", ours, true, false},
	{"collation", "`icu_collation_keyword` becomes `keyword`: the order is that of code points.", "", ours, true, false},
	{"dangling", "An alias of a field, or a `copy_to`, that leads to a field which takes no values is left out.", "", "", true, false},

	{"alias-filter", "An alias whose filter is a query that is no more (`and`, `or`, `not`, `filtered`, `missing`, `type` …) is left out: without it the alias would show more.", "elasticsearch 1-7, opensearch 1", "", true, false},
	{"alias-write", "`is_write_index` is left out where one index becomes several.", before6, "", true, false},
	{"template-pattern", "`template` of a template becomes `index_patterns`.", before6, "", false, false},
	{"template-types", "The mapping types of a template become one mapping.", before6, "", false, false},
	{"template-part", "Parts of a template that the target does not know are left out.", "", "", false, false},
	{"template-lifecycle", "How long a data stream keeps its documents is left out.", elastic, "elasticsearch 7-8.10, opensearch, reshelve", true, false},
	{"stream-time", "A data stream has `@timestamp`; another field of time has no counterpart.", anyOpen, elastic, true, false},
}

var ruleOf = func() map[string]Rule {
	m := map[string]Rule{}
	for _, r := range rules {
		m[r.Name] = r
	}
	return m
}()

// Rules are all rules, in the order of docs/metadata.md.
func Rules() []Rule { return append([]Rule(nil), rules...) }
