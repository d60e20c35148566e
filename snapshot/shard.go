package snapshot

import (
	"context"
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
)

// Shard reads the manifest of shard n. A shard that the snapshot does not hold
// is fault.NotFound with the reason that the server gave; one whose data lie
// elsewhere is fault.Refused.
func (i *Index) Shard(ctx context.Context, n int) (*Shard, error) {
	if n < 0 || n >= i.Shards {
		return nil, fault.At(fault.New(fault.NotFound, "no shard %d; its shards are 0 to %d", n, i.Shards-1), "index "+i.Name)
	}
	if err := i.Elsewhere(); err != nil {
		return nil, err
	}
	if i.pathType == pathHashedPrefix && i.snapshot.repo.hashed.err != nil {
		return nil, fault.At(i.snapshot.repo.hashed.err, "index "+i.Name)
	}
	s := i.snapshot
	sh := &Shard{Index: i, Number: n, Path: i.shardPath(n)}
	key := sh.Path + "/" + s.layout.snapKey()
	var file manifest
	err := s.repo.readMetadata(ctx, key, s.layout.codec(codecSnapshot), &file)
	if fault.Is(err, fault.NotFound) {
		return nil, i.noManifest(ctx, n, sh.Path, key)
	}
	if err != nil {
		return nil, err
	}
	if file.Name != s.Name {
		return nil, fault.At(fault.New(fault.Corrupt, "is of snapshot %q, expected %q", file.Name, s.Name), key)
	}
	if err := sh.fill(&file); err != nil {
		return nil, fault.At(err, key)
	}
	return sh, sh.checkPlace(ctx, key)
}

// noManifest says why a shard has no manifest.
func (i *Index) noManifest(ctx context.Context, n int, path, key string) error {
	s := i.snapshot
	if f, absent := s.Failure(i.Name, n); absent {
		err := fault.At(fault.New(fault.NotFound, "shard %d is not in snapshot %q: %s", n, s.Name, f.Reason), "index "+i.Name)
		return fault.WithNext(err, "look for it in another snapshot")
	}
	shallow := path + "/shallow-" + s.layout.snapKey()
	if there, err := exists(ctx, s.repo.bucket, shallow); err != nil || there {
		if err != nil {
			return err
		}
		return i.shallow(shallow)
	}
	lost := s.orDeleted(ctx, dangling(fault.New(fault.NotFound, "missing"), "snapshot %q holds shard %d of index %q, but %s is missing", s.Name, n, i.Name, key))
	if fault.Is(lost, fault.Corrupt) && s.mayLack(i.Name, n) {
		return fault.At(fault.New(fault.NotFound, "shard %d is not in snapshot %q, whose state is %s", n, s.Name, s.State), "index "+i.Name)
	}
	return lost
}

// mayLack tells whether the snapshot itself says that it does not hold a shard
// of an index (any shard where it is negative). A PARTIAL snapshot names what it
// lacks; one that failed or never ended may lack anything.
func (s *Snapshot) mayLack(index string, shard int) bool {
	switch s.State {
	case Success:
		return false
	case Partial:
		return slices.ContainsFunc(s.Failures, func(f Failure) bool {
			return f.Index == index && (f.Shard == shard || shard < 0)
		})
	}
	return true
}

// shallow refuses a snapshot that only refers to data in a remote store.
func (i *Index) shallow(what string) error {
	err := fault.At(fault.New(fault.Refused, "%s: a shallow snapshot, which only points into the remote segment store of an OpenSearch cluster", what), "index "+i.Name)
	return fault.WithNext(err, "restore it in that cluster, and snapshot into a repository whose remote_store_index_shallow_copy is false")
}

// Elsewhere is fault.Refused when the documents of the index are not in this
// repository, and says where they are: of a mounted searchable snapshot, and of a
// shallow snapshot of an index in a remote store. Nil for any other index.
func (i *Index) Elsewhere() error {
	switch {
	case i.snapshot.pinned:
		return i.shallow("snapshot " + i.snapshot.Name + " has a pinned timestamp")
	case i.snapshot.shallow && i.Setting["index.remote_store.enabled"] == "true":
		return i.shallow("snapshot " + i.snapshot.Name + " has remote_store_index_shallow_copy, and the index is in a remote store")
	}
	switch store := i.Setting["index.store.type"]; store {
	case "snapshot", "remote_snapshot":
		return i.mounted(store)
	}
	return nil
}

// mounted refuses an index that is a snapshot made searchable.
func (i *Index) mounted(store string) error {
	first := func(keys ...string) string {
		for _, key := range keys {
			if value := i.Setting[key]; value != "" {
				return value
			}
		}
		return ""
	}
	snapshot := first("index.store.snapshot.snapshot_name", "index.searchable_snapshot.snapshot_id.name")
	repository := first("index.store.snapshot.repository_name", "index.searchable_snapshot.repository")
	err := fault.At(fault.New(fault.Refused, "a mounted searchable snapshot (index.store.type %s): its documents lie in snapshot %q of repository %q", store, snapshot, repository), "index "+i.Name)
	return fault.WithNext(err, "read that snapshot instead")
}
