package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/document"
)

// row is a document of the target, or the mark that a deletion leaves for a minute.
type row struct {
	version     int64
	number      int64 // of the write that it comes from
	others      bool  // written by a client, and not by a process of a movement
	source      []byte
	fingerprint string
	deleted     time.Time
}

// index is one of the target.
type index struct {
	uuid string
	body []byte
	rows map[name]*row
	// aliases are its own names beside the one that it was made with.
	aliases map[string]bool
	madeFor string // the movement of the plan that was at work when a request made it; "": none did
	// applied are the newest versions that were ever written, by whomever.
	applied map[name]int64
}

// target keeps documents as OpenSearch 2.19 does: external_gte versions, marks of deletions
// for a minute (index.gc_deletes), indices that a write makes when they are not there.
type target struct {
	world   *migration
	indices map[string]*index
	aliases map[string]string // those that were ever made, and where they led last
	points  map[string][]hit
	made    int
	full    bool // its disks: each document is answered 403
	flood   bool // its disks: each document is answered 429
	picky   bool // each third document is rejected, 429
	refuses bool // some documents, for good, 400
	items   int
	writes  int64
	before  map[string]string // what it held at the beginning
}

// hit is a document as a search shows it.
type hit struct {
	name name
	row  row
}

func newTarget(w *migration) *target {
	t := &target{world: w, indices: map[string]*index{}, aliases: map[string]string{}, points: map[string][]hit{}}
	t.put(t.make("before", nil), name{"", "kept"}, condition{}, []byte(`{"kept":true}`))
	if w.script.Into {
		into := t.make("loans", nil)
		t.put(into, name{"", "of somebody else"}, condition{}, []byte(`{"other":1}`))
	}
	t.before = t.contents()
	return t
}

func (t *target) make(name_ string, body []byte) *index {
	t.made++
	i := &index{uuid: fmt.Sprint("uuid-", t.made), body: body, rows: map[name]*row{}, aliases: map[string]bool{}, applied: map[name]int64{}}
	t.indices[name_] = i
	var asked struct {
		Aliases map[string]json.RawMessage
	}
	if len(body) > 0 && json.Unmarshal(body, &asked) != nil {
		t.world.violate("L12", "the body that makes %s is not understood", name_)
	}
	for alias := range asked.Aliases {
		i.aliases[alias], t.aliases[alias] = true, name_
	}
	if body != nil {
		i.madeFor, i.aliases[ofTemplate] = t.world.id, true
	}
	return i
}

// put writes a document.
func (t *target) put(i *index, n name, c condition, source []byte) (status int, kind string) {
	has := i.remembered(n)
	version, allowed := c.version(has)
	if !allowed {
		if has != nil && !has.deleted.IsZero() {
			t.world.report.Kept++
		}
		return 409, "version_conflict_engine_exception"
	}
	status = 201
	if has != nil && has.deleted.IsZero() {
		status = 200
	}
	t.writes++
	var f document.Fingerprinter
	i.rows[n] = &row{version: version, number: t.writes, source: source, fingerprint: f.Of([]byte(n.id), []byte(n.routing), source).String()}
	i.applied[n] = max(i.applied[n], version)
	return status, ""
}

// remembered is a document, or the mark of its deletion while that lasts (index.gc_deletes).
func (i *index) remembered(n name) *row {
	if has := i.rows[n]; has != nil && (has.deleted.IsZero() || time.Since(has.deleted) <= time.Minute) {
		return has
	}
	return nil
}

// remove deletes a document.
func (t *target) remove(i *index, n name, c condition) (status int, kind string) {
	has := i.remembered(n)
	version, allowed := c.version(has)
	if !allowed {
		return 409, "version_conflict_engine_exception"
	}
	t.writes++
	i.rows[n] = &row{version: version, number: t.writes, deleted: time.Now()}
	if has == nil || !has.deleted.IsZero() {
		return 404, ""
	}
	return 200, ""
}

// shown are the documents of an index that are not deleted, in an order.
func (i *index) shown() []hit {
	var all []hit
	for n, r := range i.rows {
		if r.deleted.IsZero() {
			all = append(all, hit{n, *r})
		}
	}
	slices.SortFunc(all, func(a, b hit) int {
		return strings.Compare(a.name.id+"\x00"+a.name.routing, b.name.id+"\x00"+b.name.routing)
	})
	return all
}

// contents is everything, by index, document by document.
func (t *target) contents() map[string]string {
	all := map[string]string{}
	for called, i := range t.indices {
		var b strings.Builder
		fmt.Fprintln(&b, i.uuid, string(i.body), slices.Sorted(maps.Keys(i.aliases)))
		for _, h := range i.shown() {
			fmt.Fprintln(&b, h.name, h.row.version, h.row.fingerprint)
		}
		all[called] = b.String()
	}
	return all
}

// bulk is the answer to a bulk request.
func (t *target) bulk(body []byte) any {
	var items []string
	failed := false
	for len(body) > 0 {
		var head, source []byte
		head, body, _ = bytes.Cut(body, []byte("\n"))
		var about map[string]struct {
			Index   string `json:"_index"`
			ID      string `json:"_id"`
			Routing string `json:"routing"`
			condition
		}
		if err := json.Unmarshal(head, &about); err != nil {
			return refusal(400, "illegal_argument_exception", err.Error())
		}
		for action, a := range about {
			if action != "delete" {
				source, body, _ = bytes.Cut(body, []byte("\n"))
			}
			status, kind := t.write(action, a.Index, name{a.Routing, a.ID}, a.condition, bytes.Clone(source))
			item := fmt.Sprintf(`{%q:{"status":%d`, action, status)
			if kind != "" {
				failed = true
				item += fmt.Sprintf(`,"error":{"type":%q,"reason":"in a simulation","index":%q}`, kind, a.Index)
			}
			items = append(items, item+"}}")
		}
	}
	return reply{200, fmt.Appendf(nil, `{"errors":%v,"items":[%s]}`, failed, strings.Join(items, ","))}
}

func (t *target) write(action, called string, n name, c condition, source []byte) (status int, kind string) {
	t.items++
	switch {
	case t.full:
		return 403, "cluster_block_exception"
	case t.flood:
		return 429, "cluster_block_exception"
	case t.refuses && action != "delete" && refused(n):
		return 400, "mapper_parsing_exception"
	case t.picky && t.items%3 == 0:
		return 429, "rejected_execution_exception"
	}
	asked := called
	called, i := t.find(called)
	switch {
	case i == nil && strings.ToLower(called) != called: // nothing is made of that name
		t.came(called, n)
		return 400, "invalid_index_name_exception"
	case i == nil:
		i = t.make(called, nil)
	}
	t.world.mayShow(asked, i)
	was, knows := i.rows[n], i.remembered(n) != nil
	if action == "delete" {
		status, kind = t.remove(i, n, c)
		t.world.besideOthers(called, n, c, was, status)
		return status, kind
	}
	status, kind = t.put(i, n, c, source)
	t.world.besideOthers(called, n, c, was, status)
	if status <= 201 && was != nil && !was.deleted.IsZero() {
		t.world.wasStolen(called, n) // the verify that comes finds it
		if knows && t.world.gone(called, n) {
			t.world.violate("L2", "%v of %s, which was deleted, is brought back", n, called)
		}
	}
	return status, kind
}

// refused tells whether a document is one of those that are refused.
func refused(n name) bool { return crc32.ChecksumIEEE([]byte(n.id))%5 == 0 }

// search is the answer to a search in a point in time.
func (t *target) search(body []byte) any {
	var asked struct {
		Size  int                   `json:"size"`
		After []int                 `json:"search_after"`
		PIT   struct{ ID string }   `json:"pit"`
		Slice struct{ ID, Max int } `json:"slice"`
	}
	if err := json.Unmarshal(body, &asked); err != nil {
		return refusal(400, "parse_exception", err.Error())
	}
	all, there := t.points[asked.PIT.ID]
	if !there {
		return refusal(404, "search_context_missing_exception", "no such point in time")
	}
	first := 0
	if len(asked.After) > 0 {
		first = asked.After[0] + 1
	}
	var hits []string
	for at := first; at < len(all) && len(hits) < asked.Size; at++ {
		if asked.Slice.Max > 1 && at%asked.Slice.Max != asked.Slice.ID {
			continue
		}
		h := all[at]
		routing := ""
		if h.name.routing != "" {
			routing = fmt.Sprintf(`"_routing":%s,`, quoted(h.name.routing))
		}
		hits = append(hits, fmt.Sprintf(`{"_id":%s,%s"_version":%d,"_seq_no":%d,"_primary_term":1,"_source":%s,"sort":[%d]}`,
			quoted(h.name.id), routing, h.row.version, h.row.number, h.row.source, at))
	}
	return reply{200, fmt.Appendf(nil, `{"pit_id":%q,"timed_out":false,"_shards":{"total":1,"failed":0},"hits":{"hits":[%s]}}`, asked.PIT.ID, strings.Join(hits, ","))}
}

// several is the answer to a request for some documents.
func (t *target) several(body []byte) any {
	var asked struct {
		Docs []struct {
			Index   string `json:"_index"`
			ID      string `json:"_id"`
			Routing string `json:"routing"`
		} `json:"docs"`
	}
	if err := json.Unmarshal(body, &asked); err != nil {
		return refusal(400, "parse_exception", err.Error())
	}
	var docs []string
	for _, d := range asked.Docs {
		_, i := t.find(d.Index)
		if i == nil {
			docs = append(docs, fmt.Sprintf(`{"_index":%s,"_id":%s,"error":{"type":"index_not_found_exception","reason":"no such index"}}`, quoted(d.Index), quoted(d.ID)))
			continue
		}
		r := i.rows[name{d.Routing, d.ID}]
		if r == nil || !r.deleted.IsZero() {
			docs = append(docs, fmt.Sprintf(`{"_index":%s,"_id":%s,"found":false}`, quoted(d.Index), quoted(d.ID)))
			continue
		}
		docs = append(docs, fmt.Sprintf(`{"_index":%s,"_id":%s,"_routing":%s,"_version":%d,"_seq_no":%d,"_primary_term":1,"found":true,"_source":%s}`,
			quoted(d.Index), quoted(d.ID), quoted(d.Routing), r.version, r.number, r.source))
	}
	return reply{200, fmt.Appendf(nil, `{"docs":[%s]}`, strings.Join(docs, ","))}
}

func quoted(s string) string {
	out, _ := json.Marshal(s) // a string
	return string(out)
}

func (t *target) open(called string) any {
	i := t.indices[called]
	if i == nil {
		return notFound(called)
	}
	t.made++
	id := fmt.Sprint("point-", t.made)
	t.points[id] = i.shown()
	return reply{200, fmt.Appendf(nil, `{"pit_id":%q}`, id)}
}

// named are the indices that a pattern names.
func (t *target) named(pattern string) []string {
	var all []string
	for _, called := range slices.Sorted(maps.Keys(t.indices)) {
		if pattern == "_all" || pattern == "*" || called == pattern || strings.HasSuffix(pattern, "*") && strings.HasPrefix(called, strings.TrimSuffix(pattern, "*")) {
			all = append(all, called)
		}
	}
	return all
}
