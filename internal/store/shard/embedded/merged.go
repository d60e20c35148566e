package embedded

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// Merge takes the one slot of merges, so that it waits for what else is being merged.
func (s *local) Merge(ctx context.Context, wish shard.Merging) error {
	done, err := s.begin(0)
	if err != nil {
		return err
	}
	defer done()
	if s.segments == nil {
		return nil
	}
	err = s.segments.merge(ctx, wish)
	if errors.As(err, new(*segment.Damaged)) { // as a search does
		if err = s.segments.mend(ctx); err == nil {
			err = s.segments.merge(ctx, wish)
		}
	}
	return s.failure(err)
}

func (x *segments) merge(ctx context.Context, wish shard.Merging) error {
	ctx, end := x.untilClosed(ctx)
	defer end()
	if err := x.commitAll(ctx); err != nil { // only what is a file is written again
		return err
	}
	slot := &slot{of: x.shard.engine.merging}
	if err := slot.take(ctx); err != nil {
		return err
	}
	defer slot.give()
	done := map[*file]bool{} // files that were there before: what hides anew is left
	began := int64(0)        // number of the stack then: what is written meanwhile is left, too
	for more, first := true, true; more; first = false {
		var err error
		more, err = x.mergeSome(ctx, nil, func(st *stack) []*entry {
			if first {
				began = st.indexed
			}
			files := slices.DeleteFunc(st.files(), func(e *entry) bool { return e.first > began })
			if first {
				for _, e := range files {
					done[e.file] = true
				}
			}
			switch {
			case wish.Expunge:
				return wasteful(files, done)
			case wish.Segments > 0:
				return x.shard.engine.tiers.least(files, wish.Segments, done)
			}
			return x.mergeable(st)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// commitTries is how often a commit is tried again that found its segments merged in memory meanwhile.
const commitTries = 10

// commitAll commits until nothing that is indexed now is in memory alone. What segments are merged into in memory
// while a commit writes them stays there: a single commit may leave it.
func (x *segments) commitAll(ctx context.Context) error {
	upTo := int64(-1)
	for range commitTries {
		needed, err := x.commit(ctx)
		if err != nil || !needed {
			return err
		}
		left := false
		err = x.inTurn(ctx, nil, func() error {
			st := x.retained()
			defer st.release()
			if upTo < 0 {
				upTo = st.indexed
			}
			left = slices.ContainsFunc(st.inMemory(), func(e *entry) bool { return e.first <= upTo })
			return nil
		})
		if err != nil || !left {
			return err
		}
	}
	return nil // beside heavy writes: what is in files is merged
}

// wasteful is an entry of the given files that hides more than a tenth of its docs.
func wasteful(entries []*entry, of map[*file]bool) []*entry {
	for _, e := range entries {
		if of[e.file] && 10*(e.Docs()-e.shown) > e.Docs() {
			return []*entry{e}
		}
	}
	return nil
}

// least are the smallest entries, as many as become one to leave so many; the only one if it
// hides something and is one of the given files.
func (t tiers) least(entries []*entry, most int, of map[*file]bool) []*entry {
	if len(entries) == 1 && most == 1 && of[entries[0].file] && entries[0].shown < entries[0].Docs() {
		return entries
	}
	if len(entries) <= most {
		return nil
	}
	smallest := slices.SortedFunc(slices.Values(entries), func(a, b *entry) int { return cmp.Compare(a.shown, b.shown) })
	return ordered(smallest[:min(len(entries)-most+1, max(t.fanIn, 2))])
}
