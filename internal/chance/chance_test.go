package chance_test

import (
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/chance"
)

func TestASourceDecides(t *testing.T) {
	for _, tc := range []struct {
		bits  uint64
		n     int
		float float64
	}{{0, 0, 0}, {13, 3, 0}, {1 << 63, 8, 0.5}, {^uint64(0), 5, 1 - 1.0/(1<<53)}} {
		ctx := chance.With(t.Context(), func() uint64 { return tc.bits })
		if got := chance.N(ctx, 10); got != tc.n {
			t.Errorf("%x: N is %d, want %d", tc.bits, got, tc.n)
		}
		if got := chance.Float(ctx); got != tc.float {
			t.Errorf("%x: Float is %v, want %v", tc.bits, got, tc.float)
		}
	}
}

func TestWithoutASourceItIsInRange(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 1000 {
		n, f := chance.N(t.Context(), 7*time.Nanosecond), chance.Float(t.Context())
		if n < 0 || n >= 7 || f < 0 || f >= 1 {
			t.Fatal(n, f)
		}
		seen[n] = true
	}
	if len(seen) != 7 {
		t.Errorf("only %d of 7 are ever chosen", len(seen))
	}
}

// TestThoseApartDrawOthers, each the same ones again.
func TestThoseApartDrawOthers(t *testing.T) {
	ctx := chance.With(t.Context(), func() uint64 { return 7 }) // as at one instant
	var drawn []int64
	for _, n := range []int{1, 2, 1} {
		drawn = append(drawn, chance.N(chance.Apart(ctx, n), int64(1<<62)))
	}
	if drawn[0] == drawn[1] || drawn[0] != drawn[2] {
		t.Errorf("the first, the second and the first draw %d", drawn)
	}
	if chance.Apart(t.Context(), 1) != t.Context() {
		t.Error("without a source it is another context")
	}
}
