package aggregate

import (
	"regexp"
	"strings"

	"github.com/reshelve/reshelve/exception"
)

// expression works a regular expression out. What it may hold is what Lucene's and Go's
// have in common.
func expression(text string) (func(term []byte) bool, error) {
	if strings.ContainsAny(text, `~&@<>"#`) {
		return nil, exception.New(exception.IllegalArgument, "regular expressions of include and exclude with any of ~&@<>\"# are not supported by this version of reshelve")
	}
	r, err := regexp.Compile(`(?s)\A(?:` + text + `)\z`)
	if err != nil {
		return nil, exception.New(exception.IllegalArgument, "%s", err)
	}
	return r.Match, nil
}
