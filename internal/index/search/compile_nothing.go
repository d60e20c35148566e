package search

// nothing reports whether the server knows before it makes a query that it finds nothing: it
// drops such a query together with the faults and the names of its parts. What it knows
// without a look at an index, for which in is nil, comes before all that an index refuses.
func nothing(q Query, in *compiler) bool {
	switch q := q.(type) {
	case *MatchNone:
		return true
	case *Bool:
		return anyNothing(q.Must, in) || anyNothing(q.Filter, in) ||
			len(q.Must)+len(q.Filter) == 0 && len(q.Should) > 0 && allNothing(q.Should, in)
	case *ConstantScore:
		return nothing(q.Filter, in)
	case *FunctionScore:
		return q.Query != nil && nothing(q.Query, in)
	case *Boosting:
		return nothing(q.Positive, in)
	case *IDs:
		return len(q.Values) == 0
	case *Terms:
		return len(q.Values) == 0 || in != nil && (in.nobodyHas(q.Field) || in.elsewhere(q.Field, texts(q.Values)...))
	}
	return in != nil && in.nothing(q)
}

// nothing is for leaves, by the fields of the index.
func (c *compiler) nothing(q Query) bool {
	switch q := q.(type) {
	case *Term:
		return c.nobodyHas(q.Field) || c.elsewhere(q.Field, q.Value.Text)
	case *Prefix:
		return c.nobodyHas(q.Field) || c.elsewhere(q.Field, q.Value+"*")
	case *Wildcard:
		return c.nobodyHas(q.Field) || c.elsewhere(q.Field, q.Value)
	case *Fuzzy:
		return c.nobodyHas(q.Field)
	case *Range:
		return c.nobodyHas(q.Field)
	case *Exists:
		list, err := c.existing(q.Field)
		return err == nil && len(list) == 0
	}
	return false
}

func anyNothing(list []Query, in *compiler) bool {
	for _, q := range list {
		if nothing(q, in) {
			return true
		}
	}
	return false
}

func allNothing(list []Query, in *compiler) bool {
	for _, q := range list {
		if !nothing(q, in) {
			return false
		}
	}
	return true
}

func (c *compiler) nobodyHas(name string) bool {
	_, ok := c.field(name)
	return !ok
}

// elsewhere reports whether a field is the same in all documents of the index, and none of
// some patterns means that.
func (c *compiler) elsewhere(name string, patterns ...string) bool {
	f, ok := c.field(name)
	if !ok {
		return false
	}
	constant, ok := c.constant(f)
	if !ok {
		return false
	}
	for _, pattern := range patterns {
		if constant.finds(pattern, 1) != (nonePlan{}) {
			return false
		}
	}
	return true
}
