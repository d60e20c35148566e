package main

import (
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/testing/bench/peers"
)

func TestReportComparesMedians(t *testing.T) {
	lz4 := shard{Lucene: "9.12", Codec: "LZ4", Shape: articles, Content: content{Documents: 600_000}, family: families[0], home: t.TempDir()}
	seconds := func(cpu ...float64) (costs []cost) {
		for _, s := range cpu {
			d := time.Duration(s * float64(time.Second))
			costs = append(costs, cost{CPU: d, Wall: d / 2, First: 250 * time.Millisecond, Memory: 20e6, Read: 500e6})
		}
		return costs
	}
	first := []time.Duration{4 * time.Millisecond}
	results := []*result{
		{shard: lz4, ours: seconds(9, 1, 2), java: seconds(6, 6, 60), first: first, javaRead: 501e6, steady: 123_400, random: 4_600},
	}
	text := (&bench{rounds: 3, watch: &peers.Run{}}).report(results)
	for _, want := range []string{
		"| 2.4 KB, Lucene 9.12, LZ4 | 600 k | 300 k · 100 k | **3.0** | 1.0 · 3.0 | 20.0 · 20.0 | 4.0 · 250 | 500.0 · 501.0 (0.0) |\n",
		"| 2.4 KB, Lucene 9.12, LZ4 | 123 k | 2.4 | 4.6 k | 65 |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("missing %q in\n%s", want, text)
		}
	}
}

func TestMedianIsTheMiddleOne(t *testing.T) {
	same := func(n int) int { return n }
	for want, list := range map[int][]int{5: {9, 5, 1}, 7: {7}, 2: {4, 2, 1, 3}} {
		if got := median(list, same); got != want {
			t.Errorf("of %v: %d", list, got)
		}
	}
}

func TestCheckSumsLinesInOrder(t *testing.T) {
	line := func(id, source string) string { return `{"_index":"a","_id":"` + id + `","_source":` + source + "}\n" }
	sum := func(text string) (uint32, content) {
		c := newChecksum()
		if err := c.addLines(strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		return c.ordered.Sum32(), c.content
	}
	one, two := line("1", `{"a":{}}`), line("2", `{"_source":[]}`)
	forth, held := sum(one + two)
	back, same := sum(two + one)
	if held != same || held.Documents != 2 || held.SourceBytes != int64(len(`{"a":{}}{"_source":[]}`)) {
		t.Errorf("%+v and %+v", held, same)
	}
	if forth == back {
		t.Error("the order does not matter")
	}
	if other, _ := sum(line("3", `{"a":{}}`) + two); other == forth {
		t.Error("the id does not matter")
	}
	c := newChecksum()
	if err := c.addLines(strings.NewReader("{\"_index\":\"a\",\"_id\":\"1\"}\n")); err == nil {
		t.Error("a line without a source passed")
	}
}
