package store

import (
	"cmp"
	"container/heap"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/exception"
	"github.com/reshelve/reshelve/query"
	"github.com/reshelve/reshelve/routing"
	"github.com/reshelve/reshelve/shard"
)

// mark is the place of a document in the order of _doc.
type mark struct {
	index uint32
	key   routing.Key
	id    string
}

// String is "index number/order key/id", the sort value of _doc.
func (m mark) String() string { return fmt.Sprintf("%d/%s/%s", m.index, m.key, m.id) }

func parseMark(text string) (mark, error) {
	number, rest, _ := strings.Cut(text, "/")
	hex, id, ok := strings.Cut(rest, "/")
	n, err := strconv.ParseUint(number, 10, 32)
	key, keyErr := routing.ParseKey(hex)
	if !ok || err != nil || keyErr != nil {
		return mark{}, exception.New(exception.IllegalArgument, "Failed to parse search_after value for field [_doc]: [%s] is not the sort value of a hit", text)
	}
	return mark{uint32(n), key, id}, nil
}

func (m mark) compare(o mark) int {
	return cmp.Or(cmp.Compare(m.index, o.index), cmp.Compare(m.key, o.key), cmp.Compare(m.id, o.id))
}

// found is a document that a search met, without its source.
type found struct {
	mark
	part part
}

// collector keeps the best From+Size documents in the order of a search.
type collector struct {
	q     query.Search
	ids   map[string]bool // nil: all documents
	low   map[uint32]bool // the low halves of their keys
	after *found          // nil: from the start
	total int64
	best  worstFirst
}

func newCollector(q query.Search) (*collector, error) {
	c := &collector{q: q}
	c.best.compare = c.compare
	if q.IDs != nil {
		c.ids, c.low = map[string]bool{}, map[uint32]bool{}
		for _, id := range q.IDs {
			c.ids[id], c.low[routing.Hash(id, 1)] = true, true
		}
	}
	if q.After == nil {
		return c, nil
	}
	c.after = &found{}
	for i, raw := range q.After {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, exception.New(exception.IllegalArgument, "search_after for %s takes the sort value of a hit, a string, and not %s", q.Sort[i].Field, raw)
		}
		if q.Sort[i].Field == "_id" {
			c.after.id = text
			continue
		}
		m, err := parseMark(text)
		if err != nil {
			return nil, err
		}
		c.after.mark = m
	}
	return c, nil
}

// keys orders two documents by the search's keys alone.
func (c *collector) keys(a, b found) int {
	for _, key := range c.q.Sort {
		order := 0
		if key.Field == "_id" {
			order = strings.Compare(a.id, b.id)
		} else {
			order = a.compare(b.mark)
		}
		if key.Descending {
			order = -order
		}
		if order != 0 {
			return order
		}
	}
	return 0
}

// compare is keys, then the order of _doc.
func (c *collector) compare(a, b found) int {
	return cmp.Or(c.keys(a, b), a.compare(b.mark))
}

// byDoc reports whether documents come in the order in which they are scanned.
func (c *collector) byDoc() bool {
	return len(c.q.Sort) == 0 || (c.q.Sort[0].Field == "_doc" && !c.q.Sort[0].Descending)
}

// part scans one shard.
func (c *collector) part(ctx context.Context, p part) error {
	counted := c.ids == nil // the reader knows how many there are
	if counted {
		c.total += p.reader.Docs()
		if c.q.From+c.q.Size == 0 {
			return nil
		}
	}
	from := shard.Select{Range: p.row.Range, NoSource: true}
	if counted && c.byDoc() && c.after != nil { // nothing before it is needed, not even counted
		switch at := c.after.mark; {
		case at.index > p.index.entry.Number:
			return nil
		case at.index == p.index.entry.Number && at.key > p.row.Range.To:
			return nil
		case at.index == p.index.entry.Number && at.key >= p.row.Range.From:
			from.After = &shard.Ref{Key: at.key, ID: at.id}
		}
	}
	return c.scan(ctx, p, from, counted)
}

func (c *collector) scan(ctx context.Context, p part, from shard.Select, counted bool) error {
	wanted := c.q.From + c.q.Size
	for row, err := range p.reader.Scan(ctx, from) {
		if err != nil {
			return err
		}
		if c.ids != nil && (!c.low[uint32(row.Key)] || !c.ids[row.ID]) {
			continue
		}
		if !counted {
			c.total++
		}
		full := len(c.best.found) >= wanted
		if full && counted && c.byDoc() {
			return nil // the rest comes later in the order
		}
		f := found{mark{p.index.entry.Number, row.Key, row.ID}, p}
		if wanted == 0 || (c.after != nil && c.keys(f, *c.after) <= 0) || (full && c.compare(f, c.best.found[0]) > 0) {
			continue
		}
		heap.Push(&c.best, f)
		if full {
			heap.Pop(&c.best)
		}
	}
	return nil
}

// hits reads the sources of what was found, in order.
func (c *collector) hits(ctx context.Context) ([]query.Hit, error) {
	best := c.best.found
	slices.SortFunc(best, c.compare)
	var hits []query.Hit
	for _, f := range best[min(c.q.From, len(best)):] {
		row, ok, err := exists(ctx, f.part, shard.Ref{Key: f.key, ID: f.id}, c.q.Source.None)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, exception.New(exception.IllegalState, "document [%s] is in the scan of a reader and not in its rows", f.id)
		}
		if c.q.Hold != nil {
			if err := c.q.Hold(int64(len(row.Source))); err != nil {
				return nil, err
			}
		}
		hits = append(hits, c.hit(f.part, row))
	}
	return hits, nil
}

// worstFirst is a heap whose top is the last in order.
type worstFirst struct {
	found   []found
	compare func(a, b found) int
}

func (h worstFirst) Len() int           { return len(h.found) }
func (h worstFirst) Less(i, j int) bool { return h.compare(h.found[i], h.found[j]) > 0 }
func (h worstFirst) Swap(i, j int)      { h.found[i], h.found[j] = h.found[j], h.found[i] }

// Push is for package heap.
func (h *worstFirst) Push(x any) { h.found = append(h.found, x.(found)) }

// Pop is for package heap.
func (h *worstFirst) Pop() any {
	last := h.found[len(h.found)-1]
	h.found = h.found[:len(h.found)-1]
	return last
}
