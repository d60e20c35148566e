package corpus_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/reshelve/reshelve/internal/testing/bench/corpus"
)

func TestSource(t *testing.T) {
	bytes, documents := 0, 2000
	for range documents {
		n := rand.IntN(10_000_000)
		source := corpus.Source(n)
		if string(source) != string(corpus.Source(n)) {
			t.Fatalf("document %d differs from time to time", n)
		}
		bytes += len(source)
		var fields map[string]any
		if err := json.Unmarshal(source, &fields); err != nil || len(fields) != 13 {
			t.Fatalf("document %d has %d fields: %v\n%s", n, len(fields), err, source)
		}
	}
	if mean := bytes / documents; mean < 950 || mean > 1050 {
		t.Errorf("a document has %d bytes, not about 1 KB", mean)
	}
}

func BenchmarkSource(b *testing.B) {
	n := 0
	for b.Loop() {
		corpus.Source(n)
		n++
	}
}
