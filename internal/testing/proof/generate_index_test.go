package proof

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// mapping asks for a mapping, or adds to one.
func (w *world) mapping(t *rapid.T) call {
	index := w.index(t)
	if seldom(t, 3, "get") {
		return call{"GET", "/" + index + "/_mapping" + w.parameters(t, "ignore_unavailable", "allow_no_indices"), "", ""}
	}
	body := pick(t, "mapping", `{"properties":{"added":{"type":"keyword"}}}`, `{"properties":{"n":{"type":"keyword"}}}`, `{"properties":{"n":{"type":"long"}}}`, `{"properties":{"t":{"type":"text","fields":{"more":{"type":"keyword"}}}}}`,
		`{"properties":{"k":{"type":"keyword","ignore_above":9}}}`, `{"properties":{"x":{"type":"nonsense"}}}`, `{"properties":{"x":{}}}`, `{"properties":{"x":1}}`, `{"properties":[]}`, `{"dynamic":"strict"}`, `{"dynamic":"x"}`, `{"_source":{"enabled":false}}`,
		`{"nonsense":1}`, `{"_doc":{"properties":{}}}`, `{"properties":{"nest":{"type":"object"}}}`, `{"properties":{"o":{"type":"long"}}}`, `{"properties":{"x":{"type":"long","nonsense":1}}}`, `{"properties":{"d":{"type":"date","format":"yyyy"}}}`,
		`{"_routing":{"required":true}}`, `{"date_detection":false}`, `{"_meta":{"a":1}}`, `{"dynamic_templates":[{"s":{"match_mapping_type":"string","mapping":{"type":"keyword"}}}]}`, `{"dynamic_templates":[{"s":{}}]}`, `{}`, ``, `{`, `{"properties":{"a.b":{"type":"long"}}}`,
		`{"properties":{"x":{"type":"alias","path":"n"}}}`, `{"properties":{"":{"type":"long"}}}`, `{"properties":{"closed":{"dynamic":true}}}`, `{"properties":{"x":{"type":"keyword","null_value":"y","doc_values":false,"index":false}}}`, `{"properties":{"n":{"type":"long","index":false}}}`)
	return call{"PUT", "/" + index + "/_mapping" + w.parameters(t, "ignore_unavailable", "timeout"), w.contentType(t, "application/json"), body}
}

// administer asks for indices, aliases, templates and data streams.
func (w *world) administer(t *rapid.T) call {
	switch rapid.IntRange(0, 9).Draw(t, "administer") {
	case 0, 1:
		return w.createIndex(t)
	case 2:
		return call{"DELETE", "/" + w.index(t) + w.parameters(t, "ignore_unavailable", "allow_no_indices", "timeout"), "", ""}
	case 3:
		return w.askIndex(t)
	case 4, 5:
		return w.alias(t)
	case 6:
		return w.settings(t)
	case 7, 8:
		return w.template(t)
	}
	return w.stream(t)
}

func (w *world) createIndex(t *rapid.T) call {
	name := w.prefix + pick(t, "name", "new", "new", "none", "free", "UPPER", "a,b", "a*", "a b", "a%22", "alias", strings.Repeat("x", 260), "x:y", "a%23")
	body := pick(t, "creation", ``, `{}`, `{"settings":{"number_of_shards":1}}`, `{"settings":{"index":{"number_of_shards":1,"number_of_replicas":0}}}`, `{"settings":{"index.number_of_replicas":"0"}}`, `{"mappings":{"properties":{"n":{"type":"keyword"}}}}`,
		`{"mappings":{"_doc":{"properties":{}}}}`, `{"aliases":{"`+w.prefix+`alias":{"is_write_index":true}}}`, `{"aliases":{"`+w.prefix+`other":{"filter":{"ids":{"values":["1"]}},"routing":"r"}}}`, `{"settings":{"nonsense":1}}`, `{"settings":{"number_of_shards":0}}`,
		`{"settings":{"number_of_shards":"x"}}`, `{"nonsense":{}}`, `{"mappings":1}`, `{"settings":1}`, `{"settings":[]}`, `{"aliases":[]}`, `[]`, `{`, `{"mappings":{"properties":{"x":{"type":"nonsense"}}}}`, `{"settings":{"refresh_interval":"x"}}`, `{"settings":{"number_of_replicas":-1}}`,
		`{"settings":{"index.blocks.read_only":true}}`, `{"settings":{"index.mapping.total_fields.limit":2},"mappings":{"properties":{"a":{"type":"long"},"b":{"type":"long"}}}}`, `{"settings":{"index.mapping.total_fields.limit":1},"mappings":{"properties":{"a":{"type":"long"},"b":{"type":"long"}}}}`, `{"aliases":{"`+w.prefix+`free":{}}}`)
	return call{"PUT", "/" + name + w.parameters(t, "wait_for_active_shards", "timeout", "include_type_name"), w.contentType(t, "application/json"), body}
}

func (w *world) askIndex(t *rapid.T) call {
	index := w.index(t)
	if seldom(t, 5, "wildcard") {
		index = w.prefix + pick(t, "wildcard", "*", "t*", "*e*", "none*", "t*,"+w.prefix+"f*", "*,-"+w.prefix+"free", "typed,"+w.prefix+"none")
	}
	method, path := "GET", pick(t, "what", "", "/_mapping", "/_settings", "/_alias", "/_mapping/field/n", "/_settings/index.number*", "/_refresh", "/_flush", "/_open", "/_close")
	if path == "" && seldom(t, 2, "head") {
		method = "HEAD"
	}
	if path == "/_refresh" || path == "/_flush" || path == "/_open" || path == "/_close" {
		method = "POST"
	}
	return call{method, "/" + index + path + w.parameters(t, "ignore_unavailable", "allow_no_indices", "expand_wildcards", "include_type_name"), "", ""}
}

func (w *world) settings(t *rapid.T) call {
	body := pick(t, "settings", `{"index":{"refresh_interval":"5s"}}`, `{"refresh_interval":"-1"}`, `{"index.number_of_replicas":0}`, `{"number_of_shards":2}`, `{"nonsense":1}`, `{"index.blocks.write":true}`, `{"index.blocks.write":false}`, `{"index.blocks.read":true}`, `{"index.blocks.read_only":true}`,
		`{"index.max_result_window":1}`, `{"index.max_result_window":0}`, `{"refresh_interval":null}`, `{"index.refresh_interval":"x"}`, `{}`, ``, `[]`, `{"index.mapping.total_fields.limit":1}`, `{"settings":{"index.refresh_interval":"2s"}}`, `{"index.hidden":true}`, `{"index.blocks.metadata":true}`)
	return call{"PUT", "/" + w.index(t) + "/_settings" + w.parameters(t, "ignore_unavailable", "timeout"), "application/json", body}
}

func (w *world) alias(t *rapid.T) call {
	index, alias := w.index(t), w.prefix+pick(t, "alias", "alias", "other", "none", "free", "UPPER", "a*")
	switch rapid.IntRange(0, 5).Draw(t, "alias") {
	case 0:
		return call{"PUT", "/" + index + "/_alias/" + alias, "application/json", pick(t, "body", ``, `{}`, `{"is_write_index":true}`, `{"filter":{"match_all":{}}}`, `{"routing":"r"}`, `{"nonsense":1}`, `{"index_routing":"a","search_routing":"b,c"}`, `{"index_routing":"a,b"}`, `{"is_write_index":"x"}`, `{"filter":{"nonsense":{}}}`, `[]`, `{"is_hidden":true}`)}
	case 1:
		return call{"DELETE", "/" + index + "/_alias/" + alias, "", ""}
	case 2:
		return call{pick(t, "method", "GET", "HEAD"), pick(t, "path", "/_alias/"+alias, "/"+index+"/_alias/"+alias, "/_alias/"+alias+","+w.prefix+"alias", "/_alias/"+w.prefix+"*"), "", ""}
	}
	var actions []string
	for range rapid.IntRange(1, 3).Draw(t, "actions") {
		kind := pick(t, "kind", "add", "add", "remove", "remove_index", "nonsense")
		if kind == "nonsense" && !seldom(t, 4, "really") {
			kind = "add"
		}
		target := fmt.Sprintf(`"index":%q,"alias":%q`, w.index(t), w.prefix+pick(t, "alias", "alias", "other", "third"))
		if kind == "remove_index" {
			target = fmt.Sprintf(`"index":%q`, w.index(t))
		}
		if extra := pick(t, "extra", "", "", "", `,"is_write_index":true`, `,"must_exist":true`, `,"routing":"r"`, `,"filter":{"ids":{"values":["1"]}}`, `,"nonsense":1`); kind == "add" || extra == `,"must_exist":true` {
			target += extra
		}
		actions = append(actions, fmt.Sprintf(`{%q:{%s}}`, kind, target))
	}
	if w.mistake(t, "strange") {
		return call{"POST", "/_aliases", "application/json", pick(t, "body", ``, `{}`, `{"actions":[]}`, `{"actions":{}}`, `{"actions":[{}]}`, `{"actions":[{"add":{}}]}`, `{"actions":[{"add":{"alias":"`+w.prefix+`x"}}]}`, `{"nonsense":[]}`, `{"actions":[{"add":{"index":"`+w.prefix+`free"}}]}`, `{"actions":[{"add":1}]}`,
			`{"actions":[{"add":{"indices":["`+w.prefix+`free"],"aliases":["`+w.prefix+`p","`+w.prefix+`q"]}}]}`, `{"actions":[{"add":{"index":"`+w.prefix+`free","alias":""}}]}`)}
	}
	return call{"POST", "/_aliases", "application/json", `{"actions":[` + strings.Join(actions, ",") + `]}`}
}

func (w *world) template(t *rapid.T) call {
	name := w.prefix + pick(t, "name", "one", "two", "none")
	kind := pick(t, "kind", "_index_template", "_index_template", "_component_template", "_template")
	switch method := pick(t, "method", "PUT", "PUT", "PUT", "GET", "DELETE", "HEAD"); method {
	case "PUT":
	default:
		return call{method, "/" + kind + "/" + name, "", ""}
	}
	patterns := `"index_patterns":["` + w.prefix + pick(t, "pattern", "new*", "none*", "stream*") + `"]`
	content := pick(t, "content", `{}`, `{"settings":{"number_of_replicas":0}}`, `{"mappings":{"properties":{"from_template":{"type":"keyword"}}}}`, `{"aliases":{"`+w.prefix+`templated":{}}}`, `{"mappings":{"properties":{"x":{"type":"nonsense"}}}}`, `{"settings":{"nonsense":1}}`, `{"nonsense":1}`, `1`)
	switch kind {
	case "_component_template":
		return call{"PUT", "/" + kind + "/" + name, "application/json", pick(t, "body", `{"template":`+content+`}`, `{"template":`+content+`,"version":3,"_meta":{"a":1}}`, `{}`, `{"nonsense":1}`, ``)}
	case "_template":
		return call{"PUT", "/" + kind + "/" + name, "application/json", pick(t, "body", `{`+patterns+`,"order":1}`, `{`+patterns+`,"settings":{"number_of_replicas":0}}`, `{}`, `{`+patterns+`,"nonsense":1}`, `{`+patterns+`,"mappings":{"properties":{"legacy":{"type":"long"}}}}`, `{"index_patterns":[]}`)}
	}
	return call{"PUT", "/" + kind + "/" + name, "application/json", pick(t, "body", `{`+patterns+`,"template":`+content+`}`, `{`+patterns+`,"priority":5,"template":`+content+`}`, `{`+patterns+`,"data_stream":{},"priority":7}`, `{`+patterns+`,"composed_of":["`+w.prefix+`one"]}`, `{}`, `{"index_patterns":"x"}`, `{`+patterns+`,"nonsense":1}`,
		`{`+patterns+`,"version":"x"}`, `{`+patterns+`,"data_stream":{"timestamp_field":{"name":"when"}}}`, ``)}
}

// stream is about a data stream, for which there may be a template.
func (w *world) stream(t *rapid.T) call {
	name := w.prefix + pick(t, "name", "stream", "stream", "stream2", "free", "none")
	switch rapid.IntRange(0, 6).Draw(t, "stream") {
	case 0:
		return call{"PUT", "/_index_template/" + w.prefix + "streams", "application/json", `{"index_patterns":["` + w.prefix + `stream*"],"data_stream":{},"priority":100,"template":{"settings":{"number_of_replicas":0}}}`}
	case 1:
		return call{"PUT", "/_data_stream/" + name, "", ""}
	case 2:
		return call{"GET", "/_data_stream/" + pick(t, "which", name, w.prefix+"*"), "", ""}
	case 3:
		return call{"DELETE", "/_data_stream/" + name, "", ""}
	case 4:
		return call{"POST", "/" + name + "/_rollover", "application/json", pick(t, "body", ``, `{}`, `{"conditions":{"max_docs":1}}`, `{"conditions":{"max_age":"7d"}}`, `{"nonsense":1}`, `{"conditions":{"nonsense":1}}`)}
	case 5:
		return call{"POST", "/" + name + "/_bulk", "application/x-ndjson", pick(t, "action", `{"create":{}}`, `{"index":{}}`, `{"create":{"_id":"1"}}`, `{"delete":{"_id":"1"}}`) + "\n" + `{"@timestamp":"2020-01-01"}` + "\n"}
	}
	return call{"POST", "/" + name + "/_doc" + pick(t, "parameters", "", "?op_type=create", "?refresh=true"), "application/json", pick(t, "body", `{"@timestamp":"2020-01-01","n":1}`, `{"n":1}`, `{"@timestamp":"x"}`, `{"@timestamp":["2020-01-01","2021-01-01"]}`, `{"@timestamp":null}`)}
}
