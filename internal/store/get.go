package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/catalog"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// Get reads one document, in real time unless the request says otherwise. That it
// is not there is no error: Found.Exists is then false.
func (s *Store) Get(ctx context.Context, r document.Read) (document.Found, error) {
	for round := 1; ; round++ {
		found, err := s.get(ctx, r)
		if !fault.Is(err, fault.Stale) {
			return found, err
		}
		if waited := pause(ctx, round); waited != nil {
			return found, err
		}
		if err := s.reload(ctx, found.Index); err != nil {
			return found, err
		}
		ctx = upToDate(ctx)
	}
}

func (s *Store) get(ctx context.Context, r document.Read) (document.Found, error) {
	idx, alias, err := s.readTarget(r.Target)
	if err != nil {
		return document.Found{Index: r.Target, ID: r.ID}, err
	}
	found := document.Found{Index: idx.record.Name, ID: r.ID}
	value, err := joinRouting(r.Routing, alias.IndexRouting, r.Target)
	if err != nil {
		return found, err
	}
	if value == "" && (idx.mapping.RoutingRequired() || idx.rules.partitions > 1) {
		return found, routingMissing(idx, r.ID)
	}
	ref := shard.Ref{Key: routing.KeyOf(r.ID, value, idx.rules.partitions), ID: r.ID}
	routed, err := idx.routed(ctx)
	if err != nil {
		return found, err
	}
	owner := routed.Owner(ref.Key)
	sh, err := idx.at(owner)
	if err != nil {
		return found, err
	}
	row, ok, err := readRow(ctx, sh, owner.Epoch, ref, r)
	if err != nil || !ok || row.Deleted {
		return found, err
	}
	if err := unexpected(idx, r, row, owner.Number); err != nil {
		return found, err
	}
	found.Exists, found.Routing, found.Versions, found.Source = true, row.Routing, row.Versions, idx.kept.Shown(row.Source)
	return found, idx.beside(&found, r, row.Source)
}

// beside adds what the server keeps of a document beside its source. As there, it does not
// look for fields that were passed over when it has found all that was asked for.
func (idx *index) beside(found *document.Found, r document.Read, source []byte) (err error) {
	asked := len(r.Stored) > 0
	switch {
	case asked && idx.unsearchable != nil:
		return idx.unsearchable
	case asked, !r.NoSource && found.Routing == "" && idx.passes():
		found.Fields, found.Ignored, err = query.StoredOf(idx.schema, r.Stored, found.ID, source)
	}
	return err
}

// passes reports whether documents may have values that were passed over.
func (idx *index) passes() bool {
	return idx.unsearchable == nil && (idx.rules.limits.IgnoreMalformed || idx.schema.Passes())
}

func readRow(ctx context.Context, sh shard.Shard, epoch int64, ref shard.Ref, r document.Read) (shard.Row, bool, error) {
	if !r.Searched {
		return sh.Get(ctx, epoch, ref)
	}
	reader, err := sh.Acquire(ctx, epoch)
	if err != nil {
		return shard.Row{}, false, err
	}
	row, ok, err := reader.Get(ctx, ref, r.NoSource && len(r.Stored) == 0)
	return row, ok, joined(err, reader.Close())
}

// joined is the first of two errors, the second told with it.
func joined(err, second error) error {
	if err != nil && second != nil {
		return fmt.Errorf("%w (and then: %w)", err, second)
	}
	if err != nil {
		return err
	}
	return second
}

// unexpected is the conflict of a read that asked for another version.
func unexpected(idx *index, r document.Read, row shard.Row, number uint32) error {
	if r.Version == document.Unset || r.Version == row.Version {
		return nil
	}
	return idx.in(exception.New(exception.VersionConflict, "[%s]: version conflict, current version [%d] is different than the one provided [%d]",
		r.ID, row.Version, r.Version), number)
}

// readTarget is the one open index that a name leads to for a read.
func (s *Store) readTarget(name string) (*index, catalog.Alias, error) {
	v := s.view.Load()
	idx := v.indices[name]
	var alias catalog.Alias
	if idx == nil {
		var members []string
		for member, properties := range v.catalog.Aliases[name] {
			members, alias = append(members, member), properties
		}
		if stream, ok := v.catalog.Streams[name]; ok {
			members = slices.Clone(stream.Indices) // it is sorted below
		}
		if len(members) > 1 {
			slices.Sort(members)
			return nil, alias, exception.New(exception.IllegalArgument,
				"alias [%s] has more than one index associated with it [%s], can't execute a single index op", name, strings.Join(members, ", "))
		}
		if len(members) == 0 || v.indices[members[0]] == nil {
			return nil, alias, exception.NoSuchTarget(name)
		}
		idx = v.indices[members[0]]
	}
	if idx.entry.Closed {
		return nil, alias, idx.closed()
	}
	if idx.rules.unreadable != nil {
		return nil, alias, idx.rules.unreadable
	}
	return idx, alias, nil
}

// reloadAfter is reload after the pause of a round.
func (s *Store) reloadAfter(ctx context.Context, name string, round int) error {
	if err := pause(ctx, round); err != nil {
		return err
	}
	return s.reload(ctx, name)
}

// reload reads the placement of an index again. Its shards are told.
func (s *Store) reload(ctx context.Context, name string) error {
	if err := s.admin.take(ctx); err != nil {
		return err
	}
	defer s.admin.leave()
	old := s.view.Load().indices[name]
	if old == nil {
		return exception.NoSuchIndex(name)
	}
	p, err := s.Placement(ctx, old.entry.Number)
	if err != nil {
		return err
	}
	return s.place(ctx, old, p)
}
