package store

import (
	"context"

	"github.com/reshelve/reshelve/internal/store/catalog"
)

// CreateStream makes a data stream with its first index, out of the template for its name.
func (s *Store) CreateStream(ctx context.Context, name string) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return s.createStream(ctx, name)
}

func (s *Store) createStream(ctx context.Context, name string) error {
	first, err := s.view.Load().catalog.NewStream(name)
	if err != nil {
		return err
	}
	return s.create(ctx, first.Index, first.Index, first.Creation, func(c catalog.Catalog, entry catalog.Entry) (catalog.Catalog, error) {
		return c.WithBacking(first, entry)
	})
}

// DeleteStreams removes data streams with their indices. A name that nobody has is
// passed over.
func (s *Store) DeleteStreams(ctx context.Context, patterns []string) error {
	return s.rename(ctx, func(c catalog.Catalog) (catalog.Catalog, error) {
		next, _, err := c.WithoutStreams(patterns)
		return next, err
	})
}

// Rollover makes a new index behind an alias or a data stream, when one of the conditions in
// body holds or there is none. newIndex is the new index's name, "" the one that
// follows.
func (s *Store) Rollover(ctx context.Context, target, newIndex string, body []byte, dryRun bool) (catalog.RolledOver, error) {
	request, err := catalog.ParseRollover(body)
	if err != nil {
		return catalog.RolledOver{}, err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return catalog.RolledOver{}, err
	}
	defer unlock()
	v := s.view.Load()
	provided := func(name string) string {
		if given := v.indices[name].record.Settings["index.provided_name"]; given != "" {
			return given
		}
		return name
	}
	if err := v.known(v.catalog.Behind(target)); err != nil {
		return catalog.RolledOver{}, err
	}
	if err := v.unblocked(v.catalog.Behind(target), catalog.ChangeMetadata); err != nil {
		return catalog.RolledOver{}, err
	}
	plan, err := v.catalog.PlanRollover(target, newIndex, request, provided, s.now().UnixMilli())
	if err != nil {
		return catalog.RolledOver{}, err
	}
	answer := catalog.RolledOver{OldIndex: plan.Old, NewIndex: plan.New, DryRun: dryRun}
	docs, bytes := s.size(v.indices[plan.Old])
	var holds bool
	answer.Conditions, holds = request.Evaluate(docs, s.now().Sub(v.indices[plan.Old].record.Created), bytes)
	if dryRun || !holds {
		return answer, nil
	}
	answer.RolledOver = true
	return answer, s.roll(ctx, v, plan, request)
}

// roll makes the new index of a rollover and moves the alias, or the data stream, to it.
func (s *Store) roll(ctx context.Context, v *view, plan catalog.Rollover, request catalog.RolloverRequest) error {
	creation := catalog.Creation{}
	if plan.Backing != nil {
		creation = plan.Backing.Creation
	} else {
		if err := request.Check(); err != nil {
			return err
		}
		var err error
		if creation, err = v.catalog.Compose(plan.New, request.Request); err != nil {
			return err
		}
	}
	return s.create(ctx, plan.Provided, plan.New, creation, func(c catalog.Catalog, entry catalog.Entry) (catalog.Catalog, error) {
		return c.WithRollover(plan, entry, creation.Aliases)
	})
}

// size is how many documents there are in an index, and how many bytes it takes on disk, as its statistics
// show; while that is not known, those of the documents.
func (s *Store) size(idx *index) (docs, bytes int64) {
	for _, sh := range idx.shards {
		stats := sh.Stats()
		docs, bytes = docs+stats.Docs, bytes+stats.Bytes
	}
	if onDisk, known := s.engine.OnDisk(idx.entry.Number); known {
		bytes = onDisk
	}
	return docs, bytes
}
