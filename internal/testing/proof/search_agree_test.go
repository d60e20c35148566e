package proof

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// byValue compares what searches by values find with the documents that were listed:
// each is found exactly once by what it says, and nothing else is.
func (c *client) byValue(index string, listed map[string]hit) {
	c.t.Helper()
	for _, field := range []string{"v", "u"} {
		of := map[string][]string{} // ids of documents by their value
		for id, h := range listed {
			var source map[string]any
			if err := json.Unmarshal(h.Source, &source); err != nil {
				c.t.Errorf("%s/%s: %v", index, id, err)
			}
			if value, is := source[field].(string); is {
				of[value] = append(of[value], id)
			}
		}
		c.counted(index, field+".keyword", of, len(listed))
		tried := 0
		for value, ids := range of {
			if tried++; tried > 12 {
				break
			}
			c.findBy(index, field+".keyword", value, ids)
		}
	}
}

// counted holds the buckets of a field to how many documents have each value.
func (c *client) counted(index, field string, of map[string][]string, all int) {
	c.t.Helper()
	body := fmt.Sprintf(`{"size":0,"track_total_hits":true,"aggs":{"values":{"terms":{"field":%q,"size":9999}},"none":{"missing":{"field":%q}},"all":{"value_count":{"field":%q}}}}`, field, field, field)
	answer, err := c.talk.Do(c.ctx, "POST", c.url+"/"+index+"/_search", []byte(body))
	var told struct {
		Hits         struct{ Total struct{ Value int } }
		Aggregations struct {
			Values struct {
				Sum     int `json:"sum_other_doc_count"`
				Buckets []struct {
					Key   string
					Count int `json:"doc_count"`
				}
			}
			None struct {
				Count int `json:"doc_count"`
			}
			All struct{ Value int }
		}
	}
	if err != nil || answer.Status != 200 || json.Unmarshal(answer.Body, &told) != nil {
		c.t.Errorf("counting %s of %s: %s %v", field, index, answer, err)
		return
	}
	want, got, some := map[string]int{}, map[string]int{}, 0
	for value, ids := range of {
		want[value] = len(ids)
		some += len(ids)
	}
	for _, bucket := range told.Aggregations.Values.Buckets {
		got[bucket.Key] = bucket.Count
	}
	if !maps.Equal(want, got) || told.Aggregations.Values.Sum != 0 {
		c.t.Errorf("%s of %s is counted as %v, and the documents have %v", field, index, got, want)
	}
	if none, total, values := told.Aggregations.None.Count, told.Hits.Total.Value, told.Aggregations.All.Value; none != all-some || total != all || values != some {
		c.t.Errorf("%s of %s: %d of %d documents have it, and %d values, %d without and %d documents are counted", field, index, some, all, values, none, total)
	}
}

// findBy holds a search for a value to the documents that have it.
func (c *client) findBy(index, field, value string, ids []string) {
	c.t.Helper()
	answer, err := c.talk.Do(c.ctx, "POST", c.url+"/"+index+"/_search", fmt.Appendf(nil, `{"size":100,"query":{"term":{%q:%q}}}`, field, value))
	var told found
	if err != nil || answer.Status != 200 || json.Unmarshal(answer.Body, &told) != nil {
		c.t.Errorf("finding %s %q in %s: %s %v", field, value, index, answer, err)
		return
	}
	var got []string
	for _, h := range told.Hits.Hits {
		got = append(got, h.ID)
	}
	slices.Sort(got)
	slices.Sort(ids)
	if !slices.Equal(got, ids) || told.Hits.Total.Value != len(ids) {
		c.t.Errorf("%s %q of %s finds %v, and %v have it", field, value, index, got, ids)
	}
}
