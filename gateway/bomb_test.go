package gateway

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// allocated is how many bytes a function allocates, whatever it gives back.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestManyPatternsStayFew: of a filter with many ** no more paths go on than it has parts,
// however deep the answer is.
func TestManyPatternsStayFew(t *testing.T) {
	for _, text := range []string{strings.Repeat("**.a.", 12) + "x", strings.Repeat("**.*.", 12) + "x", strings.Repeat("**.", 40) + "x"} {
		filter, err := newPathFilter([]string{text})
		if err != nil {
			t.Fatal(err)
		}
		paths, parts := filter.includes, len(filter.includes[0])
		for depth := range 30 {
			if paths, _ = step(paths, "a"); len(paths) > parts {
				t.Fatalf("%s: %d paths go on at depth %d, it has %d parts", text, len(paths), depth, parts)
			}
		}
		if _, matched := step(paths, "x"); !matched {
			t.Errorf("%s: nothing matches at the end", text)
		}
	}
}

// TestManyProblemsAreToldOnce: what is wrong with every item of a large bulk is put
// together in one go.
func TestManyProblemsAreToldOnce(t *testing.T) {
	const many = 20_000
	var wrong problems
	for range many {
		wrong.add("id is missing")
	}
	var err error
	bytes := allocated(func() { err = wrong.err() })
	if want := fmt.Sprintf("%d: id is missing;", many); !strings.HasSuffix(err.Error(), want) {
		t.Errorf("it ends with %q", err.Error()[len(err.Error())-30:])
	}
	if bytes > 50<<20 {
		t.Errorf("%d bytes for %d problems", bytes, many)
	}
}
