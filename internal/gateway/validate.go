package gateway

import (
	"errors"
	"net/http"
	"strings"

	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store"
)

const validateParams = expressionParams + queryParams + "explain rewrite all_shards source source_content_type "

// validateRoutes are the endpoints that tell what is made of a query.
var validateRoutes = []route{
	{"GET POST", "/_validate/query", validateParams, (*call).validate},
	{"GET POST", "/{index}/_validate/query", validateParams, (*call).validate},
}

// validate tells whether a query is understood, and as what.
func (c *call) validate() error {
	body, err := c.contentOrSource()
	if err != nil {
		return err
	}
	explain, err := c.boolean("explain", false)
	if err != nil {
		return err
	}
	where := store.Where{}
	if where.Expression, err = c.expression("index", searched); err != nil {
		return err
	}
	if _, err := c.s.store.Resolve(c.ctx(), where.Expression); err != nil {
		return err
	}
	q, err := query.ReadCount(body)
	if ofURL, wrong := query.ReadURL(c.has); wrong != nil {
		err = wrong
	} else if ofURL != nil {
		q = ofURL
	}
	if err != nil {
		told := object{{"valid", false}}
		if explain {
			e := exception.From(err)
			told.add("error", className(e.Type)+"["+e.Reason+"]")
		}
		return c.answer(http.StatusOK, told)
	}
	if q == nil {
		q = search.NewRequest().Query
	}
	all, err := c.s.store.Validate(c.ctx(), where, q)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, validated(all, explain))
}

// validated tells what the indices make of a query.
func validated(all []store.Validated, explain bool) object {
	valid, shards := true, 0
	list := array{}
	for _, v := range all {
		shards++ // one shard of each index is asked
		one := object{{"index", v.Index}, {"valid", v.Err == nil}}
		if v.Err == nil {
			one.add("explanation", v.Plan)
		} else {
			valid = false
			one.add("error", "["+v.Index+"/"+v.UUID+"] "+reasonOf(v.Err))
		}
		list = append(list, one)
	}
	told := object{{"_shards", object{{"total", shards}, {"successful", shards}, {"failed", 0}}}, {"valid", valid}}
	if explain {
		told.add("explanations", list)
	}
	return told
}

func reasonOf(err error) string {
	var e *exception.Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return err.Error()
}

// className is the name of the server's class of a type: ParsingException.
func className(t exception.Type) string {
	name := ""
	for word := range strings.SplitSeq(string(t), "_") {
		if word != "" {
			name += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return name
}
