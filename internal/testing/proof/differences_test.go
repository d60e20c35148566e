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
var differences = []difference{
	{ // the server gives up waiting for its own cluster manager, as timeout=-1 asks; here is nobody to wait for
		want: regexp.MustCompile(`timed out while waiting for a dynamic mapping update`),
	},
}

// searchDifferences are those of searches, each with its reason.
var searchDifferences = []difference{
	{ // in an index of several shards one of them fails at the server, and here the index
		want: regexp.MustCompile(`200 of some shards`), have: regexp.MustCompile(`all shards failed`),
	},
	{ // the server's words when it looks into no shard at all
		want: regexp.MustCompile(`^503 \{"reason":"all shards failed","type":"search_phase_execution_exception"\}`), have: regexp.MustCompile(`^[45]\d\d `),
	},
	{ // values of parts of flat objects, by which the server sorts as it understands them
		have: regexp.MustCompile(`^400 .*of type \[flat_object\]`),
	},
	{ // the server fails over missing nanoseconds in descending order, or sorts them anywhere
		request: regexp.MustCompile(`dn\W.{0,60}(desc|_first)`),
	},
	{ // the server fails over sums of numbers that are too large
		want: regexp.MustCompile(`"unsupported_operation_exception"`), have: regexp.MustCompile(`^200 `),
	},
	{ // what stands for a missing number is read by the server late, behind other keys, or fails its answer
		request: regexp.MustCompile(`(ul|h)\W.{0,40}missing\W+x\b`), have: regexp.MustCompile(`For input string`),
	},
	{ // the server counts different values without a look at min_score
		request: regexp.MustCompile(`cardinality.*min_score|min_score.*cardinality`), want: regexp.MustCompile(`^200 `), have: regexp.MustCompile(`^200 `),
	},
	{ // named by what is not supported, where the server does something
		have: regexp.MustCompile(`is not supported by this version of reshelve`),
	},
	{ // so, where it is asked whether a search is valid
		request: regexp.MustCompile(`/validate\b.*fuzzy\W+w\W`), have: regexp.MustCompile(`^200 false`),
	},
}
