package proof

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// asker draws searches. Its faults are those that one search may have.
type asker struct {
	*rapid.T
	names   int  // of queries so far
	scored  bool // scores are compared, and what depends on the terms of one shard
	sharded bool // one of the indices has several shards, which hold other documents than the server's
}

// ifOneShard is a text when there is one shard.
func (a *asker) ifOneShard(text string) string {
	if a.sharded {
		return ""
	}
	return text
}

// ifScored is a text when scores are compared.
func (a *asker) ifScored(text string) string {
	if a.scored {
		return text
	}
	return ""
}

func (a *asker) pick(what string, from ...string) string { return pick(a.T, what, from...) }

func (a *asker) seldom(n int, what string) bool { return seldom(a.T, n, what) }

func (a *asker) number(least, most int, what string) int {
	return rapid.IntRange(least, most).Draw(a.T, what)
}

// field draws one of the fields that the space-separated list names.
func (a *asker) field(list string) string { return a.pick("field", strings.Fields(list)...) }

const (
	textFields    = "t t t t2 tn ws st t.en custom o.t copied"
	wordFields    = "k k k kl kn ks t.raw o.k u w fo.a fo.b.c from"
	numberFields  = "n i i by f fl h sc ul nv o.x al"
	dateFields    = "d d dn day"
	otherFields   = "b ip kx nx nd ir dr g bin fo nest o none newlong newtext nest.x t.none _id _index"
	columnFields  = "n i by f fl h sc ul nv nx o.x d dn day k kl kn ks kx u o.k t.raw b ip al"
	countedFields = "n i i by sc nv nx d day k k kl kn ks kx o.k b ip from o.x al newtruth"
)

func (a *asker) anyField() string {
	return a.field(a.pick("fields", textFields, wordFields, numberFields, dateFields, otherFields))
}

func (a *asker) word() string {
	return a.pick("word", "the", "quick", "brown", "fox", "dog", "Dog", "jump", "jumping", "lazi", "lazy", "red", "runs", "café", "cafe", "42", "3.14", "x", "ray", "東京", "zebra", "e", "na", "green", "is", "not")
}

func (a *asker) words() string {
	var all []string
	for range a.number(1, 4, "words") {
		all = append(all, a.word())
	}
	return strings.Join(all, " ")
}

func (a *asker) keyword() string { return a.pick("keyword", keywords...) }

// valueOf draws a value, in JSON, that documents may have in a field, or a strange one.
func (a *asker) valueOf(field string) string {
	in := func(list string) bool { return strings.Contains(" "+list+" ", " "+field+" ") }
	switch {
	case field != "u" && a.seldom(25, "strange value"):
		return a.pick("strange", `""`, `"x"`, `1.5`, `true`, `"1"`, `-1`, `99999999999999999999`, `"2020-01-01"`, `null`)
	case in(textFields):
		return quoted(a.word())
	case field == "u" || field == "_id":
		return quoted(fmt.Sprintf("%s-%03d", a.pick("index", "w", "c", "p"), a.number(0, 60, "u")))
	case in(wordFields) || field == "kx" || field == "nest.k" || field == "nest.deep.z":
		return quoted(a.keyword())
	case in(dateFields) || field == "dr" || field == "nest.d":
		return a.date()
	case field == "b":
		return a.pick("truth", "true", "false", `"true"`)
	case field == "ip":
		return a.pick("address", `"10.0.0.1"`, `"10.0.0.0/8"`, `"::1"`, `"192.168.1.7"`, `"::/0"`)
	case field == "f" || field == "fl" || field == "h" || field == "sc":
		return a.pick("fraction", "0", "0.1", "0.25", "2.75", "-1.5", "1000", "3", `"0.1"`, "7", "10.5")
	case field == "ul":
		return a.pick("unsigned", "0", "5", "17", "18446744073709551615", "9223372036854775808", "-1")
	}
	return a.pick("number", fmt.Sprint(a.number(-10, 30, "whole")), `"5"`, "1.0", "9007199254740993", "2.5")
}

func (a *asker) date() string {
	return a.pick("date", `"2020-01-01"`, `"2019-06-15"`, `"2020-02"`, `"2021"`, `"2020-01-01||/M"`, `"2020-05-05||+1M/d"`, `"2020-01-15T10:00:00Z"`, `1580000000000`, `"2020-01-31T00:00:00+01:00"`)
}

// common draws the members that every query may have.
func (a *asker) common() string {
	text := ""
	if a.seldom(5, "boost") {
		text += `,"boost":` + a.pick("boost", "2", "0.5", "3.7", "0", "1")
	}
	if a.seldom(8, "name") {
		a.names++
		text += fmt.Sprintf(`,"_name":"q%d"`, a.names)
	}
	return text
}

// options draws some members, each as it stands.
func (a *asker) options(of int, members ...string) string {
	text := ""
	for _, member := range members {
		if member != "" && a.seldom(of, member) {
			text += "," + member
		}
	}
	return text
}

// query draws a query of at most this depth.
func (a *asker) query(depth int) string {
	if depth > 0 && !a.seldom(3, "leaf") {
		return a.compound(depth - 1)
	}
	switch a.number(0, 19, "leaf") {
	case 0, 1, 2:
		return a.match()
	case 3, 4:
		return a.phrase()
	case 5, 6:
		return a.term()
	case 7:
		return a.terms()
	case 8, 9, 10:
		return a.within()
	case 11:
		return fmt.Sprintf(`{"exists":{"field":%q%s}}`, a.anyField(), a.common())
	case 12, 13:
		return a.form()
	case 14:
		return a.multiMatch()
	case 15:
		return a.queryString()
	case 16:
		return a.nested(0)
	case 17:
		return a.geo()
	case 18:
		return fmt.Sprintf(`{"ids":{"values":[%s,%s]%s}}`, a.valueOf("u"), a.valueOf("u"), a.common())
	}
	return a.pick("all", `{"match_all":{}}`, `{"match_all":{"boost":2}}`, `{"match_none":{}}`, `{"match_all":{"_name":"all"}}`)
}

func (a *asker) compound(depth int) string {
	switch a.number(0, 11, "compound") {
	case 0:
		return fmt.Sprintf(`{"constant_score":{"filter":%s%s}}`, a.query(depth), a.common())
	case 1:
		return fmt.Sprintf(`{"dis_max":{"queries":[%s,%s]%s%s}}`, a.query(depth), a.query(depth), a.options(2, `"tie_breaker":0.3`), a.common())
	case 2:
		return fmt.Sprintf(`{"boosting":{"positive":%s,"negative":%s,"negative_boost":0.4%s}}`, a.query(depth), a.query(depth), a.common())
	case 3:
		return a.nested(depth)
	case 4, 5:
		return a.functionScore(depth)
	}
	var clauses []string
	for _, kind := range []string{"must", "filter", "should", "must_not"} {
		n := a.number(0, 2, kind)
		if n == 0 {
			continue
		}
		var all []string
		for range n {
			all = append(all, a.query(depth))
		}
		text := "[" + strings.Join(all, ",") + "]"
		if n == 1 {
			text = all[0]
		}
		clauses = append(clauses, quoted(kind)+":"+text)
	}
	if a.seldom(5, "minimum") {
		clauses = append(clauses, `"minimum_should_match":`+a.pick("minimum", "0", "1", "2", `"50%"`, `"-1"`, `"1<75%"`))
	}
	return "{\"bool\":{" + strings.TrimPrefix(strings.Join(clauses, ",")+a.common(), ",") + "}}"
}

func (a *asker) match() string {
	field := a.field(textFields)
	if a.seldom(6, "not text") {
		field = a.anyField()
		return fmt.Sprintf(`{"match":{%q:{"query":%s%s%s}}}`, field, a.valueOf(field), a.options(4, `"lenient":true`), a.common())
	}
	if a.seldom(8, "prefix") {
		return fmt.Sprintf(`{"match_bool_prefix":{%q:{"query":%q%s%s}}}`, field, a.words(), a.options(5, `"operator":"and"`, `"minimum_should_match":2`, `"fuzziness":1`), a.common())
	}
	return fmt.Sprintf(`{"match":{%q:{"query":%q%s%s}}}`, field, a.words(), a.options(8, `"operator":"and"`, `"minimum_should_match":"2"`, `"minimum_should_match":"70%"`, `"analyzer":"whitespace"`,
		`"analyzer":"stop"`, `"zero_terms_query":"all"`, `"zero_terms_query":"none"`, `"auto_generate_synonyms_phrase_query":false`, `"fuzziness":"AUTO"`, `"fuzziness":1`, `"prefix_length":1`, `"lenient":true`, a.ifScored(`"max_expansions":2`), `"fuzzy_transpositions":false`), a.common())
}

func (a *asker) phrase() string {
	kind := a.pick("phrase", "match_phrase", "match_phrase", "match_phrase_prefix")
	options := a.options(4, `"slop":`+a.pick("slop", "1", "2", "5"))
	if kind == "match_phrase_prefix" {
		options += a.options(6, a.ifScored(`"max_expansions":2`))
	}
	return fmt.Sprintf(`{%q:{%q:{"query":%q%s%s%s}}}`, kind, a.field(textFields), a.words(), options, a.options(10, `"analyzer":"whitespace"`, `"zero_terms_query":"all"`), a.common())
}

func (a *asker) term() string {
	field := a.anyField()
	return fmt.Sprintf(`{"term":{%q:{"value":%s%s%s}}}`, field, a.valueOf(field), a.options(8, `"case_insensitive":true`), a.common())
}

func (a *asker) terms() string {
	field := a.anyField()
	var values []string
	for range a.number(0, 4, "values") {
		values = append(values, a.valueOf(field))
	}
	return fmt.Sprintf(`{"terms":{%q:[%s]%s}}`, field, strings.Join(values, ","), a.common())
}

func (a *asker) within() string {
	field := a.anyField()
	ends := ""
	for _, end := range []string{a.pick("low", "gte", "gt", "from"), a.pick("high", "lte", "lt", "to")} {
		if !a.seldom(4, "open") {
			ends += fmt.Sprintf(`,%q:%s`, end, a.valueOf(field))
		}
	}
	switch {
	case strings.Contains(" "+dateFields+" dr ", " "+field+" "):
		ends += a.options(6, `"time_zone":"+02:00"`, `"time_zone":"Europe/Berlin"`, `"format":"yyyy-MM-dd||yyyy||epoch_millis"`)
	case field == "ir":
		ends += a.options(2, `"relation":"within"`, `"relation":"contains"`)
	}
	return fmt.Sprintf(`{"range":{%q:{%s}}}`, field, strings.TrimPrefix(ends+a.common(), ","))
}

// orConstant is a rewrite when scores are compared.
func (a *asker) orConstant(rewrite string) string {
	if a.scored {
		return rewrite
	}
	return `"constant_score"`
}

// form is a query by the form of terms.
func (a *asker) form() string {
	field := a.field(a.pick("fields", textFields, wordFields, wordFields, numberFields))
	fold := a.options(5, `"case_insensitive":true`) + a.options(9, `"rewrite":`+a.pick("rewrite", `"constant_score"`, `"scoring_boolean"`, `"constant_score_boolean"`, `"constant_score"`, a.orConstant(`"top_terms_3"`), a.orConstant(`"top_terms_boost_3"`), a.orConstant(`"top_terms_blended_freqs_3"`))) + a.common()
	switch a.number(0, 3, "form") {
	case 0:
		return fmt.Sprintf(`{"prefix":{%q:{"value":%q%s}}}`, field, a.pick("prefix", "a", "ab", "j", "qu", "", "A", "w-", "é"), fold)
	case 1:
		return fmt.Sprintf(`{"wildcard":{%q:{"value":%q%s}}}`, field, a.pick("wildcard", "*", "a*", "*b", "?", "a?c", "j*d", "*o*", "w-0?1", "a\\*b", "*/*", "??"), fold)
	case 2:
		return fmt.Sprintf(`{"regexp":{%q:{"value":%q%s%s}}}`, field, a.pick("regexp", "a.*", "[a-c]+", "(ab|b c)", "jump(s|ed)?", ".*o.", "w-0[0-2].", "a@", "~(ab).*", "<1-50>", "a{1,2}b?", "", "(", "[^a]"), a.options(6, `"flags":"NONE"`, `"flags":"INTERVAL"`), fold)
	}
	return fmt.Sprintf(`{"fuzzy":{%q:{"value":%q%s%s}}}`, field, a.pick("fuzzy", "abd", "quikc", "jumpin", "cafe", "bornw", "a", "fo", "w-001", "42"),
		a.options(5, `"fuzziness":`+a.pick("edits", "0", "1", "2", `"AUTO"`, `"AUTO:2,4"`), `"prefix_length":1`, `"transpositions":false`, a.ifScored(`"max_expansions":3`)), a.common()+a.options(9, `"rewrite":"constant_score"`))
}

func (a *asker) multiMatch() string {
	fields := fmt.Sprintf(`[%q,%q]`, a.field(textFields)+a.pick("boost", "", "", "^2", "^0.5"), a.pick("field", a.anyField(), a.field(textFields), "t*", "*.t", "n", "k^3"))
	return fmt.Sprintf(`{"multi_match":{"query":%q,"fields":%s%s%s}}`, a.words(), fields, a.options(3, `"type":`+a.pick("type", `"best_fields"`, `"most_fields"`, `"cross_fields"`, `"phrase"`, `"phrase_prefix"`, `"bool_prefix"`))+
		a.options(7, `"operator":"and"`, `"tie_breaker":0.3`, `"minimum_should_match":2`, `"slop":2`, `"lenient":true`, `"analyzer":"standard"`, `"fuzziness":"AUTO"`, `"zero_terms_query":"all"`, `"prefix_length":1`, a.ifScored(`"max_expansions":2`)), a.common())
}

func (a *asker) queryString() string {
	clause := func() string {
		if a.seldom(3, "more syntax") {
			return a.syntax()
		}
		return a.pick("clause", a.word(), a.word(), `"`+a.words()+`"`, `"`+a.words()+`"~2`, a.word()+"*", a.word()+"~1", a.word()+"^2", "t:"+a.word(), "k:"+a.pick("k", "a", "b", "abc"), "i:[1 TO 10]", "i:>5", "d:[2020 TO *]", "+"+a.word(), "-"+a.word(),
			"NOT "+a.word(), "("+a.word()+" OR "+a.word()+")", a.word()+" AND "+a.word(), "_exists_:k", "*:*", "t2:("+a.words()+")", "k:/a.*/", "qu?ck", "none:x", "\\"+"(x")
	}
	text := clause()
	for a.seldom(2, "more") {
		text += " " + clause()
	}
	if a.seldom(2, "simple") {
		text = strings.NewReplacer(" AND ", " + ", " OR ", " | ", "NOT ", "-").Replace(text)
		fields := a.pick("fields", `,"fields":["t","t2^2"]`, `,"fields":["t","t2^2"]`, `,"fields":["t","k"]`, `,"fields":["t*"]`, `,"fields":["custom","st","t.en^3"]`)
		return fmt.Sprintf(`{"simple_query_string":{"query":%s%s%s%s}}`, quoted(text), fields, a.options(6, `"default_operator":"and"`, `"flags":"AND|OR|PREFIX"`, `"flags":"PHRASE|FUZZY|SLOP"`, `"minimum_should_match":2`, `"analyze_wildcard":true`, `"lenient":true`, `"quote_field_suffix":".en"`, `"fuzzy_prefix_length":1`, `"fuzzy_transpositions":false`, `"analyzer":"whitespace"`), a.common())
	}
	return fmt.Sprintf(`{"query_string":{"query":%s%s%s}}`, quoted(text), a.pick("fields", `,"fields":["t","t2^2"]`, `,"default_field":"t"`, `,"fields":["t","k"]`, `,"fields":["t","t.en"],"type":"most_fields"`, `,"fields":["t","t2","st"],"type":"cross_fields"`, `,"fields":["t","custom"],"type":"phrase"`, `,"fields":["t","t2"],"type":"bool_prefix"`, `,"fields":["t*"],"lenient":true`)+
		a.options(9, `"default_operator":"and"`, `"minimum_should_match":2`, `"phrase_slop":1`, `"analyze_wildcard":true`, `"tie_breaker":0.5`, `"quote_field_suffix":".en"`, `"fuzzy_prefix_length":1`, `"fuzziness":1`, `"fuzzy_transpositions":false`,
			`"escape":true`, `"allow_leading_wildcard":false`, `"quote_analyzer":"whitespace"`, `"time_zone":"+02:00"`, `"rewrite":"constant_score"`, `"auto_generate_synonyms_phrase_query":false`), a.common())
}

// syntax is what of the syntax of query_string is seldom used.
func (a *asker) syntax() string {
	w, v := a.word(), a.word()
	return a.pick("syntax", "("+w+" "+v+")^2", w+" && "+v, w+" || "+v, "!"+w, "t:("+w+" OR "+v+")", "t:("+w+" AND NOT "+v+")", "+("+w+" "+v+") -"+v, "i:{1 TO 5]", "i:[* TO 5}", "i:<=5", "i:(>1 AND <8)", "k:[a TO b}", `k:"b c"`,
		`"`+w+" "+v+`"~3^2`, w+"~0.5", w+"~2", w+"~", "*"+w, "t\\*:"+w, "t\\*:\""+w+" "+v+"\"", "k:*", "_exists_:nest.x", "*", "f:[0.5 TO 3]", "ip:10.0.0.1", `ip:"10.0.0.0/8"`, "b:true", "sc:>1.5", "d:<2020-06-01", "d:2020-05", `d:"2020-05-05||/M"`,
		w+" OR ("+v+" AND "+w+")", "("+w+" OR "+v+") AND "+w, "NOT ("+w+" "+v+")", "t:/ju.*/", "("+w, w+")", w+" AND", `"`+w, "i:x", "a\\:b", "t:"+w+"^0", "/[a-c]+/", "kl:AB", "o.x:3", "nest.k:a", "al:5", "u:w-00?", "t2:"+w+"*^3")
}

func (a *asker) nested(depth int) string {
	inner := a.pick("inner", fmt.Sprintf(`{"range":{"nest.x":{"gte":%d}}}`, a.number(0, 9, "x")), fmt.Sprintf(`{"term":{"nest.k":%q}}`, a.keyword()), fmt.Sprintf(`{"match":{"nest.t":%q}}`, a.words()), `{"match_all":{}}`, `{"exists":{"field":"nest.d"}}`,
		fmt.Sprintf(`{"nested":{"path":"nest.deep","query":{"term":{"nest.deep.y":%d}}}}`, a.number(0, 4, "y")), `{"range":{"nest.d":{"lt":"2020-06-01"}}}`)
	for range depth {
		inner = fmt.Sprintf(`{"bool":{%q:[%s,{"range":{"nest.x":{"lt":%d}}}]}}`, a.pick("clause", "must", "should", "filter"), inner, a.number(0, 12, "x"))
	}
	path := "nest"
	if a.seldom(12, "deep") {
		path, inner = "nest.deep", fmt.Sprintf(`{"terms":{"nest.deep.z":[%q,%q]}}`, a.keyword(), a.keyword())
	}
	return fmt.Sprintf(`{"nested":{"path":%q,"query":%s%s%s}}`, path, inner, a.options(3, `"score_mode":`+a.pick("mode", `"avg"`, `"sum"`, `"min"`, `"max"`, `"none"`)), a.options(30, `"ignore_unmapped":true`)+a.common())
}

func (a *asker) geo() string {
	if a.seldom(2, "box") {
		return fmt.Sprintf(`{"geo_bounding_box":{"g":{"top_left":{"lat":%d,"lon":%d},"bottom_right":{"lat":%d,"lon":%d}}%s}}`, a.number(0, 60, "top"), a.number(-150, 0, "left"), a.number(-60, 0, "bottom"), a.number(0, 150, "right"), a.common())
	}
	return fmt.Sprintf(`{"geo_distance":{"distance":%q,"g":{"lat":%d,"lon":%d}%s}}`, a.pick("distance", "100km", "2000km", "5000mi", "9000000"), a.number(-60, 60, "lat"), a.number(-150, 150, "lon"), a.common())
}

func (a *asker) functionScore(depth int) string {
	var functions []string
	for range a.number(0, 3, "functions") {
		function := a.pick("function", `"weight":2.5`, `"random_score":{"seed":7,"field":"u"}`, `"random_score":{"seed":-3,"field":"n"}`, `"field_value_factor":{"field":"i","missing":1,"modifier":"square"}`, `"field_value_factor":{"field":"by","factor":1.2,"modifier":"ln2p","missing":3}`,
			`"gauss":{"i":{"origin":5,"scale":4}}`, `"exp":{"d":{"origin":"2020-06-01","scale":"30d","offset":"1d","decay":0.3}}`, `"linear":{"f":{"origin":"0","scale":"20"},"multi_value_mode":"max"}`, `"gauss":{"g":{"origin":"10,20","scale":"3000km"}}`)
		if strings.Contains(function, `"by"`) || strings.Contains(function, `"i","missing"`) {
			function += `,"filter":{"range":{"i":{"gte":0}}}`
		} else if a.seldom(3, "filtered") {
			function += `,"filter":` + a.query(0)
		}
		if a.seldom(4, "weighted") && !strings.HasPrefix(function, `"weight"`) {
			function += `,"weight":3`
		}
		functions = append(functions, "{"+function+"}")
	}
	return fmt.Sprintf(`{"function_score":{"query":%s,"functions":[%s]%s%s}}`, a.query(depth), strings.Join(functions, ","), a.options(4, `"score_mode":`+a.pick("mode", `"sum"`, `"avg"`, `"first"`, `"max"`, `"min"`),
		`"boost_mode":`+a.pick("mode", `"multiply"`, `"sum"`, `"avg"`, `"replace"`, `"max"`, `"min"`), `"max_boost":4`)+a.options(9, a.ifScored(`"min_score":1.1`)), a.common())
}
