package store

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/analysis"
	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/catalog"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
)

const catalogKey = "catalog"

func indexKey(number uint32) string     { return fmt.Sprintf("index/%d", number) }
func placementKey(number uint32) string { return fmt.Sprintf("placement/%d", number) }

// view is what a request works with. Immutable.
type view struct {
	catalog  catalog.Catalog
	revision int64
	indices  map[string]*index // by name
}

// index is one index in a view. Immutable, but for the shards, which later views
// of the same index share.
type index struct {
	record       catalog.Index
	revision     int64
	entry        catalog.Entry
	mapping      *mapping.Mapping
	schema       *fields.Schema     // of the mapping and the analyzers
	kept         query.SourceFilter // what the mapping leaves of sources that are shown
	unsearchable error              // why it cannot be searched: its analyzers are not known
	rules        rules              // read out of the settings
	placement    placement.Placement
	past         []placement.Placement  // some that were before it, oldest first
	shards       map[uint32]shard.Shard // nil when closed
	indexer      *indexer               // of the shards
	tallies      *tallies               // of the shards
}

// Placement reads the truth about who owns what, for shards.
func (s *Store) Placement(ctx context.Context, index uint32) (placement.Placement, error) {
	record, err := s.coord.Get(ctx, placementKey(index))
	if err != nil {
		return placement.Placement{}, fault.At(err, placementKey(index))
	}
	return s.read.decode(index, record)
}

// decoded are placements as they were read last, by index: each shard reads its own after every
// change, and decoding takes as long as the index has shards. Safe for concurrent use.
type decoded struct {
	mu   sync.Mutex
	last map[uint32]revised
}

// revised is a placement, and the revision of the record that says so.
type revised struct {
	revision int64
	placement.Placement
}

// decode is what the record of an index says.
func (d *decoded) decode(index uint32, record coord.Record) (placement.Placement, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known, is := d.last[index]; is && known.revision == record.Revision {
		return known.Placement, nil
	}
	p, err := placement.Decode(record.Value)
	if err == nil {
		if d.last == nil {
			d.last = map[uint32]revised{}
		}
		d.last[index] = revised{record.Revision, p}
	}
	return p, err
}

// forget lets go of an index that was deleted.
func (d *decoded) forget(index uint32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.last, index)
}

// load reads everything and opens the shards; for Open.
func (s *Store) load(ctx context.Context) error {
	record, err := coord.Update(ctx, s.coord, catalogKey, func(value []byte) ([]byte, error) {
		if value != nil {
			return value, nil
		}
		names := catalog.New()
		names.Cluster = newUUID()
		return names.Encode(), nil
	})
	if err != nil {
		return err
	}
	names, err := catalog.Decode(record.Value)
	if err != nil {
		return fault.At(err, "record "+catalogKey)
	}
	held, err := s.held(ctx, names)
	if err != nil {
		return err
	}
	if err := s.sweep(ctx, names, held); err != nil {
		return err
	}
	v := &view{catalog: names, revision: record.Revision, indices: map[string]*index{}}
	for name, entry := range names.Indices {
		idx, err := s.readIndex(ctx, name, entry)
		if err == nil {
			err = s.openShards(ctx, idx)
		}
		if err == nil {
			v.indices[name] = idx
			err = s.forgetReshaping(ctx, idx)
		}
		if err != nil {
			s.view.Store(v)
			return fault.At(joined(err, s.closeShards()), "index "+name)
		}
	}
	s.view.Store(v)
	return nil
}

// held are the numbers of the indices that the engine has rows of. Rows are written after
// the catalog has their index's name, so that one of a number that it has not given out
// tells of a catalog that is lost or older than the rows: then nothing may be removed.
func (s *Store) held(ctx context.Context, names catalog.Catalog) ([]uint32, error) {
	held, err := s.engine.Indices(ctx)
	if err != nil {
		return nil, err
	}
	for _, number := range held {
		if number >= names.NextIndex {
			err := fault.New(fault.Corrupt, "there are documents of index %d, which it has never named (it has named %d indices): it is lost, or older than the documents",
				number, names.NextIndex-1)
			return nil, fault.At(fault.WithNext(err, "restore the whole folder from one backup; nothing was removed"), "record "+catalogKey)
		}
	}
	return held, nil
}

// swept is how many leftovers of deleted indices are removed at the same time: the engine and the coordination
// store sync once for those that come together.
const swept = 256

// sweep removes the records of indices that the catalog does not name, and their rows where
// some are held.
func (s *Store) sweep(ctx context.Context, names catalog.Catalog, held []uint32) error {
	known := map[string]bool{}
	numbers := map[uint32]bool{}
	for _, entry := range names.Indices {
		known[indexKey(entry.Number)], known[placementKey(entry.Number)] = true, true
		numbers[entry.Number] = true
	}
	var records []coord.Record
	for _, prefix := range []string{"index/", "placement/"} {
		of, err := s.coord.List(ctx, prefix)
		if err != nil {
			return err
		}
		records = append(records, of...)
	}
	var removals errgroup.Group
	removals.SetLimit(swept)
	for _, r := range records {
		if !known[r.Key] {
			removals.Go(func() error { return s.sweepRecord(ctx, r) })
		}
	}
	for _, number := range held {
		if !numbers[number] {
			removals.Go(func() error { return s.sweepRows(ctx, number) })
		}
	}
	return removals.Wait()
}

func (s *Store) sweepRecord(ctx context.Context, r coord.Record) error {
	s.options.Logger.Info("removing what an interrupted change left", "record", r.Key)
	return fault.At(s.removeOrLater(ctx, "record "+r.Key, func(ctx context.Context) error { return s.coord.Delete(ctx, r.Key, r.Revision) }), r.Key)
}

func (s *Store) sweepRows(ctx context.Context, number uint32) error {
	rows := fmt.Sprintf("rows of index %d", number)
	return fault.At(s.removeOrLater(ctx, rows, func(ctx context.Context) error { return s.engine.Drop(ctx, number) }), rows)
}

// forgetReshaping removes what a reshaping that is over has left in the engine. What is under
// way is for who goes on with it.
func (s *Store) forgetReshaping(ctx context.Context, idx *index) error {
	p := idx.placement
	if p.Transfer != nil || p.Version == 1 {
		return nil
	}
	err := s.Unstage(ctx, p.Index)
	for number := uint32(0); number < p.Next && err == nil; number++ {
		if _, named := p.Shard(number); !named {
			err = s.ForgetShards(ctx, p.Index, []uint32{number})
		}
	}
	if fault.Is(err, fault.Unavailable) { // a full disk: what is there can be read nevertheless
		s.options.Logger.Warn("what a split or a merge has left cannot be removed, the next start removes it", "index", idx.record.Name, "error", err)
		return nil
	}
	return err
}

// readIndex reads the records of one index; its shards stay closed.
func (s *Store) readIndex(ctx context.Context, name string, entry catalog.Entry) (*index, error) {
	record, err := s.coord.Get(ctx, indexKey(entry.Number))
	if err != nil {
		return nil, fault.At(err, indexKey(entry.Number))
	}
	p, err := s.Placement(ctx, entry.Number)
	if err != nil {
		return nil, err
	}
	return decodeIndex(name, entry, record, p)
}

func decodeIndex(name string, entry catalog.Entry, record coord.Record, p placement.Placement) (*index, error) {
	var decoded catalog.Index
	if err := json.Unmarshal(record.Value, &decoded); err != nil {
		return nil, fault.At(fault.New(fault.Corrupt, "%w", err), record.Key)
	}
	if decoded.Name != name || decoded.Number != entry.Number {
		return nil, fault.At(fault.New(fault.Corrupt, "it is of index %q, number %d", decoded.Name, decoded.Number), record.Key)
	}
	idx, err := newIndex(entry, decoded, p)
	if err != nil {
		return nil, fault.At(err, record.Key)
	}
	idx.revision = record.Revision
	return idx, nil
}

// newIndex is an index as its record says, without shards.
func newIndex(entry catalog.Entry, record catalog.Index, p placement.Placement) (*index, error) {
	idx := &index{entry: entry, record: record, placement: p}
	var err error
	if idx.rules, err = readRules(idx.record.Settings); err != nil {
		return nil, err
	}
	if idx.mapping, err = mapping.Parse(idx.record.Mapping, mapping.Unlimited(idx.rules.limits)); err != nil {
		return nil, fault.Wrap(fault.Corrupt, err)
	}
	analyzers, err := analysis.FromSettings(idx.record.Settings)
	if err != nil { // an older version did not read them: documents can be read nevertheless
		idx.unsearchable = err
		analyzers, _ = analysis.New(nil)
	}
	idx.schema, idx.kept = fields.New(idx.mapping, analyzers), query.Kept(idx.mapping.Source())
	if idx.unsearchable == nil {
		idx.unsearchable = idx.schema.Check()
	}
	return idx, nil
}

// openShards opens the shards of an index that is not closed.
func (s *Store) openShards(ctx context.Context, idx *index) error {
	if idx.entry.Closed {
		return nil
	}
	idx.shards, idx.indexer, idx.tallies = map[uint32]shard.Shard{}, &indexer{}, &tallies{}
	idx.indexer.schema.Store(idx.schema)
	for _, row := range idx.placement.Shards {
		opened, err := s.openShard(ctx, idx, row.Number)
		if err != nil {
			return joined(err, idx.closeShards())
		}
		idx.shards[row.Number] = opened
	}
	return nil
}

func (s *Store) openShard(ctx context.Context, idx *index, number uint32) (shard.Shard, error) {
	settings := shard.Settings{MinimumAge: idx.rules.tombstones, Indexer: idx.indexer}
	opened, err := s.engine.Open(ctx, shard.ID{Index: idx.entry.Number, Number: number}, s, settings)
	return opened, fault.At(err, fmt.Sprintf("shard %d", number))
}

// each are the shards by their numbers: what happens does not depend on a map.
func (idx *index) each() iter.Seq2[uint32, shard.Shard] {
	return func(yield func(uint32, shard.Shard) bool) {
		for _, number := range slices.Sorted(maps.Keys(idx.shards)) {
			if !yield(number, idx.shards[number]) {
				return
			}
		}
	}
}

// closeShards closes the shards of an index; it may be called twice.
func (idx *index) closeShards() error {
	var failed error
	for number, sh := range idx.each() {
		if err := sh.Close(); err != nil && failed == nil {
			failed = fault.At(err, fmt.Sprintf("index %s, shard %d", idx.record.Name, number))
		}
	}
	return failed
}

// closeShards closes the shards of all indices.
func (s *Store) closeShards() error {
	var failed error
	for _, idx := range s.view.Load().indices {
		if err := idx.closeShards(); err != nil && failed == nil {
			failed = err
		}
	}
	return failed
}

// publish replaces the view: change gets a copy of it whose maps may be changed.
// The caller holds s.admin.
func (s *Store) publish(change func(v *view)) {
	old := s.view.Load()
	v := &view{catalog: old.catalog, revision: old.revision, indices: maps.Clone(old.indices)}
	change(v)
	s.view.Store(v)
}

// known refuses names of indices that the catalog has and the view has not: their
// records could not be read when they were needed.
func (v *view) known(names []string) error {
	for _, name := range names {
		if v.indices[name] == nil {
			return exception.New(exception.UnavailableShards, "index [%s] could not be opened; see the log, and start the server again", name)
		}
	}
	return nil
}
