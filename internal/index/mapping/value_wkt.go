package mapping

import (
	"strings"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
)

// wkt reads a POINT of well-known text. What comes behind it is not looked at.
func (r *pointReader) wkt(text []byte) *exception.Error {
	w := wktReader{text: string(text)}
	lat, lon, z, err := w.point()
	if err == nil && z != nil && !r.field.ignoreZ {
		err = exception.New(exception.IllegalArgument, "found Z value [%s] but [ignore_z_value] parameter is [false]", java.Double(*z))
	}
	switch {
	case err == nil && w.other != "":
		return noPoint("[geo_point] supports only POINT among WKT primitives, but found %s", w.other)
	case err == nil && !(lat >= -90 && lat <= 90):
		err = invalid("latitude", lat, 90)
	case err == nil && !(lon >= -180 && lon <= 180):
		err = invalid("longitude", lon, 180)
	}
	if err != nil {
		return noPoint("Invalid WKT format").CausedBy(err)
	}
	return r.add(lat, lon)
}

// wktReader takes well-known text apart into words and single characters.
type wktReader struct {
	text  string
	at    int
	other string // the geometry, if it is no point
}

const endOfStream = "END-OF-STREAM"

// token is the next word or character. Word is false for characters other than
// those of words, which are quoted in shown.
func (w *wktReader) token() (text, shown string, word bool) {
	for w.at < len(w.text) && (w.text[w.at] <= ' ' || w.text[w.at] == '#') {
		if w.text[w.at] == '#' { // a comment
			for w.at < len(w.text) && w.text[w.at] != '\n' && w.text[w.at] != '\r' {
				w.at++
			}
			continue
		}
		w.at++
	}
	start := w.at
	for w.at < len(w.text) && wktWord(w.text[w.at]) {
		w.at++
	}
	if w.at > start {
		return w.text[start:w.at], w.text[start:w.at], true
	}
	if w.at == len(w.text) {
		return "", endOfStream, false
	}
	_, size := utf8.DecodeRuneInString(w.text[w.at:])
	w.at += size
	text = w.text[start:w.at]
	return text, "'" + text + "'", false
}

func wktWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c >= utf8.RuneSelf
}

// name is a word, or one of the characters that stand for one.
func (w *wktReader) name() (text, shown string, err *exception.Error) {
	text, shown, word := w.token()
	if !word && text != "(" && text != ")" && text != "," {
		return "", "", noPoint("expected word but found: %s", shown)
	}
	return text, shown, nil
}

func (w *wktReader) number() (float64, *exception.Error) {
	text, shown, word := w.token()
	if !word {
		return 0, noPoint("expected number but found: %s", shown)
	}
	if strings.EqualFold(text, "NaN") {
		text = "NaN"
	}
	n, err := parseDouble([]byte(text), 64)
	if err != nil {
		return 0, noPoint("invalid number found: %s", text)
	}
	return n, nil
}

var wktKinds = map[string]bool{"multipoint": true, "linestring": true, "multilinestring": true, "polygon": true,
	"multipolygon": true, "bbox": true, "geometrycollection": true, "circle": true}

// point reads POINT EMPTY, POINT (lon lat) and POINT (lon lat z).
func (w *wktReader) point() (lat, lon float64, z *float64, err *exception.Error) {
	kind, _, err := w.name()
	if err != nil {
		return 0, 0, nil, err
	}
	switch lower := strings.ToLower(kind); {
	case wktKinds[lower]:
		w.other = strings.ToUpper(kind)
		return 0, 0, nil, nil
	case lower != "point":
		return 0, 0, nil, exception.New(exception.IllegalArgument, "Unknown geometry type: %s", lower)
	}
	open, shown, err := w.name()
	switch {
	case err != nil:
		return 0, 0, nil, err
	case strings.EqualFold(open, "EMPTY"):
		return 0, 0, nil, nil
	case open != "(":
		return 0, 0, nil, noPoint("expected EMPTY or ( but found: %s", shown)
	}
	if lon, err = w.number(); err == nil {
		lat, err = w.number()
	}
	if err != nil {
		return 0, 0, nil, err
	}
	before := w.at
	if _, _, word := w.token(); word {
		w.at = before
		third, err := w.number()
		if err != nil {
			return 0, 0, nil, err
		}
		z = &third
	} else {
		w.at = before
	}
	closing, shown, err := w.name()
	if err == nil && closing != ")" {
		err = noPoint("expected ) but found: %s", shown)
	}
	return lat, lon, z, err
}
