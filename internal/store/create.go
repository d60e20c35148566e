package store

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"strconv"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/analysis"
	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/catalog"
	"github.com/reshelve/reshelve/internal/store/placement"
)

// newUUID is 22 characters of url-safe base64: 16 random bytes.
func newUUID() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(random[:])
}

// CreateIndex makes an index; body is that of the HTTP API, and may be empty. The name may
// hold date math.
func (s *Store) CreateIndex(ctx context.Context, name string, body []byte) (catalog.Created, error) {
	request, err := catalog.ParseRequest(body)
	if err != nil {
		return catalog.Created{}, err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return catalog.Created{}, err
	}
	defer unlock()
	return s.createNamed(ctx, name, request)
}

// createNamed makes an index out of a request and the templates for its name.
func (s *Store) createNamed(ctx context.Context, provided string, request catalog.Request) (catalog.Created, error) {
	v := s.view.Load()
	name, err := catalog.Dated(provided, s.now().UnixMilli())
	if err != nil {
		return catalog.Created{}, err
	}
	if err := v.unblocked([]string{name}, catalog.ChangeMetadata); err != nil {
		return catalog.Created{}, err
	}
	creation, err := v.catalog.Compose(name, request)
	if err != nil {
		return catalog.Created{}, err
	}
	err = s.create(ctx, provided, name, creation, func(names catalog.Catalog, entry catalog.Entry) (catalog.Catalog, error) {
		return names.WithIndex(name, entry, creation.Aliases)
	})
	return catalog.Created{Index: name, ShardsAcknowledged: true}, err
}

// autoCreate makes the index, or the data stream, that a write names and nobody has.
func (s *Store) autoCreate(ctx context.Context, name string) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	v := s.view.Load()
	if _, _, exists, _ := v.catalog.WriteTarget(name); exists {
		return nil
	}
	if err := v.catalog.AutoCreate(name); err != nil {
		return err
	}
	if v.catalog.IsStreamName(name) {
		return s.createStream(ctx, name)
	}
	_, err = s.createNamed(ctx, name, catalog.Request{})
	return err
}

// create makes an index: records first, then its empty shards, its name last, by add.
// The caller holds s.admin. Once begun, it does not end with ctx.
func (s *Store) create(ctx context.Context, provided, name string, c catalog.Creation, add func(catalog.Catalog, catalog.Entry) (catalog.Catalog, error)) error {
	idx, err := s.prepare(provided, name, c)
	if err != nil {
		return err
	}
	v := s.view.Load() // refuse before anything is written, and cheaply what a bulk request repeats
	if err := v.catalog.Available(name); err != nil {
		return err
	}
	if err := v.room(idx); err != nil {
		return err
	}
	if _, err := add(v.catalog, idx.entry); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	if err := s.free(ctx, idx.entry.Number); err != nil {
		return err
	}
	if err = s.writeRecords(ctx, idx); err == nil {
		err = s.openShards(ctx, idx)
	}
	if err == nil {
		err = s.change(ctx, map[string]*index{name: idx}, func(names catalog.Catalog) (catalog.Catalog, error) {
			return add(names, idx.entry)
		})
	}
	if err != nil {
		s.abandon(ctx, idx, err)
	}
	return err
}

// room refuses an index whose shards would be more than may be open.
func (v *view) room(idx *index) error {
	open := 0
	for _, other := range v.indices {
		if !other.entry.Closed {
			open += len(other.placement.Shards) * other.copies()
		}
	}
	adding, most := len(idx.placement.Shards)*idx.copies(), v.catalog.MaxShards()
	if open+adding <= most {
		return nil
	}
	return exception.New(exception.Validation, "Validation Failed: 1: this action would add [%d] total shards, but this cluster currently has [%d]/[%d] maximum shards open;",
		adding, open, most)
}

// free makes sure that a number is nobody's: that the names of the view, from which it
// comes, are not behind the truth.
func (s *Store) free(ctx context.Context, number uint32) error {
	record, err := s.coord.Get(ctx, catalogKey)
	if err != nil {
		return err
	}
	if record.Revision == s.view.Load().revision {
		return nil
	}
	names, err := catalog.Decode(record.Value)
	if err != nil {
		return fault.At(err, "record "+catalogKey)
	}
	if number < names.NextIndex {
		s.doubt = true
		return fault.WithNext(fault.New(fault.Unavailable, "the names have changed meanwhile"), "try again")
	}
	return nil
}

// abandon takes down an index that was not made. When it is not known whether it was, its
// records stay: the next change of names, or the next start, tells.
func (s *Store) abandon(ctx context.Context, idx *index, why error) {
	ctx = context.WithoutCancel(ctx)
	if err := idx.closeShards(); err != nil {
		s.leftOver(idx, err)
		return
	}
	found, err := s.coord.Get(ctx, catalogKey)
	if err == nil {
		var names catalog.Catalog
		if names, err = catalog.Decode(found.Value); err == nil && !numbered(names, idx.entry.Number) {
			err = s.erase(ctx, idx.entry.Number)
		}
	}
	if err != nil {
		s.leftOver(idx, joined(err, why))
	}
}

// numbered reports whether an index has the number, whatever its name.
func numbered(names catalog.Catalog, number uint32) bool {
	for _, entry := range names.Indices {
		if entry.Number == number {
			return true
		}
	}
	return false
}

// prepare is a new index, without shards and unknown to anybody.
func (s *Store) prepare(provided, name string, c catalog.Creation) (*index, error) {
	now := s.now()
	number := s.view.Load().catalog.NextIndex
	uuid := newUUID()
	c.Sign(provided, uuid, now)
	idx := &index{entry: catalog.Entry{Number: number, UUID: uuid, Hidden: c.Settings["index.hidden"] == "true"}}
	var err error
	if idx.rules, err = readRules(c.Settings); err != nil {
		return nil, err
	}
	analyzers, err := analysis.FromSettings(c.Settings)
	if err != nil {
		return nil, err
	}
	if idx.mapping, err = composeMappings(c.Mappings, idx.rules.limits); err != nil {
		return nil, err
	}
	idx.schema, idx.kept = fields.New(idx.mapping, analyzers), query.Kept(idx.mapping.Source())
	if idx.rules.partitions > 1 && len(c.Mappings) > 0 && !idx.mapping.RoutingRequired() {
		return nil, partitioned(name)
	}
	shards, err := strconv.Atoi(c.Settings["index.number_of_shards"])
	if err != nil || shards < 1 || shards > s.options.MaxShards {
		return nil, exception.New(exception.IllegalArgument, "Failed to parse value [%s] for setting [index.number_of_shards] must be <= %d",
			c.Settings["index.number_of_shards"], s.options.MaxShards)
	}
	idx.record = catalog.Index{
		Number: number, Name: name, UUID: uuid, Created: now, Settings: c.Settings,
		Mapping: idx.mapping.JSON(), MappingVersion: 1, SettingsVersion: 1,
	}
	idx.placement = placement.New(number, shards, placement.Local, placement.Change{By: s.options.By, Why: "create index " + name, At: now})
	return idx, nil
}

// composeMappings merges mappings, the last wins where it may.
func composeMappings(list []json.RawMessage, limits mapping.Limits) (*mapping.Mapping, error) {
	if len(list) == 1 {
		return mapping.Parse(list[0], limits)
	}
	composed := mapping.Empty()
	for _, m := range list {
		var err error
		if composed, err = composed.MergeTemplate(m, limits); err != nil {
			return nil, err
		}
	}
	return composed, nil
}

// writeRecords stores the records of an index that the catalog does not name yet. Records
// under its number can only be of an index that was never made.
func (s *Store) writeRecords(ctx context.Context, idx *index) error {
	value, err := idx.record.Encode()
	if err != nil {
		return fault.Wrap(fault.Bug, err)
	}
	return s.both(indexKey(idx.entry.Number), placementKey(idx.entry.Number), func(key string) error {
		written := value
		if key == placementKey(idx.entry.Number) {
			written = idx.placement.Encode()
		}
		record, err := coord.Update(ctx, s.coord, key, func([]byte) ([]byte, error) { return written, nil })
		if err == nil && key == indexKey(idx.entry.Number) {
			idx.revision = record.Revision
		}
		return err
	})
}
