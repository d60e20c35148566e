package main

import (
	"strings"
	"testing"
)

func TestDiffers(t *testing.T) {
	answer := func(hits string) string {
		return `{"_shards":{"successful":1,"failed":0},"hits":{"total":{"value":3,"relation":"eq"},"hits":[` + hits + `]}}`
	}
	const one, two, last = `{"_id":"1","_score":3.0,"_source":{"n":1}}`, `{"_id":"2","_score":2.0,"_source":{"n":2}}`, `{"_id":"3","_score":2.0,"_source":{"n":3}}`
	for _, c := range []struct{ name, ours, theirs, says string }{
		{"the same", answer(one + "," + two), answer(one + "," + two), ""},
		{"the last ones tie", answer(one + "," + two), answer(one + "," + last), ""},
		{"another first", answer(`{"_id":"9","_score":3.0},` + two), answer(one + "," + two), "hit 1 is missing"},
		{"another score", answer(`{"_id":"1","_score":3.1},` + two), answer(one + "," + two), "hit 0: 1 with score 3.1"},
		{"another sort value", answer(`{"_id":"1","sort":[3]}`), answer(`{"_id":"1","sort":[4]}`), "hit 0"},
		{"another source", answer(strings.Replace(one, `"n":1`, `"n":7`, 1) + "," + two), answer(one + "," + two), "sources of 1"},
		{"fewer hits", answer(one), answer(one + "," + two), "1 and 2 hits"},
		{"another total", strings.Replace(answer(one), `"value":3`, `"value":4`, 1), answer(one), "totals"},
		{"another count", `{"_shards":{"successful":1},"count":3}`, `{"_shards":{"successful":1},"count":4}`, "counts"},
		{"another bucket", `{"_shards":{"successful":1},"aggregations":{"a":{"buckets":[{"key":"a","doc_count":3}]}}}`,
			`{"_shards":{"successful":1},"aggregations":{"a":{"buckets":[{"key":"a","doc_count":4}]}}}`, "buckets"},
		{"a failed shard", `{"_shards":{"successful":0,"failed":1}}`, `{"_shards":{"successful":1,"failed":0}}`, "shards"},
		{"no answer", ``, answer(one), "unexpected end"},
	} {
		if says := differs([]byte(c.ours), []byte(c.theirs)); !strings.HasPrefix(says, c.says) || (c.says == "") != (says == "") {
			t.Errorf("%s: %q, not %q", c.name, says, c.says)
		}
	}
}
