package gateway

import (
	"errors"
	"strconv"

	"github.com/reshelve/reshelve/internal/index/aggregate"
	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
	"github.com/reshelve/reshelve/internal/store"
)

// appendAnswer appends the members of what a search found. An index whose hits cannot be
// told is left out, as one that the search failed in.
func (c *call) appendAnswer(out []byte, x *searching) (_ []byte, err error) {
	begin := len(out)
	for {
		out, err = c.appendFoundHits(out[:begin], x)
		var phase *store.PhaseError
		if !errors.As(err, &phase) {
			return out, err
		}
		page := x.found.Hits[min(x.From, len(x.found.Hits)):]
		if err := x.found.Leave(phase.Failed[0].Index, phase.Failed[0].Cause, page); err != nil {
			return out, err
		}
	}
}

func (c *call) appendFoundHits(out []byte, x *searching) (_ []byte, err error) {
	x.tellings = map[*query.Fetch]*telling{}
	if x.found.Scroll != "" {
		out = append(appendString(append(out, `"_scroll_id":`...), x.found.Scroll), ',')
	}
	if x.PIT != nil {
		out = append(appendString(append(out, `"pit_id":`...), x.PIT.ID), ',')
	}
	out = strconv.AppendInt(append(out, `"took":`...), c.took(), 10)
	out = strconv.AppendBool(append(out, `,"timed_out":`...), x.found.TimedOut)
	out = c.appendSearched(append(out, ','), x.found)
	out = append(out, `,"hits":`...)
	hits := x.found.Hits[min(x.From, len(x.found.Hits)):]
	shown := x.found.Result
	if x.From > 0 && x.Size == 0 { // as the server
		shown.MaxScore = nil
	}
	if out, err = c.appendHits(out, x, &x.Fetch, "", &shown, hits); err != nil || x.aggs == nil {
		return out, err
	}
	return x.aggs.AppendJSON(append(out, `,"aggregations":`...), x.typed, c.topHits(x))
}

// topHits renders what aggregations of top_hits found.
func (c *call) topHits(x *searching) aggregate.Hits {
	return func(dst []byte, of *aggregate.TopHits, path string, found search.Result) ([]byte, error) {
		fetch, _ := of.Fetch.(*query.Fetch)
		if fetch == nil {
			fetch = &query.Fetch{}
		}
		inner := *x
		inner.TrackTotal, inner.asInt = query.TrackAll, false
		return c.appendHits(dst, &inner, fetch, path, &found, found.Hits[min(of.From, len(found.Hits)):])
	}
}

// appendSearched appends the shards that were searched, and the indices that the search
// failed in.
func (c *call) appendSearched(dst []byte, f *store.Found) []byte {
	if len(f.Failed) == 0 {
		return appendShards(dst, f.Shards)
	}
	failed := 0
	for _, one := range f.Failed {
		failed += one.Shards
	}
	dst = strconv.AppendInt(append(dst, `"_shards":{"total":`...), int64(f.Shards), 10)
	dst = strconv.AppendInt(append(dst, `,"successful":`...), int64(f.Shards-failed), 10)
	dst = strconv.AppendInt(append(dst, `,"skipped":0,"failed":`...), int64(failed), 10)
	return append(c.appendFailures(append(dst, `,"failures":`...), f.Failed), '}')
}

func appendShards(dst []byte, n int) []byte {
	dst = strconv.AppendInt(append(dst, `"_shards":{"total":`...), int64(n), 10)
	dst = strconv.AppendInt(append(dst, `,"successful":`...), int64(n), 10)
	return append(dst, `,"skipped":0,"failed":0}`...)
}

// appendHits appends the object of hits, which are documents or objects of a nested field.
func (c *call) appendHits(dst []byte, x *searching, fetch *query.Fetch, path string, r *search.Result, hits []search.Hit) (_ []byte, err error) {
	dst = append(dst, '{')
	dst = x.appendCounted(dst, *r)
	dst = append(dst, `"max_score":`...)
	switch {
	case x.found.Shards == 0:
		dst = append(dst, "0.0"...)
	case r.MaxScore == nil:
		dst = append(dst, "null"...)
	default:
		dst = append(dst, java.Float(*r.MaxScore)...)
	}
	dst = append(dst, `,"hits":[`...)
	t := x.telling(fetch)
	t.around = path
	none := len(dst)
	for i := range hits {
		if x.found.Left(&hits[i]) {
			continue
		}
		if len(dst) > none {
			dst = append(dst, ',')
		}
		if path == "" {
			dst, err = c.appendHit(dst, t, &hits[i], r.Scored)
		} else {
			dst, err = c.appendObjectHit(dst, t, &hits[i], path, r.Scored)
		}
		if err != nil {
			return dst, t.failed(&hits[i], err)
		}
	}
	return append(dst, "]}"...), nil
}

// appendCounted appends how many hits there are, and a comma; nothing when that was not to be
// counted.
func (x *searching) appendCounted(dst []byte, r search.Result) []byte {
	switch {
	case x.TrackTotal == query.TrackNone && x.asInt:
		return append(dst, `"total":-1,`...)
	case x.TrackTotal == query.TrackNone:
		return dst
	case x.TrackTotal == 0 && r.Total > 0:
		r.Total, r.AtLeast = 0, true
	}
	return append(appendTotal(append(dst, `"total":`...), &r, x.asInt), ',')
}

func appendTotal(dst []byte, r *search.Result, asInt bool) []byte {
	if asInt {
		return strconv.AppendInt(dst, r.Total, 10)
	}
	dst = strconv.AppendInt(append(dst, `{"value":`...), r.Total, 10)
	if r.AtLeast {
		return append(dst, `,"relation":"gte"}`...)
	}
	return append(dst, `,"relation":"eq"}`...)
}

// appendHit appends one hit with what is asked of it.
func (c *call) appendHit(dst []byte, t *telling, h *search.Hit, scored bool) ([]byte, error) {
	about, err := t.about(c, h)
	if err != nil {
		return dst, err
	}
	row, err := t.found.Document(c.ctx(), h, !t.shown && !about.needsSource())
	if err != nil {
		return dst, err
	}
	if err := c.holdAnswer(int64(len(row.Source))); err != nil {
		return dst, err
	}
	fetch := t.fetch
	dst = appendString(append(dst, `{"_index":`...), t.found.Index(h))
	if !t.bare {
		dst = appendString(append(dst, `,"_id":`...), h.ID)
	}
	if fetch.Versions {
		dst = strconv.AppendInt(append(dst, `,"_version":`...), row.Version, 10)
	}
	if fetch.SeqNoTerm {
		dst = strconv.AppendInt(append(dst, `,"_seq_no":`...), row.SeqNo, 10)
		dst = strconv.AppendInt(append(dst, `,"_primary_term":`...), row.PrimaryTerm, 10)
	}
	dst = append(dst, `,"_score":`...)
	if scored {
		dst = append(dst, java.Float(h.Score)...)
	} else {
		dst = append(dst, "null"...)
	}
	if !t.bare {
		dst = t.appendMetadata(dst, h, row.Routing)
	}
	whole := row.Source
	row.Source = about.kept.Shown(whole)
	if t.shown && row.Source != nil {
		dst = t.source.Append(append(dst, `,"_source":`...), row.Source)
	}
	of := original{row.Source, whole, row.Version, row.SeqNo}
	if dst, err = about.append(dst, t, h, of); err != nil {
		return dst, err
	}
	if dst, err = about.appendMatched(appendSort(dst, t.searching, h), h); err != nil {
		return dst, err
	}
	if dst, err = c.appendInners(dst, about.inner, h, of, t.bare); err != nil {
		return dst, err
	}
	return append(dst, '}'), nil
}

func notYet(what string) error {
	return exception.New(exception.IllegalArgument, "%s is not supported by this version of reshelve", what)
}

// appendSort appends the values by which a hit is sorted: what search_after takes.
func appendSort(dst []byte, x *searching, h *search.Hit) []byte {
	keys := h.Sort
	if x.found.Scroll != "" {
		keys = keys[:x.found.Keys]
	}
	return appendSortValues(dst, keys)
}

func appendSortValues(dst []byte, keys []search.SortValue) []byte {
	if len(keys) == 0 {
		return dst
	}
	dst = append(dst, `,"sort":[`...)
	for i, v := range keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		switch {
		case v.Null:
			dst = append(dst, "null"...)
		case v.Kind == search.Textual:
			dst = appendString(dst, v.Text)
		case v.Kind == search.Fractional:
			dst = append(dst, java.Double(v.F)...)
		case v.Kind == search.Unsigned:
			dst = strconv.AppendUint(dst, uint64(v.N), 10)
		default:
			dst = strconv.AppendInt(dst, v.N, 10)
		}
	}
	return append(dst, ']')
}

func appendMatched(dst []byte, h *search.Hit) []byte {
	if len(h.Matched) == 0 {
		return dst
	}
	dst = append(dst, `,"matched_queries":[`...)
	for i, name := range h.Matched {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, name)
	}
	return append(dst, ']')
}
