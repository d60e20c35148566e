package store

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"

	"github.com/reshelve/reshelve/catalog"
	"github.com/reshelve/reshelve/coord"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/mapping"
	"github.com/reshelve/reshelve/placement"
)

// newUUID is 22 characters of url-safe base64: 16 random bytes.
func newUUID() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(random[:])
}

// autoCreate makes the index, or the data stream, that a write names and nobody has.
func (s *Store) autoCreate(ctx context.Context, name string) error {
	s.admin.Lock()
	defer s.admin.Unlock()
	if _, exists := s.view.Load().indices[name]; exists {
		return nil
	}
	return s.create(ctx, name, catalog.Creation{})
}

// create makes an index: records first, name last. The caller holds s.admin.
func (s *Store) create(ctx context.Context, name string, c catalog.Creation) error {
	number := s.view.Load().catalog.NextIndex
	now := s.options.Clock().UTC()
	idx := &index{
		record: catalog.Index{
			Number: number, Name: name, UUID: newUUID(), Created: now, Settings: c.Settings,
			Mapping: mapping.Empty().JSON(), MappingVersion: 1, SettingsVersion: 1, AliasesVersion: 1,
		},
		placement: placement.New(number, 1, placement.Local, placement.Change{By: s.options.By, Why: "create index", At: now}),
		mapping:   mapping.Empty(),
	}
	idx.entry = catalog.Entry{Number: number, UUID: idx.record.UUID}
	var err error
	if idx.rules, err = readRules(c.Settings); err != nil {
		return err
	}
	if err := s.writeRecords(ctx, idx); err != nil {
		return err
	}
	if err := s.openShards(ctx, idx); err != nil {
		return err
	}
	err = s.edit(ctx, func(names catalog.Catalog) (catalog.Catalog, error) {
		names.Indices[name] = idx.entry
		names.NextIndex = number + 1
		return names, nil
	})
	if err != nil {
		return err
	}
	s.publish(func(v *view) { v.indices[name] = idx })
	return nil
}

// writeRecords stores the records of an index that the catalog does not name yet.
func (s *Store) writeRecords(ctx context.Context, idx *index) error {
	value, err := json.Marshal(idx.record)
	if err != nil {
		return fault.Wrap(fault.Bug, err)
	}
	record, err := coord.Update(ctx, s.coord, indexKey(idx.entry.Number), func([]byte) ([]byte, error) { return value, nil })
	if err != nil {
		return err
	}
	idx.revision = record.Revision
	_, err = coord.Update(ctx, s.coord, placementKey(idx.entry.Number), func([]byte) ([]byte, error) { return idx.placement.Encode(), nil })
	return err
}
