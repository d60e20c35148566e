package snapshot

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/reshelve/reshelve/internal/fault"
)

// rootState is what the root file said when it was read.
type rootState struct {
	generation int64
	root       *root
}

// presentRoot is the root file as it was read last.
type presentRoot struct {
	atomic.Pointer[rootState]
	renewing sync.Mutex // is held while it is read again
}

// errDeleted is wrapped by the error for a snapshot that is no longer in the repository.
var errDeleted = errors.New("was deleted from the repository after it was opened")

// renew reads the root file again, if nobody has since it was seen. A cluster that goes on writing replaces it, and with
// it the index of each shard that a later snapshot holds; everything else that a snapshot consists of stays as long as the
// root file lists the snapshot. The result is what was seen where the root file is the same.
func (r *Repository) renew(ctx context.Context, seen *rootState) (*rootState, error) {
	r.present.renewing.Lock()
	defer r.present.renewing.Unlock()
	if now := r.present.Load(); now != seen {
		return now, nil
	}
	files, root, err := findAndReadRoot(ctx, r.bucket, seen)
	if err != nil {
		return nil, err
	}
	if root == seen.root || files.generation < 0 && slices.Equal(root.names(), seen.root.names()) {
		return seen, nil
	}
	now := &rootState{files.generation, root}
	r.present.Store(now)
	return now, nil
}

// orDeleted is the damage that was found in a snapshot, unless the present root file no longer lists it: then its files
// are gone because somebody deleted it. Other errors than damage, and none, are returned as they are.
func (r *Repository) orDeleted(ctx context.Context, entry rootSnapshot, damage error) error {
	if !fault.Is(damage, fault.Corrupt) {
		return damage
	}
	same := func(s rootSnapshot) bool { return s.blob() == entry.blob() }
	if slices.ContainsFunc(r.incompatible, same) {
		return damage
	}
	now, err := r.renew(ctx, r.present.Load())
	switch {
	case err != nil && !fault.Is(err, fault.NotFound):
		return err
	case err != nil || slices.ContainsFunc(now.root.Snapshots, same):
		return damage
	}
	err = fault.New(fault.Refused, "snapshot %q %w", entry.Name, errDeleted)
	return fault.WithNext(err, "read another snapshot; the repository holds %s", enumerate(now.root.names()))
}

func (s *Snapshot) orDeleted(ctx context.Context, damage error) error {
	return s.repo.orDeleted(ctx, rootSnapshot{Name: s.Name, UUID: s.layout.id}, damage)
}

// maxReplaced bounds how often a shard's index may be replaced while it is looked for.
const maxReplaced = 100

// withIndex finds the key of the shard's index and does something with it; "" means none. A cluster that writes
// replaces the file, in servers before 7.6 before the root file: where it is not there, it is found again. Damage is
// what the present root file, or the present listing, names and what is not there.
func (sh *Shard) withIndex(ctx context.Context, find func(context.Context, *rootState) (string, error), do func(key string) error) error {
	repo, last := sh.Index.snapshot.repo, ""
	for range maxReplaced {
		now := repo.present.Load()
		key, err := find(ctx, now)
		if err != nil || key == "" {
			return err
		}
		if err = do(key); !fault.Is(err, fault.NotFound) {
			return sh.Index.snapshot.orDeleted(ctx, err)
		}
		if key == last {
			break
		}
		last = key
		if _, err := repo.renew(ctx, now); fault.Is(err, fault.NotFound) { // nothing is there any more: no shard that a snapshot lacks
			break
		} else if err != nil {
			return err
		}
	}
	err := dangling(fault.New(fault.NotFound, "missing"), "the root file names %s, which is missing: the shard's folder was swapped, or lost a file", last)
	return sh.Index.snapshot.orDeleted(ctx, err)
}
