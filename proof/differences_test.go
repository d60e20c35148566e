package proof

import "regexp"

// difference is an answer that is not OpenSearch's, and is meant: where the request
// and both answers fit.
type difference struct {
	request    *regexp.Regexp // in the form of call.String; nil: any
	want, have *regexp.Regexp // nil: any
}

func (d difference) explains(c call, want, got string) bool {
	fits := func(pattern *regexp.Regexp, text string) bool { return pattern == nil || pattern.MatchString(text) }
	return fits(d.request, c.String()) && fits(d.want, want) && fits(d.have, got)
}

// differences are all that are meant, each with its reason in a comment.
var differences = []difference{}

// searchDifferences are those of searches, each with its reason.
var searchDifferences = []difference{
	{ // a search fails when a shard does; the server answers with the others
		want: regexp.MustCompile(`200 of some shards`), have: regexp.MustCompile(`all shards failed`),
	},
	{ // the server's words when it looks into no shard at all
		want: regexp.MustCompile(`^503 \{"reason":"all shards failed","type":"search_phase_execution_exception"\}`), have: regexp.MustCompile(`^[45]\d\d `),
	},
	{ // values of parts of flat objects, by which the server sorts as it understands them
		have: regexp.MustCompile(`^400 .*of type \[flat_object\]`),
	},
	{ // where nothing is to be sorted, a sort is not looked at
		request: regexp.MustCompile(`size\W+0\b.*sort|sort.*size\W+0\b`), want: regexp.MustCompile(`For input string|we only support AVG|Text fields are not optimised`), have: regexp.MustCompile(`^200 `),
	},
	{ // the server fails over missing nanoseconds in descending order, or sorts them anywhere
		request: regexp.MustCompile(`dn\W.{0,60}desc`),
	},
	{ // what has no order is asked for without an end: at the server as what exists
		request: regexp.MustCompile(`range`), want: regexp.MustCompile(`^200 `), have: regexp.MustCompile(`"reason":"TODO"|does not support range queries`),
	},
	{ // a bool of which nothing is left is everything at the server, whatever the minimum is
		request: regexp.MustCompile(`minimum_should_match.*must_not|must_not.*minimum_should_match`), want: regexp.MustCompile(`^200 `), have: regexp.MustCompile(`"(count|value)":0\b`),
	},
	{ // the server fails over sums of numbers that are too large
		want: regexp.MustCompile(`"unsupported_operation_exception"`), have: regexp.MustCompile(`^200 `),
	},
	{ // halves of sums beyond 53 bits
		request: regexp.MustCompile(`mode\W+avg`), want: regexp.MustCompile(`450359962737\d{4}`), have: regexp.MustCompile(`450359962737\d{4}`),
	},
	{ // a page of nothing after some has no best score at the server
		request: regexp.MustCompile(`from.*size\W+0\b|size\W+0\b.*from`), want: regexp.MustCompile(`"max_score":null`),
	},
	{ // an empty text without a look at its case is found by the server nowhere
		request: regexp.MustCompile(`case_insensitive.*value\W+}|value\W+,\W*case_insensitive`), want: regexp.MustCompile(`^200 `), have: regexp.MustCompile(`^200 `),
	},
	{ // what is open on both sides exists at the server; parts of flat objects never do
		request: regexp.MustCompile(`range.{0,12}fo\.`), want: regexp.MustCompile(`^200 `), have: regexp.MustCompile(`^200 `),
	},
	{ // fuzzy looks closely at wildcard fields, too
		request: regexp.MustCompile(`fuzzy\W+w\W`), want: regexp.MustCompile(`^200 `), have: regexp.MustCompile(`^200 `),
	},
	{ // a date of a range of dates that cannot be read is told without the query around it
		request: regexp.MustCompile(`dr\W`), want: regexp.MustCompile(`failed to create query: failed to parse date`), have: regexp.MustCompile(`failed to parse date`),
	},
	{ // the server counts different values without a look at min_score
		request: regexp.MustCompile(`cardinality.*min_score|min_score.*cardinality`), want: regexp.MustCompile(`^200 `), have: regexp.MustCompile(`^200 `),
	},
	{ // a range of one truth has the score of a filter, and at the server that of a term
		request: regexp.MustCompile(`range\W+b\W`), want: regexp.MustCompile(`^200 `), have: regexp.MustCompile(`^200 `),
	},
	{ // minimum_should_match counts the forms of a term that is fuzzy, and at the server it does not when there is one term
		request: regexp.MustCompile(`fuzziness.*minimum_should_match|minimum_should_match.*fuzziness`), want: regexp.MustCompile(`^200 `), have: regexp.MustCompile(`^200 `),
	},
	{ // named by what is not supported, where the server does something
		have: regexp.MustCompile(`^400 .*is not supported by this version of reshelve`),
	},
}
