package snapshot

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
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

// checkPlace checks that a manifest is that of this shard, which it does not say
// itself. Where the root file names the shard's index (from 7.6 on), that must
// lie beside it: a folder that was swapped holds another one. A manifest that
// names no blob, as that of a shard without documents does from 7.0 on, is
// compared with the index: one that names blobs would name missing ones if it
// were another shard's, but this one would be believed, and the shard's documents
// be lost.
func (sh *Shard) checkPlace(ctx context.Context, manifest string) error {
	if !slices.ContainsFunc(sh.Files, func(f File) bool { return !f.Virtual }) {
		return sh.compareIndex(ctx, manifest)
	}
	return sh.withIndex(ctx, sh.namedIndexKey, func(key string) error {
		_, err := sh.Index.snapshot.repo.bucket.Size(ctx, key)
		return fault.At(err, key)
	})
}

// compareIndex compares the manifest with the shard's index. Where the store
// cannot list and the root file does not name the shard's index, there is nothing
// to compare with.
func (sh *Shard) compareIndex(ctx context.Context, manifest string) error {
	var blobs []string
	for _, f := range sh.Files {
		blobs = append(blobs, f.Blob)
	}
	slices.Sort(blobs)
	return sh.withIndex(ctx, sh.indexKey, func(key string) error {
		var index shardIndex
		repo, name := sh.Index.snapshot.repo, sh.Index.snapshot.Name
		if err := repo.readMetadata(ctx, key, codecShardIndex, &index); err != nil {
			return err
		}
		listed, ok := index.Snapshots[name]
		slices.Sort(listed.Files)
		if !ok || !slices.Equal(blobs, listed.Files) {
			return fault.New(fault.Corrupt, "%s: lists %d files for snapshot %q, %s lists %d others: the file was swapped", manifest, len(blobs), name, key, len(listed.Files))
		}
		return nil
	})
}

// lostIndex is fault.Corrupt where a shard of Elasticsearch 2.0 to 7.5, whose index the root file does
// not name, has none: the blob was lost. Its snapshots are complete all the same, for each
// one's own manifest tells the shard's files. Nil where the store cannot list.
func (sh *Shard) lostIndex(ctx context.Context) error {
	if sh.Index.snapshot.layout.plain { // 1.x has none
		return nil
	}
	named, err := sh.namedIndexKey(ctx, sh.Index.snapshot.repo.present.Load())
	if err != nil || named != "" {
		return err
	}
	entries, err := sh.Index.snapshot.repo.bucket.List(ctx, sh.Path+"/"+shardIndexPrefix)
	switch {
	case fault.Is(err, fault.Refused):
		return nil
	case err != nil || len(entries) > 0:
		return err
	}
	err = fault.New(fault.Corrupt, "the shard's list of snapshots is missing: a blob %s/%sN, where N is a number", sh.Path, shardIndexPrefix)
	return fault.WithNext(err, "put it back from a copy of the repository, or take another snapshot of the index into it, which writes it anew; the documents are complete without it, and migrate moves them")
}

// namedIndexKey is the key of the shard's index that the root file names now; ""
// where it names none.
func (sh *Shard) namedIndexKey(_ context.Context, now *rootState) (string, error) {
	gens := now.root.Indices[sh.Index.Name].Generations
	if sh.Number >= len(gens) || gens[sh.Number] == nil || strings.HasPrefix(*gens[sh.Number], "_") {
		return "", nil
	}
	gen := *gens[sh.Number]
	return sh.Path + "/" + shardIndexPrefix + gen, checkComponent("shard generation", gen)
}

// indexKey is the key of the shard's newest index: the root file names it from
// 7.6 on, before it has the highest number. "" where it cannot be known.
func (sh *Shard) indexKey(ctx context.Context, now *rootState) (string, error) {
	if key, err := sh.namedIndexKey(ctx, now); err != nil || key != "" {
		return key, err
	}
	s := sh.Index.snapshot
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
