package search

import (
	"math"
	"testing"

	"github.com/reshelve/reshelve/internal/index/fields"
)

// TestDistancesAreThoseOfTheServer compares distances that OpenSearch 2.19.0 told as sort
// values of _geo_distance.
func TestDistancesAreThoseOfTheServer(t *testing.T) {
	for _, c := range []struct{ lat, lon, want float64 }{
		{41.123, 11.456, 40604.484397714165}, {42.123, 12.456, 173971.80025775186}, {43.123, 13.456, 311155.01591269125},
		{44.123, 14.456, 447914.04773338785}, {45.123, 15.456, 583952.272918169},
	} {
		lat, lon := fields.PointOf(fields.Point(c.lat, c.lon))
		if got := arc(41, 11, lat, lon); got != c.want {
			t.Errorf("to %v,%v: got %v, want %v", c.lat, c.lon, got, c.want)
		}
	}
	for _, c := range []struct{ lat, lon, want float64 }{{41.123, 11.456, 40604.548041173814}, {42.123, 12.456, 173977.33383918035}, {43.123, 13.456, 311185.57609924176}} {
		lat, lon := fields.PointOf(fields.Point(c.lat, c.lon))
		if got := plane(41, 11, lat, lon); got != c.want {
			t.Errorf("flat to %v,%v: got %v, want %v", c.lat, c.lon, got, c.want)
		}
	}
	if got := arc(0, 0, 0, 180); math.Abs(got-math.Pi*meanRadius) > 1 {
		t.Errorf("half around: %v", got)
	}
}
