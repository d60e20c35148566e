package mapping

import (
	"maps"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// complete checks what only the whole mapping shows, and counts its fields.
func (m *Mapping) complete(l *Limits) error {
	m.extent = extent{}
	if err := m.untaken(); err != nil {
		return err
	}
	check := checking{mapping: m, limits: l}
	if err := check.object(m.root, ""); err != nil {
		return err
	}
	m.extent = check.extent
	m.stamp = m.Timestamp()
	return check.total()
}

// untaken refuses a field of the name of one of the server's own.
func (m *Mapping) untaken() error {
	for name := range ownTypes {
		if _, taken := m.root.children[name]; taken {
			return exception.New(exception.MapperParsing, "Field [%s] is defined more than once", name)
		}
	}
	return nil
}

// extent is how much of everything that has a limit a mapping has.
type extent struct {
	fields  int  // fields, objects, multi-fields and aliases
	nesting int  // nested objects
	longest int  // units of the longest name
	deepest int  // levels of the deepest object
	crosses bool // a field copies to another, or stands for it: whether it may depends on others
}

// checking is one walk over a mapping, or over a part of it.
type checking struct {
	mapping *Mapping
	limits  *Limits
	extent
	long *Field
}

// object checks what is below an object. scope is the path of the nested object
// that it is in, "" outside of any.
func (c *checking) object(o *Field, scope string) error {
	for _, f := range o.order {
		if err := c.field(f, scope); err != nil {
			return err
		}
	}
	return nil
}

func (c *checking) field(f *Field, scope string) error {
	c.fields++
	length := units(f.name)
	c.longest = max(c.longest, length)
	if length > c.limits.FieldNameLength && (c.long == nil || f.IsObject() && !c.long.IsObject()) {
		c.long = f
	}
	switch {
	case f.IsObject():
		if f.kind == nestedType {
			c.nesting++
		}
		levels := strings.Count(f.path, ".") + 2
		if c.deepest = max(c.deepest, levels); levels > c.limits.Depth {
			return tooDeep(f.path, c.limits.Depth)
		}
		return c.object(f, f.scopeBelow(scope))
	case f.kind == aliasType:
		c.crosses = true
		return c.alias(f, scope)
	}
	return c.leaf(f, scope)
}

// scopeBelow is the scope of what is in an object.
func (f *Field) scopeBelow(scope string) string {
	if f.kind == nestedType {
		return f.path
	}
	return scope
}

func tooDeep(path string, limit int) error {
	return exception.New(exception.IllegalArgument, "Limit of mapping depth [%d] has been exceeded due to object field [%s]", limit, path)
}

func (c *checking) leaf(f *Field, scope string) error {
	if i := f.kind.index("index_prefixes"); i >= 0 { // fields of their own to the server
		if f.params[i] != nil {
			c.fields++
		}
		if f.flag("index_phrases") {
			c.fields++
		}
	}
	for _, path := range f.copyTo {
		c.crosses = true
		if err := c.copyTo(path, scope); err != nil {
			return err
		}
	}
	for _, multi := range f.multi {
		c.fields++
		if len(multi.copyTo) > 0 {
			return exception.New(exception.IllegalArgument, "[copy_to] may not be used to copy from a multi-field: [%s]", multi.path)
		}
		if err := c.leaf(multi, scope); err != nil {
			return err
		}
	}
	return nil
}

// copyTo checks that a field in scope may copy to the path.
func (c *checking) copyTo(path, scope string) error {
	to, multi, toScope := c.find(path)
	switch {
	case multi:
		return exception.New(exception.IllegalArgument, "[copy_to] may not be used to copy to a multi-field: [%s]", path)
	case to != nil && to.IsObject():
		return exception.New(exception.IllegalArgument, "Cannot copy to field [%s] since it is mapped as an object", path)
	case toScope != "" && toScope != scope && !strings.HasPrefix(scope, toScope+"."):
		if scope == "" {
			scope = "null"
		}
		return exception.New(exception.IllegalArgument, "Illegal combination of [copy_to] and [nested] mappings: [copy_to] may only copy data to the "+
			"current nested document or any of its parents, however one [copy_to] directive is trying to copy data from nested object [%s] to [%s]", scope, toScope)
	}
	return nil
}

// find looks a path up: the field there or nil, whether it is a multi-field, and
// the innermost nested object on the way.
func (c *checking) find(path string) (f *Field, multi bool, scope string) {
	f = c.mapping.root
	parts := strings.Split(path, ".")
	for i, part := range parts {
		if f.kind == nestedType {
			scope = f.path
		}
		multi = f.children == nil && i == len(parts)-1 // whether it is there or not
		if f = f.below(part); f == nil {
			return nil, multi, scope
		}
	}
	return f, multi, scope
}

// withoutRedundantIncludes is the object where nested objects that are included
// in the root by way of their parents are not included in it directly too. The
// server works this out after it has rendered a mapping: a mapping shows it when
// it is merged the next time.
func (f *Field) withoutRedundantIncludes(included bool) *Field {
	changed := f
	for i, child := range f.order {
		if !child.IsObject() {
			continue
		}
		byParent := included && child.includeInParent
		fixed := child.withoutRedundantIncludes(byParent || child.includeInRoot)
		if byParent && child.includeInRoot {
			if fixed == child {
				c := *child
				fixed = &c
			}
			fixed.includeInRoot = false
		}
		if fixed != child {
			if changed == f {
				c := *f
				c.children, c.order = maps.Clone(f.children), slices.Clone(f.order)
				changed = &c
			}
			changed.put(fixed)
			changed.order[i] = fixed
		}
	}
	return changed
}

func (c *checking) alias(f *Field, scope string) error {
	refuse := func(why string) error {
		return exception.New(exception.MapperParsing, "Invalid [path] value [%s] for field alias [%s]: %s", f.target, f.path, why)
	}
	to, _, toScope := c.find(f.target)
	switch {
	case f.target == f.path:
		return refuse("an alias cannot refer to itself.")
	case to == nil || to.IsObject():
		return refuse("an alias must refer to an existing field in the mappings.")
	case to.kind == aliasType:
		return refuse("an alias cannot refer to another alias.")
	case scope == toScope:
		return nil
	}
	told := func(own, none, scope string) string {
		if scope == "" {
			return none
		}
		return own + " nested scope is [" + scope + "]"
	}
	return exception.New(exception.IllegalArgument, "Invalid [path] value [%s] for field alias [%s]: an alias must have the same nested scope as its target. %s, but %s.",
		f.target, f.path, told("The alias's", "The alias is not nested", scope), told("the target's", "the target is not nested", toScope))
}

func (c *checking) names() error {
	longest := c.long
	switch {
	case longest != nil && longest.IsObject():
	case c.limits.FieldNameLength < len("_routing"):
		longest = &Field{name: "_routing"} // the server's own fields are measured too
	case c.limits.FieldNameLength < len("_data_stream_timestamp"):
		longest = &Field{name: "_data_stream_timestamp"}
	case longest == nil:
		return nil
	}
	return exception.New(exception.IllegalArgument, "Field name [%s] is longer than the limit of [%d] characters", longest.name, c.limits.FieldNameLength)
}

// total holds the whole to the limits.
func (c *checking) total() error {
	if err := c.names(); err != nil {
		return err
	}
	if c.nesting > c.limits.NestedFields {
		return exception.New(exception.IllegalArgument, "Limit of nested fields [%d] has been exceeded", c.limits.NestedFields)
	}
	if c.fields > c.limits.TotalFields {
		return tooMany(c.limits.TotalFields)
	}
	return nil
}

func tooMany(limit int) error {
	return exception.New(exception.IllegalArgument, "Limit of total fields [%d] has been exceeded", limit)
}
