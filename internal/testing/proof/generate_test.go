package proof

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"pgregory.net/rapid"
)

// world names what a conversation is about.
type world struct {
	prefix string
	routed bool // the index that was drawn last wants routing
	fault  bool // the request that is drawn may have one thing wrong, and has none yet
}

// mistake tells whether the one thing that may be wrong with a request is this. Which
// of several a server complains of is of no interest.
func (w *world) mistake(t *rapid.T, what string) bool {
	if !w.fault || !seldom(t, 3, what) {
		return false
	}
	w.fault = false
	return true
}

// choose draws what is right, or the one thing that is wrong.
func (w *world) choose(t *rapid.T, what string, right, wrong []string) string {
	if w.mistake(t, "a wrong "+what) {
		return pick(t, what, wrong...)
	}
	return pick(t, what, right...)
}

func pick(t *rapid.T, what string, from ...string) string {
	return rapid.SampledFrom(from).Draw(t, what)
}

// seldom is true once in n times.
func seldom(t *rapid.T, n int, what string) bool { return rapid.IntRange(1, n).Draw(t, what) == n }

// index is a name of an index that there probably is, or of an alias, or of nothing.
func (w *world) index(t *rapid.T) string {
	name := pick(t, "index", "typed", "typed", "typed", "free", "free", "free", "strict", "new", "alias", "alias", "none", "routed")
	w.routed = name == "routed"
	return w.prefix + name
}

// typed is the mapping of one index of every conversation.
const typed = `{"properties":{"n":{"type":"long"},"by":{"type":"byte"},"f":{"type":"float"},"d":{"type":"date"},"k":{"type":"keyword","ignore_above":5},
"b":{"type":"boolean"},"ip":{"type":"ip"},"g":{"type":"geo_point"},"nest":{"type":"nested","properties":{"x":{"type":"integer"}}},
"closed":{"type":"object","dynamic":"strict","properties":{"x":{"type":"integer"}}},"quiet":{"type":"object","dynamic":"false"},"off":{"type":"object","enabled":false},
"t":{"type":"text","fields":{"raw":{"type":"keyword"}}},"to":{"type":"text"},"from":{"type":"keyword","copy_to":"to"},"bin":{"type":"binary"},
"nv":{"type":"integer","null_value":7},"loose":{"type":"integer","ignore_malformed":true},"day":{"type":"date","format":"yyyy-MM-dd||epoch_second"}}}`

// beginning makes the indices that every conversation has.
func (w *world) beginning(t *rapid.T) []call {
	put := func(name, body string) call { return call{"PUT", "/" + w.prefix + name, "application/json", body} }
	const settings = `"settings":{"number_of_replicas":0}`
	made := []call{
		put("typed", `{`+settings+`,"mappings":`+typed+`,"aliases":{"`+w.prefix+`alias":{}}}`),
		put("free", `{`+settings+`}`),
	}
	if seldom(t, 3, "strict") {
		made = append(made, put("strict", `{`+settings+`,"mappings":{"dynamic":"strict","properties":{"n":{"type":"long"}}}}`))
	}
	if seldom(t, 3, "routed") {
		made = append(made, put("routed", `{`+settings+`,"mappings":{"_routing":{"required":true}}}`))
	}
	return made
}

// conversation is what is asked then.
func (w *world) conversation(t *rapid.T) (calls []call) {
	for range rapid.IntRange(5, 40).Draw(t, "length") {
		var c call
		w.fault = seldom(t, 3, "fault")
		switch rapid.IntRange(0, 29).Draw(t, "kind") {
		case 0, 1, 2, 3, 4, 5:
			c = w.put(t)
		case 6, 7, 8:
			c = w.get(t)
		case 9, 10:
			c = w.remove(t)
		case 11, 12, 13, 14:
			c = w.update(t)
		case 15, 16, 17, 18, 19:
			c = w.bulk(t)
		case 20, 21:
			c = w.several(t)
		case 22, 23, 24:
			c = w.search(t)
		case 25:
			c = w.mapping(t)
		default:
			c = w.administer(t)
		}
		if !strings.Contains(c.path, w.prefix) && !strings.HasPrefix(c.path, "/_") {
			panic("a generated request may meet what is not its own: " + c.String())
		}
		calls = append(calls, c)
	}
	return calls
}

// id is the id of a document, in the form of a path.
func (w *world) id(t *rapid.T) string { return url.PathEscape(w.plainID(t)) }

func (w *world) plainID(t *rapid.T) string {
	if !seldom(t, 6, "strange id") {
		return pick(t, "id", "1", "2", "3", "4")
	}
	return pick(t, "strange", "a/b", "é", "😀", " ", "a b", "+", "%", "?", "#", `"`, `\`, "a\nb", "..", ".", "_x", "_doc", ",", "*", "1,2", "\u0000", "\u2028", "null",
		strings.Repeat("x", 512), strings.Repeat("x", 513), strings.Repeat("é", 256), strings.Repeat("é", 257), "A", "a:b", "&=", "%20", "<>")
}

// parameters draws some of the parameters.
func (w *world) parameters(t *rapid.T, names ...string) string {
	var parts []string
	for _, name := range names {
		if name == "routing" { // see the table of differences
			if w.routed && !w.mistake(t, "no routing") {
				parts = append(parts, "routing=r")
			}
			continue
		}
		if seldom(t, 6, name) {
			parts = append(parts, w.parameter(t, name))
		}
	}
	if w.fault && seldom(t, 8, "unknown parameter") {
		w.fault = false
		parts = append(parts, pick(t, "unknown", "nonsense=1", "nonsense", "routng=1", "refesh=true", "pretty=maybe", "human=x")) // not error_trace=x: the server never answers it
	}
	if seldom(t, 25, "form") {
		parts = append(parts, pick(t, "form", "pretty", "filter_path=result,_version", "filter_path=error.type", "filter_path=-_shards", "filter_path=*.*.status,errors", "filter_path=hits.hits._id", "pretty=false", "filter_path=", "filter_path=**._id", "format=json"))
	}
	if len(parts) == 0 {
		return ""
	}
	return "?" + strings.Join(parts, "&")
}

// words are the values of a parameter: right ones and wrong ones.
type words struct{ right, wrong string }

// booleans are those of all parameters that are one.
var booleans = words{"true|false|", "x|TRUE|1"}

var parameterValues = map[string]words{
	"refresh": {"true|true|false||wait_for", "x|TRUE"}, "op_type": {"index|create", "CREATE|x|"},
	"_source": {"true|false|n|closed.*|nest.x,n|*||*.x|n*", "TRUE"}, "_source_includes": {"n|closed|closed.*|*|nest.x||o.p,o.q", "n"},
	"_source_excludes": {"n|closed|closed.*|*|nest.x||o.p,o.q", "n"}, "realtime": booleans, "require_alias": booleans, "doc_as_upsert": booleans,
	"allow_no_indices": booleans, "ignore_unavailable": booleans, "include_type_name": booleans, "retry_on_conflict": {"0|3", "-1|x|"},
	"wait_for_active_shards": {"1|0", "x|-1|"}, "timeout": {"1m|10s|500ms|-1", "x|5||1x"}, "pipeline": {"_none", "nothing|"}, "stored_fields": {"_none_", "n|"},
	"preference": {"_local|x|_primary|", "_shards:0|_x"}, "expand_wildcards": {"open|closed|all|none|hidden|open,closed", "x|"},
	"if_seq_no": {"0|1|2|3|4|5", "-1|-2|x|"}, "if_primary_term": {"1|1|1|2", "0|-1|x|"},
	"version": {"1|2|3|5|9223372036854775807", "0|9223372036854775808|-1|x|"}, "version_type": {"external|external_gte", "internal|force|EXTERNAL|"},
}

func (w *world) parameter(t *rapid.T, name string) string {
	of := parameterValues[name]
	text := name + "=" + w.choose(t, name, strings.Split(of.right, "|"), strings.Split(of.wrong, "|"))
	switch name {
	case "version":
		if w.mistake(t, "no version type") {
			return text
		}
		return text + "&" + w.parameter(t, "version_type")
	case "if_seq_no":
		if w.mistake(t, "no term") {
			return text
		}
		return text + "&" + w.parameter(t, "if_primary_term")
	}
	return text
}

// contentType is that of a body: the right one, mostly.
func (w *world) contentType(t *rapid.T, right string) string {
	if !w.mistake(t, "content type") || !seldom(t, 3, "really") {
		return right
	}
	return pick(t, "type", "", "text/plain", "application/json", "application/x-ndjson", "application/json; charset=utf-8", "application/JSON", "application/vnd.x+json", "nonsense", "application/x-www-form-urlencoded")
}

// names are the members of documents.
var names = []string{"n", "n", "by", "f", "d", "k", "b", "ip", "g", "nest", "closed", "quiet", "off", "t", "to", "from", "bin", "nv", "loose", "day",
	"o", "o.p", "closed.x", "nest.x", "new", "x.y.z", "t.raw"}

// strangeNames are members that documents seldom have.
var strangeNames = []string{"", " ", ".", "a.", ".a", "a..b", "_id", "_source", "_routing", "é", "\x00", "a b", "*", "_seq_no", "n.x", "o.p.q.r", "_x"}

// values are the values of members, as JSON.
var values = []string{`1`, `2`, `-1`, `1.5`, `"1"`, `"x"`, `"1.5"`, `true`, `false`, `"true"`, `null`, `[]`, `[1,2]`, `[[1],[2]]`, `{}`, `{"x":1}`, `{"x":"y"}`, `{"y":{"z":1}}`,
	`"2020-01-01"`, `"2020-01-01T10:00:00Z"`, `"2020-13-01"`, `"not a date"`, `1577836800000`, `"::1"`, `"10.0.0.1"`, `"10.0.0"`, `{"lat":1,"lon":2}`, `{"lat":91,"lon":2}`, `"40,-70"`, `[2.5,1]`,
	`1e3`, `1e40`, `300`, `128`, `9223372036854775807`, `9223372036854775808`, `-0`, `0.1e-400`, `"` + `longer than five"`, `""`, `" "`, `"aGk="`, `"a="`, `[1,"x"]`, `[null]`, `[{"x":1},{"x":2}]`, `["a","b"]`, `{"x":{"y":1}}`,
	`"true "`, `"yes"`, `"TRUE"`, `{"lat":1}`, `"u09tv"`, `"POINT (1 2)"`, `"é\u00e9\ud83d\ude00"`, `"\ud800"`}

// source is the body of a document: mostly an object of a few members.
func (w *world) source(t *rapid.T) string {
	if w.mistake(t, "strange source") {
		return pick(t, "source", ``, ` `, `null`, `1`, `"x"`, `[]`, `[{}]`, `{`, `{"a"`, `{"a":}`, `{"a":1,}`, `{"a":1}}`, `{} x`, `{}{}`, `{'a':1}`, `{a:1}`, `{"a":01}`, `{"a":+1}`, `{"a":.5}`, `{"a":NaN}`, `{"a":tru}`,
			`{"a":"`, "{\"a\":\"\n\"}", "{\"a\":\"\x01\"}", "{\"a\":\"\xff\"}", "\xef\xbb\xbf{}", `/**/{}`, `{"a":1/**/}`, `{"a":1,"a":2}`, `{"a":{"b":1,"b":2}}`, `{"a":"\x"}`, `{"a":"\u12"}`, `{"n":1}`+"\n", "\n{}", `{"a" 1}`, `{"a":1 "b":2}`, `]`, `}`,
			strings.Repeat(`{"a":`, 22)+`1`+strings.Repeat(`}`, 22), strings.Repeat(`{"a":`, 19)+`1`+strings.Repeat(`}`, 19), `{"a":`+strings.Repeat(`[`, 30)+strings.Repeat(`]`, 30)+`}`)
	}
	var members []string
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		name := rapid.SampledFrom(names).Draw(t, "name")
		if w.mistake(t, "strange name") {
			name = rapid.SampledFrom(strangeNames).Draw(t, "strange name")
		}
		members = append(members, quoted(name)+":"+rapid.SampledFrom(values).Draw(t, "value"))
	}
	return "{" + strings.Join(members, ",") + "}"
}

func quoted(text string) string {
	out, _ := json.Marshal(text)
	return string(out)
}

func (w *world) put(t *rapid.T) call {
	method := pick(t, "method", "PUT", "PUT", "POST")
	body := w.source(t)
	switch rapid.IntRange(0, 5).Draw(t, "put") {
	case 0:
		return call{method, fmt.Sprintf("/%s/_create/%s%s", w.index(t), w.id(t), w.parameters(t, "refresh", "routing", "version", "if_seq_no", "require_alias", "timeout", "pipeline")), w.contentType(t, "application/json"), body}
	case 1:
		return call{"POST", fmt.Sprintf("/%s/_doc%s", w.index(t), w.parameters(t, "refresh", "routing", "op_type", "version", "if_seq_no", "require_alias")), w.contentType(t, "application/json"), body}
	}
	return call{method, fmt.Sprintf("/%s/_doc/%s%s", w.index(t), w.id(t),
		w.parameters(t, "refresh", "routing", "op_type", "version", "if_seq_no", "require_alias", "wait_for_active_shards", "timeout", "pipeline")), w.contentType(t, "application/json"), body}
}

func (w *world) get(t *rapid.T) call {
	endpoint := pick(t, "endpoint", "_doc", "_doc", "_source")
	return call{pick(t, "method", "GET", "GET", "HEAD"), fmt.Sprintf("/%s/%s/%s%s", w.index(t), endpoint, w.id(t),
		w.parameters(t, "routing", "_source", "_source_includes", "_source_excludes", "realtime", "refresh", "version", "preference", "stored_fields")), "", ""}
}

func (w *world) remove(t *rapid.T) call {
	return call{"DELETE", fmt.Sprintf("/%s/_doc/%s%s", w.index(t), w.id(t), w.parameters(t, "refresh", "routing", "version", "if_seq_no", "timeout", "wait_for_active_shards")), "", ""}
}

func (w *world) update(t *rapid.T) call {
	return call{"POST", fmt.Sprintf("/%s/_update/%s%s", w.index(t), w.id(t),
		w.parameters(t, "refresh", "routing", "if_seq_no", "version", "_source", "_source_includes", "_source_excludes", "doc_as_upsert", "retry_on_conflict", "require_alias", "wait_for_active_shards")),
		w.contentType(t, "application/json"), w.change(t)}
}

// change is the body of an update.
func (w *world) change(t *rapid.T) string {
	if w.mistake(t, "strange change") {
		return pick(t, "change", ``, `{}`, `null`, `[]`, `{"doc":1}`, `{"doc":null}`, `{"doc":[]}`, `{"upsert":{}}`, `{"doc":{},"doc":{"n":1}}`, `{"doc":{"n":1}`, `{"doc":{"n":1}} x`, `{"nonsense":1}`, `{"doc":{},"nonsense":{}}`,
			`{"doc":{},"doc_as_upsert":"true"}`, `{"doc":{},"doc_as_upsert":1}`, `{"doc":{},"detect_noop":"x"}`, `{"doc":{},"_source":[1]}`, `{"doc_as_upsert":true}`, `{"script":"x","doc":{}}`, `{"doc":"x"}`, `{"fields":["a"],"doc":{}}`)
	}
	parts := []string{`"doc":` + w.source(t)}
	for _, extra := range []string{`"doc_as_upsert":true`, `"detect_noop":false`, `"upsert":{"n":1}`, `"upsert":{}`, `"_source":true`, `"_source":["n"]`, `"if_seq_no":1,"if_primary_term":1`, `"_source":{"excludes":["n"]}`} {
		if seldom(t, 7, extra) {
			parts = append(parts, extra)
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}
