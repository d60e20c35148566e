package xcontent

import (
	"math"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"
)

func lines(t *testing.T, name string) [][]string {
	data, err := os.ReadFile("testdata/jackson/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for line := range strings.Lines(string(data)) {
		all = append(all, strings.Split(strings.TrimSpace(line), "\t"))
	}
	return all
}

func TestFloatsLookLikeJava(t *testing.T) {
	for _, row := range lines(t, "numbers.tsv") {
		bits, err := strconv.ParseUint(row[1], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		f, size := math.Float64frombits(bits), 64
		if row[0] == "f" {
			f, size = float64(math.Float32frombits(uint32(bits))), 32
		}
		want := row[2]
		if math.IsNaN(f) || math.IsInf(f, 0) {
			want = `"` + want + `"`
		}
		if got := string(appendFloat(nil, f, size)); got != want {
			t.Errorf("%s %s: %s, want %s", row[0], row[1], got, want)
		}
	}
}

func TestDecimalsLookLikeJava(t *testing.T) {
	for _, row := range lines(t, "decimals.tsv") {
		unscaled, _ := new(big.Int).SetString(row[0], 10)
		scale, err := strconv.ParseInt(row[1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(appendDecimal(nil, unscaled, scale)); got != row[2] {
			t.Errorf("%s scale %d: %s, want %s", row[0], scale, got, row[2])
		}
	}
}
