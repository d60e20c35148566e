package snapshot

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/fault"
)

// shardIndex is the file index-GENERATION of a shard, which lists the files of
// each snapshot that holds the shard. Reading documents does not need it, but
// for one check.
type shardIndex struct {
	Snapshots map[string]struct {
		Files []string `json:"files"` // blobs
	} `json:"snapshots"`
}

const shardIndexPrefix = "index-"

// checkBlobless compares a manifest that names no blob, as that of a shard
// without documents does from 7.0 on, with the shard's own index. A manifest does
// not say whose it is: one that names blobs would name missing ones if it were
// another shard's, but this one would be believed, and the shard's documents be
// lost. Where the store cannot list and the root file does not name the shard's
// index, there is nothing to compare with.
func (sh *Shard) checkBlobless(ctx context.Context, manifest string) error {
	var blobs []string
	for _, f := range sh.Files {
		if !f.Virtual {
			return nil
		}
		blobs = append(blobs, f.Blob)
	}
	key, err := sh.indexKey(ctx)
	if err != nil || key == "" {
		return err
	}
	var index shardIndex
	repo, name := sh.Index.snapshot.repo, sh.Index.snapshot.Name
	if err := repo.readMetadata(ctx, key, codecShardIndex, &index); err != nil {
		return dangling(err, "the root file names %s, which is missing", key)
	}
	listed, ok := index.Snapshots[name]
	slices.Sort(blobs)
	slices.Sort(listed.Files)
	if !ok || !slices.Equal(blobs, listed.Files) {
		return fault.New(fault.Corrupt, "%s: lists %d files for snapshot %q, %s lists %d others: the file was swapped", manifest, len(blobs), name, key, len(listed.Files))
	}
	return nil
}

// indexKey is the key of the shard's newest index: the root file names it from
// 7.6 on, before it has the highest number. "" where it cannot be known.
func (sh *Shard) indexKey(ctx context.Context) (string, error) {
	s := sh.Index.snapshot
	if gens := s.indexOf[sh.Index.Name].Generations; sh.Number < len(gens) && gens[sh.Number] != nil {
		if gen := *gens[sh.Number]; !strings.HasPrefix(gen, "_") {
			return sh.Path + "/" + shardIndexPrefix + gen, checkComponent("shard generation", gen)
		}
	}
	prefix := sh.Path + "/" + shardIndexPrefix
	entries, err := s.repo.bucket.List(ctx, prefix)
	if err != nil {
		if fault.Is(err, fault.Refused) {
			err = nil
		}
		return "", err
	}
	key, newest := "", int64(-1)
	for _, e := range entries {
		if n, err := strconv.ParseInt(strings.TrimPrefix(e.Key, prefix), 10, 64); err == nil && n > newest {
			key, newest = e.Key, n
		}
	}
	return key, nil
}
