package main

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestDocumentsAreJSONOfTheirSizeAndDiffer(t *testing.T) {
	for form, size := range map[shape][2]int{articles: {2300, 2600}, logLines: {280, 320}} {
		d, seen, total := newDocuments(form), map[string]bool{}, 0
		const many = 2000
		for range many {
			source := d.appendNext(nil)
			if !json.Valid(source) || bytes.ContainsAny(source, "\n\r") {
				t.Fatalf("%s: not one line of JSON: %s", form, source)
			}
			seen[string(source)] = true
			total += len(source)
		}
		if len(seen) != many {
			t.Errorf("%s: %d of %d documents differ", form, len(seen), many)
		}
		if mean := total / many; mean < size[0] || mean > size[1] {
			t.Errorf("%s: %d bytes on average, want %d to %d", form, mean, size[0], size[1])
		}
	}
}

func TestDocumentsAreTheSameEveryTime(t *testing.T) {
	for _, form := range []shape{articles, logLines} {
		one, two := newDocuments(form), newDocuments(form)
		for range 100 {
			if a, b := one.appendNext(nil), two.appendNext(nil); !bytes.Equal(a, b) {
				t.Fatalf("%s differs:\n%s\n%s", form, a, b)
			}
		}
	}
}

func TestBulkBodyCountsWhatItHolds(t *testing.T) {
	var sent, held content
	body := bulkBody(newDocuments(logLines), 10_000, &sent)
	for i, line := range bytes.Split(bytes.TrimSuffix(body, newline), newline) {
		if i%2 == 1 {
			held.add(line)
		} else if string(line) != `{"index":{}}` {
			t.Fatalf("line %d is %s", i, line)
		}
	}
	if held != sent || sent.SourceBytes < 10_000 || sent.SourceBytes > 10_400 {
		t.Errorf("counted %+v, held %+v", sent, held)
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{"1G": 1 << 30, "100M": 100 << 20, "64K": 64 << 10, "7": 7} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "G", "1T", "-1G", "0", "1.5G", "9999999999G"} {
		if n, err := parseSize(text); err == nil {
			t.Errorf("%q is taken for %d", text, n)
		}
	}
}
