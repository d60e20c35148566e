package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
)

// answer is what both peers have to agree on.
type answer struct {
	Hits *struct {
		Total any
		Hits  []hit
	}
	Count        *int
	Aggregations map[string]any
	Shards       struct{ Failed, Successful int } `json:"_shards"`
}

type hit struct {
	ID     string          `json:"_id"`
	Score  *float64        `json:"_score"`
	Sort   []any           `json:"sort"`
	Source json.RawMessage `json:"_source"`
}

// differs tells how two answers to a request differ, "" if they do not.
func differs(ours, theirs []byte) string {
	var a, b answer
	if err := json.Unmarshal(ours, &a); err != nil {
		return fmt.Sprintf("%v: %.300s", err, ours)
	}
	if err := json.Unmarshal(theirs, &b); err != nil {
		return fmt.Sprintf("%v: %.300s", err, theirs)
	}
	switch {
	case a.Shards != b.Shards || a.Shards.Successful == 0:
		return fmt.Sprintf("shards %+v and %+v", a.Shards, b.Shards)
	case !reflect.DeepEqual(a.Count, b.Count):
		return fmt.Sprintf("counts %.100s and %.100s", ours, theirs)
	case !reflect.DeepEqual(a.Aggregations, b.Aggregations):
		return fmt.Sprintf("buckets %.600s and %.600s", ours, theirs)
	case (a.Hits == nil) != (b.Hits == nil):
		return fmt.Sprintf("%.100s and %.100s", ours, theirs)
	case a.Hits == nil:
		return ""
	case !reflect.DeepEqual(a.Hits.Total, b.Hits.Total):
		return fmt.Sprintf("totals %v and %v", a.Hits.Total, b.Hits.Total)
	}
	return differentHits(a.Hits.Hits, b.Hits.Hits)
}

// differentHits compares hits: their scores and sort values one by one, and as a
// set those that do not tie with the last one.
func differentHits(ours, theirs []hit) string {
	if len(ours) != len(theirs) {
		return fmt.Sprintf("%d and %d hits", len(ours), len(theirs))
	}
	sources := map[string]json.RawMessage{}
	for i, b := range theirs {
		if a := ours[i]; !a.tied(b) {
			return fmt.Sprintf("hit %d: %s and %s", i, a, b)
		}
		if !b.tied(theirs[len(theirs)-1]) {
			sources[b.ID] = b.Source
		}
	}
	for _, a := range ours {
		if source, ok := sources[a.ID]; ok && !bytes.Equal(source, a.Source) {
			return fmt.Sprintf("sources of %s: %.100s and %.100s", a.ID, a.Source, source)
		}
		delete(sources, a.ID)
	}
	for id := range sources {
		return fmt.Sprintf("hit %s is missing", id)
	}
	return ""
}

// tied tells whether two hits have one place: the same sort values, the same score
// but for what a float32 rounds in another order of sums.
func (h hit) tied(with hit) bool {
	if !reflect.DeepEqual(h.Sort, with.Sort) || (h.Score == nil) != (with.Score == nil) {
		return false
	}
	return h.Score == nil || math.Abs(*h.Score-*with.Score) <= 1e-6**with.Score
}

func (h hit) String() string {
	if h.Score != nil {
		return fmt.Sprintf("%s with score %v", h.ID, *h.Score)
	}
	return fmt.Sprintf("%s with %v", h.ID, h.Sort)
}
