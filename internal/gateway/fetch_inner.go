package gateway

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
)

// innerWindow is how far inner_hits reach: the server's default of
// index.max_inner_result_window.
const innerWindow = 100

// inner is one inner_hits in one index.
type inner struct {
	*search.Inner
	fetch   *query.Fetch
	query   *search.Nested
	around  string // path of the nested field whose objects it looks into; "": documents
	objects *search.Objects
	tell    *telling
	below   []*inner
}

// original is a document, or the one that nested objects are of.
type original struct {
	source  []byte // as it is shown
	whole   []byte // as it is kept
	version int64
	seqNo   int64
}

// inners works out the inner_hits of queries in the index of a hit, by the server's order
// of their names.
func (t *telling) inners(c *call, h *search.Hit, around string, queries ...search.Query) ([]*inner, error) {
	index := t.found.Searched(h)
	by := map[string]*inner{}
	for _, q := range queries {
		for _, nested := range search.Inners(q) {
			if _, ok := index.Schema.Nested(nested.Path); !ok { // ignore_unmapped
				continue
			}
			one, err := t.inner(c, h, &index, around, nested)
			if err == nil && by[one.Name] != nil {
				err = exception.New(exception.IllegalArgument, "[inner_hits] already contains an entry for key [%s]", one.Name)
			}
			if err != nil {
				return nil, err
			}
			by[one.Name] = one
		}
	}
	var list []*inner
	for _, name := range serverOrder(by, usualTable) {
		list = append(list, by[name])
	}
	return list, nil
}

func (t *telling) inner(c *call, h *search.Hit, index *search.Index, around string, q *search.Nested) (*inner, error) {
	in := &inner{Inner: q.Inner, query: q, around: around}
	if in.fetch, _ = q.Inner.Request.(*query.Fetch); in.fetch == nil {
		in.fetch = &query.Fetch{}
	}
	if err := in.check(index); err != nil {
		return nil, err
	}
	r := search.NewRequest()
	r.Sort, r.Size = in.fetch.Sort, in.From+in.Size
	if len(r.Sort) == 1 && r.Sort[0].Field == "_score" && r.Sort[0].Descending {
		r.Sort = nil
	}
	var err error
	if in.objects, err = search.NewObjects(c.ctx(), index, q, r); err != nil {
		return nil, err
	}
	in.tell = t.telling(in.fetch)
	in.tell.query, in.tell.around = q.Query, q.Path
	if _, err = in.tell.about(c, h); err == nil {
		in.below, err = t.inners(c, h, q.Path, q.Query)
	}
	return in, err
}

// refused is what an index refuses to tell of the hits of a search, whether it has any or
// not.
func (x *searching) refused(index *search.Index) error {
	if err := refusedInners(index, x.Query, x.PostFilter); err != nil {
		return err
	}
	return query.CheckColumns(index.Limits, &x.Fetch)
}

func refusedInners(index *search.Index, queries ...search.Query) error {
	for _, q := range queries {
		for _, nested := range search.Inners(q) {
			if _, ok := index.Schema.Nested(nested.Path); !ok { // ignore_unmapped
				continue
			}
			in := &inner{Inner: nested.Inner, query: nested, fetch: &query.Fetch{}}
			if asked, ok := nested.Inner.Request.(*query.Fetch); ok {
				in.fetch = asked
			}
			err := in.check(index)
			if err == nil {
				err = query.CheckColumns(index.Limits, in.fetch)
			}
			if err == nil {
				err = refusedInners(index, nested.Query)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (in *inner) check(index *search.Index) error {
	name := in.Name
	if name == in.query.Path {
		name = "null" // none was told
	}
	if most := cmp.Or(index.Limits.Inner, innerWindow); in.From+in.Size > most {
		return exception.New(exception.IllegalArgument, "Inner result window is too large, the inner hit definition's [%s]'s from + size must be less than or equal to: [%d] but was [%d]. "+
			"This limit can be set by changing the [index.max_inner_result_window] index level setting.", name, most, in.From+in.Size)
	}
	if err := allNested(index.Schema, in.query.Path); err != nil {
		return err
	}
	if in.fetch.SeqNoTerm {
		return exception.New(exception.UnsupportedOperation, "nested documents are not assigned sequence numbers")
	}
	return nil
}

// allNested refuses a nested field in something that is not nested: its objects cannot be
// told.
func allNested(schema *fields.Schema, field string) error {
	for path := field; ; {
		at := strings.LastIndexByte(path, '.')
		if at < 0 {
			return nil
		}
		if path = path[:at]; !isNested(schema, path) {
			return exception.New(exception.IllegalArgument, "Cannot execute inner hits. One or more parent object fields of nested field [%s] are not nested. All parent fields need to be nested fields too", field)
		}
	}
}

func isNested(schema *fields.Schema, path string) bool {
	_, ok := schema.Nested(path)
	return ok
}

// anyNeedSource reports whether inner hits look at the source.
func anyNeedSource(list []*inner) bool {
	for _, in := range list {
		if in.tell.shown || anyNeedSource(in.below) {
			return true
		}
		for _, a := range in.tell.by {
			if a.needsSource() {
				return true
			}
		}
	}
	return false
}

// appendInners appends what inner_hits find in a hit. Bare hits have no ids.
func (c *call) appendInners(dst []byte, list []*inner, h *search.Hit, of original, bare bool) (_ []byte, err error) {
	for i, in := range list {
		if i == 0 {
			dst = append(dst, `,"inner_hits":{`...)
		} else {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, in.Name), `:{"hits":{"total":`...)
		if dst, err = c.appendInner(dst, in, h, of, bare); err != nil {
			return dst, err
		}
		dst = append(dst, "}}"...)
	}
	if len(list) > 0 {
		dst = append(dst, '}')
	}
	return dst, nil
}

func (c *call) appendInner(dst []byte, in *inner, h *search.Hit, of original, bare bool) ([]byte, error) {
	r, err := in.objects.Of(h, in.around)
	if err != nil {
		return dst, err
	}
	sorted := len(r.Hits) > 0 && len(r.Hits[0].Sort) > 0
	if in.Size > 0 && in.From >= len(r.Hits) && !sorted { // as the server does
		r.Total = 0
	}
	dst = append(appendTotal(dst, &r, in.tell.asInt), `,"max_score":`...)
	switch {
	case r.MaxScore == nil || in.Size == 0 || sorted && !in.fetch.TrackScores:
		dst = append(dst, "null"...)
	case sorted: // as the server does
		dst = append(dst, "0.0"...)
	default:
		dst = append(dst, java.Float(*r.MaxScore)...)
	}
	dst = append(dst, `,"hits":[`...)
	if in.Size > 0 {
		hits := r.Hits[min(in.From, len(r.Hits)):]
		for i := range hits {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = c.appendInnerHit(dst, in, &hits[i], of, bare, len(hits[i].Sort) == 0); err != nil {
				return dst, err
			}
		}
	}
	return append(dst, ']'), nil
}

// appendInnerHit appends a nested object.
func (c *call) appendInnerHit(dst []byte, in *inner, h *search.Hit, of original, bare, scored bool) ([]byte, error) {
	t := in.tell
	about, err := t.about(c, h)
	if err != nil {
		return dst, err
	}
	steps, err := in.objects.Steps(h)
	if err != nil {
		return dst, err
	}
	dst = appendString(append(dst, `{"_index":`...), t.found.Index(h))
	if !bare {
		dst = appendString(append(dst, `,"_id":`...), h.ID)
	}
	dst = appendSteps(dst, steps)
	if in.fetch.Versions {
		dst = strconv.AppendInt(append(dst, `,"_version":`...), of.version, 10)
	}
	dst = append(dst, `,"_score":`...)
	if scored {
		dst = append(dst, java.Float(h.Score)...)
	} else {
		dst = append(dst, "null"...)
	}
	var alone []byte // the source, as if the document had no other object
	if t.shown || about.needsSource() {
		alone = onlyObject(of.source, steps)
	}
	if t.shown && alone != nil {
		dst = appendObject(append(dst, `,"_source":`...), t.source.Append(nil, alone), steps)
	}
	var whole []byte
	if about.needsWhole() {
		whole = onlyObject(of.whole, steps)
	}
	if dst, err = about.append(dst, t, h, original{alone, whole, of.version, of.seqNo}); err != nil {
		return dst, err
	}
	dst = appendSortValues(dst, h.Sort)
	if dst, err = c.appendInners(appendMatched(dst, h), in.below, h, of, bare); err != nil {
		return dst, err
	}
	return append(dst, '}'), nil
}

func appendSteps(dst []byte, steps []search.Step) []byte {
	for _, s := range steps {
		dst = appendString(append(dst, `,"_nested":{"field":`...), s.Field)
		dst = strconv.AppendInt(append(dst, `,"offset":`...), int64(s.Offset), 10)
	}
	for range steps {
		dst = append(dst, '}')
	}
	return dst
}
