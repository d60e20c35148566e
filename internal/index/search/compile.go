package search

import (
	"errors"
	"fmt"
	"math"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
)

// compiler works a tree out for one index.
type compiler struct {
	index  *Index
	now    int64
	limits Limits
	// views are all views of the index: expanding prefixes and the like to terms that are
	// scored looks at what terms there are.
	views []segment.View
	// around is the nested field whose objects are looked for; "" for documents.
	around string
	bare   bool // errors are told without a query_shard_exception around them
	looks  bool // the plan is not run: it says what terms look like, not which there are
	// filters: nobody asks for scores of what is compiled.
	filters bool
}

// unscored compiles what scores do not come from.
func (c *compiler) unscored() *compiler {
	of := *c
	of.filters = true
	return &of
}

// The server's limits, where Limits says nothing.
const (
	defaultClauses = 1024
	defaultTerms   = 65536
	defaultRegexp  = 1000
)

// compile makes a plan of a tree. The plan finds roots and children alike: who runs it
// keeps to roots, or to the children of a nestedPlan. The error is an *exception.Error.
func (c *compiler) compile(q Query) (plan, error) {
	p, err := c.query(q, 1)
	if err != nil {
		return nil, c.failed(err)
	}
	if limit := orDefault(c.limits.Clauses, defaultClauses); clauses(p) > limit {
		return nil, exception.New(exception.TooManyNestedClauses, "Query contains too many nested clauses; maxClauseCount is set to %d", limit)
	}
	return p, nil
}

func orDefault(limit, standard int) int {
	if limit == 0 {
		return standard
	}
	return limit
}

// query makes a plan of a node; boost is what the nodes around it give.
func (c *compiler) query(q Query, boost float32) (plan, error) {
	if q == nil {
		return nil, exception.New(exception.IllegalArgument, "query cannot be null")
	}
	common := q.common()
	p, err := c.node(q, boost*common.Boost)
	if err != nil && (nothing(q, nil) || !isEarly(err) && nothing(q, c)) {
		p, err = nonePlan{}, nil
	}
	if boost := float64(common.Boost); err == nil && (math.IsInf(boost, 0) || math.IsNaN(boost)) {
		if _, none := p.(nonePlan); !none {
			err = exception.New(exception.IllegalArgument, "boost must be a positive float, got %s", java.Double(boost))
		}
	}
	p = ownBoost(p, common.Boost)
	if err == nil && common.Name != "" {
		p = &namedPlan{p, common.Name}
	}
	return p, err
}

// node is query without what all nodes have.
func (c *compiler) node(q Query, boost float32) (plan, error) {
	switch q := q.(type) {
	case *MatchAll:
		return allPlan{boost}, nil
	case *MatchNone:
		return nonePlan{}, nil
	case *Bool, *ConstantScore, *DisjunctionMax, *Boosting, *Wrapped:
		return c.compound(q, boost)
	case *Term:
		return c.term(q, boost)
	case *Terms:
		return c.terms(q, boost)
	case *IDs:
		return c.ids(q.Values, boost)
	case *Range:
		return c.ranged(q, boost)
	case *Exists:
		return c.exists(q, boost)
	case *Match:
		return c.match(q, boost)
	case *QueryString:
		return c.queryString(q, boost)
	case *SimpleQueryString:
		return c.simpleQueryString(q, boost)
	case *FunctionScore:
		return c.functionScore(q, boost)
	case *GeoBox, *GeoDistance:
		return c.placed(q, boost)
	case *Nested:
		return c.nested(q, boost)
	case *MultiMatch:
		return c.multiMatch(q, boost)
	case *MatchPhrase:
		return c.matchPhrase(q, boost)
	case *Prefix, *Wildcard, *Regexp, *Fuzzy:
		return c.patterned(q, boost)
	}
	return nil, c.unsupported(fmt.Sprintf("%T", q))
}

// unsupported refuses what the server knows and we do not.
func (c *compiler) unsupported(what string) error {
	return &unsupported{exception.New(exception.IllegalArgument, "%s is not supported by this version of reshelve", what)}
}

// unsupported is an error of what no query may overlook.
type unsupported struct{ error }

func (u *unsupported) Unwrap() error { return u.error }

// refuse is a query_shard_exception.
func (c *compiler) refuse(format string, args ...any) *exception.Error {
	return exception.New(exception.QueryShard, format, args...).With("index", c.index.Name).With("index_uuid", c.index.UUID)
}

// failed tells an error of making a plan as the server does: its own as they are, others
// as the cause of one.
func (c *compiler) failed(err error) error {
	var e *exception.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Type == exception.QueryShard && len(e.Fields) == 0:
		return e.With("index", c.index.Name).With("index_uuid", c.index.UUID)
	case e.Type == exception.QueryShard || e.Type == exception.Parsing:
		return e
	}
	if c.bare || isEarly(err) {
		return e
	}
	return c.refuse("failed to create query: %s", e.Reason).CausedBy(e)
}

// early is an error that the server meets before it makes the query of a shard, and so
// tells as it is.
type early struct{ error }

func (e *early) Unwrap() error { return e.error }

func isEarly(err error) bool {
	var whole *early
	return errors.As(err, &whole)
}

// field finds a field by name.
func (c *compiler) field(name string) (*fields.Field, bool) { return c.index.Schema.Field(name) }
