package store

import (
	"context"

	"github.com/reshelve/reshelve/internal/store/catalog"
)

// PutSettings changes settings of indices; with preserveExisting what is set already
// stays. They hold for the next request.
func (s *Store) PutSettings(ctx context.Context, e catalog.Expression, body []byte, preserveExisting bool) error {
	change, err := catalog.ParseSettingsChange(body, preserveExisting)
	if err != nil {
		return err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	v := s.view.Load()
	names, err := v.catalog.Resolve(e, s.now().UnixMilli())
	if err != nil {
		return err
	}
	if err := v.acceptable(names, change); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // all of them or none
	for _, name := range names {
		if err := s.storeSettings(ctx, name, change); err != nil {
			return err
		}
	}
	return nil
}

// acceptable refuses a change of settings that one of the indices cannot have.
func (v *view) acceptable(names []string, change catalog.SettingsChange) error {
	if err := v.known(names); err != nil {
		return err
	}
	if !change.Unlocks() {
		if err := v.unblocked(names, catalog.ChangeMetadata); err != nil {
			return err
		}
	}
	var open []string
	for _, name := range names {
		if entry := v.indices[name].entry; !entry.Closed {
			open = append(open, name+"/"+entry.UUID)
		}
	}
	if err := change.CheckOpen(open); err != nil {
		return err
	}
	for _, name := range names {
		if _, err := change.Apply(name, v.indices[name].record.Settings); err != nil {
			return err
		}
	}
	return nil
}

// storeSettings changes the settings of one index: its record, then what the catalog says
// of being hidden, then what waits for refreshes. The caller holds s.admin.
func (s *Store) storeSettings(ctx context.Context, name string, change catalog.SettingsChange) error {
	before := s.view.Load().indices[name]
	err := s.changeIndex(ctx, name, func(idx *index) (*index, error) {
		record := idx.record
		settings, err := change.Apply(name, record.Settings)
		if err != nil || sameSettings(settings, record.Settings) {
			return nil, err
		}
		record.Settings, record.SettingsVersion = settings, record.SettingsVersion+1
		return newIndex(idx.entry, record, idx.placement)
	})
	if err != nil {
		return err
	}
	after := s.view.Load().indices[name]
	if hidden := after.record.Settings["index.hidden"] == "true"; hidden != after.entry.Hidden {
		err = s.change(ctx, nil, func(c catalog.Catalog) (catalog.Catalog, error) { return c.WithHidden(name, hidden), nil })
		s.doubt = s.doubt || err != nil
	}
	if after.rules.interval != before.rules.interval {
		for _, sh := range after.shards {
			s.refresher.mark(sh, after.rules.interval)
		}
	}
	return err
}

// agreeOnHidden repairs what a change of index.hidden left half done: the record of an
// index has it, the catalog has not. The caller holds s.admin, or is Open.
func (s *Store) agreeOnHidden(ctx context.Context) error {
	for name, idx := range s.view.Load().indices {
		hidden := idx.record.Settings["index.hidden"] == "true"
		if hidden == idx.entry.Hidden {
			continue
		}
		if err := s.change(ctx, nil, func(c catalog.Catalog) (catalog.Catalog, error) { return c.WithHidden(name, hidden), nil }); err != nil {
			return err
		}
	}
	return nil
}

func sameSettings(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for name, value := range a {
		if other, ok := b[name]; !ok || other != value {
			return false
		}
	}
	return true
}
