package query

import (
	"math"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// Queries of places: geo_distance, geo_bounding_box.

// lengths are the units of lengths, in meters; of two that a text ends with, the first.
var lengths = []struct {
	meters float64
	names  []string
}{
	{0.0254, []string{"in", "inch"}}, {0.9144, []string{"yd", "yards"}}, {0.3048, []string{"ft", "feet"}},
	{1000, []string{"km", "kilometers"}}, {1852, []string{"NM", "nmi", "nauticalmiles"}}, {0.001, []string{"mm", "millimeters"}},
	{0.01, []string{"cm", "centimeters"}}, {1609.344, []string{"mi", "miles"}}, {1, []string{"m", "meters"}},
}

// parseUnit is what a unit is in meters.
func parseUnit(text string) (float64, error) {
	for _, unit := range lengths {
		if slices.Contains(unit.names, text) {
			return unit.meters, nil
		}
	}
	return 0, exception.New(exception.IllegalArgument, "No distance unit match [%s]", text)
}

// parseLength reads a length with its unit, or without one in the unit that is given.
func parseLength(text string, unit float64) (meters float64, err error) {
	for _, u := range lengths {
		for _, name := range u.names {
			if number, ok := strings.CutSuffix(text, name); ok {
				f, err := javaFloat(number, 64)
				return f * u.meters, err
			}
		}
	}
	f, err := javaFloat(text, 64)
	return f * unit, err
}

func (p *parser) geoDistance() (search.Query, error) {
	q := &search.GeoDistance{Common: plain()}
	distance, unit := "", 1.0
	at, found := point{}, false
	err := p.tokens(func(name string) (err error) {
		switch {
		case p.kind == token.Array:
			q.Field, found = name, true
			return p.pointArray(&at)
		case p.kind == token.Object && found:
			return p.manyFields("geo_distance", q.Field, name)
		case p.kind == token.Object:
			q.Field, found = name, true
			return p.pointMembers(name, &at)
		case !p.isValue():
			return nil
		}
		if known, err := p.commonOption("geo_distance", name, &q.Common); known || err != nil {
			return err
		}
		switch name {
		case "distance":
			if distance = p.text(); p.kind != token.String {
				_, err = p.float(64)
			}
		case "unit":
			unit, err = parseUnit(p.text())
		case "distance_type":
			if text := p.text(); !slices.Contains([]string{"plane", "arc"}, strings.ToLower(text)) {
				err = exception.New(exception.IllegalArgument, "No geo distance for [%s]", text)
			}
		case "ignore_unmapped":
			q.IgnoreUnmapped, err = p.boolean()
		case "validation_method":
			err = p.validation()
		default:
			return p.pathOrPoint(name, q, &at, &found)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case distance == "":
		return nil, p.fail("geo_distance requires 'distance' to be specified")
	case q.Field == "":
		return nil, exception.New(exception.IllegalArgument, "fieldName must not be null or empty")
	}
	q.Lat, q.Lon = at.lat, at.lon
	if q.Meters, err = parseLength(distance, unit); err == nil && q.Meters <= 0 {
		err = exception.New(exception.IllegalArgument, "distance must be greater than zero")
	}
	return q, err
}

// pathOrPoint reads "field.lat", "field.lon", or a field with a point as text.
func (p *parser) pathOrPoint(name string, q *search.GeoDistance, at *point, found *bool) (err error) {
	if field, ok := strings.CutSuffix(name, ".lat"); ok {
		q.Field = field
		at.lat, err = p.float(64)
		return err
	}
	if field, ok := strings.CutSuffix(name, ".lon"); ok {
		q.Field = field
		at.lon, err = p.float(64)
		return err
	}
	if *found {
		return p.fail("failed to parse [geo_distance] query. unexpected field [%s]", name)
	}
	q.Field, *found = name, true
	return at.parse(p.text())
}

func (p *parser) validation() error {
	text, err := p.str()
	if err == nil && !slices.Contains([]string{"COERCE", "IGNORE_MALFORMED", "STRICT"}, strings.ToUpper(text)) {
		err = exception.New(exception.IllegalArgument, "operator needs to be either [COERCE, IGNORE_MALFORMED, STRICT], but not [%s]", text)
	}
	return err
}

func (p *parser) geoBox() (search.Query, error) {
	nan := math.NaN()
	q := &search.GeoBox{Common: plain(), Top: nan, Left: nan, Bottom: nan, Right: nan}
	err := p.tokens(func(name string) (err error) {
		switch {
		case p.kind == token.Object:
			*q = search.GeoBox{Common: q.Common, Field: name, Top: nan, Left: nan, Bottom: nan, Right: nan, IgnoreUnmapped: q.IgnoreUnmapped}
			if err := p.corners(q); err != nil {
				return err
			}
			return checkBox(q)
		case !p.isValue():
			return nil
		}
		if known, err := p.commonOption("geo_bounding_box", name, &q.Common); known || err != nil {
			return err
		}
		switch name {
		case "ignore_unmapped":
			q.IgnoreUnmapped, err = p.boolean()
		case "validation_method":
			err = p.validation()
		case "type":
			if text := p.text(); text != "memory" && text != "indexed" {
				err = exception.New(exception.IllegalArgument, "no type can be parsed from ordinal %s", text)
			}
		default:
			err = p.fail("failed to parse [geo_bounding_box] query. unexpected field [%s]", name)
		}
		return err
	})
	if err == nil && q.Field == "" {
		err = exception.New(exception.OpenSearchParse, "failed to parse [geo_bounding_box] query. bounding box not provided")
	}
	return q, err
}

// checkBox refuses a box that lacks an edge, is upside down or has no inside.
func checkBox(q *search.GeoBox) error {
	for _, edge := range []struct {
		name  string
		value float64
	}{{"top latitude", q.Top}, {"left longitude", q.Left}, {"bottom latitude", q.Bottom}, {"right longitude", q.Right}} {
		if math.IsNaN(edge.value) || math.IsInf(edge.value, 0) {
			return exception.New(exception.IllegalArgument, "%s is invalid: %s", edge.name, java.Double(edge.value))
		}
	}
	switch {
	case q.Top < q.Bottom:
		return exception.New(exception.IllegalArgument, "top is below bottom corner: %s vs. %s", java.Double(q.Top), java.Double(q.Bottom))
	case q.Top == q.Bottom:
		return exception.New(exception.IllegalArgument, "top cannot be the same as bottom: %s == %s", java.Double(q.Top), java.Double(q.Bottom))
	case q.Left == q.Right:
		return exception.New(exception.IllegalArgument, "left cannot be the same as right: %s == %s", java.Double(q.Left), java.Double(q.Right))
	}
	return nil
}

// corners reads the edges or the corners of a box.
func (p *parser) corners(q *search.GeoBox) error {
	return p.members(func(name string) (err error) {
		refuse := func(why string) error {
			return exception.New(exception.OpenSearchParse, "failed to parse [geo_bounding_box] query. [%s]", why)
		}
		switch name {
		case "top":
			q.Top, err = p.float(64)
		case "left":
			q.Left, err = p.float(64)
		case "bottom":
			q.Bottom, err = p.float(64)
		case "right":
			q.Right, err = p.float(64)
		case "top_left", "topLeft", "bottom_right", "bottomRight", "top_right", "topRight", "bottom_left", "bottomLeft":
			lower := strings.ToLower(name)
			at := point{north: strings.HasPrefix(lower, "top"), east: strings.HasSuffix(lower, "right")}
			if err = p.point(&at); err != nil {
				if e := exception.From(err); e.Type == exception.OpenSearchParse {
					return refuse(e.Reason)
				}
				return err
			}
			if at.north {
				q.Top = at.lat
			} else {
				q.Bottom = at.lat
			}
			if at.east {
				q.Right = at.lon
			} else {
				q.Left = at.lon
			}
		case "wkt":
			return p.unsupported("[geo_bounding_box] in well-known text")
		default:
			return refuse("failed to parse bounding box. unexpected field [" + name + "]")
		}
		return err
	})
}
