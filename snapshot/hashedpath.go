package snapshot

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
)

// pathType is how OpenSearch from 2.17 on spreads the folders of shards over a
// bucket. See RemoteStoreEnums of OpenSearch. BASE is the repository's base_path
// and / is where the store begins.
type pathType int

const (
	pathFixed        pathType = iota // /BASE/indices/ID/N
	pathHashedPrefix                 // /HASH/BASE/indices/ID/N: outside the base path
	pathHashedInfix                  // /BASE/HASH/indices/ID/N
)

func (t pathType) check() error {
	if t < pathFixed || t > pathHashedInfix {
		err := fault.New(fault.Refused, "the shards lie below paths of type %d; 0, 1 and 2 are known", int(t))
		return fault.WithNext(err, "a newer server wrote it: look for a newer release of this program")
	}
	return nil
}

// Outside is implemented by a [Bucket] that can reach beyond its root. With a
// base_path, OpenSearch 3.3 and later put the shards beside it.
type Outside interface {
	// Outside opens the store in which this bucket's root has the path base,
	// "a/b" without slashes at its ends. A root whose path does not end so is
	// fault.Refused.
	Outside(ctx context.Context, base string) (Bucket, error)
}

// shardPaths is the file that OpenSearch writes for an index whose shards have
// hashed paths.
type shardPaths struct {
	Algorithm int      `json:"shard_path_hash_algorithm"`
	Paths     []string `json:"paths"` // from where the store begins, with a final slash
}

// hashedPaths is what a repository needs to find shards with hashed paths.
type hashedPaths struct {
	algorithm int
	base      string // the base_path, where shards lie outside it
	err       error  // why shards outside it cannot be reached
}

const (
	hashBase64    = 0 // all of the hash in base64url
	hashComposite = 1 // 6 bits in base64url, 14 as binary digits
)

// hash is the folder that hashed paths begin with: FNV-1a over the number of the
// shard and the id of the index.
func (h hashedPaths) hash(id string, shard int) string {
	sum := fnv.New64a()
	fmt.Fprintf(sum, "%d%s", shard, id)
	if h.algorithm == hashBase64 {
		return base64.RawURLEncoding.EncodeToString(sum.Sum(nil))
	}
	bits := binary.BigEndian.Uint64(sum.Sum(nil))
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return fmt.Sprintf("%c%014b", alphabet[bits>>58], bits>>44&(1<<14-1))
}

// shardPath is the folder of a shard, without a final slash.
func (i *Index) shardPath(n int) string {
	path := i.folder + "/" + strconv.Itoa(n)
	h := i.snapshot.repo.hashed
	switch {
	case i.pathType == pathFixed:
		return path
	case i.pathType == pathHashedPrefix && h.base != "":
		path = h.base + "/" + path
	}
	return h.hash(i.ID, n) + "/" + path
}

// findHashedPaths learns from the file of one index how shard paths are hashed
// and where they begin. All files of a repository say the same: one that is missing
// is made up for by another. Without any, it takes the default.
func (r *Repository) findHashedPaths(ctx context.Context) error {
	r.hashed = hashedPaths{algorithm: hashComposite}
	byID := map[string]rootIndex{}
	for _, kind := range []pathType{pathHashedPrefix, pathHashedInfix} {
		for _, name := range slices.Sorted(maps.Keys(r.root.Indices)) {
			index := r.root.Indices[name]
			if index.PathType != kind {
				continue
			}
			byID[index.ID] = index
			if len(byID) > mostNamedPaths {
				continue
			}
			key := fmt.Sprintf("%s%s.%s.%d.%d.%d", shardPathsPrefix, index.ID, name, len(index.Generations), kind, hashComposite)
			if err := r.readHashedPaths(ctx, index, key); !fault.Is(err, fault.NotFound) {
				return err
			}
		}
	}
	if len(byID) == 0 {
		return nil
	}
	return r.searchHashedPaths(ctx, byID)
}

const (
	shardPathsPrefix = "snapshot_shard_paths/snapshot_path_"
	// mostNamedPaths is how many files are asked for by name before they are listed.
	mostNamedPaths = 8
)

// searchHashedPaths looks among the files that are there for one of the indices:
// their names hold a number of shards, which is that of another snapshot where an
// index was made again.
func (r *Repository) searchHashedPaths(ctx context.Context, byID map[string]rootIndex) error {
	files, err := r.bucket.List(ctx, shardPathsPrefix)
	if fault.Is(err, fault.Refused) || fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	slices.SortFunc(files, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	for _, file := range files {
		id, _, _ := strings.Cut(strings.TrimPrefix(file.Key, shardPathsPrefix), ".")
		if index, ok := byID[id]; ok {
			if err := r.readHashedPaths(ctx, index, file.Key); !fault.Is(err, fault.NotFound) {
				return err
			}
		}
	}
	return nil
}

// readHashedPaths takes what one file says.
func (r *Repository) readHashedPaths(ctx context.Context, index rootIndex, key string) error {
	var file shardPaths
	err := r.readMetadata(ctx, key, "", &file)
	if fault.Is(err, fault.NotFound) {
		return err
	}
	if err == nil {
		err = fault.At(r.takeHashedPaths(index, &file), key)
	}
	r.reachOutside(ctx)
	return err
}

// takeHashedPaths checks that the paths in the file are those that follow from
// the index, and takes the base path that stands inside them.
func (r *Repository) takeHashedPaths(index rootIndex, file *shardPaths) error {
	if file.Algorithm != hashBase64 && file.Algorithm != hashComposite {
		err := fault.New(fault.Refused, "shard paths are hashed by algorithm %d; 0 and 1 are known", file.Algorithm)
		return fault.WithNext(err, "a newer server wrote it: look for a newer release of this program")
	}
	if len(file.Paths) == 0 {
		return fault.New(fault.Corrupt, "has no paths")
	}
	h := hashedPaths{algorithm: file.Algorithm}
	head, tail := h.hash(index.ID, 0)+"/", "indices/"+index.ID+"/0/"
	base, ok := strings.CutPrefix(file.Paths[0], head)
	if index.PathType == pathHashedInfix {
		_, base, ok = strings.Cut("/"+file.Paths[0], "/"+head)
	}
	base, ends := strings.CutSuffix(base, tail)
	if !ok || !ends {
		return fault.New(fault.Corrupt, "the path %q is not that of the index: it must begin with %s and end with %s", file.Paths[0], head, tail)
	}
	h.base = strings.Trim(base, "/")
	for element := range strings.SplitSeq(h.base, "/") {
		if err := checkComponent("base path", element); err != nil && h.base != "" {
			return err
		}
	}
	r.hashed = h
	return nil
}

// reachOutside makes the repository's bucket reach shards outside the base path.
func (r *Repository) reachOutside(ctx context.Context) {
	base := r.hashed.base
	if base == "" {
		return
	}
	err := fault.New(fault.Refused, "the store does not reach beyond the repository's root")
	if b, ok := r.bucket.(Outside); ok {
		var outer Bucket
		if outer, err = b.Outside(ctx, base); err == nil {
			r.bucket = &outward{Bucket: r.bucket, base: base, outer: outer}
			return
		}
	}
	err = fault.New(fault.Refused, "the shards lie outside the repository's base path %s, below /HASH/%s/indices: %w", base, base, err)
	r.hashed.err = fault.WithNext(err, "give the store's location with the whole base path, so that it ends in %s, and keep the folders beside it", base)
}

// outward is a bucket that finds the shards outside the repository's base path.
type outward struct {
	Bucket
	base  string
	outer Bucket
}

// holder tells which bucket holds the key.
func (b *outward) holder(key string) Bucket {
	if _, rest, ok := strings.Cut(key, "/"); ok && strings.HasPrefix(rest, b.base+"/indices/") {
		return b.outer
	}
	return b.Bucket
}

func (b *outward) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	return b.holder(key).Open(ctx, key, offset, length)
}

func (b *outward) Size(ctx context.Context, key string) (int64, error) {
	return b.holder(key).Size(ctx, key)
}
