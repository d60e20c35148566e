package mapping

import (
	"bufio"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/netip"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/opensearch/date"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
)

// testdata/values.tsv.gz holds answers of OpenSearch 2.19.0 over HTTP. Each line
// is the definition of a field f, a value of f in a document with id N that was
// sent in a bulk request, and what came back: "=" and the field's doc values (of
// text, its values), or TYPE: REASON, with " <- " before each cause. The number in
// "with id 'N'" is the line's own. Left out are floats in messages that Java 17
// prints with a digit more than they need, and arrays like [1,{}] for geo_point.
func TestValuesAsTheServer(t *testing.T) {
	file, err := os.Open("testdata/values.tsv.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(unpacked)
	lines.Buffer(nil, 1<<20)
	told := map[string]int{}
	count := 0
	for ; lines.Scan(); count++ {
		cells := strings.Split(lines.Text(), "\t")
		for i := range cells {
			cells[i] = unescape.Replace(cells[i])
		}
		got, want := valueAnswer(t, cells[0], cells[1], documentID(cells[2])), cells[2]
		if comparable(cells[0], got) != comparable(cells[0], want) {
			if told[cells[0]]++; told[cells[0]] < 4 {
				t.Errorf("%s %.200s\n got %.400s\nwant %.400s", cells[0], cells[1], got, want)
			}
		}
	}
	if count < 3000 {
		t.Errorf("%d answers", count)
	}
}

var unescape = strings.NewReplacer("\\\\", "\\", "\\t", "\t", "\\n", "\n", "\\r", "\r")

func documentID(answer string) string {
	_, rest, _ := strings.Cut(answer, "with id '")
	id, _, _ := strings.Cut(rest, "'")
	return id
}

// comparable leaves out what is not of this package or in no order: the doc
// values of ranges and text, which are no values, and the preview of numbers that
// the server's parser had read as other kinds of numbers.
func comparable(definition, answer string) string {
	answer = strings.TrimSuffix(answer, " ignored")
	values, ok := strings.CutPrefix(answer, "=")
	switch {
	case ok && (strings.Contains(definition, "_range") || strings.Contains(definition, `"text"`)):
		return "ok"
	case ok:
		return canonical(values)
	case strings.Contains(answer, "TemporalAccessor"): // lists fields in an order that changes
		letters := []byte(answer)
		slices.Sort(letters)
		return string(letters)
	case strings.Contains(definition, `"unsigned_long"`), strings.Contains(answer, "finite values"):
		_, cause, _ := strings.Cut(answer, " <- ")
		return cause
	}
	return answer
}

// canonical is a list of JSON with reals in Go's form.
func canonical(list string) string {
	var values []any
	reader := json.NewDecoder(strings.NewReader(list))
	reader.UseNumber()
	if err := reader.Decode(&values); err != nil {
		return err.Error()
	}
	for i, v := range values {
		if n, ok := v.(json.Number); ok && strings.ContainsAny(string(n), ".e") {
			values[i], _ = n.Float64()
		}
	}
	slices.SortStableFunc(values, func(a, b any) int {
		x, isText := a.(string)
		y, _ := b.(string)
		if !isText {
			return 0
		}
		return strings.Compare(x, y)
	})
	text, _ := json.Marshal(values)
	return string(text)
}

// collected are the values of one document.
type collected struct {
	values []Value
	format *date.Format
}

func (c *collected) Value(f *Field, v Value) {
	if v.Bytes != nil {
		v.Bytes = slices.Clone(v.Bytes)
	}
	c.values, c.format = append(c.values, v), f.Format()
}
func (c *collected) Begin(*Field) {}
func (c *collected) End(*Field)   {}

func valueAnswer(t *testing.T, definition, value, id string) string {
	m, err := Parse([]byte(`{"properties":{"f":`+definition+`}}`), DefaultLimits)
	if err != nil {
		t.Fatalf("%s: %v", definition, err)
	}
	var c collected
	if _, err := m.Document([]byte(`{"f":`+value+`}`), id, DefaultLimits, &c); err != nil {
		return chainOf(err)
	}
	f, _ := m.Field("f")
	return "=" + c.docValues(f)
}

func chainOf(err error) string {
	var parts []string
	for e := exception.From(err); e != nil; e = e.Cause {
		parts = append(parts, string(e.Type)+": "+e.Reason)
	}
	return strings.Join(parts, " <- ")
}

// docValues are the values as a search shows the field's doc values: in their
// order, those of some types once.
func (c *collected) docValues(f *Field) string {
	var shown []any
	sort.SliceStable(c.values, func(i, j int) bool { return before(c.values[i], c.values[j]) })
	for _, v := range c.values {
		shown = append(shown, c.shown(f, v))
	}
	if f.Type() == "keyword" || f.Type() == "binary" || f.Type() == "ip" {
		shown = slices.CompactFunc(shown, func(a, b any) bool { return a == b })
	}
	text, _ := json.Marshal(shown)
	return string(text)
}

func before(a, b Value) bool {
	switch {
	case a.Bytes != nil:
		return string(a.Bytes) < string(b.Bytes)
	case a.Kind == Unsigned:
		return uint64(a.Low) < uint64(b.Low)
	}
	return a.Low < b.Low || a.Float < b.Float
}

// cellOf is a coordinate as a number of 32 bits with sign, as an index keeps it.
func cellOf(value, whole float64) int64 {
	return int64(min(math.Floor(value/(whole/(1<<32))), math.MaxInt32))
}

func (c *collected) shown(f *Field, v Value) any {
	switch v.Kind {
	case Text:
		return strings.ToValidUTF8(string(v.Bytes), "\ufffd")
	case Integer:
		return v.Low
	case Unsigned:
		return uint64(v.Low)
	case Real:
		return v.Float
	case Truth:
		return v.Low == 1
	case Instant:
		if f.Type() == "date_nanos" {
			return c.format.FormatNanos(v.Low/1e6, int(v.Low%1e6))
		}
		return c.format.Format(v.Low)
	case Address:
		return addressShown(v.Bytes)
	case Binary:
		return base64.RawStdEncoding.EncodeToString(v.Bytes)
	case Point:
		lat := float64(cellOf(v.Float, 180)) * (180.0 / (1 << 32))
		lon := float64(cellOf(v.FloatHigh, 360)) * (360.0 / (1 << 32))
		return java.Double(lat) + ", " + java.Double(lon)
	}
	return fmt.Sprint(v)
}

// addressShown is an address in the short form of RFC 5952.
func addressShown(bytes []byte) string {
	a, _ := netip.AddrFromSlice(bytes)
	return a.Unmap().String()
}
