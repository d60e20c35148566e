package fields

import (
	"math"

	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

func putPoint(c *column, v *mapping.Value) { c.out.Number(Point(v.Float, v.FloatHigh)) }

// The degrees of one step of 32 bits.
const (
	latStep = 180.0 / (1 << 32)
	lonStep = 360.0 / (1 << 32)
)

// Point is the number of a place of the earth, as Lucene's LatLonDocValuesField has it:
// latitude in the upper, longitude in the lower 32 bits, each in steps, rounded down.
func Point(lat, lon float64) int64 {
	return step32(lat, latStep)<<32 | step32(lon, lonStep)&math.MaxUint32
}

// step32 counts steps; the end of the range is the last one.
func step32(degrees, step float64) int64 {
	return int64(min(max(math.Floor(degrees/step), math.MinInt32), math.MaxInt32))
}

// PointOf is the place of a number.
func PointOf(n int64) (lat, lon float64) {
	return float64(n>>32) * latStep, float64(int32(n)) * lonStep
}

func noExactPoint(f *Field, _ Value, _ int64) (Match, error) {
	return none, exception.New(exception.QueryShard,
		"Geometry fields do not support exact searching, use dedicated geometry queries instead: [%s]", f.path)
}

func noPointsWithin(f *Field, _ Asked, _ int64) (Match, error) {
	return none, f.refuse("range queries")
}
