package aggregate

import (
	"strconv"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
)

// geoCentroid is geo_centroid: the mean of latitudes and of longitudes.
type geoCentroid struct {
	n        *node
	values   values
	read     numbers
	lat, lon []compensated
	count    tally
}

func (w *geoCentroid) prepare(all []search.Index) error {
	w.read.values = &w.values
	if err := w.values.resolve(w.n.kind, all, takesAll, false); err != nil {
		return err
	}
	for _, f := range w.values.fields {
		if f != nil && f.Kind() != fields.GeoPoint {
			return exception.New(exception.IllegalArgument, "Field [%s] of type [%s] is not supported for aggregation [geo_centroid]", f.Path(), f.Type())
		}
	}
	return nil
}

func (w *geoCentroid) begin(at search.Place) error { w.read.begin(at); return nil }
func (w *geoCentroid) end() error                  { return nil }
func (w *geoCentroid) typed() string               { return "geo_centroid" }

func (w *geoCentroid) collect(b batch) error {
	w.read.raw(b.docs)
	for j, n := range w.read.n {
		i := w.read.at[j]
		if i < 0 {
			continue
		}
		bucket := int(b.around[i])
		if bucket >= len(w.lat) {
			w.lat, w.lon = grown(w.lat, bucket+1), grown(w.lon, bucket+1)
		}
		lat, lon := fields.PointOf(n)
		w.lat[bucket].add(lat)
		w.lon[bucket].add(lon)
		w.count.add(b.around[i], 1)
	}
	return nil
}

func (w *geoCentroid) append(_ *telling, dst []byte, around uint32) ([]byte, error) {
	n := w.count.of(around)
	if n > 0 {
		dst = append(member(dst, "location"), `{"lat":`...)
		dst = java.AppendReal(dst, w.lat[around].sum/float64(n), 64)
		dst = java.AppendReal(append(dst, `,"lon":`...), w.lon[around].sum/float64(n), 64)
		dst = append(dst, '}')
	}
	return strconv.AppendInt(member(dst, "count"), n, 10), nil
}
