package snapshot

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sort"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/reshelve/reshelve/internal/fault"
)

// Repository is one snapshot repository as it stood when it was opened; a cluster
// may go on writing to it meanwhile. It is safe for concurrent use.
type Repository struct {
	// Generation is the N of the root file index-N; −1 where the root file is the
	// index of 1.x and 2.x.
	Generation int64
	UUID       string // of the repository; "" before Elasticsearch 7.12 and in OpenSearch
	ClusterID  string // of the last cluster that wrote to it; as UUID
	MinVersion string // what a server must be at least to read it, e.g. "7.9.0"; "" before 7.6

	bucket       Bucket
	root         *root          // as the repository was opened
	present      *presentRoot   // as it was read last
	incompatible []rootSnapshot // that servers since 5.0 do not open
	hashed       hashedPaths
}

// Open finds the root file that counts and reads it. What is no repository is
// fault.NotFound, an encrypted one fault.Refused, a damaged one fault.Corrupt.
func Open(ctx context.Context, b Bucket) (*Repository, error) {
	files, root, err := findAndReadRoot(ctx, b, nil)
	if err != nil {
		return nil, err
	}
	r := newRepository(b, files.generation, root)
	r.UUID, r.ClusterID, r.MinVersion = root.UUID, root.ClusterID, root.MinVersion
	if files.incompatible {
		if err := r.readIncompatible(ctx); err != nil {
			return nil, err
		}
	}
	return r, r.findHashedPaths(ctx)
}

func newRepository(b Bucket, generation int64, root *root) *Repository {
	r := &Repository{Generation: generation, bucket: b, root: root, present: &presentRoot{}}
	r.present.Store(&rootState{generation, root})
	return r
}

// maxRootReads bounds how often the root file is looked for again.
const maxRootReads = 5

// findAndReadRoot finds the root file that counts and reads it, or takes what was seen where it is the same. A cluster
// that writes replaces index-N by index-N+1: one that was found and is not there any more is looked for again.
func findAndReadRoot(ctx context.Context, b Bucket, seen *rootState) (files rootFiles, root *root, err error) {
	for range maxRootReads {
		if files, err = findRoot(ctx, b); err != nil {
			return files, nil, err
		}
		if files.generation < 0 && !files.old {
			return files, nil, noRepository(ctx, b)
		}
		if seen != nil && files.generation >= 0 && files.generation == seen.generation {
			return files, seen.root, nil
		}
		if root, err = readRoot(ctx, b, files); !fault.Is(err, fault.NotFound) {
			return files, root, err
		}
	}
	return files, nil, dangling(err, "%s was listed, but cannot be read", generationKey(files.generation))
}

// readRoot reads one root file.
func readRoot(ctx context.Context, b Bucket, files rootFiles) (*root, error) {
	key, parse := generationKey(files.generation), parseRoot
	if files.generation < 0 {
		key, parse = oldRootKey, parseOldRoot
	}
	data, err := readBlob(ctx, b, key)
	if err != nil {
		return nil, err
	}
	parsed, err := parse(data)
	return parsed, fault.At(err, key)
}

// readIncompatible reads which snapshots of 1.x a later server set aside.
func (r *Repository) readIncompatible(ctx context.Context) error {
	data, err := readBlob(ctx, r.bucket, incompatibleKey)
	if err != nil {
		return dangling(err, "%s was listed, but cannot be read", incompatibleKey)
	}
	var list struct {
		Snapshots []rootSnapshot `json:"incompatible-snapshots"`
	}
	if err = checkPlain(data); err == nil {
		err = decodeJSON(data, &list)
	}
	for _, s := range list.Snapshots {
		if err == nil {
			err = checkComponent("snapshot", s.blob())
		}
	}
	r.incompatible = list.Snapshots
	return fault.At(err, incompatibleKey)
}

// parallelReads bounds how many snapshot files are read at a time.
const parallelReads = 16

// All reads every snapshot of the repository, oldest first. Where the files of
// some are damaged or missing, the others are returned with an error; of several
// it is Corrupt if any of them is, and joins theirs (errors.Join).
func (r *Repository) All(ctx context.Context) ([]*Snapshot, error) {
	all, broken := r.loadAll(ctx, r.root.Snapshots)
	for _, entry := range r.incompatible {
		s, err := r.loadIncompatible(ctx, entry)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	sort.SliceStable(all, func(i, j int) bool {
		if !all[i].Start.Equal(all[j].Start) {
			return all[i].Start.Before(all[j].Start)
		}
		return all[i].Name < all[j].Name
	})
	return all, broken
}

// loadAll reads the listed snapshots. Damaged ones are left out and named by the
// error, those that were deleted meanwhile are left out in silence; any other error
// leaves none.
func (r *Repository) loadAll(ctx context.Context, entries []rootSnapshot) ([]*Snapshot, error) {
	all, broken := make([]*Snapshot, len(entries)), make([]error, len(entries))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelReads)
	for i, entry := range entries {
		group.Go(func() (err error) {
			all[i], err = r.load(ctx, entry)
			if errors.Is(err, errDeleted) {
				all[i] = nil
				return nil
			}
			if fault.Is(err, fault.Corrupt) || fault.Is(err, fault.Refused) {
				all[i], broken[i] = nil, err
				return nil
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s *Snapshot) bool { return s == nil })
	broken = slices.DeleteFunc(broken, func(err error) bool { return err == nil })
	switch len(broken) {
	case 0:
		return all, nil
	case 1:
		return all, broken[0]
	}
	kind := fault.Refused
	if slices.ContainsFunc(broken, func(err error) bool { return fault.Is(err, fault.Corrupt) }) {
		kind = fault.Corrupt
	}
	return all, fault.New(kind, "%d of %d snapshots cannot be read: %w", len(broken), len(entries), errors.Join(broken...))
}

// Find reads the snapshot with the name or UUID; "" means the newest one with
// the state Success. When there is none, the error is fault.NotFound and lists
// what there is.
func (r *Repository) Find(ctx context.Context, nameOrUUID string) (*Snapshot, error) {
	if nameOrUUID == "" {
		return r.newest(ctx)
	}
	for _, same := range []func(rootSnapshot) bool{
		func(s rootSnapshot) bool { return s.Name == nameOrUUID },
		func(s rootSnapshot) bool { return s.UUID == nameOrUUID && s.UUID != unassigned },
	} {
		for _, entry := range r.root.Snapshots {
			if same(entry) {
				return r.load(ctx, entry)
			}
		}
		for _, entry := range r.incompatible {
			if same(entry) {
				return r.loadIncompatible(ctx, entry)
			}
		}
	}
	err := fault.New(fault.NotFound, "no snapshot %q; the repository holds %s", nameOrUUID, enumerate(r.root.names()))
	return nil, fault.WithNext(err, "name one of these, or none for the newest successful one")
}

// newestOf bounds how many snapshot files are read to find the newest one. The
// root file may have states and times of its own, but no checksum: only in a
// repository of more snapshots than this do they choose which files are read.
const newestOf = 64

// newest reads the newest successful snapshot. A damaged snapshot file is an
// error: that snapshot could have been the newest.
func (r *Repository) newest(ctx context.Context) (*Snapshot, error) {
	candidates := slices.Clone(r.root.Snapshots)
	slices.SortStableFunc(candidates, func(a, b rootSnapshot) int { return cmp.Compare(b.Started, a.Started) })
	if len(candidates) > newestOf && candidates[newestOf-1].Started > 0 {
		candidates = candidates[:newestOf]
	}
	all, err := r.loadAll(ctx, candidates)
	if err != nil {
		return nil, fault.WithNext(err, "name the snapshot that you want; \"snapshot ls\" lists them")
	}
	var found *Snapshot
	for _, s := range all {
		if s.State == Success && (found == nil || s.Start.After(found.Start)) {
			found = s
		}
	}
	if found == nil {
		return nil, r.noneSuccessful()
	}
	return found, nil
}

func (r *Repository) noneSuccessful() error {
	if len(r.root.Snapshots) == 0 {
		err := fault.New(fault.NotFound, "the repository holds no snapshot")
		return fault.WithNext(err, "all snapshots were deleted, or none was ever finished")
	}
	err := fault.New(fault.NotFound, "no successful snapshot; the repository holds %s", strings.TrimSpace(enumerate(r.root.names())))
	return fault.WithNext(err, "name one of these to see what it does hold")
}
