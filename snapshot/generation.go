package snapshot

import (
	"context"
	"encoding/binary"
	"strconv"
	"strings"
	"sync"

	"github.com/reshelve/reshelve/internal/fault"
)

// The files at the root of a repository that lead to all others.
const (
	generationPrefix = "index-"
	latestKey        = "index.latest" // 8 bytes, big-endian: the generation
	oldRootKey       = "index"        // of 1.x and 2.x; stays beside index-N
	incompatibleKey  = "incompatible-snapshots"
	// rootPrefix is what the names of all of them begin with, and of nothing else
	// at the root: so one short listing finds them among any number of snapshots.
	rootPrefix = "in"
)

// rootFiles tells which of them are there.
type rootFiles struct {
	generation   int64 // the highest index-N; -1 when there is none
	old          bool
	incompatible bool
}

// findRoot finds out which root file counts, by a listing or, where the store
// cannot list, by index.latest. It asks for both at once.
func findRoot(ctx context.Context, b Bucket) (rootFiles, error) {
	var latest int64
	var latestErr error
	var asked sync.WaitGroup
	asked.Go(func() { latest, latestErr = readLatest(ctx, b) })
	files, err := listRoot(ctx, b)
	asked.Wait()
	switch {
	case fault.Is(err, fault.Refused):
		return probeRoot(ctx, b, latest, latestErr)
	case err != nil || fault.Is(latestErr, fault.NotFound):
		return files, err
	case latestErr != nil:
		return files, latestErr
	case latest <= files.generation:
		return files, nil
	}
	// Written after the listing, or lost.
	if files, err = listRoot(ctx, b); err != nil || latest <= files.generation {
		return files, err
	}
	err = fault.New(fault.Corrupt, "%s names generation %d, but %s%d is missing", latestKey, latest, generationPrefix, latest)
	return files, fault.WithNext(err, "copy %s%d from where this repository came from; if it is known not to exist, remove %s", generationPrefix, latest, latestKey)
}

func listRoot(ctx context.Context, b Bucket) (rootFiles, error) {
	files := rootFiles{generation: -1}
	entries, err := b.List(ctx, rootPrefix)
	if err != nil {
		return files, err
	}
	for _, e := range entries {
		switch e.Key {
		case oldRootKey:
			files.old = true
		case incompatibleKey:
			files.incompatible = true
		default:
			files.generation = max(files.generation, generationOf(e.Key))
		}
	}
	return files, nil
}

// generationOf is the N of index-N; -1 for any other key.
func generationOf(key string) int64 {
	digits, ok := strings.CutPrefix(key, generationPrefix)
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || strconv.FormatInt(n, 10) != digits {
		return -1
	}
	return n
}

func generationKey(n int64) string { return generationPrefix + strconv.FormatInt(n, 10) }

// readLatest reads the generation that index.latest names. It may lag behind.
func readLatest(ctx context.Context, b Bucket) (int64, error) {
	data, err := readBlob(ctx, b, latestKey)
	if err != nil {
		return -1, err
	}
	if len(data) != 8 || data[0] >= 0x80 {
		err := fault.New(fault.Corrupt, "%s: % x is no generation", latestKey, data[:min(8, len(data))])
		return -1, fault.WithNext(err, "where the store can list, the file may be removed: the listing then decides")
	}
	return int64(binary.BigEndian.Uint64(data)), nil
}

// maxProbes bounds the search for a generation in a store that cannot list.
const maxProbes = 1000

// probeRoot starts at the generation that index.latest names, or at why it names
// none, and looks whether a later one is there. Generations may leave out a number, so it looks two further.
func probeRoot(ctx context.Context, b Bucket, latest int64, err error) (rootFiles, error) {
	files := rootFiles{generation: -1}
	if fault.Is(err, fault.NotFound) {
		return probeOldRoot(ctx, b)
	}
	if err != nil {
		return files, err
	}
	for n := latest; n-max(files.generation, latest) <= 2; n++ {
		if n-latest == maxProbes {
			return files, fault.New(fault.Corrupt, "%s names generation %d, and %d later ones are there", latestKey, latest, maxProbes)
		}
		there, err := exists(ctx, b, generationKey(n))
		if err != nil {
			return files, err
		}
		if there {
			files.generation = n
		}
	}
	if files.generation < 0 {
		err := fault.New(fault.Corrupt, "%s names generation %d, but neither %s%d nor a later one is there", latestKey, latest, generationPrefix, latest)
		return files, fault.WithNext(err, "read the repository through a store that can list, or copy it again")
	}
	files.incompatible, err = exists(ctx, b, incompatibleKey)
	return files, err
}

func probeOldRoot(ctx context.Context, b Bucket) (files rootFiles, err error) {
	files.generation = -1
	files.old, err = exists(ctx, b, oldRootKey)
	return files, err
}

func exists(ctx context.Context, b Bucket, key string) (bool, error) {
	_, err := b.Size(ctx, key)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, fault.At(err, key)
}

// noRepository is the error for a place without any root file.
func noRepository(ctx context.Context, b Bucket) error {
	entries, err := b.List(ctx, "")
	if err != nil && !fault.Is(err, fault.Refused) {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Key, "snap-") || strings.HasPrefix(e.Key, "snapshot-") {
			err := fault.New(fault.Corrupt, "%s is here, but the root file (index-N, or index before 5.0) is missing", e.Key)
			return fault.WithNext(err, "copy the root file from where this repository came from")
		}
	}
	err = fault.New(fault.NotFound, "no snapshot repository: there is neither index-N nor index")
	if len(entries) > 0 {
		return fault.WithNext(err, "give the folder that holds index-N, the repository's location together with its base_path; what is here: %s", sample(entries))
	}
	return fault.WithNext(err, "give the folder that holds index-N: the repository's location together with its base_path")
}

func sample(entries []Entry) string {
	var names []string
	for _, e := range entries {
		names = append(names, e.Key)
	}
	return enumerate(names)
}
