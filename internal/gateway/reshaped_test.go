package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	coord "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
	"github.com/reshelve/reshelve/internal/store/shard/shardtest"
)

// asked are requests whose answers depend on what is shown.
var asked = []string{
	`POST INDEX/_search {"size":100,"query":{"prefix":{"k":"k1"}},"sort":["n"]}`,
	`POST INDEX/_search {"size":100,"query":{"wildcard":{"k":"k*9"}},"sort":[{"n":"desc"}]}`,
	`POST INDEX/_search {"size":100,"query":{"range":{"n":{"gte":40,"lt":160}}},"sort":["_doc"]}`,
	`POST INDEX/_search {"size":100,"query":{"terms":{"_id":["1","5","77","150"]}},"sort":["n"]}`,
	`POST INDEX/_search {"size":100,"query":{"nested":{"path":"c","query":{"match":{"c.x":"child2"}}}},"sort":["n"]}`,
	`POST INDEX/_search {"size":0,"aggs":{"k":{"terms":{"field":"k","size":500,"min_doc_count":0,"order":{"_key":"asc"}}}}}`,
	`POST INDEX/_search {"size":0,"aggs":{"k":{"terms":{"field":"gone","size":500,"min_doc_count":0}}}}`,
	`POST INDEX/_search {"size":0,"aggs":{"n":{"stats":{"field":"n"}},"card":{"cardinality":{"field":"k"}},"h":{"histogram":{"field":"n","interval":10}},"c":{"nested":{"path":"c"},"aggs":{"x":{"terms":{"field":"c.x"}}}}}}`,
	`POST INDEX/_count {"query":{"exists":{"field":"gone"}}}`,
	`GET INDEX/_field_caps?fields=* `,
	`GET INDEX/_doc/77 `,
	`GET INDEX/_doc/3 `,
	`POST INDEX/_validate/query?rewrite=true {"query":{"prefix":{"k":"k1"}}}`,
}

// scored are requests whose answers depend on how it is counted too.
var scored = []string{
	`POST INDEX/_search {"size":100,"query":{"match":{"t":"common word3"}}}`,
	`POST INDEX/_search {"size":100,"query":{"match_phrase":{"t":"word3 common"}}}`,
	`POST INDEX/_search {"size":100,"query":{"multi_match":{"query":"word1 odd","fields":["t","u^2"]}}}`,
	`POST INDEX/_search {"size":100,"query":{"fuzzy":{"t":{"value":"word33"}}}}`,
	`POST INDEX/_search {"size":3,"query":{"function_score":{"query":{"match":{"t":"common"}},"field_value_factor":{"field":"n"}}}}`,
}

// TestASplitChangesNoAnswer asks an index that is split and merged, and one that is not.
func TestASplitChangesNoAnswer(t *testing.T) {
	e, err := embedded.Open(t.Context(), t.TempDir(), embedded.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), coord.New(), e, store.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = s.Close(), e.Close() }()
	server := New(s, Options{})
	do := func(request, index string) string {
		parts := strings.SplitN(strings.ReplaceAll(request, "INDEX", "/"+index), " ", 3)
		r := httptest.NewRequest(parts[0], parts[1], strings.NewReader(parts[2]))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		return fmt.Sprint(w.Code, " ", w.Body)
	}
	both := []string{"stay", "move"}
	for _, index := range both {
		made := do(`PUT INDEX {"settings":{"number_of_shards":1,"refresh_interval":-1},"mappings":{"properties":{"n":{"type":"long"},"t":{"type":"text"},"u":{"type":"text"},"k":{"type":"keyword"},"gone":{"type":"keyword"},"c":{"type":"nested","properties":{"x":{"type":"keyword"}}}}}}`, index)
		if !strings.HasPrefix(made, "200") {
			t.Fatal(made)
		}
		fillIndex(t, do, index)
	}
	reshape := func(of func(p placement.Placement) ([]uint32, []shard.Incarnation)) { handOver(t, s, "move", of) }
	scores := map[string]string{} // by request, as the first hand-off has left the segments: it writes those in memory anew
	for _, step := range []struct {
		name   string
		do     func()
		scores bool // are as they were
	}{
		{"as they were written", func() {}, false},
		{"split into 3", func() { reshape(func(p placement.Placement) ([]uint32, []shard.Incarnation) { return parts(p, 0, 3) }) }, true},
		{"split again", func() { reshape(func(p placement.Placement) ([]uint32, []shard.Incarnation) { return parts(p, 1, 2) }) }, true},
		{"merged", func() { reshape(neighbours) }, true},
		{"split in 5", func() { reshape(func(p placement.Placement) ([]uint32, []shard.Incarnation) { return parts(p, 0, 5) }) }, true},
		{"written to", func() {
			for _, index := range both {
				for i := 300; i < 340; i++ {
					do(fmt.Sprintf(`PUT INDEX/_doc/%d {"n":%d,"t":"common later word%d","k":"k%d"}`, i, i, i%9, i), index)
				}
				for i := 50; i < 60; i++ {
					do(fmt.Sprintf(`DELETE INDEX/_doc/%d `, i), index)
				}
				do(`POST INDEX/_refresh `, index)
			}
		}, false},
		{"merged again", func() { reshape(neighbours) }, false},
	} {
		step.do()
		for _, request := range asked {
			stays, moves := plain(do(request, "stay")), plain(do(request, "move"))
			if found := strings.HasPrefix(stays, "200"); found == strings.Contains(request, "_doc/3 ") {
				t.Errorf("%s: %.300s", request, stays)
			}
			if stays != moves {
				t.Errorf("%s: %s\nthe index that stays: %.700s\nthe one that moves:   %.700s", step.name, request, stays, moves)
			}
		}
		for _, request := range scored {
			answer := plain(do(request, "move"))
			if !strings.HasPrefix(answer, "200") {
				t.Errorf("%s: %.300s", request, answer)
			}
			if before := scores[request]; step.scores && before != "" && before != answer {
				t.Errorf("%s: %s\nbefore: %.700s\nnow:    %.700s", step.name, request, before, answer)
			}
			if step.scores {
				scores[request] = answer
			}
		}
	}
}

// fillIndex writes documents, and deletes some that are in segments.
func fillIndex(t *testing.T, do func(request, index string) string, index string) {
	t.Helper()
	var bulk strings.Builder
	for i := range 240 {
		fmt.Fprintf(&bulk, `{"index":{"_id":"%d"}}`+"\n", i)
		gone := ""
		if i%8 == 3 {
			gone = fmt.Sprintf(`,"gone":"g%d"`, i)
		}
		fmt.Fprintf(&bulk, `{"n":%d,"t":"common %s word%d common","u":"odd%d odd","k":"k%d","c":[{"x":"child%d"},{"x":"child%d"}]%s}`+"\n",
			i, strings.Repeat("filler ", i%5), i%9, i%2, i, i%4, i%3, gone)
	}
	if got := do("POST INDEX/_bulk?refresh=true "+bulk.String(), index); !strings.Contains(got, `"errors":false`) {
		t.Fatalf("%.500s", got)
	}
	for i := 3; i < 240; i += 8 { // all that have the field "gone"
		if got := do(fmt.Sprintf("DELETE INDEX/_doc/%d ", i), index); !strings.HasPrefix(got, "200") {
			t.Fatal(got)
		}
	}
	if got := do("POST INDEX/_refresh ", index); !strings.HasPrefix(got, "200") {
		t.Fatal(got)
	}
}

// changing is what may differ: how long it took, how many shards there are, names and numbers.
var changing = regexp.MustCompile(`"took":\d+|"_shards":\{[^}]*\}|"(stay|move)"|"uuid":"[^"]*"|\[(stay|move)\]|"_shard":"[^"]*"|"_node":"[^"]*"|"_seq_no":\d+|"_primary_term":\d+|"[12]/[0-9a-f]{16}/`)

func plain(answer string) string {
	code, body, _ := strings.Cut(answer, " ")
	var compact any
	if json.Unmarshal([]byte(body), &compact) == nil {
		data, _ := json.Marshal(compact)
		body = string(data)
	}
	return code + " " + changing.ReplaceAllString(body, "")
}

// parts are the incarnations of the shard at a place that is cut into k.
func parts(p placement.Placement, place, k int) (from []uint32, to []shard.Incarnation) {
	row := p.Shards[place]
	step := (row.Range.To - row.Range.From) / routing.Key(k)
	for i := range k {
		one := shard.Incarnation{Number: row.Number, Range: routing.Range{From: row.Range.From + routing.Key(i)*step, To: row.Range.To}, Term: row.Term + 1}
		if i > 0 {
			one.Number, to[i-1].Range.To = p.Next+uint32(i-1), one.Range.From-1
		}
		to = append(to, one)
	}
	return []uint32{row.Number}, to
}

// neighbours are all shards, joined.
func neighbours(p placement.Placement) (from []uint32, to []shard.Incarnation) {
	one := shard.Incarnation{Range: routing.Whole}
	for _, row := range p.Shards {
		from, one.Term = append(from, row.Number), max(one.Term, row.Term+1)
	}
	return from, []shard.Incarnation{one}
}

func handOver(t *testing.T, s *store.Store, index string, of func(placement.Placement) ([]uint32, []shard.Incarnation)) {
	t.Helper()
	p, err := s.PlacementOf(t.Context(), index)
	if err != nil {
		t.Fatal(err)
	}
	from, to := of(p)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	h, err := s.HandOff(ctx, p.Index, from, to, time.Minute, handedTo(from, to))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Staged.Close(); err != nil {
		t.Error(err)
	}
}

// handedTo gives the placement in which some shards have become others.
func handedTo(from []uint32, to []shard.Incarnation) func(placement.Placement, map[uint32]int64) (placement.Placement, error) {
	return func(p placement.Placement, _ map[uint32]int64) (placement.Placement, error) {
		return shardtest.HandedOver(p, from, to), nil
	}
}
