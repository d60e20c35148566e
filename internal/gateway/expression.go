package gateway

import (
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// expressionParams are the parameters that expression reads.
const expressionParams = "ignore_unavailable allow_no_indices expand_wildcards ignore_throttled "

// searched is what absent, closed and hidden names mean to searches and to most
// requests that read.
var searched = catalog.Options{ExpandOpen: true, ForbidClosed: true}

// expression is the list of names that stands in the path, with the options of
// the parameters; what they leave open is as in defaults.
func (c *call) expression(name string, defaults catalog.Options) (catalog.Expression, error) {
	e := catalog.Expression{Options: defaults}
	if names := c.name(name); names != "" && names != "_all" {
		e.Names = strings.Split(names, ",")
	}
	if len(c.params) == 0 {
		return e, nil
	}
	var err error
	if e.Options.IgnoreUnavailable, err = c.option("ignore_unavailable", defaults.IgnoreUnavailable); err != nil {
		return e, err
	}
	allow, err := c.option("allow_no_indices", !defaults.NoIndicesIsError)
	if err != nil {
		return e, err
	}
	e.Options.NoIndicesIsError = !allow
	return e, c.expand(&e.Options)
}

// option is a boolean parameter of an expression, whose error has other words.
func (c *call) option(name string, byDefault bool) (bool, error) {
	value, err := c.boolean(name, byDefault)
	if err != nil {
		return false, exception.New(exception.IllegalArgument, "Could not convert [%s] to boolean", name).CausedBy(exception.From(err))
	}
	return value, nil
}

func (c *call) expand(o *catalog.Options) error {
	text, ok := c.has("expand_wildcards")
	if !ok {
		return nil
	}
	return expandOption(o, strings.Split(text, ","))
}

// expandOption says what patterns mean.
func expandOption(o *catalog.Options, values []string) error {
	o.ExpandOpen, o.ExpandClosed, o.ExpandHidden = false, false, false
	for _, value := range values {
		switch strings.ToLower(value) {
		case "open", "":
			o.ExpandOpen = true
		case "closed":
			o.ExpandClosed = true
		case "hidden":
			o.ExpandHidden = true
		case "none":
			o.ExpandOpen, o.ExpandClosed, o.ExpandHidden = false, false, false
		case "all":
			o.ExpandOpen, o.ExpandClosed, o.ExpandHidden = true, true, true
		default:
			return exception.New(exception.IllegalArgument, "No valid expand wildcard value [%s]", value)
		}
	}
	return nil
}
