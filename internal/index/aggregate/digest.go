package aggregate

import (
	"math"
	"slices"
	"sort"
)

// digest is a t-digest (T. Dunning, O. Ertl: Computing extremely accurate quantiles using
// t-digests), which numbers are added to one after the other, as the server's
// (AVLTreeDigest of t-digest 3.2) does it: a number joins the centroid nearest to it when
// that may still grow, and else is one of its own. Up to twice the compression, all
// numbers are centroids, and the answers are the server's. Beyond, the server chooses by
// chance among centroids that are equally near, and again when it joins its shards; this
// one takes the first, and tells the same each time.
type digest struct {
	compression    float64
	means          []float64 // ascending
	weights        []int64
	marks          []int64 // the sums of weights[:stretch·i]
	count          int64
	least, biggest float64
}

const stretch = 32

// below is the sum of the weights of the first n centroids.
func (d *digest) below(n int) int64 {
	sum := d.marks[n/stretch]
	for _, w := range d.weights[n/stretch*stretch : n] {
		sum += w
	}
	return sum
}

// mark computes the marks from a centroid on.
func (d *digest) mark(from int) {
	first := from / stretch
	d.marks = d.marks[:min(first+1, len(d.marks))]
	if len(d.marks) == 0 {
		d.marks = append(d.marks, 0)
	}
	for i := len(d.marks) - 1; (i+1)*stretch <= len(d.weights); i++ {
		sum := d.marks[i]
		for _, w := range d.weights[i*stretch : (i+1)*stretch] {
			sum += w
		}
		d.marks = append(d.marks, sum)
	}
}

// add takes a number.
func (d *digest) add(x float64, weight int64) {
	if d.count == 0 {
		d.least, d.biggest = x, x
		d.means, d.weights, d.count = append(d.means, x), append(d.weights, weight), weight
		d.mark(0)
		return
	}
	d.least, d.biggest = min(d.least, x), max(d.biggest, x)
	first, last := d.nearest(x)
	below := d.below(first)
	for i := first; i < last; i++ {
		w := d.weights[i]
		q := 0.5
		if d.count > 1 {
			q = (float64(below) + float64(w-1)/2) / float64(d.count-1)
		}
		if float64(w+weight) <= 4*float64(d.count)*q*(1-q)/d.compression {
			d.join(i, x, weight)
			return
		}
		below += w
	}
	d.insert(x, weight)
}

// nearest are the centroids that no other is nearer to x than, all equally near.
func (d *digest) nearest(x float64) (first, last int) {
	// The last mean that is not above x, the first of those that are the same.
	first = sort.Search(len(d.means), func(i int) bool { return d.means[i] > x }) - 1
	for first > 0 && d.means[first-1] == d.means[first] {
		first--
	}
	first = max(first, 0)
	distance := math.Inf(1)
	for i := first; i < len(d.means); i++ {
		z := math.Abs(d.means[i] - x)
		switch {
		case z < distance:
			first, distance = i, z
		case z > distance:
			return first, i
		}
	}
	return first, len(d.means)
}

// join puts a number into a centroid, whose mean may then be beyond its neighbour's.
func (d *digest) join(i int, x float64, weight int64) {
	d.count += weight
	d.means[i] = between(d.means[i], float64(d.weights[i]), x, float64(weight))
	d.weights[i] += weight
	for j := i/stretch + 1; j < len(d.marks); j++ {
		d.marks[j] += weight
	}
	for ; i > 0 && d.means[i-1] > d.means[i]; i-- {
		d.swap(i-1, i)
	}
	for ; i+1 < len(d.means) && d.means[i] > d.means[i+1]; i++ {
		d.swap(i, i+1)
	}
}

func (d *digest) swap(i, j int) {
	d.means[i], d.means[j] = d.means[j], d.means[i]
	d.weights[i], d.weights[j] = d.weights[j], d.weights[i]
	if j%stretch == 0 {
		d.marks[j/stretch] += d.weights[i] - d.weights[j]
	}
}

func (d *digest) insert(x float64, weight int64) {
	d.count += weight
	i := sort.Search(len(d.means), func(i int) bool { return d.means[i] > x })
	d.means, d.weights = slices.Insert(d.means, i, x), slices.Insert(d.weights, i, weight)
	d.mark(i)
	if float64(len(d.means)) > 20*d.compression {
		d.compress()
	}
}

// compress adds the centroids again. In order they would not join, so they are taken in
// strides.
func (d *digest) compress() {
	old := *d
	d.means, d.weights, d.marks, d.count = nil, nil, nil, 0
	const stride = 17 // any number that is not small
	for from := range stride {
		for i := from; i < len(old.means); i += stride {
			d.add(old.means[i], old.weights[i])
		}
	}
	d.least, d.biggest = old.least, old.biggest
}

// between is the mean of two weighted numbers, which never lies outside of them.
func between(a, weightA, b, weightB float64) float64 {
	if a > b {
		a, weightA, b, weightB = b, weightB, a, weightA
	}
	return max(a, min((a*weightA+b*weightB)/(weightA+weightB), b))
}

// quantile is the number below which a part q of all lies; no number when there is none.
func (d *digest) quantile(q float64) float64 {
	switch len(d.means) {
	case 0:
		return math.NaN()
	case 1:
		return d.means[0]
	}
	index := q * float64(d.count)
	w := float64(d.weights[0])
	center := w / 2 // of the current centroid
	if index < center {
		return (d.least*index + d.means[0]*(center-index)) / center
	}
	for i := range len(d.means) - 1 {
		next := float64(d.weights[i+1])
		step := (w + next) / 2
		if center+step > index {
			return between(d.means[i], center+step-index, d.means[i+1], index-center)
		}
		center += step
		w = next
	}
	return between(d.means[len(d.means)-1], w/2-(index-center), d.biggest, index-center)
}

// part is which part of all numbers lies below one.
func (d *digest) part(x float64) float64 {
	switch len(d.means) {
	case 0:
		return math.NaN()
	case 1:
		if x < d.means[0] {
			return 0
		}
		return 1
	}
	// A centroid reaches half of the way to its neighbours, the first as far on both
	// sides. The server does not look at the last: all that is nearer to it than to the
	// one before counts as above everything.
	below, left := 0.0, (d.means[1]-d.means[0])/2
	for i, mean := range d.means[:len(d.means)-1] {
		right := (d.means[i+1] - mean) / 2
		w := float64(d.weights[i])
		if x < mean+right {
			return max((below+w*((x-(mean-left))/(right+left)))/float64(d.count), 0)
		}
		below += w
		left = right
	}
	return 1
}
