package translate_test

import (
	"encoding/json"

	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
)

// crafted is metadata of what no committed repository holds.
var crafted = []real{
	craft("analysis-1", es1, []string{"doc"}, `{"doc":{"_all":{"enabled":"yes"},"_timestamp":{"enabled":true,"path":"d"},"_id":{"path":"x"},"index_analyzer":"strip","date_detection":0,
		"properties":{"a":{"type":"string","index_analyzer":"strip","search_analyzer":"grams","store":"yes","omit_norms":true,"position_offset_gap":7,"include_in_all":false},
		"b":{"type":"multi_field","path":"just_name","fields":{"b":{"type":"string","index":"not_analyzed"},"words":{"type":"string","analyzer":"standard_html_strip"}}},
		"c":{"type":"string","index":"no"},"d":{"type":"date","format":"dateOptionalTime||YYYY/MM/dd HH:mm:ss Z"},"e":{"type":"long","precision_step":4,"index":"no"},
		"f":{"type":"string","norms":{"enabled":false,"loading":"eager"},"fielddata":{"format":"disabled"},"index_options":"docs","similarity":"default"},
		"g":{"type":"geo_point","lat_lon":true,"geohash":true,"validate":false},"h":{"type":"attachment"},"i":{"type":"date","format":"CCYY"},
		"j":{"type":"object","path":"full","include_in_all":false,"properties":{"k":{"type":"string","null_value":"x","ignore_above":5}}}}}}`,
		"index.analysis.analyzer.strip.type", "standard_html_strip", "index.analysis.analyzer.strip.stopwords.0", "a", "index.analysis.analyzer.strip.stopwords.1", "the",
		"index.analysis.analyzer.grams.type", "custom", "index.analysis.analyzer.grams.tokenizer", "edgeNGram", "index.analysis.analyzer.grams.filter.0", "standard",
		"index.analysis.analyzer.grams.filter.1", "lowercase", "index.analysis.analyzer.grams.filter.2", "mine", "index.analysis.analyzer.grams.char_filter", "htmlStrip",
		"index.analysis.filter.mine.type", "nGram", "index.analysis.filter.mine.min_gram", "2", "index.analysis.filter.mine.max_gram", "3",
		"index.analysis.filter.old.type", "standard", "index.similarity.mine.type", "DFR", "index.similarity.mine.basic_model", "be", "index.similarity.mine.after_effect", "no",
		"index.similarity.mine.normalization", "h1", "index.refresh_interval", "30", "index.codec.bloom.load", "false", "index.mapper.dynamic", "false", "index.version.created", "1070699"),
	craft("types-5", es5, []string{"a", "b"}, `{"_default_":{"dynamic":"strict"},"a":{"_all":{"enabled":false},"properties":{"x":{"type":"text","include_in_all":true},"y":{"type":"date","format":"yyyy-MM-dd'T'HH:mm:ssZZ"}}},
		"b":{"_parent":{"type":"a"},"_routing":{"required":true},"dynamic_templates":[{"strings":{"match_mapping_type":"string","mapping":{"type":"keyword","include_in_all":false}}}],
		"properties":{"x":{"type":"text"},"z":{"type":"geo_shape","tree":"quadtree","precision":"1km"},"n":{"type":"text","similarity":"classic","boost":2}}}}`,
		"index.similarity.s.type", "classic", "index.version.created", "5061699", "index.mapping.single_type", "false", "index.number_of_shards", "5"),
	craft("features-8", es8, nil, `{"dynamic":"runtime","runtime":{"r":{"type":"long","script":{"source":"emit(1)"}}},"_source":{"mode":"synthetic"},"subobjects":false,
		"dynamic_templates":[{"one":{"match_mapping_type":["string","long"],"mapping":{"type":"keyword"}}},{"two":{"match_mapping_type":"string","mapping":{"type":"match_only_text"}}}],
		"properties":{"v":{"type":"dense_vector","dims":3,"index":true,"similarity":"cosine","index_options":{"type":"int8_hnsw","m":16,"ef_construction":100}},"w":{"type":"wildcard"},
		"f":{"type":"flattened","depth_limit":3},"c":{"type":"constant_keyword","value":"x"},"u":{"type":"unsigned_long"},"m":{"type":"match_only_text"},"s":{"type":"semantic_text","inference_id":"i"},
		"p":{"type":"version"},"h":{"type":"histogram"},"a":{"type":"alias","path":"h"},"k":{"type":"keyword","copy_to":["h","m"],"time_series_dimension":true,"fields":{"n":{"type":"token_count","analyzer":"standard"}}},
		"b":{"type":"boolean","ignore_malformed":true},"t":{"type":"long","script":{"source":"emit(1)"},"on_script_error":"continue"},"x":{"type":"sparse_vector"},"d":{"type":"aggregate_metric_double","metrics":["min"],"default_metric":"min"}}}`,
		"index.mode", "logsdb", "index.lifecycle.name", "p", "index.default_pipeline", "q", "index.mapping.total_fields.ignore_dynamic_beyond_limit", "true", "index.version.created", "8536000"),
	craft("features-2", os2, nil, `{"derived":{"d":{"type":"long","script":{"source":"emit(1)"}}},"dynamic":"strict_allow_templates","_source":{"recovery_source_enabled":false},
		"properties":{"v":{"type":"knn_vector","dimension":3,"method":{"name":"hnsw","engine":"lucene","space_type":"l2"}},"f":{"type":"flat_object"},"d":{"type":"date","print_format":"epoch_millis"},
		"a":{"type":"search_as_you_type"},"c":{"type":"completion"},"r":{"type":"rank_feature"},"j":{"type":"join","relations":{"a":"b"}},"t":{"type":"text","boost":2,"analyzer":"thai"}}}`,
		"index.knn", "true", "index.codec", "zstd", "index.search.default_pipeline", "p", "index.merge.policy", "tiered", "index.version.created", "136407827",
		"index.sort.field", `["d"]`, "index.analysis.analyzer.z.tokenizer", "uax_url_email", "index.analysis.analyzer.z.filter", `["lowercase"]`),
}

// craft makes metadata; settings are names and values by turns.
func craft(name string, from translate.Server, types []string, mappings string, settings ...string) real {
	all := map[string]string{"index.number_of_shards": "1", "index.uuid": "u", "index.creation_date": "1"}
	for i := 0; i < len(settings); i += 2 {
		all[settings[i]] = settings[i+1]
	}
	aliases := `{"` + name + `-alias":{"filter":{"term":{"k":"v"}},"is_write_index":true}`
	if from.Major < 6 && from != os2 {
		aliases += `,"` + name + `-old":{"filter":{"and":[{"term":{"k":"v"}}]}}`
	}
	return real{"crafted/" + name, from, translate.Index{Name: name, Types: types, Settings: all, Mappings: json.RawMessage(mappings), Aliases: json.RawMessage(aliases + "}")}}
}
