package query

import (
	"strings"

	"github.com/reshelve/reshelve/internal/index/aggregate"
	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

func (p *parser) aggComposite(string) (aggregate.Kind, error) {
	k := &aggregate.Composite{Size: 10}
	given := false
	var after map[string]fields.Value
	err := p.object("composite", map[string]option{
		"sources": {takesObjects, func() error {
			given = true
			return p.compositeSources(k)
		}},
		"size": {takesNumber, func() (err error) { k.Size, err = p.integer(); return err }},
		"after": {takesObject, func() error {
			after = map[string]fields.Value{}
			return p.members(func(name string) error {
				if !p.kind.IsScalar() {
					return p.unsupported("[after." + name + "] of a composite key")
				}
				after[name] = p.scalar()
				return nil
			})
		}},
	})
	switch {
	case err != nil:
		return nil, err
	case !given:
		return nil, exception.New(exception.IllegalArgument, "Required [sources]")
	case after == nil:
		return k, nil
	}
	k.After = []fields.Value{}
	for _, s := range k.Sources {
		value, ok := after[s.Name]
		if !ok {
			k.AfterMissing = s.Name
		}
		k.After = append(k.After, value)
	}
	return k, nil
}

func (p *parser) compositeSources(k *aggregate.Composite) error {
	names := map[string]bool{}
	twice := ""
	err := p.each(func() error {
		s, err := p.compositeSource()
		if names[s.Name] && twice == "" {
			twice = s.Name
		}
		names[s.Name] = true
		k.Sources = append(k.Sources, s)
		return err
	})
	switch {
	case err != nil:
		return err
	case len(k.Sources) == 0:
		return built("composite", exception.New(exception.IllegalArgument, "Composite [sources] cannot be null or empty"))
	case twice != "":
		return built("composite", exception.New(exception.IllegalArgument, "Composite source names must be unique, found duplicates: [%s]", twice))
	}
	return nil
}

// compositeSource reads {"name": {"terms": {…}}}.
func (p *parser) compositeSource() (s aggregate.CompositeSource, err error) {
	if p.kind != token.Object {
		return s, p.fail("expected value but got [%s]", p.kind)
	}
	read := false
	err = p.members(func(name string) error {
		if read {
			return exception.New(exception.IllegalState, "expected value but got [%s]", p.kind)
		}
		s.Name, read = name, true
		return p.loneMember(func(kind string) error { return p.compositeKind(&s, kind) })
	})
	return s, err
}

// loneMember reads an object with one member.
func (p *parser) loneMember(read func(name string) error) error {
	if p.kind != token.Object {
		return exception.New(exception.IllegalState, "expected value but got [%s]", p.kind)
	}
	first := true
	return p.members(func(name string) error {
		if !first {
			return exception.New(exception.IllegalState, "expected value but got [%s]", p.kind)
		}
		first = false
		return read(name)
	})
}

func (p *parser) compositeKind(s *aggregate.CompositeSource, kind string) error {
	switch kind {
	case "terms":
		k := &aggregate.Terms{}
		s.Of = k
		return p.object(kind, p.compositeOptions(s, &k.Values, map[string]option{}))
	case "histogram":
		k := &aggregate.Histogram{}
		s.Of = k
		return p.object(kind, p.compositeOptions(s, &k.Values, map[string]option{
			"interval": {takesNumber, func() (err error) {
				if k.Interval, err = p.float(64); err == nil && k.Interval <= 0 {
					err = exception.New(exception.IllegalArgument, "[interval] must be greater than 0 for [histogram] source")
				}
				return err
			}},
		}))
	case "date_histogram":
		k := &aggregate.DateHistogram{}
		s.Of = k
		options := p.compositeOptions(s, &k.Values, map[string]option{
			"format":    p.setString(&k.Format),
			"time_zone": p.aggZone(&k.Values),
			"offset":    {takesString | 1<<token.Integer, func() (err error) { k.Offset, err = p.offset(); return err }},
		})
		legacy := p.intervals(k, options)
		if err := p.object(kind, options); err != nil {
			return err
		}
		return legacy()
	case "geotile_grid":
		return p.unsupported("[geotile_grid] as a source of a composite key")
	}
	return p.fail("invalid source type: %s", kind)
}

func (p *parser) compositeOptions(s *aggregate.CompositeSource, v *aggregate.Values, more map[string]option) map[string]option {
	more["field"] = p.setString(&v.Field)
	more["missing_bucket"] = p.setBoolean(&s.MissingBucket)
	more["missing_order"] = option{takesString, func() error {
		switch s.MissingOrder = strings.ToLower(p.text()); s.MissingOrder {
		case "first", "last", "default":
			return nil
		}
		return exception.New(exception.IllegalArgument, "Unknown missing order: [%s]", p.text())
	}}
	more["value_type"] = option{takesString, func() error { v.Type = p.text(); return nil }}
	more["script"] = option{takesObject | takesString, func() error { return p.unsupported("[script]") }}
	more["order"] = option{takesString, func() error {
		switch strings.ToLower(p.text()) {
		case "asc":
			s.Descending = false
		case "desc":
			s.Descending = true
		default:
			return noConstant("search.sort.SortOrder", strings.ToUpper(p.text()))
		}
		return nil
	}}
	return more
}
