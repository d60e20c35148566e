package query

import (
	"cmp"
	"slices"

	"github.com/reshelve/reshelve/internal/index/aggregate"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

func (p *parser) aggRange(name string) (aggregate.Kind, error) {
	k := &aggregate.Ranges{}
	return k, p.aggObject("range", &k.Values, p.rangeOptions(k, name))
}

func (p *parser) aggDateRange(name string) (aggregate.Kind, error) {
	k := &aggregate.Ranges{Dates: true}
	options := p.rangeOptions(k, name)
	options["time_zone"] = p.aggZone(&k.Values)
	return k, p.aggObject("date_range", &k.Values, options)
}

func (p *parser) rangeOptions(k *aggregate.Ranges, name string) map[string]option {
	return p.formatted(&k.Values, name, map[string]option{
		"keyed": p.setBoolean(&k.Keyed),
		"ranges": {takesObjects, func() error {
			return p.each(func() error {
				var r aggregate.Range
				err := p.object("range", map[string]option{
					"key":  {takesNumber, func() (err error) { r.Key, err = p.str(); return err }},
					"from": {takesNumber | takesNull, func() error { r.From = p.end(); return nil }},
					"to":   {takesNumber | takesNull, func() error { r.To = p.end(); return nil }},
				})
				k.Ranges = append(k.Ranges, r)
				return err
			})
		}},
	})
}

func (p *parser) aggAddressRange(name string) (aggregate.Kind, error) {
	k := &aggregate.AddressRanges{}
	options := p.formatted(&k.Values, name, map[string]option{
		"keyed": p.setBoolean(&k.Keyed),
		"ranges": {takesArray, func() error {
			return p.elements(func() error {
				r, err := p.addressRange()
				k.Ranges = append(k.Ranges, r)
				return err
			})
		}},
	})
	return k, p.aggObject("ip_range", &k.Values, options)
}

func (p *parser) addressRange() (r aggregate.AddressRange, err error) {
	if p.kind != token.Object {
		return r, p.fail("[ranges] must contain objects, but hit a %s", p.kind)
	}
	err = p.members(func(name string) error {
		into, known := map[string]*string{"key": &r.Key, "from": &r.From, "to": &r.To, "mask": &r.Mask}[name]
		if !known || !p.kind.IsScalar() {
			return p.fail("Unexpected ip range parameter: [%s]", name)
		}
		*into, err = p.strOrNull()
		return err
	})
	if err == nil {
		err = r.Check()
	}
	return r, err
}

func (p *parser) aggFilter(string) (aggregate.Kind, error) {
	q, err := p.query()
	return &aggregate.Filter{Query: q}, err
}

func (p *parser) aggFilters(name string) (aggregate.Kind, error) {
	k := &aggregate.Filters{}
	err := p.members(func(member string) (err error) {
		switch {
		case member == "filters" && p.kind == token.Object:
			k.Named = true
			return p.members(func(filter string) error { return p.filter(k, filter) })
		case member == "filters" && p.kind == token.Array:
			return p.elements(func() error { return p.filter(k, "") })
		case member == "other_bucket" && (p.kind == token.True || p.kind == token.False):
			k.Other, err = p.boolean()
		case member == "other_bucket_key" && p.kind == token.String:
			k.Other, k.OtherAs = true, p.text()
		default:
			return p.fail("Unknown key for a %s in [%s]: [%s].", p.kind, name, member)
		}
		return err
	})
	if err == nil && len(k.Filters) == 0 {
		err = exception.New(exception.IllegalArgument, "[filters] cannot be empty.")
	}
	slices.SortStableFunc(k.Filters, func(a, b aggregate.NamedFilter) int { return cmp.Compare(a.Name, b.Name) })
	return k, err
}

func (p *parser) filter(k *aggregate.Filters, name string) error {
	q, err := p.query()
	k.Filters = append(k.Filters, aggregate.NamedFilter{Name: name, Query: q})
	return err
}

func (p *parser) aggMissing(name string) (aggregate.Kind, error) {
	k := &aggregate.Missing{}
	return k, p.aggObject("missing", &k.Values, p.formatted(&k.Values, name, map[string]option{}))
}

func (p *parser) aggGlobal(name string) (aggregate.Kind, error) {
	return &aggregate.Global{}, p.members(func(string) error {
		return p.fail("Expected [FIELD_NAME] under a [START_OBJECT], but got a [%s] in [%s]", p.kind, name)
	})
}

func (p *parser) aggNested(name string) (aggregate.Kind, error) {
	k := &aggregate.Nested{}
	err := p.path(name, &k.Path)
	if err == nil && k.Path == "" {
		err = p.fail("Missing [path] field for nested aggregation [%s]", name)
	}
	return k, err
}

func (p *parser) aggReverseNested(name string) (aggregate.Kind, error) {
	k := &aggregate.ReverseNested{}
	return k, p.path(name, &k.Path)
}

func (p *parser) path(name string, into *string) error {
	return p.members(func(member string) error {
		if member != "path" || p.kind != token.String {
			return p.fail("Unexpected token %s in [%s].", p.kind, name)
		}
		*into = p.text()
		return nil
	})
}
