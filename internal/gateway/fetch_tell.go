package gateway

import (
	"errors"
	"slices"

	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
	"github.com/reshelve/reshelve/internal/store"
)

// telling is what is told of hits, worked out for each index once.
type telling struct {
	*searching
	fetch  *query.Fetch
	query  search.Query // what highlights look for
	source query.SourceFilter
	shown  bool           // the source
	bare   bool           // neither id nor metadata
	around string         // of nested objects, the path of their field
	asked  bool           // stored fields that there are: then _ignored is told in any case
	by     map[int]*about // of an index, as hits count them

	nested map[objectKey]*inner // what tells objects of nested fields
}

// telling is that of a fetch.
func (x *searching) telling(fetch *query.Fetch) *telling {
	if t := x.tellings[fetch]; t != nil {
		return t
	}
	t := &telling{searching: x, fetch: fetch, query: x.Query, by: map[int]*about{}}
	hidden := fetch.StoredFields != nil && !fetch.SourceSet
	for _, name := range fetch.StoredFields {
		t.bare = t.bare || name == "_none_"
		hidden = hidden && name != "_source"
	}
	t.source = fetch.Source
	t.source.None = (t.source.None || hidden) && !slices.Contains(fetch.StoredFields, "_source")
	t.shown = !t.source.None
	x.tellings[fetch] = t
	return t
}

// failed is what the server finds out only when it looks at a hit.
func (t *telling) failed(h *search.Hit, err error) error {
	var e *exception.Error
	if !errors.As(err, &e) {
		return err
	}
	return store.Failing(t.found.Index(h), e)
}

// about is what is told of the hits of one index.
type about struct {
	show  *query.Show // doc values and fields
	marks []*marking  // by the server's order of their names
	inner []*inner    // of documents
	kept  query.SourceFilter
	named *search.Named // nil: names are told without scores
}

// about works out what is told of the hits of an index.
func (t *telling) about(c *call, h *search.Hit) (*about, error) {
	if a := t.by[h.Index]; a != nil {
		return a, nil
	}
	if err := t.allowed(); err != nil {
		return nil, err
	}
	a := &about{kept: t.found.Kept(h)}
	t.stored(h)
	var err error
	if a.kept.None {
		err = t.withoutSource(t.found.Index(h))
	}
	if err == nil {
		index := t.found.Searched(h)
		a.show, err = query.NewShow(index.Schema, index.Limits, t.fetch)
	}
	if err == nil && t.fetch.Highlight != nil {
		if a.marks, err = t.markings(h, t.fetch.Highlight); a.kept.All() { // then one reading does for all
			for _, m := range a.marks {
				m.stored = false
			}
		}
	}
	if scored, _ := c.boolean("include_named_queries_score", false); err == nil && scored && t.fetch == &t.Fetch { // as the server: not in a body
		index, r := t.found.Searched(h), search.NewRequest()
		if r.PostFilter = t.PostFilter; t.Query != nil {
			r.Query = t.Query
		}
		a.named, err = search.NewNamed(c.ctx(), &index, r)
	}
	if err == nil && t.around == "" {
		a.inner, err = t.inners(c, h, "", t.Query, t.PostFilter)
	}
	if err != nil {
		return nil, err
	}
	t.by[h.Index] = a
	return a, nil
}

// allowed refuses what cannot be shown, and what excludes each other.
func (t *telling) allowed() error {
	switch {
	case t.fetch.Explain:
		return notYet("[explain]")
	case t.bare && t.fetch.SourceSet && t.shown:
		return exception.New(exception.Search, "[stored_fields] cannot be disabled if [_source] is requested")
	case t.bare && len(t.fetch.Fields) > 0:
		return exception.New(exception.Search, "[stored_fields] cannot be disabled when using the [fields] option")
	}
	return nil
}

// stored finds out whether stored fields that there are have been asked for.
func (t *telling) stored(h *search.Hit) {
	schema := t.found.Schema(h)
	for _, name := range t.fetch.StoredFields {
		_, known := schema.Field(name)
		t.asked = t.asked || name != "_source" && (known || query.MeetsOwn(name) > 0 || len(schema.Matching(name)) > 0)
	}
}

// withoutSource refuses what is read out of sources, in an index whose mapping has disabled
// them.
func (t *telling) withoutSource(index string) error {
	f := t.fetch
	switch {
	case len(f.Fields) > 0:
		return exception.New(exception.IllegalArgument, "Unable to retrieve the requested [fields] since _source is disabled in the mappings for index [%s]", index)
	case t.shown && !t.source.All():
		return exception.New(exception.IllegalArgument, "unable to fetch fields from _source field: _source is disabled in the mappings for index [%s]", index)
	}
	return nil
}

func (a *about) needsSource() bool {
	return a.show.NeedsSource() || len(a.marks) > 0 || anyNeedSource(a.inner)
}

// needsWhole reports whether append looks at sources as they are kept.
func (a *about) needsWhole() bool {
	return a.show.NeedsWhole() || slices.ContainsFunc(a.marks, func(m *marking) bool { return m.stored })
}

// append appends fields and highlights.
func (a *about) append(dst []byte, t *telling, h *search.Hit, of original) ([]byte, error) {
	before := len(dst)
	dst, some := a.show.Append(append(dst, `,"fields":`...), query.Row{
		View: t.found.View(h), Doc: h.Doc, Index: t.found.Index(h), ID: h.ID, SeqNo: of.seqNo, Source: of.source, Whole: of.whole, Around: t.around,
	})
	if !some {
		dst = dst[:before]
	}
	return t.appendHighlights(dst, a.marks, h, of.source, of.whole)
}

// appendMatched appends the names of the queries that found a hit, with their scores when
// these are asked for.
func (a *about) appendMatched(dst []byte, h *search.Hit) ([]byte, error) {
	if a.named == nil || len(h.Matched) == 0 {
		return appendMatched(dst, h), nil
	}
	scores, err := a.named.Scores(h)
	if err != nil || len(scores) != len(h.Matched) {
		return appendMatched(dst, h), err
	}
	dst = append(dst, `,"matched_queries":{`...)
	for i, name := range h.Matched {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(appendString(dst, name), ':'), java.Float(scores[i])...)
	}
	return append(dst, '}'), nil
}

// appendMetadata appends routing, and the fields of which a value was passed over. As the
// server does, it does not look for these when it has found all that was asked for.
func (t *telling) appendMetadata(dst []byte, h *search.Hit, routing string) []byte {
	if routing != "" {
		dst = appendString(append(dst, `,"_routing":`...), routing)
	}
	ignored := t.found.View(h).Field("_ignored")
	if ignored == nil || ignored.Ordinals() == nil || routing != "" && !t.asked {
		return dst
	}
	ords := ignored.Ordinals().All(nil, h.Doc)
	for i, ord := range ords {
		if i == 0 {
			dst = append(dst, `,"_ignored":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = appendString(dst, string(ignored.Term(nil, ord)))
	}
	if len(ords) > 0 {
		dst = append(dst, ']')
	}
	return dst
}
