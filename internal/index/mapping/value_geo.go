package mapping

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
	json "github.com/reshelve/reshelve/internal/opensearch/token"
)

// pointField is what reading the points of a field takes.
type pointField struct {
	path            string
	ignoreMalformed bool // points off the globe are moved onto it
	ignoreZ         bool // a third coordinate is allowed
}

// pointReader keeps what reading points needs from value to value.
type pointReader struct {
	field    *pointField
	tokens   json.Reader
	place    place
	kind     json.Kind // of the last token
	points   []Value
	anywhere bool // points may be off the globe
}

// values reads one point, or an array of points: an object with lat and lon, a
// geohash, or type and coordinates as in GeoJSON; a text with lat and lon, a
// geohash, or a WKT POINT; an array of lon and lat. The points are valid until the
// next call. Null is the caller's.
func (r *pointReader) values(f *pointField, t token, p place) ([]Value, *exception.Error) {
	r.field, r.place, r.points = f, p, r.points[:0]
	switch t.kind {
	case json.Object, json.Array:
		r.tokens.Reset(t.text)
		if err := r.next(); err != nil {
			return nil, err
		}
	default:
		r.kind = t.kind
	}
	if t.kind != json.Array {
		err := r.point(t.text)
		return r.points, err
	}
	if err := r.next(); err != nil {
		return nil, err
	}
	if r.kind == json.Integer || r.kind == json.Float {
		err := r.bare()
		return r.points, err
	}
	for r.kind != json.ArrayEnd {
		scalar := r.kind.IsScalar()
		err := r.point(r.tokens.Text())
		if err != nil && (!scalar || !f.ignoreMalformed) {
			return nil, err
		}
		if err != nil {
			r.points = r.points[:0] // the server begins again behind it
		}
		if err := r.next(); err != nil {
			return nil, err
		}
	}
	return r.points, nil
}

func (r *pointReader) next() *exception.Error {
	kind, err := r.tokens.Next()
	r.kind = kind
	if err == nil {
		return nil
	}
	var e *exception.Error
	if errors.As(err, &e) {
		return e
	}
	return exception.From(err)
}

var notAPoint = noPoint("geo_point expected")

func noPoint(format string, args ...any) *exception.Error {
	return exception.New(exception.OpenSearchParse, format, args...)
}

// number is the last token as a number; texts of numbers are numbers too.
func (r *pointReader) number() (float64, *exception.Error) {
	t := token{r.kind, r.tokens.Text()}
	switch r.kind {
	case json.String:
		return parseDouble(t.text, 64)
	case json.Integer, json.Float:
		n, _ := strconv.ParseFloat(string(t.text), 64)
		return n, nil
	}
	return 0, r.place.at(r.tokens.Offset()).refuse(exception.JSONParse, "Current token (%s) not numeric, can not use numeric value accessors", kindName(r.kind))
}

// bare reads the rest of [lon, lat] and [lon, lat, z].
func (r *pointReader) bare() *exception.Error {
	lon, err := r.number()
	if err == nil {
		err = r.next()
	}
	if err != nil {
		return err
	}
	lat, err := r.number()
	if err == nil {
		err = r.next()
	}
	if err != nil {
		return err
	}
	switch r.kind {
	case json.Integer, json.Float:
		z, _ := r.number()
		if err := r.third(z); err != nil {
			return err
		}
		if err := r.next(); err != nil || r.kind != json.ArrayEnd && r.kind != json.Null && !r.field.ignoreMalformed {
			return notAPoint
		}
	case json.ArrayEnd:
	default:
		return noPoint("field type does not accept > 3 dimensions")
	}
	return r.add(lat, lon)
}

// third refuses a third coordinate where it is not ignored.
func (r *pointReader) third(z float64) *exception.Error {
	if r.field.ignoreZ {
		return nil
	}
	return noPoint("Exception parsing coordinates: found Z value [%s] but [ignore_z_value] parameter is [%s]", java.Double(z), "false")
}

// point reads the point that begins with the last token, whose text is given.
func (r *pointReader) point(text []byte) *exception.Error {
	switch r.kind {
	case json.String:
		return r.text(text)
	case json.Object:
		return r.object()
	case json.Array:
		lat, lon, err := r.coordinates()
		if err != nil {
			return err
		}
		return r.add(lat, lon)
	}
	return notAPoint
}

// coordinates reads the rest of an array of two or three numbers.
func (r *pointReader) coordinates() (lat, lon float64, err *exception.Error) {
	count := 0
	for {
		if err := r.next(); err != nil {
			return 0, 0, err
		}
		if r.kind == json.ArrayEnd {
			break
		}
		if r.kind != json.Integer && r.kind != json.Float {
			return 0, 0, noPoint("numeric value expected")
		}
		n, _ := r.number()
		switch count++; count {
		case 1:
			lon = n
		case 2:
			lat = n
		case 3:
			if err := r.third(n); err != nil {
				return 0, 0, err
			}
		default:
			return 0, 0, noPoint("[geo_point] field type does not accept more than 3 values")
		}
	}
	if count < 2 {
		return 0, 0, noPoint("[geo_point] field type should have at least two dimensions")
	}
	return lat, lon, nil
}

// add keeps a point. One that is off the globe is refused, or moved onto it.
func (r *pointReader) add(lat, lon float64) *exception.Error {
	switch {
	case r.anywhere:
	case r.field.ignoreMalformed:
		lat, lon = onGlobe(lat, lon)
	case lat > 90 || lat < -90:
		return exception.New(exception.IllegalArgument, "illegal latitude value [%s] for %s", java.Double(lat), r.field.path)
	case lon > 180 || lon < -180:
		return exception.New(exception.IllegalArgument, "illegal longitude value [%s] for %s", java.Double(lon), r.field.path)
	}
	switch {
	case math.IsNaN(lat):
		return invalid("latitude", lat, 90)
	case math.IsNaN(lon):
		return invalid("longitude", lon, 180)
	}
	r.points = append(r.points, Value{Kind: Point, Float: lat, FloatHigh: lon})
	return nil
}

func invalid(what string, value, most float64) *exception.Error {
	return exception.New(exception.IllegalArgument, "invalid %s %s; must be between -%s and %s", what, java.Double(value), java.Double(most), java.Double(most))
}

// onGlobe goes round the globe: over a pole to the other side, and around.
func onGlobe(lat, lon float64) (float64, float64) {
	around := lon > 180 || lon < -180
	if lat > 90 || lat < -90 {
		lat = centred(lat, 360)
		over := true
		switch {
		case lat < -90:
			lat = -180 - lat
		case lat > 90:
			lat = 180 - lat
		default:
			over = false
		}
		switch {
		case over && (around || lon <= 0):
			lon += 180
		case over:
			lon -= 180
		}
	}
	if around {
		lon = centred(lon, 360)
	}
	return lat, lon
}

// centred is the remainder above -half and up to half.
func centred(value, whole float64) float64 {
	rest := math.Mod(value, whole)
	if rest <= 0 {
		rest += whole
	}
	if rest > whole/2 {
		rest -= whole
	}
	return rest
}

// text reads "lat,lon", "lat,lon,z", a geohash, or WKT.
func (r *pointReader) text(text []byte) *exception.Error {
	switch {
	case hasPoint(text):
		return r.wkt(text)
	case bytes.IndexByte(text, ',') >= 0:
		return r.commas(text)
	}
	return r.geohash(text)
}

// hasPoint looks for the word in letters of either case.
func hasPoint(text []byte) bool {
	for i := 0; i+5 <= len(text); i++ {
		if text[i]|0x20 == 'p' && bytes.EqualFold(text[i:i+5], []byte("point")) {
			return true
		}
	}
	return false
}

func (r *pointReader) commas(text []byte) *exception.Error {
	count := bytes.Count(bytes.TrimRight(text, ","), []byte(",")) + 1
	if len(bytes.TrimRight(text, ",")) == 0 {
		count = 0
	}
	if count > 3 {
		return noPoint("failed to parse [%s], expected 2 or 3 coordinates but found: [%d]", text, count)
	}
	var at [3]float64
	for i := range max(count, 2) {
		if i >= count {
			return exception.New("array_index_out_of_bounds_exception", "Index %d out of bounds for length %d", i, i)
		}
		part, rest, _ := bytes.Cut(text, []byte(","))
		n, err := parseDouble(part, 64)
		switch {
		case err != nil && i < 2:
			return noPoint("%s must be a number", [...]string{"latitude", "longitude"}[i])
		case err != nil:
			return err
		}
		at[i], text = n, rest
	}
	if count > 2 {
		if err := r.third(at[2]); err != nil {
			return err
		}
	}
	return r.add(at[0], at[1])
}

// readGeo reads a point or an array of points. All are passed over if one is
// none and may be.
func readGeo(w *walk, f *Field, t token) error {
	if t.kind == json.Null {
		if !f.hasNull {
			return nil
		}
		w.emit(f, f.null)
		return w.geohashes(f, []Value{f.null})
	}
	if w.points == nil {
		w.points = &pointReader{}
	}
	ignore := f.ignoreMalformed.or(w.limits.IgnoreMalformed)
	field := pointField{path: f.path, ignoreMalformed: ignore, ignoreZ: f.ignoreZ}
	points, err := w.points.values(&field, t, w.here())
	switch {
	case err != nil && ignore:
		return nil
	case err != nil:
		return err
	}
	for _, v := range points {
		w.emit(f, v)
	}
	return w.geohashes(f, points)
}

// geohashes gives the multi-fields of a geo_point their value, a text: the
// geohash of a point, or those of several in brackets.
func (w *walk) geohashes(f *Field, points []Value) error {
	if len(points) == 0 || len(f.multi) == 0 {
		return nil
	}
	text := geohashOf(points[0].Float, points[0].FloatHigh)
	if len(points) > 1 {
		text = append([]byte{'['}, text...)
		for _, v := range points[1:] {
			text = append(append(text, ','), geohashOf(v.Float, v.FloatHigh)...)
		}
		text = append(text, ']')
	}
	for _, multi := range f.multi {
		if err := w.leaf(multi, token{json.String, text}); err != nil {
			return err
		}
	}
	return nil
}

// readNullPoint reads null_value of a geo_point, which may be off the globe until
// finishNullPoint has seen it.
func readNullPoint(_ *reading, f *Field, _ string, v any) (any, error) {
	text := appendTree(nil, v)
	r := json.New(text)
	kind, err := r.Next()
	if err != nil {
		return nil, err
	}
	t := token{kind, r.Text()}
	if kind == json.Object || kind == json.Array {
		t.text = text
	}
	points := pointReader{anywhere: true}
	values, refused := points.values(&pointField{path: f.path, ignoreZ: f.tristate("ignore_z_value") != no}, t, place{text, 0})
	switch {
	case refused != nil:
		return nil, refused
	case len(values) == 0:
		return nil, notAPoint
	}
	return point{Lat: values[0].Float, Lon: values[0].FloatHigh}, nil
}

// finishNullPoint moves the null_value onto the globe where the field may ignore
// what is malformed, and refuses it elsewhere.
func finishNullPoint(f *Field, p point) (point, error) {
	r := pointReader{field: &pointField{ignoreMalformed: f.tristate("ignore_malformed") == yes}}
	if err := r.add(p.Lat, p.Lon); err != nil {
		return p, exception.New(err.Type, "%s", strings.TrimSuffix(err.Reason, " for "))
	}
	return point{Lat: r.points[0].Float, Lon: r.points[0].FloatHigh}, nil
}
