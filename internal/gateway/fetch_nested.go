package gateway

import (
	"github.com/reshelve/reshelve/internal/index/search"
)

// object is what tells the objects of a nested field in the index of a hit, apart from the
// query that found their documents: hits of top_hits below nested.
func (t *telling) object(c *call, h *search.Hit, path string) (*inner, error) {
	key := objectKey{h.Index, path}
	if in := t.nested[key]; in != nil {
		return in, nil
	}
	index := t.found.Searched(h)
	if err := allNested(index.Schema, path); err != nil {
		return nil, err
	}
	in := &inner{fetch: t.fetch, tell: t}
	var err error
	every := &search.Nested{Path: path, Query: &search.MatchAll{Common: search.Common{Boost: 1}}}
	if in.objects, err = search.NewObjects(c.ctx(), &index, every, search.NewRequest()); err != nil {
		return nil, err
	}
	if t.nested == nil {
		t.nested = map[objectKey]*inner{}
	}
	t.nested[key] = in
	return in, nil
}

// objectKey is a nested field in an index, as hits count them.
type objectKey struct {
	index int
	path  string
}

// appendObjectHit appends a hit that is an object of a nested field.
func (c *call) appendObjectHit(dst []byte, t *telling, h *search.Hit, path string, scored bool) ([]byte, error) {
	in, err := t.object(c, h, path)
	if err != nil {
		return dst, err
	}
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
	return c.appendInnerHit(dst, in, h, original{about.kept.Shown(row.Source), row.Source, row.Version, row.SeqNo}, false, scored)
}
