package query

import (
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// point is a place in degrees.
type point struct {
	lat, lon    float64
	north, east bool // which corner of a geohash's cell is meant
}

// point reads {"lat": …, "lon": …}, [lon, lat], "lat,lon" or a geohash.
func (p *parser) point(at *point) error {
	switch p.kind {
	case token.Array:
		return p.pointArray(at)
	case token.Object:
		return p.pointObject(at)
	}
	text, err := p.str()
	if err != nil {
		return exception.New(exception.OpenSearchParse, "geo_point expected")
	}
	return at.parse(text)
}

// pointObject reads an object of lat and lon, or geohash.
func (p *parser) pointObject(at *point) error {
	lat, lon, hash := false, false, false
	err := p.members(func(name string) (err error) {
		switch name {
		case "lat":
			at.lat, err = p.degree("latitude")
			lat = true
		case "lon":
			at.lon, err = p.degree("longitude")
			lon = true
		case "geohash":
			hash = true
			text, err := p.str()
			if err == nil {
				err = at.hash(text)
			}
			return err
		default:
			err = exception.New(exception.OpenSearchParse, "field must be either [lat], [lon], or [geohash]")
		}
		return err
	})
	switch {
	case err != nil || hash:
		return err
	case !lat:
		return exception.New(exception.OpenSearchParse, "field [lat] missing")
	case !lon:
		return exception.New(exception.OpenSearchParse, "field [lon] missing")
	}
	return nil
}

func (p *parser) degree(name string) (float64, error) {
	if p.kind != token.String && p.kind != token.Integer && p.kind != token.Float {
		return 0, exception.New(exception.OpenSearchParse, "%s must be a number", name)
	}
	f, err := javaFloat(p.text(), 64)
	if err != nil {
		err = exception.New(exception.OpenSearchParse, "[%s] must be a valid double value", name)
	}
	return f, err
}

// pointMembers reads the object of a geo_distance, which is read more loosely: what is
// not told is 0.
func (p *parser) pointMembers(field string, at *point) error {
	return p.tokens(func(name string) (err error) {
		if !p.isValue() {
			return nil
		}
		switch name {
		case "lat":
			at.lat, err = p.float(64)
		case "lon":
			at.lon, err = p.float(64)
		case "geohash":
			err = at.hash(p.text())
		default:
			err = p.doesNotSupport("geo_distance", field)
		}
		return err
	})
}

// pointArray reads [lon, lat].
func (p *parser) pointArray(at *point) error {
	n := 0
	err := p.elements(func() error {
		if p.kind != token.Integer && p.kind != token.Float {
			return exception.New(exception.OpenSearchParse, "numeric value expected")
		}
		f, err := p.float(64)
		switch n++; n {
		case 1:
			at.lon = f
		case 2:
			at.lat = f
		case 3:
			return exception.New(exception.OpenSearchParse,
				"Exception parsing coordinates: found Z value [%s] but [ignore_z_value] parameter is [false]", java.Double(f))
		}
		return err
	})
	if err == nil && n < 2 {
		err = exception.New(exception.OpenSearchParse, "[geo_point] field type should have at least two dimensions")
	}
	return err
}

// parse reads "lat,lon", "POINT (lon lat)" or a geohash.
func (at *point) parse(text string) error {
	if strings.HasPrefix(strings.ToLower(text), "point") {
		inside, ok := strings.CutSuffix(strings.TrimSpace(text[len("point"):]), ")")
		numbers := strings.Fields(strings.TrimPrefix(inside, "("))
		if !ok || !strings.HasPrefix(inside, "(") || len(numbers) != 2 {
			return exception.New(exception.OpenSearchParse, "Invalid WKT format")
		}
		return at.set(numbers[1], numbers[0])
	}
	if lat, lon, found := strings.Cut(text, ","); found {
		if strings.Contains(lon, ",") {
			return exception.New(exception.OpenSearchParse, "failed to parse [%s], expected 2 or 3 coordinates but found: [%d]", text, strings.Count(text, ",")+1)
		}
		return at.set(strings.TrimSpace(lat), strings.TrimSpace(lon))
	}
	return at.hash(text)
}

func (at *point) set(lat, lon string) (err error) {
	if at.lat, err = javaFloat(lat, 64); err != nil {
		return exception.New(exception.OpenSearchParse, "latitude must be a number")
	}
	if at.lon, err = javaFloat(lon, 64); err != nil {
		return exception.New(exception.OpenSearchParse, "longitude must be a number")
	}
	return nil
}

// hash is a corner of a geohash's cell: five bits a character, east and north in turns.
func (at *point) hash(text string) error {
	const digits = "0123456789bcdefghjkmnpqrstuvwxyz"
	if text == "" {
		return exception.New(exception.OpenSearchParse, "empty geohash")
	}
	if len(text) > 12 {
		text = text[:12]
	}
	var axis [2]float64 // east, north: from 0 to 1
	turn := 0
	step := [2]float64{0.5, 0.5}
	for _, char := range strings.ToLower(text) {
		digit := strings.IndexRune(digits, char)
		if digit < 0 {
			cause := exception.New(exception.IllegalArgument, "unsupported symbol [%c] in geohash [%s]", char, text)
			return exception.New(exception.OpenSearchParse, "%s", cause.Reason).CausedBy(cause)
		}
		for bit := 4; bit >= 0; bit-- {
			axis[turn] += step[turn] * float64(digit>>bit&1)
			step[turn] /= 2
			turn = 1 - turn
		}
	}
	for i, far := range []bool{at.east, at.north} {
		if far {
			axis[i] += 2 * step[i]
		}
	}
	at.lon, at.lat = axis[0]*360-180, axis[1]*180-90
	return nil
}
