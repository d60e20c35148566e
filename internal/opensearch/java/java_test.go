package java_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/opensearch/java"
)

// TestNumbers: what java.lang.Double and Float print (JDK 21).
func TestNumbers(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0.0", 1: "1.0", -1.5: "-1.5", 100: "100.0", 57.14285714285714: "57.14285714285714", 0.00099: "9.9E-4", 2147483647: "2.147483647E9", -12345678.5: "-1.23456785E7", 1e7: "1.0E7", 9999999: "9999999.0", 0.001: "0.001", 0.0009: "9.0E-4", 123456789: "1.23456789E8",
		1e-7: "1.0E-7", -1e100: "-1.0E100", math.SmallestNonzeroFloat64: "4.9E-324", math.MaxFloat64: "1.7976931348623157E308",
		math.Inf(1): "Infinity", math.Inf(-1): "-Infinity",
	} {
		if got := java.Double(f); got != want {
			t.Errorf("%g: %s, want %s", f, got, want)
		}
	}
	for f, want := range map[float32]string{0.1: "0.1", 1e10: "1.0E10", math.SmallestNonzeroFloat32: "1.4E-45", math.MaxFloat32: "3.4028235E38"} {
		if got := java.Float(f); got != want {
			t.Errorf("%g: %s, want %s", f, got, want)
		}
	}
	if got := java.Double(math.NaN()) + java.Double(math.Copysign(0, -1)); got != "NaN-0.0" {
		t.Error(got)
	}
}

// TestBuckets: the order in which a java.util.HashMap of 16 places gives its keys (JDK 25).
func TestBuckets(t *testing.T) {
	keys := strings.Fields("settings défaut mappings aliases 😀 index.refresh_interval")
	slices.SortStableFunc(keys, func(a, b string) int { return java.Bucket(a, 16) - java.Bucket(b, 16) })
	if got := strings.Join(keys, " "); got != "index.refresh_interval settings mappings aliases défaut 😀" {
		t.Error(got)
	}
}

func TestLess(t *testing.T) {
	ordered := []string{"", "A", "a", "aa", "b", "é", "\ud7ff", "😀", "\ue000", "\uffff"} // surrogates before the rest of the basic plane
	for i, a := range ordered {
		for j, b := range ordered {
			if got := java.Less(a, b); got != (i < j) {
				t.Errorf("Less(%q, %q) = %t", a, b, got)
			}
		}
	}
}
