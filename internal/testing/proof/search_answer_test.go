package proof

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/java"
)

// members is a JSON object.
type members = map[string]any

// decoded reads JSON with its numbers as they are written; nil when it is none.
func decoded(text []byte) any {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil
	}
	return value
}

// encoded writes JSON with sorted keys.
func encoded(value any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	return strings.TrimSpace(out.String())
}

// comparable is the answer to a search in a form that two servers share: of an error its
// types and reasons; else what was found, with hits that nothing orders sorted by id.
// Scores are kept when they are scored.
func comparable(status int, body []byte, scored bool) string {
	answer, _ := decoded(body).(members)
	if answer == nil {
		return fmt.Sprintf("%d %s", status, body)
	}
	if e, is := answer["error"].(members); is {
		return fmt.Sprintf("%d %s", status, encoded(essence(e)))
	}
	if _, is := answer["valid"]; is {
		return fmt.Sprintf("%d %v", status, answer["valid"]) // why is told in our words
	}
	if of, is := answer["_shards"].(members); is && of["failed"] != nil && fmt.Sprint(of["failed"]) != "0" {
		return fmt.Sprintf("%d of some shards", status)
	}
	for _, name := range []string{"took", "_shards", "_scroll_id", "pit_id", "timed_out", "num_reduce_phases"} {
		delete(answer, name)
	}
	if all, is := answer["responses"].([]any); is {
		for i, one := range all {
			text := encoded(one)
			all[i] = uncut(comparable(200, []byte(text), scored), scored, false, true)
		}
	}
	settle(answer, scored)
	shortest(answer, 64)
	return fmt.Sprintf("%d %s", status, encoded(answer))
}

// shortest writes the fractions in a value as briefly as the same number allows: Java
// before 19, on which the server runs, now and then writes a digit too many. Scores are
// numbers of 32 bits.
func shortest(value any, bits int) any {
	switch v := value.(type) {
	case members:
		for name, member := range v {
			of := 64
			if name == "_score" || name == "max_score" {
				of = 32
			}
			v[name] = shortest(member, of)
		}
	case []any:
		for i := range v {
			v[i] = shortest(v[i], bits)
		}
	case json.Number:
		if strings.ContainsAny(v.String(), ".E") {
			if f, err := strconv.ParseFloat(v.String(), bits); err == nil {
				if math.Abs(f) >= 1<<53 { // sums beyond this depend on the order of documents
					return json.Number(strconv.FormatFloat(f, 'e', 12, 64))
				}
				return json.Number(java.Double(f))
			}
		}
	}
	return value
}

// essence is the part of an error that clients act upon: types and reasons, down to the
// first cause of the first shard.
func essence(e members) members {
	short := members{"type": e["type"], "reason": e["reason"]}
	if failed, is := e["failed_shards"].([]any); is && len(failed) > 0 {
		reason, _ := failed[0].(members)["reason"].(members)
		short["shard"] = essence(reason)
	}
	if cause, is := e["caused_by"].(members); is {
		short["cause"] = essence(cause)
	}
	return short
}

// settle brings the hits in a value, wherever they are, into one order.
func settle(value any, scored bool) {
	switch v := value.(type) {
	case members:
		if !scored {
			delete(v, "max_score")
		}
		if meta, is := v["meta"].(members); is && len(meta) == 0 {
			delete(v, "meta") // the server shows it where it has rewritten the query of a filter
		}
		for name, member := range v {
			if hits, is := member.([]any); is && name == "hits" {
				v[name] = settled(hits, scored)
			}
			settle(member, scored)
		}
	case []any:
		for _, element := range v {
			settle(element, scored)
		}
	}
}

// settleFields brings the values of the fields of a hit into one order. The server shows
// those of inner arrays after the others, numbers without a sign by their bits, shows
// binary fields, which are not kept, ranges with the ends that were written, and flat objects by Java's words, and does not show
// what copy_to brought.
func settleFields(of any) {
	shown, _ := of.(members)
	for name := range shown {
		if name == "bin" || name == "ir" || name == "dr" || name == "copied" || name == "fo" || strings.HasPrefix(name, "fo.") {
			delete(shown, name)
		}
	}
	for _, values := range shown {
		if all, is := values.([]any); is {
			slices.SortFunc(all, func(a, b any) int { return cmp.Compare(encoded(a), encoded(b)) })
		}
	}
}

// settled sorts hits whose sort values, or whose scores, are equal by their ids.
func settled(hits []any, scored bool) []any {
	type ranked struct {
		hit      members
		key, tie string
		group    int
	}
	var all []ranked
	group, last := 0, ""
	for i, one := range hits {
		hit, is := one.(members)
		if !is {
			return hits
		}
		settleFields(hit["fields"])
		if shown, is := hit["fields"].(members); is && len(shown) == 0 {
			delete(hit, "fields")
		}
		if names, is := hit["matched_queries"].([]any); is {
			slices.SortFunc(names, func(a, b any) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
		if !scored {
			delete(hit, "_score")
			delete(hit, "matched_queries_scores")
		}
		if hit["_id"] == nil {
			hit["_id"] = encoded(hit)
		}
		r := ranked{hit: hit, tie: fmt.Sprintf("%v %v %v", hit["_index"], hit["_id"], encoded(hit["_nested"]))}
		if sort, is := hit["sort"]; is {
			r.key = encoded(sort)
		} else if scored {
			r.key = encoded(hit["_score"])
		}
		if i > 0 && r.key != last {
			group++
		}
		r.group, last = group, r.key
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.tie, b.tie))
	})
	out := make([]any, len(all))
	for i, r := range all {
		out[i] = r.hit
	}
	return out
}

// uncut takes away the hits that share their rank with the first or last one of a page:
// which of several equals a page shows is nobody's promise. How many there are remains.
func uncut(text string, scored, first, last bool) string {
	status, body, _ := strings.Cut(text, " ")
	answer, _ := decoded([]byte(body)).(members)
	outer, _ := answer["hits"].(members)
	hits, _ := outer["hits"].([]any)
	if len(hits) == 0 {
		return text
	}
	key := func(i int) string {
		hit, _ := hits[i].(members)
		if sort, is := hit["sort"]; is {
			return encoded(sort)
		} else if scored {
			return encoded(hit["_score"])
		}
		return ""
	}
	from, to := key(0), key(len(hits)-1)
	for i := range hits {
		if k := key(i); first && k == from || last && k == to {
			hits[i] = "one of rank " + k
		}
	}
	return status + " " + encoded(answer)
}
