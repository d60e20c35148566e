package aggregate

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
	"time"
	_ "time/tzdata" // machines without zone files test the same

	"github.com/reshelve/reshelve/internal/opensearch/date"
	"pgregory.net/rapid"
)

// TestRounding: where the clock does not jump, rounding by a calendar is what
// date math does; intervals follow on one another everywhere.
func TestRounding(t *testing.T) {
	math := map[string]string{"second": "s", "minute": "m", "hour": "h", "day": "d", "week": "w", "month": "M", "year": "y"}
	zones := []*time.Location{time.UTC, time.FixedZone("", 5*3600+1800)}
	for _, name := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Africa/Cairo", "Pacific/Apia"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		zones = append(zones, zone)
	}
	format := date.MustFormat("epoch_millis")
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]string{"second", "minute", "hour", "day", "week", "month", "quarter", "year", ""}).Draw(t, "unit")
		zone := rapid.SampledFrom(zones).Draw(t, "zone")
		offset := rapid.Int64Range(-2*msDay, 2*msDay).Draw(t, "offset")
		fixed := rapid.SampledFrom([]int64{1, 1000, 90 * msMinute, msDay, 7 * msDay, 36 * msHour}).Draw(t, "fixed")
		r, err := newRounding(unit, fixed, offset, zone)
		if err != nil {
			t.Fatal(err)
		}
		at := rapid.Int64Range(-1e12, 2e12).Draw(t, "at")
		low := r.round(at)
		if low > at {
			t.Fatalf("%d is rounded up to %d", at, low)
		}
		fresh, _ := newRounding(unit, fixed, offset, zone)
		next := r.after(low)
		for _, near := range []int64{low, next - 1, next, at, at + rapid.Int64Range(-3*msDay, 3*msDay).Draw(t, "near")} {
			if got, want := r.round(near), fresh.start(near-offset)+offset; got != want {
				t.Fatalf("%d after others: %d, alone %d", near, got, want)
			}
		}
		if next <= low || next-low > 366*msDay+msDay && unit != "" {
			t.Fatalf("behind %d comes %d", low, next)
		}
		if zone != zones[0] && zone != zones[1] || offset != 0 || math[unit] == "" {
			return
		}
		want, _, err := format.ParseMath("now/"+math[unit], at, false, zone)
		if err != nil || want != low {
			t.Fatalf("%s of %d in %s: %d, and by math %d, %v", unit, at, zone, low, want, err)
		}
	})
}

// TestRoundingWhereTheClockJumps: what OpenSearch 2.19.0 says (see also testdata).
func TestRoundingWhereTheClockJumps(t *testing.T) {
	for _, tc := range []struct{ zone, unit, at, want string }{
		{"America/Sao_Paulo", "day", "2018-11-04T05:00:00Z", "2018-11-04T03:00:00Z"}, // midnight is skipped
		{"Europe/Berlin", "hour", "2020-10-25T00:30:00Z", "2020-10-25T00:00:00Z"},    // the first 02:30
		{"Europe/Berlin", "hour", "2020-10-25T01:30:00Z", "2020-10-25T01:00:00Z"},    // the second
		{"Europe/Berlin", "day", "2020-10-25T23:30:00Z", "2020-10-25T23:00:00Z"},
		{"Australia/Lord_Howe", "hour", "2020-04-04T15:15:00Z", "2020-04-04T14:00:00Z"}, // 02:15 becomes 01:45
		{"Australia/Lord_Howe", "hour", "2020-10-03T15:40:00Z", "2020-10-03T14:30:00Z"}, // 02:00 is skipped
		{"Australia/Lord_Howe", "", "2020-10-03T15:40:00Z", "2020-10-03T15:30:00Z"},
	} {
		zone, err := time.LoadLocation(tc.zone)
		if err != nil {
			t.Fatal(err)
		}
		at, _ := time.Parse(time.RFC3339, tc.at)
		r, _ := newRounding(tc.unit, msHour, 0, zone)
		if got := time.UnixMilli(r.round(at.UnixMilli())).UTC().Format(time.RFC3339); got != tc.want {
			t.Errorf("%s of %s in %s: %s, want %s", tc.unit, tc.at, tc.zone, got, tc.want)
		}
	}
}

// TestDigest: exact up to twice the compression, near beyond, and near for sorted and
// repeated numbers too.
func TestDigest(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for name, draw := range map[string]func(i int) float64{
		"uniform":  func(int) float64 { return r.Float64() },
		"normal":   func(int) float64 { return r.NormFloat64() },
		"sorted":   func(i int) float64 { return float64(i) },
		"falling":  func(i int) float64 { return float64(-i) },
		"repeated": func(int) float64 { return float64(r.IntN(7)) },
	} {
		for _, n := range []int{1, 2, 199, 20_000} {
			d := &digest{compression: 100}
			var all []float64
			for i := range n {
				all = append(all, draw(i))
				d.add(all[i], 1)
			}
			slices.Sort(all)
			checkMarks(t, d)
			if len(d.means) > 2000 || !slices.IsSorted(d.means) || d.below(len(d.means)) != int64(n) {
				t.Fatalf("%s %d: %d centroids of %d", name, n, len(d.means), d.below(len(d.means)))
			}
			for _, q := range []float64{0, 0.01, 0.25, 0.5, 0.9, 0.99, 1} {
				got := d.quantile(q)
				first := sort.SearchFloat64s(all, got)
				last := sort.Search(n, func(i int) bool { return all[i] > got })
				if low, high := float64(first)/float64(n)-0.02, float64(last)/float64(n)+0.02; (q < low || q > high) && n > 199 {
					t.Errorf("%s %d: %v is said to be at %v, and is from %v to %v", name, n, got, q, low, high)
				}
				if part := d.part(got); n > 199 && name != "repeated" && math.Abs(part-q) > 0.02 {
					t.Errorf("%s %d: %v of %v, of which %v", name, n, got, q, part)
				}
			}
		}
	}
}

func checkMarks(t *testing.T, d *digest) {
	t.Helper()
	sum := int64(0)
	for i, w := range d.weights {
		if got := d.below(i); got != sum {
			t.Fatalf("below centroid %d of %d lie %d, and are said to be %d", i, len(d.weights), sum, got)
		}
		sum += w
	}
}

// TestDigestSwaps: centroids that overtake one another take their weights along.
func TestDigestSwaps(t *testing.T) {
	d := &digest{compression: 100}
	for i := range 100 {
		d.add(float64(i), int64(i+1))
	}
	for i := range 99 {
		d.swap(i, i+1)
		checkMarks(t, d)
	}
}

// TestDistinct: exact up to the threshold, within three standard errors beyond.
func TestDistinct(t *testing.T) {
	for _, threshold := range []int{0, 10, 100, 3000, 40000} {
		for _, n := range []int{0, 1, 64, threshold, 4 * threshold, 100_000} {
			d := newDistinct(threshold)
			for i := range n {
				d.add(hashOf([]byte{byte(i), byte(i >> 8), byte(i >> 16)}))
				d.add(mix64(uint64(i/2) | 1<<40)) // half as many more
			}
			want := float64(n + (n+1)/2)
			if n == 0 {
				want = 0
			}
			most := 0.0
			if d.registers != nil {
				most = 3 * 1.04 / math.Sqrt(float64(len(d.registers))) * want
			} else if int(want) > max(d.most(), 64) {
				t.Errorf("%d of threshold %d are still counted exactly", n, threshold)
			}
			if got := float64(d.count()); math.Abs(got-want) > most || d.registers != nil && int(want) <= threshold {
				t.Errorf("threshold %d: %v of %v", threshold, got, want)
			}
		}
	}
}

// TestNumbering: one number for a pair, and the pairs of a bucket around.
func TestNumbering(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type pair struct {
			around uint32
			key    uint64
		}
		var n numbering
		numbers := map[pair]uint32{}
		for range rapid.IntRange(0, 500).Draw(t, "pairs") {
			p := pair{rapid.Uint32Range(0, 5).Draw(t, "around"), rapid.Uint64Range(0, 40).Draw(t, "key") << rapid.SampledFrom([]int{0, 32, 58}).Draw(t, "shift")}
			got, made := n.number(p.around, p.key)
			want, known := numbers[p]
			if made == known || known && got != want || !known && int(got) != len(numbers) {
				t.Fatalf("%v: %d, made %t; want %d, known %t", p, got, made, want, known)
			}
			numbers[p] = got
		}
		total := 0
		for around := range uint32(8) {
			for _, b := range n.within(around) {
				total++
				if numbers[pair{around, n.keys[b]}] != b {
					t.Fatalf("bucket %d is not in %d", b, around)
				}
			}
		}
		if total != len(numbers) {
			t.Fatalf("%d of %d buckets", total, len(numbers))
		}
	})
}

func TestPaged(t *testing.T) {
	var p paged
	for range 2 {
		p.reset(5000)
		for _, i := range []uint32{4999, 0, 700} {
			*p.at(i) += i + 1
		}
		var got []uint32
		for at, v, ok := p.next(0); ok; at, v, ok = p.next(at + 1) {
			if v != at+1 {
				t.Errorf("%d at %d", v, at)
			}
			got = append(got, at)
		}
		if !slices.Equal(got, []uint32{0, 700, 4999}) || len(p.spare) > 3 {
			t.Error(got, len(p.spare))
		}
	}
}
