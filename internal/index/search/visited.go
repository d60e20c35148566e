package search

import (
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// visited is a view that a search looks into. Where several sources show parts of one segment,
// as shards do from a split until they have shed what they do not own, it is what they show
// together: the segment is searched once, and not once for each of them.
type visited struct {
	index, source, at int           // at is the view's of the source
	number            uint32        // of the index
	within            routing.Range // the keys of its documents
	view              segment.View
	shares            []share // of the sources; none when it is one's alone
}

// share is what a source shows of a segment.
type share struct {
	source, at int
	hidden     *segment.Bits
}

// visits are the views of an index, each segment once, in the order of sources.
func (x *Index) visits(number int) (all []*visited) {
	n := 0
	for _, source := range x.Sources {
		n += len(source.Views)
	}
	of := make(map[*segment.Segment]*visited, n)
	all = make([]*visited, 0, n)
	each := make([]visited, 0, n)
	for i, source := range x.Sources {
		for at, view := range source.Views {
			v := of[view.Segment]
			if v == nil {
				each = append(each, visited{index: number, source: i, at: at, number: x.Number, within: keysOf(source.Within), view: view})
				v = &each[len(each)-1]
				of[view.Segment] = v
				all = append(all, v)
				continue
			}
			if v.shares == nil {
				v.shares = []share{{v.source, v.at, v.view.Hidden}}
			}
			v.shares = append(v.shares, share{i, at, view.Hidden})
			within := keysOf(source.Within)
			v.within.From, v.within.To = min(v.within.From, within.From), max(v.within.To, within.To)
		}
	}
	for _, v := range all {
		v.together()
	}
	return all
}

// together makes the view of its shares: what all of them hide is hidden.
func (v *visited) together() {
	if v.shares == nil {
		return
	}
	hidden := make([]*segment.Bits, len(v.shares))
	for i, s := range v.shares {
		if hidden[i] = s.hidden; s.hidden == nil {
			v.view.Hidden = nil
			return
		}
	}
	v.view.Hidden = segment.Common(hidden...)
}

// hit is a doc of the view, of the source that shows it.
func (v *visited) hit(doc segment.Doc) Hit {
	h := Hit{Index: v.index, Source: v.source, View: v.at, Doc: doc, Key: v.view.Key(doc), ID: v.view.ID(doc)}
	for _, s := range v.shares {
		if s.hidden == nil || !s.hidden.Has(doc) {
			h.Source, h.View = s.source, s.at
			break
		}
	}
	return h
}

// views are those of an index, each segment once.
func (x *Index) views() (all []segment.View) {
	for _, v := range x.visits(0) {
		all = append(all, v.view)
	}
	return all
}
