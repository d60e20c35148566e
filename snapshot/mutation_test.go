package snapshot_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot"
	"github.com/reshelve/reshelve/snapshot/blob/memory"
)

// TestDamageIsNeverSilent damages files of real repositories, one at a time, and
// reads all documents of the newest snapshot. Each damage gives an error, with
// every document that was handed out before it right or named as unconfirmed;
// or exactly the right documents. And verify accepts none that changed a byte
// that it is there to check.
//
// RESHELVE_MUTATIONS sets their number, RESHELVE_SEED the first seed. A failure
// prints the seed of the mutation, which alone reproduces it.
func TestDamageIsNeverSilent(t *testing.T) {
	number := settingOf(t, "RESHELVE_MUTATIONS", 10_000)
	if testing.Short() {
		number = 500
	}
	first := settingOf(t, "RESHELVE_SEED", 1)
	var victims []*victim
	for _, r := range repositories(t) {
		if v := newVictim(t, r); v != nil {
			victims = append(victims, v)
		}
	}
	var refused, unharmed, verified sync.Map
	seeds := make(chan int)
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for seed := range seeds {
				rng := rand.New(rand.NewPCG(uint64(seed), 0))
				v := victims[rng.IntN(len(victims))]
				m := v.mutate(rng)
				outcome, err := v.try(t.Context(), m)
				if err != nil {
					t.Errorf("seed %d: %s: %s: %v", seed, v.name, m.what, err)
				}
				tally := map[bool]*sync.Map{true: &refused, false: &unharmed}[outcome.failed]
				tally.Store(seed, true)
				if outcome.verifyNoticed {
					verified.Store(seed, true)
				}
			}
		})
	}
	for i := range number {
		seeds <- first + i
	}
	close(seeds)
	workers.Wait()
	t.Logf("%d mutations of %d repositories: reading refused %d, and gave the right documents in %d; verify noticed %d",
		number, len(victims), lengthOf(&refused), lengthOf(&unharmed), lengthOf(&verified))
}

func settingOf(t *testing.T, name string, otherwise int) int {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

func lengthOf(m *sync.Map) (n int) {
	m.Range(func(any, any) bool { n++; return true })
	return n
}

// victim is a repository, the file names in it, and what its newest successful
// snapshot holds.
type victim struct {
	name  string
	blobs map[string][]byte
	keys  []string
	right map[string][]printed // by index
}

// printed is one document as a reader would print it.
type printed struct {
	position, id, routing, typ string
	source                     string
	sourceless                 bool
}

func newVictim(t *testing.T, r repository) *victim {
	v := &victim{name: r.name, blobs: r.blobs(t)}
	v.keys = slices.Sorted(maps.Keys(v.blobs))
	got := read(t.Context(), memory.Bucket(v.blobs))
	if fault.Is(got.err, fault.Refused) {
		t.Logf("%s is left out: %v", r.name, got.err)
		return nil
	}
	if got.err != nil {
		t.Errorf("%s: %v", r.name, got.err)
		return nil
	}
	v.right = got.documents
	return v
}

// mutation is a repository with one damaged file.
type mutation struct {
	what  string
	key   string
	data  []byte // nil: the blob is gone
	blobs memory.Bucket
	// sibling: metadata swapped with that of another snapshot of the same index
	// or cluster. Such a file is whole and does not say whose it is; no document
	// depends on the difference.
	sibling bool
}

// mutate damages one blob in one of the ways that disks, networks and people do.
func (v *victim) mutate(rng *rand.Rand) mutation {
	m := mutation{key: v.keys[rng.IntN(len(v.keys))]}
	old := v.blobs[m.key]
	data := slices.Clone(old)
	at := rng.IntN(len(data) + 1)
	n := 1 + rng.IntN(1+min(64, len(data)-at))
	end := min(at+n, len(data))
	switch rng.IntN(8) {
	case 0, 1:
		if at < len(data) {
			bit := rng.IntN(8)
			data[at] ^= 1 << bit
			m.what = fmt.Sprintf("flip bit %d of byte %d", bit, at)
		} else {
			data, m.what = nil, "remove"
		}
	case 2:
		data, m.what = data[:at], fmt.Sprintf("truncate to %d", at)
	case 3:
		tail := make([]byte, n)
		for i := range tail {
			tail[i] = byte(rng.Uint32())
		}
		data, m.what = append(data, tail...), fmt.Sprintf("extend by %d", n)
	case 4:
		other := v.keys[rng.IntN(len(v.keys))]
		data, m.what = v.blobs[other], "swap with "+other
		m.sibling = path.Dir(m.key) == path.Dir(other) && strings.HasPrefix(path.Base(m.key), "meta-") && strings.HasPrefix(path.Base(other), "meta-")
	case 5:
		clear(data[at:end])
		m.what = fmt.Sprintf("zero [%d, %d)", at, end)
	case 6:
		data, m.what = slices.Concat(data[:end], data[at:end], data[end:]), fmt.Sprintf("duplicate [%d, %d)", at, end)
	case 7:
		data, m.what = slices.Concat(data[:at], data[end:]), fmt.Sprintf("drop [%d, %d)", at, end)
	}
	m.what = fmt.Sprintf("%s of %d bytes: %s", m.key, len(old), m.what)
	m.blobs = maps.Clone(memory.Bucket(v.blobs))
	m.data = data
	if data == nil {
		delete(m.blobs, m.key)
	} else {
		m.blobs[m.key] = data
	}
	return m
}

type outcome struct{ failed, verifyNoticed bool }

// try reads and verifies a damaged repository, and tells what is wrong with how
// that went.
func (v *victim) try(ctx context.Context, m mutation) (o outcome, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	got := read(ctx, m.blobs)
	o.failed = got.err != nil
	if ctx.Err() != nil {
		return o, fmt.Errorf("reading hangs: %w", got.err)
	}
	if k := fault.KindOf(got.err); got.err != nil && k != fault.Corrupt && k != fault.NotFound && k != fault.Refused {
		return o, fmt.Errorf("reading fails with kind %v: %w", k, got.err)
	}
	if err := v.judge(got); err != nil {
		return o, err
	}
	touched, problems, err := verify(ctx, m.blobs)
	o.verifyNoticed = err != nil || len(problems) > 0
	changed := !bytes.Equal(m.data, v.blobs[m.key])
	if changed && touched[m.key] && checksummed(v.blobs[m.key]) && !m.sibling && !o.verifyNoticed {
		return o, fmt.Errorf("verify accepts it")
	}
	return o, nil
}

// checksummed tells whether a sound blob has a checksum at its end: all but the
// plain JSON files and index.latest.
func checksummed(data []byte) bool {
	return len(data) >= 16 && bytes.Equal(data[len(data)-16:len(data)-8], []byte{0xc0, 0x28, 0x93, 0xe8, 0, 0, 0, 0}) || bytes.HasPrefix(data, []byte{0x3f, 0xd7, 0x6c, 0x17})
}

// judge compares what was read with what is right: whole when reading succeeded,
// else all that no one called unconfirmed.
func (v *victim) judge(got reading) error {
	if got.err == nil {
		for index, want := range v.right {
			if !slices.Equal(got.documents[index], want) {
				return fmt.Errorf("reading succeeds with other documents of %s: %d, not %d", index, len(got.documents[index]), len(want))
			}
		}
		if len(got.documents) != len(v.right) {
			return fmt.Errorf("reading succeeds with %d indices, not %d", len(got.documents), len(v.right))
		}
		return nil
	}
	for index, docs := range got.documents {
		for i, doc := range docs {
			if got.unconfirmed[doc.position] {
				continue
			}
			if i >= len(v.right[index]) || doc != v.right[index][i] {
				return fmt.Errorf("document %s is wrong, and was not called unconfirmed when reading failed with: %w", doc.position, got.err)
			}
		}
	}
	return nil
}

// reading is what a pass over a snapshot gave.
type reading struct {
	documents   map[string][]printed
	unconfirmed map[string]bool // positions
	err         error
}

// read reads all documents of the newest successful snapshot, index by index,
// and stops at the first error, as the command does.
func read(ctx context.Context, bucket snapshot.Bucket) (got reading) {
	got.documents, got.unconfirmed = map[string][]printed{}, map[string]bool{}
	repo, err := snapshot.Open(ctx, bucket)
	if err != nil {
		got.err = err
		return got
	}
	snap, err := repo.Find(ctx, "")
	if err != nil {
		got.err = err
		return got
	}
	for _, name := range snap.Indices {
		index, err := snap.Index(ctx, name)
		if err != nil {
			got.err = err
			return got
		}
		got.documents[name] = nil
		for n := range index.Shards {
			if got.err = got.shard(ctx, index, n); got.err != nil {
				return got
			}
		}
	}
	return got
}

func (got *reading) shard(ctx context.Context, index *snapshot.Index, n int) error {
	shard, err := index.Shard(ctx, n)
	if err != nil {
		return err
	}
	docs, err := shard.Documents(ctx, snapshot.ReadOptions{})
	if err != nil {
		return err
	}
	defer docs.Close()
	for docs.Next() {
		d := docs.Document()
		got.documents[index.Name] = append(got.documents[index.Name], printed{
			d.Position.String(), string(d.ID), string(d.Routing), string(d.Type), string(d.Source), d.Source == nil,
		})
	}
	if first, last, ok := docs.Unconfirmed(); ok {
		p := docs.Document().Position
		for p.Number = first; p.Number <= last; p.Number++ {
			got.unconfirmed[p.String()] = true
		}
	}
	return docs.Err()
}

// verify verifies the newest successful snapshot and tells which blobs it opened.
func verify(ctx context.Context, bucket snapshot.Bucket) (touched map[string]bool, problems []error, err error) {
	watch := &watched{Bucket: bucket, touched: map[string]bool{}}
	repo, err := snapshot.Open(ctx, watch)
	if err != nil {
		return watch.touched, nil, err
	}
	snap, err := repo.Find(ctx, "")
	if err != nil {
		return watch.touched, nil, err
	}
	v, err := snap.Verify(ctx, snapshot.VerifyOptions{})
	return watch.touched, v.Problems, err
}

type watched struct {
	snapshot.Bucket
	mu      sync.Mutex
	touched map[string]bool
}

func (w *watched) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	w.mu.Lock()
	w.touched[key] = true
	w.mu.Unlock()
	return w.Bucket.Open(ctx, key, offset, length)
}

// TestSwappedManifestsAreNoticed puts the manifest of each shard of a snapshot
// into the place of each other one: whole files, with right checksums, which do
// not say whose they are.
func TestSwappedManifestsAreNoticed(t *testing.T) {
	swaps, refused := 0, 0
	for _, r := range repositories(t) {
		v := newVictim(t, r)
		if v == nil {
			continue
		}
		byName := map[string][]string{} // file name → keys
		for _, key := range v.keys {
			if base := path.Base(key); strings.Count(key, "/") >= 3 && strings.HasPrefix(base, "snap") {
				byName[base] = append(byName[base], key)
			}
		}
		for _, keys := range byName {
			for i, key := range keys {
				for j := range min(len(keys), 8) {
					other := keys[(i+j+1)%len(keys)]
					m := mutation{key: key, data: v.blobs[other], blobs: maps.Clone(memory.Bucket(v.blobs))}
					m.blobs[key] = m.data
					got := read(t.Context(), m.blobs)
					if err := v.judge(got); err != nil {
						t.Errorf("%s: %s in the place of %s: %v", r.name, other, key, err)
					}
					swaps++
					if got.err != nil {
						refused++
					}
				}
			}
		}
	}
	if refused < swaps/10 {
		t.Errorf("of %d swaps only %d were refused", swaps, refused)
	}
	t.Logf("%d swaps, %d refused, the others gave the right documents", swaps, refused)
}
