package highlight

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The answers of java.text.BreakIterator, over texts of all kinds of characters.
func TestBoundaries(t *testing.T) {
	data, err := os.ReadFile("testdata/boundaries.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(data)) {
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") && len(parts) == 1 {
			continue
		}
		units := unescape(t, parts[0])
		for i, a := range []*automaton{&sentences, &words} {
			if got, want := a.all(units), places(t, parts[i+1]); !slices.Equal(got, want) {
				t.Errorf("%q: %s are %v, want %v", parts[0], []string{"sentences", "words"}[i], got, want)
			}
		}
		n++
	}
	if n < 4000 {
		t.Errorf("%d texts", n)
	}
}

func unescape(t *testing.T, text string) (units []uint16) {
	t.Helper()
	for len(text) > 0 {
		if strings.HasPrefix(text, `\u`) {
			n, err := strconv.ParseUint(text[2:6], 16, 16)
			if err != nil {
				t.Fatal(err)
			}
			units, text = append(units, uint16(n)), text[6:]
			continue
		}
		r := []rune(text)[0]
		units, text = append(units, uint16(r)), text[len(string(r)):]
	}
	return units
}

func places(t *testing.T, text string) (list boundaries) {
	t.Helper()
	for field := range strings.FieldsSeq(text) {
		n, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, n)
	}
	return list
}
