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
	{ // named by what is not supported, where the server does something
		have: regexp.MustCompile(`^400 .*is not supported by this version of reshelve`),
	},
}
