package query

import (
	"strings"
	"testing"
)

// TestBoxesWithoutInside holds the refusals of boxes to the words of OpenSearch 2.19.0.
func TestBoxesWithoutInside(t *testing.T) {
	for box, want := range map[string]string{
		`"top_left":{"lat":0,"lon":5},"bottom_right":{"lat":0,"lon":6}`:  "top cannot be the same as bottom: 0.0 == 0.0",
		`"top_left":{"lat":0,"lon":5},"bottom_right":{"lat":0,"lon":5}`:  "top cannot be the same as bottom: 0.0 == 0.0",
		`"top_left":{"lat":3,"lon":5},"bottom_right":{"lat":0,"lon":5}`:  "left cannot be the same as right: 5.0 == 5.0",
		`"top_left":{"lat":-3,"lon":5},"bottom_right":{"lat":0,"lon":6}`: "top is below bottom corner: -3.0 vs. 0.0",
		`"top_left":{"lat":3,"lon":6},"bottom_right":{"lat":0,"lon":5}`:  "",
	} {
		_, err := ReadSearch([]byte(`{"query":{"geo_bounding_box":{"g":{` + box + `}}}}`))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, not %q", box, err, want)
		}
	}
}
