package query

import (
	"slices"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// fuzziness reads a number of edits, AUTO, or AUTO:low,high, and keeps the rest of f.
func (p *parser) fuzziness(f *search.Fuzziness) error {
	switch p.kind {
	case token.String, token.Integer, token.Float:
	default:
		return exception.New(exception.IllegalArgument, "Can't parse fuzziness on token: [%s]", p.kind)
	}
	return setFuzziness(f, p.text())
}

func setFuzziness(f *search.Fuzziness, text string) error {
	f.Set, f.Auto, f.Low, f.High = true, true, 3, 6
	upper := strings.ToUpper(text)
	if upper == "AUTO" {
		return nil
	}
	if custom, ok := strings.CutPrefix(upper, "AUTO:"); ok {
		return customAuto(f, text, strings.Split(custom, ","))
	}
	f.Auto, f.Low, f.High = false, 0, 0
	edits, err := javaFloat(text, 32)
	if err != nil || edits < 0 {
		return exception.New(exception.IllegalArgument, "Invalid fuzziness value: %s", text)
	}
	f.Edits = int(min(2, edits))
	return nil
}

func customAuto(f *search.Fuzziness, text string, bounds []string) error {
	if len(bounds) != 2 {
		return exception.New(exception.OpenSearchParse, "failed to find low and high distance values")
	}
	for i, into := range []*int{&f.Low, &f.High} {
		n, err := strconv.ParseInt(bounds[i], 10, 32)
		if err != nil {
			return exception.New(exception.OpenSearchParse, "failed to parse [%s] as a \"auto:int,int\"", text).
				CausedBy(exception.NotNumber(strings.ToLower(bounds[i])))
		}
		*into = int(n)
	}
	if f.Low < 0 || f.High < 0 || f.Low > f.High {
		return exception.New(exception.IllegalArgument,
			"fuzziness wrongly configured, must be: lowDistance > 0, highDistance > 0 and lowDistance <= highDistance ")
	}
	return nil
}

// The names of flags, joined by |.
var (
	regexpFlags = []string{"INTERSECTION", "COMPLEMENT", "EMPTY", "ANYSTRING", "INTERVAL", "NONE", "ALL"}
	// The bits of those from the third on, when they are told as a number: 1, 2, 4 …
	simpleFlags = []string{"ALL", "NONE", "AND", "NOT", "OR", "PREFIX", "PHRASE", "PRECEDENCE", "ESCAPE", "WHITESPACE", "FUZZY", "NEAR", "SLOP"}
)

// checkFlags refuses names that are not among the known ones of a syntax.
func checkFlags(text, syntax string, known []string) error {
	for name := range strings.SplitSeq(text, "|") {
		if name != "" && !slices.Contains(known, strings.ToUpper(name)) {
			return exception.New(exception.IllegalArgument, "Unknown %s flag [%s]", syntax, name)
		}
	}
	return nil
}
