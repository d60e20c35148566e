package query

import (
	"strings"

	"github.com/reshelve/reshelve/internal/index/aggregate"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

func (p *parser) aggTerms(name string) (aggregate.Kind, error) {
	k := &aggregate.Terms{MinDocCount: 1}
	var shardLeast int64
	options := p.formatted(&k.Values, name, map[string]option{
		"size":                {takesNumber, func() error { return p.above("size", name, &k.Size) }},
		"shard_size":          {takesNumber, func() error { return p.above("shardSize", name, &k.ShardSize) }},
		"min_doc_count":       p.minDocCount("minDocCount", name, &k.MinDocCount),
		"shard_min_doc_count": p.minDocCount("shardMinDocCount", name, &shardLeast), // of one process with all shards: without meaning
		"order":               p.aggOrder(&k.Order),
		"include":             {takesString | takesObjects, func() error { return p.include(k) }},
		"exclude":             {takesString | takesArray, func() error { return p.exclude(k) }},
		"show_term_doc_count_error": {takesBoolean, func() (err error) {
			k.ShowError, err = p.boolean()
			return err
		}},
		"execution_hint": p.setString(&k.Hint),
		"collect_mode": {takesString, func() error {
			if mode := p.text(); mode != "breadth_first" && mode != "depth_first" {
				return exception.New(exception.OpenSearchParse, "no [collect_mode] found for value [%s]", mode)
			}
			return nil
		}},
	})
	return k, p.aggObject("terms", &k.Values, options)
}

// above reads a number that must be above 0.
func (p *parser) above(option, name string, into *int) (err error) {
	if *into, err = p.integer(); err == nil && *into <= 0 {
		err = exception.New(exception.IllegalArgument, "[%s] must be greater than 0. Found [%d] in [%s]", option, *into, name)
	}
	return err
}

func (p *parser) minDocCount(option1, name string, into *int64) option {
	return option{takesNumber, func() (err error) {
		if *into, err = p.long(); err == nil && *into < 0 {
			err = negative(option1, *into, name)
		}
		return err
	}}
}

// aggOrder is the option order: an object with one key, or an array of them.
func (p *parser) aggOrder(into *[]aggregate.Order) option {
	return option{takesObjects, func() error {
		*into = nil
		err := p.each(func() error {
			o, err := p.orderKey()
			*into = append(*into, o)
			return err
		})
		if err == nil && len(*into) == 0 {
			err = exception.New("index_out_of_bounds_exception", "Index 0 out of bounds for length 0")
		}
		return err
	}}
}

// orderKey reads an object; of several keys the last one counts.
func (p *parser) orderKey() (o aggregate.Order, err error) {
	for {
		if err := p.next(); err != nil {
			return o, err
		}
		switch p.kind {
		case token.ObjectEnd:
			if o.By == "" {
				return o, p.fail("Must specify at least one field for [order]")
			}
			if o.By == "_term" || o.By == "_time" {
				o.By = "_key"
			}
			return o, nil
		case token.Key:
			o.By = p.text()
		case token.String:
			switch strings.ToLower(p.text()) {
			case "asc":
				o.Descending = false
			case "desc":
				o.Descending = true
			default:
				return o, p.fail("Unknown order direction [%s]", p.text())
			}
		default:
			return o, p.fail("Unexpected token [%s] for [order]", p.kind)
		}
	}
}

// include reads the option of that name.
func (p *parser) include(k *aggregate.Terms) (err error) {
	if p.kind == token.Object {
		k.Include, err = p.partition()
	} else {
		k.Include, err = p.choice()
	}
	return orMixed(err, k)
}

func (p *parser) exclude(k *aggregate.Terms) (err error) {
	k.Exclude, err = p.choice()
	return orMixed(err, k)
}

func orMixed(err error, k *aggregate.Terms) error {
	switch {
	case err != nil || k.Include == nil || k.Exclude == nil:
		return err
	case k.Include.Of > 0:
		return exception.New(exception.IllegalArgument, "Cannot specify any excludes when using a partition-based include")
	case k.Include.Expression && !k.Exclude.Expression:
		return exception.New(exception.IllegalArgument, "Cannot mix a regex-based include with a set-based method")
	case !k.Include.Expression && k.Exclude.Expression:
		return exception.New(exception.IllegalArgument, "Cannot mix a set-based include with a regex-based method")
	}
	return nil
}

// choice reads a regular expression, or an array of values.
func (p *parser) choice() (*aggregate.Choice, error) {
	if p.kind == token.String {
		return &aggregate.Choice{Expression: true, Regexp: p.text()}, nil
	}
	c := &aggregate.Choice{List: []string{}}
	return c, p.elements(func() error {
		if !p.isValue() {
			return exception.New(exception.OpenSearchParse, "Array elements in include/exclude clauses should be string values")
		}
		c.List = append(c.List, p.text())
		return nil
	})
}

// partition reads one part of several.
func (p *parser) partition() (*aggregate.Choice, error) {
	c := &aggregate.Choice{}
	part, of := false, false
	err := p.members(func(name string) (err error) {
		switch name {
		case "partition":
			part = true
			c.Part, err = p.integer()
		case "num_partitions":
			of = true
			c.Of, err = p.integer()
		default:
			err = exception.New(exception.OpenSearchParse, "Unknown parameter in Include/Exclude clause: %s", name)
		}
		return err
	})
	missing := ""
	switch {
	case err != nil:
		return nil, err
	case !part:
		missing = "partition"
	case !of:
		missing = "num_partitions"
	case c.Part < 0 || c.Part >= c.Of:
		return nil, exception.New(exception.IllegalArgument, "Partition must be >=0 and < numPartition which is %d", c.Of)
	default:
		return c, nil
	}
	return nil, exception.New(exception.IllegalArgument, "Missing [%s] parameter for partition-based include", missing)
}
