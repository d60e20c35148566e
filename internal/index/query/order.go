package query

import (
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// scoreField is the name that stands for the score.
const scoreField = "_score"

// order reads the value of sort: a field, an object of fields, or an array of both.
func (p *parser) order() (keys []search.Sort, err error) {
	switch p.kind {
	case token.Object:
		err = p.orderObject(&keys)
	case token.Array:
		keys = []search.Sort{}
		err = p.elements(func() error {
			switch p.kind {
			case token.Object:
				return p.orderObject(&keys)
			case token.String:
				keys = append(keys, byField(p.text()))
				return nil
			}
			return exception.New(exception.IllegalArgument, "malformed sort format, within the sort array, an object, or an actual string are allowed")
		})
	default:
		var field string
		field, err = p.str()
		keys = append(keys, byField(field))
	}
	return keys, err
}

// byField is the order by a field when nothing more is said.
func byField(field string) search.Sort {
	return search.Sort{Field: field, Descending: field == scoreField}
}

// orderObject reads an object of fields.
func (p *parser) orderObject(keys *[]search.Sort) error {
	return p.members(func(field string) (err error) {
		key := byField(field)
		switch {
		case p.kind == token.String:
			key.Descending, err = parseDirection(p.text())
		case field == "_geo_distance" || field == "_geoDistance":
			key, err = p.orderByDistance()
		case field == "_script":
			err = p.unsupported("sorting by [_script]")
		case field == scoreField:
			err = p.object(scoreField, map[string]option{"order": p.setDirection(&key.Descending)})
		default:
			err = p.object("field_sort", p.orderOptions(&key))
		}
		*keys = append(*keys, key)
		return err
	})
}

func (p *parser) setDirection(descending *bool) option {
	return option{takesString, func() (err error) { *descending, err = parseDirection(p.text()); return err }}
}

func parseDirection(text string) (descending bool, err error) {
	upper := strings.ToUpper(text)
	if upper != "ASC" && upper != "DESC" {
		return false, noConstant("search.sort.SortOrder", upper)
	}
	return upper == "DESC", nil
}

func (p *parser) orderOptions(key *search.Sort) map[string]option {
	nested := func() *search.NestedSort {
		if key.Nested == nil {
			key.Nested = &search.NestedSort{}
		}
		return key.Nested
	}
	return map[string]option{
		"order":         p.setDirection(&key.Descending),
		"missing":       {takesScalar | takesNull, func() error { key.Missing = p.end(); return nil }},
		"mode":          {takesString, func() (err error) { key.Mode, err = parseMode(p.text()); return err }},
		"unmapped_type": p.setString(&key.UnmappedType),
		"numeric_type": {takesString, func() error {
			key.NumericType = p.text()
			if !slices.Contains([]string{"long", "double", "date", "date_nanos"}, key.NumericType) {
				return exception.New(exception.IllegalArgument, "invalid value for [numeric_type], must be [long, double, date, date_nanos], got %s", key.NumericType)
			}
			return nil
		}},
		"nested":        {takesObject, func() (err error) { key.Nested, err = p.nestedSort(); return err }},
		"nested_path":   {takesString, func() error { nested().Path = p.text(); return nil }},
		"nested_filter": {takesObject, func() (err error) { nested().Filter, err = p.query(); return err }},
	}
}

func parseMode(text string) (string, error) {
	lower := strings.ToLower(text)
	if !slices.Contains([]string{"min", "max", "sum", "avg", "median"}, lower) {
		return "", exception.New(exception.IllegalArgument, "Unknown SortMode [%s]", text)
	}
	return lower, nil
}

func (p *parser) nestedSort() (*search.NestedSort, error) {
	n := &search.NestedSort{}
	unknown := func(name string) error {
		return exception.New(exception.IllegalArgument, "malformed nested sort format, unknown field name [%s]", name)
	}
	return n, p.members(func(name string) (err error) {
		switch {
		case p.kind == token.Object && name == "filter":
			n.Filter, err = p.query()
		case p.kind == token.Object && name == "nested":
			n.Nested, err = p.nestedSort()
		case p.isValue() && name == "path":
			n.Path = p.text()
		case p.isValue() && name == "max_children":
			n.MaxChildren, err = p.integer()
		default:
			err = unknown(name)
		}
		return err
	})
}

// orderByDistance reads {"field": points, "unit": …}.
func (p *parser) orderByDistance() (search.Sort, error) {
	key := search.Sort{Field: "", Geo: &search.GeoSort{Unit: "m"}}
	if p.kind != token.Object {
		return key, noPoint()
	}
	add := func(name string, at point) {
		key.Field = name
		key.Geo.Lat, key.Geo.Lon = append(key.Geo.Lat, at.lat), append(key.Geo.Lon, at.lon)
	}
	err := p.members(func(name string) (err error) {
		if known, err := p.distanceOption(name, &key); known || err != nil {
			return err
		}
		at := point{}
		switch p.kind {
		case token.Array:
			points, err := p.points()
			for _, at := range points {
				add(name, at)
			}
			return err
		case token.Object:
			err = p.pointObject(&at)
		case token.String:
			if key.Field != "" && key.Field != name {
				return p.fail("Trying to reset fieldName to [%s], already set to [%s].", name, key.Field)
			}
			err = at.parse(p.text())
		default:
			return p.fail("[_geo_distance] does not support [%s]", name)
		}
		add(name, at)
		return err
	})
	switch {
	case err != nil:
		return key, err
	case len(key.Geo.Lat) == 0:
		return key, noPoint()
	}
	return key, nil
}

func noPoint() error {
	return exception.New(exception.IllegalArgument, "Geo distance sorting needs at least one point.")
}

func (p *parser) distanceOption(name string, key *search.Sort) (known bool, err error) {
	if !p.isValue() {
		if name == "nested" && p.kind == token.Object {
			key.Nested, err = p.nestedSort()
			return true, err
		}
		return false, nil
	}
	switch name {
	case "order":
		key.Descending, err = parseDirection(p.text())
	case "unit":
		key.Geo.Unit = p.text()
		_, err = parseUnit(key.Geo.Unit)
	case "distance_type":
		text := p.text()
		if key.Geo.Plane = strings.EqualFold(text, "plane"); !key.Geo.Plane && !strings.EqualFold(text, "arc") {
			err = exception.New(exception.IllegalArgument, "No geo distance for [%s]", text)
		}
	case "mode", "sort_mode":
		if key.Mode, err = parseMode(p.text()); err == nil && key.Mode == "sum" {
			err = exception.New(exception.IllegalArgument, "sort_mode [sum] isn't supported for sorting by geo distance")
		}
	case "validation_method":
		err = p.validation()
	case "ignore_unmapped":
		var ignore bool
		if ignore, err = p.boolean(); ignore {
			key.UnmappedType = "geo_point"
		}
	default:
		return false, nil
	}
	return true, err
}

// points reads [lon, lat], or an array of points.
func (p *parser) points() (all []point, err error) {
	var bare point
	numbers := 0
	err = p.elements(func() error {
		if p.kind == token.Integer || p.kind == token.Float {
			f, err := p.float(64)
			if numbers++; numbers == 1 {
				bare.lon = f
			} else {
				bare.lat = f
			}
			return err
		}
		at := point{}
		err := p.point(&at)
		all = append(all, at)
		return err
	})
	if numbers > 0 {
		if numbers != 2 || len(all) > 0 {
			return nil, exception.New(exception.OpenSearchParse, "[geo_point] field type should have at least two dimensions")
		}
		all = append(all, bare)
	}
	return all, err
}
