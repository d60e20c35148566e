package analysis

import (
	"strings"
	"testing"
	"time"
)

// TestLongWordsTakeTimeByTheirLength: a word without end is cut, and not looked through
// again from each cut on.
func TestLongWordsTakeTimeByTheirLength(t *testing.T) {
	all, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"standard", "simple", "whitespace", "keyword", "stop"} {
		analyzer, _ := all.Analyzer(name)
		for _, text := range []string{"x", "_", "7", "é", "漢", "ka", "a.b", "'", "😀", "#️⃣"} {
			began := time.Now()
			analyzer.Analyze(nil, []byte(strings.Repeat(text, (1<<20)/len(text))))
			if took := time.Since(began); took > time.Minute { // hours where it is the square; a second where nothing else runs
				t.Errorf("%s took %s for 1 MB of %q", name, took, text)
			}
		}
	}
}

// TestLongAddresses: what may be the beginning of an address or a number at each of its
// segments is not looked through again from each of them.
func TestLongAddresses(t *testing.T) {
	analyzer := &chain{tokenizer: classic{255}}
	for _, text := range []string{"a", "a_", "a.", "a-1.", "a@", "a&", "a'", "1-", "1-a-a-", "a_1_ั", "ั", "漢", "a._"} {
		began := time.Now()
		analyzer.Analyze(nil, []byte(strings.Repeat(text, (1<<18)/len(text))+"@"))
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("256 KB of %q took %s", text, took)
		}
	}
}
