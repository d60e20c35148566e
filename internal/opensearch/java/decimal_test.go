package java_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/opensearch/java"
)

// TestDecimal: what java.text.DecimalFormat (JDK 17) prints.
func TestDecimal(t *testing.T) {
	data, err := os.ReadFile("testdata/decimal.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		d, mistake := java.ParseDecimal(cells[0])
		if mistake != "" || len(cells) == 2 {
			if want := strings.TrimPrefix(cells[1], "!"); mistake != want && (mistake != "" || want != "ok") {
				t.Errorf("%q: mistake %q, want %q", cells[0], mistake, want)
			}
			continue
		}
		var got string
		if long, ok := strings.CutPrefix(cells[1], "L"); ok {
			n, _ := strconv.ParseInt(long, 10, 64)
			got = string(d.AppendLong(nil, n))
		} else {
			f, _ := strconv.ParseFloat(cells[1], 64)
			got = string(d.AppendDouble(nil, f))
		}
		if got != cells[2] {
			t.Errorf("%q of %s: %q, want %q", cells[0], cells[1], got, cells[2])
		}
	}
}
