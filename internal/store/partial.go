package store

import (
	"cmp"
	"context"
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// Failure is an index that a search failed in, or of which some shards do not show what there is.
type Failure struct {
	Index  string
	Shards int // that were searched, or that lack something
	Cause  error
}

// PhaseError is a search that failed while it ran: in indices that it searched, by name.
type PhaseError struct {
	Failed  []Failure // at least one
	Partial bool      // it did not fail in all
}

// Failing is a search that failed in one index.
func Failing(index string, cause error) *PhaseError {
	return &PhaseError{Failed: []Failure{{Index: index, Shards: 1, Cause: cause}}}
}

// Error is the first cause's.
func (e *PhaseError) Error() string { return e.Failed[0].Cause.Error() }

// Unwrap gives the first cause.
func (e *PhaseError) Unwrap() error { return e.Failed[0].Cause }

// run searches in f.parts. Where it fails in some of their indices, it leaves these and is
// told about them, unless nothing may be left out.
func (f *Found) run(ctx context.Context, r search.Request, whole bool) (err error) {
	if f.Result, err = f.search(ctx, f.parts, r); err == nil || !isException(err) || len(f.parts) == 0 {
		return err
	}
	if len(f.parts) == 1 {
		return &PhaseError{Failed: []Failure{failure(f.parts[0], err)}}
	}
	var left [][]part
	missed := len(f.Failed)
	for _, of := range f.parts {
		switch _, alone := f.search(ctx, [][]part{of}, r); {
		case alone == nil:
			left = append(left, of)
		case isException(alone):
			f.Failed = append(f.Failed, failure(of, alone))
		default:
			return alone
		}
	}
	switch {
	case len(f.Failed) == missed: // what fails are all of them together
		return &PhaseError{Failed: []Failure{failure(f.parts[0], err)}}
	case len(left) == 0 || whole:
		return f.failing(len(left) > 0)
	}
	f.parts = left
	if f.Result, err = f.search(ctx, left, r); isException(err) {
		return &PhaseError{Failed: []Failure{failure(left[0], err)}}
	}
	return err
}

// lacking notes the shards that do not show all that there is, or something else: what they show has
// been found all the same, unless nothing may be left out.
func (f *Found) lacking() error {
	for _, of := range f.parts {
		var lacks []part
		var cause error
		for _, p := range of {
			if err := p.reader.Lacks(); err != nil {
				lacks, cause = append(lacks, p), cmp.Or(cause, err)
			}
		}
		if len(lacks) > 0 {
			f.Failed = append(f.Failed, failure(lacks, fault.WithNext(cause, "it is mended by itself; reshelve index check %s tells when it has been", of[0].index.record.Name)))
		}
	}
	if len(f.Failed) > 0 && f.whole {
		return f.failing(true)
	}
	slices.SortFunc(f.Failed, func(a, b Failure) int { return cmp.Compare(a.Index, b.Index) })
	return nil
}

func failure(of []part, cause error) Failure {
	return Failure{Index: of[0].index.record.Name, Shards: len(of), Cause: cause}
}

// failing is the error of what has failed.
func (f *Found) failing(partial bool) error {
	slices.SortFunc(f.Failed, func(a, b Failure) int { return cmp.Compare(a.Index, b.Index) })
	return &PhaseError{Failed: f.Failed, Partial: partial}
}

// search runs a search in some parts.
func (f *Found) search(ctx context.Context, parts [][]part, r search.Request) (search.Result, error) {
	indices := make([]search.Index, len(parts))
	asked, check := r.Size, r.Check
	r.Check = func(index *search.Index) error {
		if check != nil {
			if err := check(index); err != nil {
				return err
			}
		}
		if window := index.Limits.Hits; asked > window {
			return query.TooWide(window, asked, f.pinned != nil && f.pinned.scroll != nil)
		}
		return nil
	}
	for i, of := range parts {
		if err := f.tooManySlices(of[0].index.rules, r.Slice); err != nil {
			return search.Result{}, err
		}
		indices[i] = searched(of)
		r.Size = min(r.Size, indices[i].Limits.Hits) // no room is made for what is refused
	}
	found, err := search.Run(ctx, indices, r)
	if err == nil {
		err = finish(r.Collectors)
	}
	return found, err
}

// tooManySlices refuses to cut a scroll or a point in time into more parts than an index allows.
func (f *Found) tooManySlices(of rules, slice *search.Slice) error {
	if slice == nil || f.pinned == nil {
		return nil
	}
	most, setting, kind := of.slices, "index.max_slices_per_scroll", exception.IllegalArgument
	if f.pinned.scroll == nil {
		most, setting, kind = of.pinned, "index.max_slices_per_pit", exception.Rejected
	}
	if slice.Max <= most {
		return nil
	}
	return exception.New(kind, "The number of slices [%d] is too large. It must be less than [%d]. This limit can be set by changing the [%s] index level setting.",
		slice.Max, most, setting)
}

// Leave leaves an index out whose hits, some of those on the page that is told, cannot be
// told: as a failure of the shards that they are of. The error is that of the whole search,
// when no other index is left or nothing may be left out.
func (f *Found) Leave(index string, cause error, page []search.Hit) error {
	shards := map[int]bool{}
	for i := range page {
		if f.Index(&page[i]) == index {
			shards[page[i].Source] = true
		}
	}
	f.Failed = slices.DeleteFunc(f.Failed, func(one Failure) bool { return one.Index == index }) // what its shards lack
	f.Failed = append(f.Failed, Failure{Index: index, Shards: max(len(shards), 1), Cause: cause})
	f.left = append(f.left, index)
	slices.SortFunc(f.Failed, func(a, b Failure) int { return cmp.Compare(a.Index, b.Index) })
	if len(f.left) >= len(f.parts) || f.whole {
		return f.failing(len(f.left) < len(f.parts))
	}
	return nil
}

// Left reports whether a hit is of an index that was left out.
func (f *Found) Left(h *search.Hit) bool {
	return len(f.left) > 0 && slices.Contains(f.left, f.Index(h))
}
