package mapping

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	json "github.com/reshelve/reshelve/internal/opensearch/token"
)

// object reads the rest of an object: lat and lon, geohash, or type and
// coordinates, in any order but never mixed.
func (r *pointReader) object() *exception.Error {
	var o pointObject
	for {
		if err := r.next(); err != nil {
			return err
		}
		if r.kind == json.ObjectEnd {
			break
		}
		key := pointKey(r.tokens.Text())
		if err := r.next(); err != nil {
			return err
		}
		if err := o.take(r, key); err != nil {
			return err
		}
	}
	return o.add(r)
}

// pointObject is what an object told so far.
type pointObject struct {
	form                    string // of the first key
	lat, lon                float64
	hasLat, hasLon          bool
	geohash                 []byte
	hasType, hasCoordinates bool
}

var pointForms = map[string]string{"lat": "lat|lon", "lon": "lat|lon", "geohash": "geohash", "type": "GeoJSON", "coordinates": "GeoJSON"}

// pointKey is one of the keys of points, or "".
func pointKey(text []byte) string {
	switch string(text) {
	case "lat":
		return "lat"
	case "lon":
		return "lon"
	case "geohash":
		return "geohash"
	case "type":
		return "type"
	case "coordinates":
		return "coordinates"
	}
	return ""
}

// take reads the value of a key.
func (o *pointObject) take(r *pointReader, key string) (err *exception.Error) {
	form := pointForms[key]
	if form == "" || o.form != "" && o.form != form {
		return noPoint("field must be either [lon|lat], [type|coordinates], or [geohash]")
	}
	o.form = form
	switch key {
	case "lat":
		o.lat, err = r.degrees(key)
		o.hasLat = true
	case "lon":
		o.lon, err = r.degrees(key)
		o.hasLon = true
	case "geohash":
		if r.kind != json.String {
			return noPoint("geohash must be a string")
		}
		o.geohash = append([]byte{}, r.tokens.Text()...)
	case "type":
		if r.kind != json.String {
			return noPoint("type must be a string")
		}
		if !strings.EqualFold(string(r.tokens.Text()), "Point") {
			return noPoint("type must be Point")
		}
		o.hasType = true
	default:
		if r.kind != json.Array {
			return noPoint("coordinates must be an array")
		}
		o.lat, o.lon, err = r.coordinates()
		o.hasCoordinates = true
	}
	return err
}

// degrees is a number, or a text of one.
func (r *pointReader) degrees(key string) (float64, *exception.Error) {
	switch r.kind {
	case json.Integer, json.Float:
		return r.number()
	case json.String:
		n, err := parseDouble(r.tokens.Text(), 64)
		if err != nil {
			err = noPoint("[lon] and [lat] must be valid double values").CausedBy(err)
		}
		return n, err
	}
	return 0, noPoint("%s must be a number", key)
}

// add keeps the point of a whole object.
func (o *pointObject) add(r *pointReader) *exception.Error {
	missing := ""
	switch {
	case o.form == "":
		return noPoint("token [END_OBJECT] not allowed")
	case o.form == "geohash":
		return r.geohash(o.geohash)
	case o.form == "lat|lon" && !o.hasLat:
		missing = "lat"
	case o.form == "lat|lon" && !o.hasLon:
		missing = "lon"
	case o.form == "GeoJSON" && !o.hasType:
		missing = "type"
	case o.form == "GeoJSON" && !o.hasCoordinates:
		missing = "coordinates"
	default:
		return r.add(o.lat, o.lon)
	}
	return noPoint("field [%s] missing", missing)
}

// geohashDigits are the values of a digit, five bits each.
const geohashDigits = "0123456789bcdefghjkmnpqrstuvwxyz"

// geohash reads the corner in the south-west of a geohash's cell. Digits beyond
// the twelfth are finer than points are, and not looked at.
func (r *pointReader) geohash(text []byte) *exception.Error {
	refuse := func(reason string) *exception.Error {
		return noPoint("%s", reason).CausedBy(exception.New(exception.IllegalArgument, "%s", reason))
	}
	if len(text) == 0 {
		return refuse("empty geohash")
	}
	lat, lon := 0.0, 0.0 // as fractions of the globe
	latCell, lonCell := 1.0, 1.0
	east := true
	for i, count := 0, 0; i < len(text) && count < 12; count++ {
		value := strings.IndexByte(geohashDigits, text[i])
		if value < 0 {
			symbol, _ := utf8.DecodeRune(text[i:])
			return refuse("unsupported symbol [" + string(symbol) + "] in geohash [" + string(text) + "]")
		}
		for bit := 16; bit > 0; bit >>= 1 {
			at, cell := &lat, &latCell
			if east {
				at, cell = &lon, &lonCell
			}
			*cell /= 2
			if value&bit != 0 {
				*at += *cell
			}
			east = !east
		}
		i++
	}
	return r.add(lat*180-90, lon*360-180)
}

// geohashOf is the geohash of twelve digits in whose cell a point on the globe
// lies. Both coordinates are numbers of 32 bits first, as an index holds them.
func geohashOf(lat, lon float64) []byte {
	north, east := cell(lat, 180), cell(lon, 360)
	out := make([]byte, 12)
	for i := range out {
		value := 0
		for bit := 5 * i; bit < 5*i+5; bit++ { // of both in turn, east first
			from := east
			if bit%2 == 1 {
				from = north
			}
			value = value<<1 | int(from>>(31-bit/2)&1)
		}
		out[i] = geohashDigits[value]
	}
	return out
}

// cell is a coordinate as a number of 32 bits, from the south or west.
func cell(value, whole float64) uint32 {
	n := math.Floor(value/(whole/(1<<32))) + 1<<31
	return uint32(min(max(n, 0), 1<<32-1))
}
