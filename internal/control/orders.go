package control

import (
	"regexp"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
)

// order is one in what a movement, or an error about it, says can be done; perhaps with the movement's ID.
var order = regexp.MustCompile(`reshelve movement [a-z][a-z-]*( [0-9]{8}-[0-9]{6}-[0-9a-z]+)?`)

// spoken is an order in words, as a record says it for every face: "reverse it".
var spoken = regexp.MustCompile(`\b(start|pause|resume|verify|repair|redrive|switch|reverse|finish|abort|watch) it\b`)

// Orders completes the orders in a text about the movement that a place records, so that they can be given as
// they stand: what the text comes from knows neither the place nor, often, what the movement is called. Those in words become commands.
func Orders(text, id, place string) string {
	text = spoken.ReplaceAllString(text, "reshelve movement $1")
	var whole strings.Builder
	name := arguments(id)
	for at := order.FindStringSubmatchIndex(text); at != nil; at = order.FindStringSubmatchIndex(text) {
		whole.WriteString(text[:at[1]])
		named := at[2] >= 0 && text[at[2]:at[3]] == name
		other := at[2] >= 0 && !named
		text = text[at[1]:]
		if !named && !other && strings.HasPrefix(text, name) { // a damaged record may be called anything
			whole.WriteString(name)
			named, text = true, text[len(name):]
		}
		if other || strings.HasPrefix(text, " --") {
			continue
		}
		if !named {
			whole.WriteString(name)
		}
		whole.WriteString(arguments("--at", place))
	}
	return whole.String() + text
}

// ordered completes what an error about a movement says can be done; of one that is not there it says where to
// look for those that are.
func ordered(err error, id, place string) error {
	if fault.Is(err, fault.NotFound) && fault.Next(err) == "" {
		return fault.WithNext(err, "%s lists those that are there", Command("movement", "ls", "--at", place))
	}
	return fault.Reword(err, func(next string) string { return Orders(next, id, place) })
}
