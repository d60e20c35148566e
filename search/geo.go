package search

import "math"

// meanRadius of the earth, in meters.
const meanRadius = 6371008.7714

// arc is the distance of two places on a sphere, in meters, by the haversine formula.
func arc(lat1, lon1, lat2, lon2 float64) float64 {
	a, b := radians(lat1), radians(lat2)
	h := 1 - math.Cos(a-b) + float64(math.Cos(a)*math.Cos(b)*(1-math.Cos(radians(lon1-lon2))))
	h = math.Float64frombits(math.Float64bits(h) &^ 7) // Lucene compares these, and drops what is not exact
	return meanRadius * 2 * math.Asin(min(1, math.Sqrt(h*0.5)))
}

func radians(degrees float64) float64 { return degrees / 180 * math.Pi }

// plane is the distance of two places as if the earth were flat between them, in meters.
func plane(lat1, lon1, lat2, lon2 float64) float64 {
	x := radians(lon2-lon1) * math.Cos((lat2+lat1)/2*math.Pi/180)
	y := radians(lat2 - lat1)
	return math.Sqrt(float64(x*x)+float64(y*y)) * meanRadius
}

// metersOf is a unit of lengths in meters.
func metersOf(unit string) float64 {
	for _, u := range lengthUnits {
		if u.name == unit {
			return u.meters
		}
	}
	return 1
}
