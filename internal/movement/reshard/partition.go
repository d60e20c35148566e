package reshard

import (
	"context"
	"slices"

	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// partition checks what was staged: what the sources show is shown by exactly one incarnation,
// the one whose range it is in, and nothing else is. It looks at no rows: that the sources show
// what the rows are is for the comparison at H. Where what would be shown is in the segments that
// the sources have, as it is where they are shared, it goes segment by segment; else by what
// tells one document from another.
func partition(ctx context.Context, staged *shard.Staged, to []shard.Incarnation) (f Found, err error) {
	if !sharing(staged) {
		was := make([]part, len(staged.From))
		for i, r := range staged.From {
			was[i] = part{within: routing.Whole, views: r.Views()}
		}
		will := make([]part, len(to))
		for i := range to {
			will[i] = part{to[i].Number, to[i].Range, staged.To[i]}
		}
		return compare(ctx, nil, staged.From, func(take func(shown) error) error {
			return eachShown(ctx, nil, was, func(d shown, _ *part) error { return take(d) })
		}, will)
	}
	parts := map[*segment.Segment]*shares{}
	of := func(v segment.View) *shares {
		if parts[v.Segment] == nil {
			parts[v.Segment] = &shares{}
		}
		return parts[v.Segment]
	}
	for _, r := range staged.From {
		for _, v := range r.Views() {
			of(v).from = append(of(v).from, v)
		}
	}
	for i, views := range staged.To {
		for _, v := range views {
			of(v).to = append(of(v).to, share{v, to[i]})
		}
	}
	for s, p := range parts {
		if ctx.Err() != nil {
			return f, context.Cause(ctx)
		}
		if err := segment.Guard(func() error { p.compare(s, &f); return nil }); err != nil {
			return f, err
		}
	}
	return f, nil
}

// sharing tells whether all that the incarnations will show is in segments of the sources.
func sharing(staged *shard.Staged) bool {
	is := map[*segment.Segment]bool{}
	for _, r := range staged.From {
		for _, v := range r.Views() {
			is[v.Segment] = true
		}
	}
	for _, views := range staged.To {
		if slices.ContainsFunc(views, func(v segment.View) bool { return !is[v.Segment] }) {
			return false
		}
	}
	return true
}

// shares are who shows what of one segment.
type shares struct {
	from []segment.View
	to   []share
}

type share struct {
	segment.View
	shard.Incarnation
}

func (p *shares) compare(s *segment.Segment, f *Found) {
	for doc := range segment.Doc(s.Docs()) {
		if !s.IsRoot(doc) {
			continue
		}
		was := slices.ContainsFunc(p.from, func(v segment.View) bool { return v.Shows(doc) })
		shown, owners := 0, 0
		for i := range p.to {
			if !p.to[i].Shows(doc) {
				continue
			}
			shown++
			owned := p.to[i].Range.Contains(s.Key(doc))
			if owned {
				owners++
			}
			if !owned || owners > 1 {
				f.add(reconcile.Misplaced, "%q, number %d, would be shown by shard %d", s.ID(doc), s.SeqNo(doc), p.to[i].Number)
			}
		}
		switch {
		case was:
			f.Documents++
			if shown == 0 {
				f.add(reconcile.Missing, "%q, number %d, would be shown by no shard", s.ID(doc), s.SeqNo(doc))
			}
		case shown > 0:
			f.add(reconcile.Ghost, "%q, number %d, would be shown and is not now", s.ID(doc), s.SeqNo(doc))
		}
	}
}
