package proof

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// searchMapping is that of all indices that searches are compared in.
const searchMapping = `{"properties":{"u":{"type":"keyword"},"n":{"type":"long"},"i":{"type":"integer"},"by":{"type":"byte"},"f":{"type":"double"},"fl":{"type":"float"},"h":{"type":"half_float"},
"sc":{"type":"scaled_float","scaling_factor":100},"ul":{"type":"unsigned_long"},"d":{"type":"date"},"dn":{"type":"date_nanos"},"day":{"type":"date","format":"yyyy-MM-dd||epoch_second"},
"k":{"type":"keyword"},"kl":{"type":"keyword","normalizer":"lowercase"},"kn":{"type":"keyword","null_value":"none"},"ks":{"type":"keyword","ignore_above":4},"kx":{"type":"keyword","index":false},
"b":{"type":"boolean"},"ip":{"type":"ip"},"g":{"type":"geo_point"},"bin":{"type":"binary"},"w":{"type":"wildcard"},"fo":{"type":"flat_object"},"ir":{"type":"integer_range"},"dr":{"type":"date_range"},
"t":{"type":"text","fields":{"raw":{"type":"keyword"},"en":{"type":"text","analyzer":"english"}}},"t2":{"type":"text"},"tn":{"type":"text","norms":false},"ws":{"type":"text","analyzer":"whitespace"},"st":{"type":"text","analyzer":"stop"},
"custom":{"type":"text","analyzer":"mine"},"nx":{"type":"long","index":false},"nd":{"type":"long","doc_values":false},"nv":{"type":"integer","null_value":7},"copied":{"type":"text"},"from":{"type":"keyword","copy_to":"copied"},"al":{"type":"alias","path":"n"},
"o":{"properties":{"x":{"type":"integer"},"k":{"type":"keyword"},"t":{"type":"text"}}},
"nest":{"type":"nested","properties":{"x":{"type":"integer"},"k":{"type":"keyword"},"t":{"type":"text"},"d":{"type":"date"},"deep":{"type":"nested","properties":{"y":{"type":"integer"},"z":{"type":"keyword"}}}}}}}`

const searchAnalysis = `"analysis":{"normalizer":{"lowercase":{"type":"custom","filter":["lowercase"]}},"filter":{"few":{"type":"edge_ngram","min_gram":2,"max_gram":4}},
"analyzer":{"mine":{"type":"custom","tokenizer":"standard","filter":["lowercase","asciifolding","few"]}}}`

// The indices that searches are compared in, all of the same mapping.
const (
	whole   = "whole"   // one shard, nothing but new documents, merged by the server: scores are compared
	churned = "churned" // one shard with updates and deletes
	parts   = "parts"   // three shards with updates and deletes
)

var shardsOf = map[string]int{whole: 1, churned: 1, parts: 3}

// documents are what one index is filled with, in bulks; a refresh follows each.
type documents struct {
	index, mapping, analysis string
	bulks                    []string
}

// author writes documents from a seed.
type author struct{ *rand.Rand }

func (a author) one(from ...string) string { return from[a.IntN(len(from))] }

// chance is true once in n times.
func (a author) chance(n int) bool { return a.IntN(n) == 0 }

// vocabulary is that of texts: some words often, some seldom.
var vocabulary = strings.Fields(`the the the the quick quick quick brown fox fox foxes jumps jumping jumped over lazy dog dogs Dog red red green blue is a a a not running runs run café cafe naïve it's x-ray 42 3.14 e-mail user@example.com 東京 wi-fi AND or`)

// keywords are values of keywords, few enough to be counted.
var keywords = []string{"a", "b", "c", "A", "B", "é", "ab", "abc", "abcd", "abcde", "b c", "", "zz", "42", "a*b", "x/y"}

func (a author) text() string {
	var words []string
	for range 1 + a.IntN(1+a.IntN(14)) {
		words = append(words, vocabulary[a.IntN(len(vocabulary))]+a.one("", "", "", "", ",", ".", "!"))
	}
	return quoted(strings.Join(words, " "))
}

func (a author) keyword() string {
	return quoted(keywords[min(a.IntN(len(keywords)), a.IntN(len(keywords)))])
}

func (a author) date() string {
	return fmt.Sprintf("20%02d-%02d-%02d", 19+a.IntN(3), 1+a.IntN(12), 1+a.IntN(28))
}

func (a author) time() string {
	switch a.IntN(5) {
	case 0:
		return quoted(a.date())
	case 1:
		return fmt.Sprint(1577836800000 + a.Int64N(90*86400000))
	case 2:
		return quoted(a.date() + "T12:30:00+02:00")
	}
	return quoted(fmt.Sprintf("%sT%02d:%02d:%02d.%03dZ", a.date(), a.IntN(24), a.IntN(60), a.IntN(60), a.IntN(1000)))
}

func (a author) fraction() string {
	return a.one("0", "0.1", "0.25", "-1.5", "2.75", "1000.0", "3", "-0.001", tenth(a.Float64()*200-50), fmt.Sprint(a.IntN(50)))
}

// tenth is a number as a server writes it again.
func tenth(x float64) string { return strconv.FormatFloat(math.Trunc(x)+0.5, 'f', 1, 64) }

// several is a value, or now and then an array of some, with repetitions and nulls.
func (a author) several(value func() string) string {
	switch a.IntN(12) {
	case 0, 1, 2:
		all := []string{value(), value()}
		for a.chance(2) {
			all = append(all, a.one(value(), value(), all[0], "null"))
		}
		return "[" + strings.Join(all, ",") + "]"
	case 3:
		return a.one("null", "[]", "[null]")
	}
	return value()
}

// member is the value of a field of searchMapping.
func (a author) member(name string) string {
	whole := func() string { return fmt.Sprint(a.IntN(40) - 10) }
	writers := map[string]func() string{
		"n": func() string {
			return a.one(whole(), whole(), fmt.Sprint(a.IntN(1e6)), "9007199254740993", "-9223372036854775808")
		},
		"i": whole, "by": whole, "nx": whole, "nd": whole, "nv": whole, "f": a.fraction, "fl": a.fraction, "h": a.fraction, "sc": a.fraction,
		"ul": func() string { return a.one("0", "5", "17", "18446744073709551615", "9223372036854775808") },
		"d":  a.time, "dn": func() string { return quoted(a.date() + fmt.Sprintf("T01:02:03.%09dZ", a.IntN(1e9))) }, "day": func() string { return quoted(a.date()) },
		"k": a.keyword, "kl": a.keyword, "kn": a.keyword, "ks": a.keyword, "kx": a.keyword, "from": a.keyword, "w": a.keyword,
		"b": func() string { return a.one("true", "false", `"true"`, `""`) }, "ip": func() string { return a.one(`"10.0.0.1"`, `"10.0.0.2"`, `"192.168.1.7"`, `"::1"`, `"2001:db8::7"`) },
		"g": func() string {
			return fmt.Sprintf(`{"lat":%s,"lon":%s}`, tenth(a.Float64()*120-60), tenth(a.Float64()*300-150))
		}, "bin": func() string { return `"aGVsbG8="` },
		"fo": func() string { return fmt.Sprintf(`{"a":%s,"b":{"c":%s}}`, a.keyword(), a.keyword()) },
		"ir": func() string { n := a.IntN(20); return fmt.Sprintf(`{"gte":%d,"lt":%d}`, n, n+1+a.IntN(9)) },
		"dr": func() string {
			return fmt.Sprintf(`{"gte":"20%d-01-01","lte":"20%d-06-01"}`, 18+a.IntN(2), 20+a.IntN(2))
		},
		"t": a.text, "t2": a.text, "tn": a.text, "ws": a.text, "st": a.text, "custom": a.text,
		"o": func() string { return fmt.Sprintf(`{"x":%s,"k":%s,"t":%s}`, whole(), a.several(a.keyword), a.text()) },
	}
	if name == "ul" { // of several the server takes another than the least, or the greatest
		return writers[name]()
	}
	return a.several(writers[name])
}

var memberNames = strings.Fields("n i by f fl h sc ul d dn day k kl kn ks kx b ip g bin w fo ir dr t t2 tn ws st custom nx nd nv from o")

// nested is the value of nest.
func (a author) nested() string {
	var all []string
	for range a.IntN(4) {
		object := fmt.Sprintf(`{"x":%d,"k":%s,"t":%s`, a.IntN(10), a.several(a.keyword), a.text())
		if a.chance(2) {
			object += `,"d":` + a.time()
		}
		if a.chance(2) {
			object += fmt.Sprintf(`,"deep":[{"y":%d,"z":%s},{"y":%d}]`, a.IntN(5), a.keyword(), a.IntN(5))
		}
		all = append(all, object+"}")
	}
	if len(all) == 1 && a.chance(2) {
		return all[0]
	}
	return "[" + strings.Join(all, ",") + "]"
}

// document has some of the fields; u tells it from all others.
func (a author) document(u string) string {
	members := []string{`"u":` + quoted(u)}
	for _, name := range memberNames {
		if !a.chance(3) {
			members = append(members, quoted(name)+":"+a.member(name))
		}
	}
	if !a.chance(3) {
		members = append(members, `"nest":`+a.nested())
	}
	if a.chance(10) {
		members = append(members, a.one(`"newlong":1`, `"newdouble":2.5`, `"newtext":"text here"`, `"newtruth":true`, `"newdate":"2020-01-01"`, `"newobject":{"x":1}`))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// fill writes the documents of an index: new ones, and in those that are churned
// updates, deletes and documents written anew.
func (a author) fill(index string) documents {
	d := documents{index: index, mapping: searchMapping, analysis: searchAnalysis}
	made := 0
	for range 3 + a.IntN(4) {
		var bulk strings.Builder
		for range 5 + a.IntN(25) {
			if index == whole || made == 0 || !a.chance(3) {
				id := fmt.Sprintf("%s-%03d", index[:1], made)
				fmt.Fprintf(&bulk, "{\"index\":{\"_id\":%q}}\n%s\n", id, a.document(id))
				made++
				continue
			}
			id := fmt.Sprintf("%s-%03d", index[:1], a.IntN(made))
			switch a.IntN(3) {
			case 0:
				fmt.Fprintf(&bulk, "{\"delete\":{\"_id\":%q}}\n", id)
			case 1:
				fmt.Fprintf(&bulk, "{\"update\":{\"_id\":%q}}\n{\"doc\":{\"i\":%s,\"k\":%s}}\n", id, a.member("i"), a.member("k"))
			default:
				fmt.Fprintf(&bulk, "{\"index\":{\"_id\":%q}}\n%s\n", id, a.document(id))
			}
		}
		d.bulks = append(d.bulks, bulk.String())
	}
	return d
}

// making are the calls that make and fill an index.
func (d documents) making(prefix string) []call {
	at := "/" + prefix + d.index
	settings := fmt.Sprintf(`"number_of_shards":%d,"number_of_replicas":0,"refresh_interval":"-1"`, shardsOf[d.index])
	if d.analysis != "" {
		settings += "," + d.analysis
	}
	calls := []call{{"PUT", at, "application/json", fmt.Sprintf(`{"settings":{%s},"mappings":%s}`, settings, d.mapping)}}
	for _, bulk := range d.bulks {
		if bulk != "" {
			calls = append(calls, call{"POST", at + "/_bulk", "application/x-ndjson", bulk}, call{"POST", at + "/_refresh", "", ""})
		}
	}
	if d.index == whole {
		calls = append(calls, call{"POST", at + "/_forcemerge?max_num_segments=1", "", ""}, call{"POST", at + "/_refresh", "", ""})
	}
	return calls
}
