package snapshot

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
)

// readAllOf reads everything that this part of the package reads.
func readAllOf(b Bucket) error {
	ctx := context.Background()
	r, err := Open(ctx, b)
	if err != nil {
		return err
	}
	all, err := r.All(ctx)
	if err != nil {
		return err
	}
	for _, s := range all {
		if err := s.Complete(); err != nil {
			return err
		}
		if _, err := s.Global(ctx); err != nil {
			return err
		}
		for _, name := range s.Indices {
			i, err := s.Index(ctx, name)
			if err != nil {
				return err
			}
			for n := range i.Shards {
				sh, err := i.Shard(ctx, n)
				if err == nil {
					_, err = sh.CommitFile()
				}
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func TestTheMiniatureIsSound(t *testing.T) {
	if err := readAllOf(newMiniature().build()); err != nil {
		t.Fatal(err)
	}
}

// What one file says of another is compared; what cannot be read is refused; and
// each error names the place and what is wrong there.
func TestWhatIsWrongIsNamed(t *testing.T) {
	const (
		root, snap, meta = "index-3", "snap-S.dat", "indices/I/meta-M.dat"
		shard0, shard1   = "indices/I/0/snap-S.dat", "indices/I/1/snap-S.dat"
	)
	type edit struct{ key, from, to string }
	for _, tc := range []struct {
		name string
		edit edit
		kind fault.Kind
		says string
	}{
		{"root: another name", edit{root, `"name":"s"`, `"name":"t"`}, fault.Corrupt, `snap-S.dat: is of snapshot "s"; the root file says "t"`},
		{"root: another uuid", edit{root, `"uuid":"S"`, `"uuid":"T"`}, fault.Corrupt, `index "books" belongs to snapshot S, which is not listed`},
		{"snap: another uuid", edit{snap, `"uuid":"S"`, `"uuid":"T"`}, fault.Corrupt, "snap-S.dat: is of the snapshot with UUID T; the root file says S"},
		{"root: another state", edit{root, `"state":1`, `"state":3`}, fault.Corrupt, "has the state SUCCESS; the root file says PARTIAL"},
		{"root: unknown state", edit{root, `"state":1`, `"state":7`}, fault.Corrupt, "unknown state 7"},
		{"snap: unknown state", edit{snap, `"SUCCESS"`, `"FINE"`}, fault.Corrupt, `the state "FINE" is unknown`},
		{"snap: another index", edit{snap, `["books"]`, `["reels"]`}, fault.Corrupt, `lists index "reels"; the root file does not say so`},
		{"snap: an index less", edit{snap, `["books"]`, `[]`}, fault.Corrupt, `does not list index "books"`},
		{"snap: an index twice", edit{snap, `["books"]`, `["books","books"]`}, fault.Corrupt, "twice"},
		{"snap: impossible count", edit{snap, `"successful_shards":2`, `"successful_shards":3`}, fault.Corrupt, "3 successful shards of 2"},
		{"snap: wrong type", edit{snap, `["books"]`, `"books"`}, fault.Corrupt, "snap-S.dat: cannot be understood"},
		{"snap: other root key", edit{snap, `"snapshot"`, `"shapshot"`}, fault.Corrupt, `has no key "snapshot"`},
		{"snap: a failure", edit{snap, `"failures":[]`, `"failures":[{"index":"books","shard_id":1,"reason":"no room"}]`}, fault.Refused, "missing: books/1 (no room)"},
		{"global: other root key", edit{"meta-S.dat", `meta-data`, `beta-data`}, fault.Corrupt, `meta-S.dat: has no key "meta-data"`},
		{"root: an id twice", edit{root, `"indices":{`, `"indices":{"reels":{"id":"I","snapshots":["S"]},`}, fault.Corrupt, "have the same id I"},
		{"root: hostile id", edit{root, `"id":"I"`, `"id":"../../etc"`}, fault.Corrupt, "cannot be part of a path"},
		{"root: hostile uuid", edit{root, `"uuid":"S"`, `"uuid":".."`}, fault.Corrupt, "cannot be part of a path"},
		{"root: hostile blob", edit{root, `"M"`, `"x/../../y"`}, fault.Corrupt, "cannot be part of a path"},
		{"root: no such identifier", edit{root, `:{"U-_na_-1-1-1":"M"}`, `:{}`}, fault.Corrupt, "which index_metadata_identifiers lacks"},
		{"root: another index's identifier", edit{meta, `"index.uuid":"U"`, `"index.uuid":"V"`}, fault.Corrupt, "is of the index with UUID V"},
		{"root: unknown path type", edit{root, `"id":"I"`, `"id":"I","shard_path_type":9`}, fault.Refused, "paths of type 9"},
		{"root: newer and different", edit{root, `"min_version":"7.9.0","snapshots":[`, `"min_version":"12.1.0","snapshots":{},"was":[`}, fault.Refused, "asks for version 12.1.0"},
		{"meta: another name", edit{meta, `"books"`, `"reels"`}, fault.Corrupt, `does not hold the metadata of index "books" alone`},
		{"meta: no shards", edit{meta, `"2"`, `"0"`}, fault.Corrupt, "index.number_of_shards"},
		{"meta: endless shards", edit{meta, `"2"`, `"2000000000"`}, fault.Corrupt, "index.number_of_shards"},
		{"meta: no version", edit{meta, `"7100299"`, `""`}, fault.Corrupt, "index.version.created"},
		{"meta: mounted", edit{meta, `"index.uuid"`, `"index.store.type":"snapshot","index.store.snapshot.snapshot_name":"old","index.store.snapshot.repository_name":"cold","index.uuid"`}, fault.Refused, `snapshot "old" of repository "cold"`},
		{"meta: mounted by OpenSearch", edit{meta, `"index.uuid"`, `"index.store.type":"remote_snapshot","index.searchable_snapshot.snapshot_id.name":"old","index.searchable_snapshot.repository":"cold","index.uuid"`}, fault.Refused, `snapshot "old" of repository "cold"`},
		{"meta: split in place", edit{meta, `"aliases"`, `"split_shards_metadata":{"active_shard_ids":[0,2]},"aliases"`}, fault.Refused, "split in place and have the numbers [0 2]"},
		{"snap: shallow, second kind", edit{snap, `"failures"`, `"pinned_timestamp":1700000000000,"failures"`}, fault.Refused, "shallow snapshot"},
		{"shard: another snapshot", edit{shard0, `"name":"s"`, `"name":"t"`}, fault.Corrupt, `is of snapshot "t", expected "s"`},
		{"shard: hostile file", edit{shard1, `"_0.fdt"`, `"../_0.fdt"`}, fault.Corrupt, "cannot be part of a path"},
		{"shard: hostile blob", edit{shard1, `"__x"`, `"a/b"`}, fault.Corrupt, "cannot be part of a path"},
		{"shard: a file twice", edit{shard1, `"_0.fdt"`, `"segments_1"`}, fault.Corrupt, "listed twice"},
		{"shard: negative length", edit{shard1, `"length":25`, `"length":-25`}, fault.Corrupt, "negative"},
		{"shard: no length", edit{shard1, `"length":25,`, ``}, fault.Corrupt, "has no length"},
		{"shard: no part size", edit{shard1, `"part_size":10`, `"part_size":0`}, fault.Corrupt, "in parts of 0"},
		{"shard: endless parts", edit{shard1, `"length":25`, `"length":25000000000`}, fault.Corrupt, "in parts of 10"},
		{"shard: no checksum", edit{shard1, `"abc"`, `"a-c"`}, fault.Corrupt, "no CRC-32 in base 36"},
		{"shard: too long a checksum", edit{shard1, `"abc"`, `"zzzzzzz"`}, fault.Corrupt, "no CRC-32 in base 36"},
		{"shard: checksum and content differ", edit{shard0, `"checksum":"`, `"checksum":"0","old":"`}, fault.Corrupt, "its content in the manifest says"},
		{"shard: length and content differ", edit{shard0, `"length":24`, `"length":25`}, fault.Corrupt, "the manifest that holds it has 24"},
		{"shard: no commit", edit{shard0, `segments_1`, `segmentsX1`}, fault.Corrupt, "lists no commit"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			expect(t, newMiniature().edit(t, tc.edit.key, tc.edit.from, tc.edit.to).build(), tc.kind, tc.says)
		})
	}
}

func expect(t *testing.T, b *mapBucket, kind fault.Kind, says string) {
	t.Helper()
	err := readAllOf(b)
	if !fault.Is(err, kind) {
		t.Fatalf("kind %v, want %v: %v", fault.KindOf(err), kind, err)
	}
	if !strings.Contains(err.Error(), says) {
		t.Errorf("got  %v\nwant …%s…", err, says)
	}
	if kind == fault.Refused && fault.Next(err) == "" {
		t.Error("a refusal without a next action")
	}
}

func TestAFileThatAnotherNamesIsMissing(t *testing.T) {
	for key, says := range map[string]string{
		"index-3":                `index.latest names generation 3, but index-3 is missing`,
		"snap-S.dat":             `the root file (generation 3) names snapshot "s", but snap-S.dat is missing`,
		"meta-S.dat":             `includes the global state, but meta-S.dat is missing`,
		"indices/I/meta-M.dat":   `holds index "books", but indices/I/meta-M.dat is missing`,
		"indices/I/0/snap-S.dat": `holds shard 0 of index "books", but indices/I/0/snap-S.dat is missing`,
	} {
		t.Run(key, func(t *testing.T) {
			b := newMiniature().without(key).build()
			expect(t, b, fault.Corrupt, says)
			if fault.Next(readAllOf(b)) == "" {
				t.Error("no next action")
			}
		})
	}
}

func TestAShardThatLiesElsewhereIsRefused(t *testing.T) {
	b := newMiniature().without("indices/I/1/snap-S.dat").build()
	b.blobs["indices/I/1/shallow-snap-S.dat"] = wrap(codecSnapshot, []byte(`{"name":"s"}`))
	expect(t, b, fault.Refused, "remote segment store")
}

func TestAnEncryptedRepositoryIsRefusedAndADamagedOneIsNot(t *testing.T) {
	noise := make([]byte, 2000)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	for _, key := range []string{"index-3", "snap-S.dat", "indices/I/meta-M.dat", "indices/I/1/snap-S.dat"} {
		b := newMiniature().build()
		b.blobs[key] = noise
		expect(t, b, fault.Refused, key+": its bytes look random")
		b.blobs[key] = make([]byte, 2000)
		expect(t, b, fault.Corrupt, key+": ")
	}
}

func TestDamageToAMetadataFileIsCorrupt(t *testing.T) {
	for _, key := range []string{"index.latest", "snap-S.dat", "meta-S.dat", "indices/I/meta-M.dat", "indices/I/0/snap-S.dat"} {
		whole := newMiniature().build().blobs[key]
		for at := range whole {
			b := newMiniature().build()
			b.blobs[key] = append(bytes.Clone(whole[:at]), append([]byte{whole[at] ^ 0x10}, whole[at+1:]...)...)
			if err := readAllOf(b); !fault.Is(err, fault.Corrupt) {
				t.Fatalf("%s: byte %d flipped: %v", key, at, err)
			}
			b.blobs[key] = whole[:at]
			if err := readAllOf(b); !fault.Is(err, fault.Corrupt) {
				t.Fatalf("%s: cut to %d bytes: %v", key, at, err)
			}
		}
	}
}

func TestAnIncompleteSnapshotIsReadShardByShard(t *testing.T) {
	ctx := context.Background()
	m := newMiniature().without("indices/I/1/snap-S.dat")
	m.edit(t, "index-3", `"state":1`, `"state":3`)
	m.edit(t, "snap-S.dat", `"SUCCESS"`, `"PARTIAL"`).edit(t, "snap-S.dat", `"successful_shards":2`, `"successful_shards":1`)
	m.edit(t, "snap-S.dat", `"failures":[]`, `"failures":[{"index":"books","shard_id":1,"reason":"primary shard is not allocated"}]`)
	b := m.build()
	expect(t, b, fault.Refused, `snapshot "s" is not complete: state PARTIAL, 1 of 2 shards; missing: books/1 (primary shard is not allocated)`)
	if next := fault.Next(readAllOf(b)); !strings.Contains(next, "--allow-partial") {
		t.Errorf("next action: %s", next)
	}
	r, _ := Open(ctx, b)
	if _, err := r.Find(ctx, ""); !fault.Is(err, fault.NotFound) {
		t.Errorf("the newest successful one: %v", err)
	}
	s, err := r.Find(ctx, "s")
	if err != nil {
		t.Fatal(err)
	}
	i, err := s.Index(ctx, "books")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := i.Shard(ctx, 0); err != nil {
		t.Error(err)
	}
	if _, err := i.Shard(ctx, 1); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "not allocated") {
		t.Errorf("the missing shard: %v", err)
	}
}

func TestOneDamagedSnapshotHidesNoOther(t *testing.T) {
	ctx := context.Background()
	m := newMiniature()
	m.edit(t, "index-3", `"snapshots":[`, `"snapshots":[{"name":"lost","uuid":"L","state":1},{"name":"torn","uuid":"T","state":1},`)
	b := m.build()
	b.blobs["snap-T.dat"] = []byte("torn")
	r, err := Open(ctx, b)
	if err != nil {
		t.Fatal(err)
	}
	all, err := r.All(ctx)
	if len(all) != 1 || all[0].Name != "s" {
		t.Errorf("%d snapshots", len(all))
	}
	if !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "2 of 3 snapshots") || !strings.Contains(err.Error(), "snap-L.dat") || !strings.Contains(err.Error(), "snap-T.dat") {
		t.Errorf("%v: %v", fault.KindOf(err), err)
	}
	if s, err := r.Find(ctx, "s"); err != nil || s.Name != "s" {
		t.Error(err)
	}
	if _, err := r.Find(ctx, ""); !fault.Is(err, fault.Corrupt) {
		t.Errorf("which is the newest cannot be told: %v", err)
	}
}

func TestNamesThatAreNotThere(t *testing.T) {
	ctx := context.Background()
	r, err := Open(ctx, newMiniature().build())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Find(ctx, "nope"); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "holds s") {
		t.Error(err)
	}
	s, err := r.Find(ctx, "S")
	if err != nil {
		t.Fatal("by UUID:", err)
	}
	if _, err := s.Index(ctx, "nope"); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "holds books") {
		t.Error(err)
	}
	i, err := s.Index(ctx, "books")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := i.Shard(ctx, 2); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
}
