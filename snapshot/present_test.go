package snapshot

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
)

// swapping is a bucket whose blobs are replaced between two calls, at those with the given numbers, by the next state.
type swapping struct {
	states []*mapBucket
	at     []int

	mu    sync.Mutex
	calls int
}

func (b *swapping) now() *mapBucket {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.at) > 0 && b.calls >= b.at[0] {
		b.at, b.states = b.at[1:], b.states[1:]
	}
	b.calls++
	return b.states[0]
}

func (b *swapping) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	return b.now().Open(ctx, key, offset, length)
}

func (b *swapping) Size(ctx context.Context, key string) (int64, error) {
	return b.now().Size(ctx, key)
}

func (b *swapping) List(ctx context.Context, prefix string) ([]Entry, error) {
	return b.now().List(ctx, prefix)
}

// written is a repository of one index at one generation, which is that of the files that are replaced: the root file and
// the shards' indices. Since 7.6 (named) the root file names those.
func written(generation int, named bool, snapshots ...string) *mapBucket {
	old := newMiniature()
	m := miniature{"indices/I/meta-M.dat": old["indices/I/meta-M.dat"], "indices/I/1/__x": "0123456789"}
	var entries, uuids, first, second []string
	for _, name := range snapshots {
		uuid := strings.ToUpper(name)
		called := strings.NewReplacer(`"s"`, strconv.Quote(name), `"S"`, strconv.Quote(uuid))
		entries = append(entries, called.Replace(`{"name":"s","uuid":"S","state":1,"version":"7.10.2","index_metadata_lookup":{"I":"U-_na_-1-1-1"}}`))
		uuids = append(uuids, strconv.Quote(uuid))
		first = append(first, strconv.Quote(name)+`:{"files":["v__c"]}`)
		second = append(second, strconv.Quote(name)+`:{"files":["v__c","__x"]}`)
		for from, to := range map[string]string{"snap-S.dat": "snap-" + uuid + ".dat", "meta-S.dat": "meta-" + uuid + ".dat",
			"indices/I/0/snap-S.dat": "indices/I/0/snap-" + uuid + ".dat", "indices/I/1/snap-S.dat": "indices/I/1/snap-" + uuid + ".dat"} {
			m[to] = strings.Replace(called.Replace(old[from]), `"length":25,"checksum":"abc","part_size":10`, `"length":10,"checksum":"abc","part_size":10`, 1)
		}
	}
	list := func(all []string) string { return strings.Join(all, ",") }
	shard, generations := strconv.Itoa(generation), ""
	if named {
		shard = "g" + shard
		generations = fmt.Sprintf(`,"shard_generations":[%q,%q]`, shard, shard)
	}
	m["index-"+strconv.Itoa(generation)] = `{"min_version":"7.9.0","snapshots":[` + list(entries) + `],"indices":{"books":{"id":"I","snapshots":[` +
		list(uuids) + `]` + generations + `}},"index_metadata_identifiers":{"U-_na_-1-1-1":"M"}}`
	m["index.latest"] = string(binary.BigEndian.AppendUint64(nil, uint64(generation)))
	m["indices/I/0/index-"+shard] = `{"files":[],"snapshots":{` + list(first) + `}}`
	m["indices/I/1/index-"+shard] = `{"files":[],"snapshots":{` + list(second) + `}}`
	return m.build()
}

// readOnce opens the repository, reads all of snapshot s, as documents and as verify do, and returns what is wrong.
func readOnce(t *testing.T, b Bucket) error {
	ctx := t.Context()
	r, err := Open(ctx, b)
	if err != nil {
		return err
	}
	if _, err := r.All(ctx); err != nil {
		return err
	}
	s, err := r.Find(ctx, "s")
	if err != nil {
		return err
	}
	i, err := s.Index(ctx, "books")
	for n := 0; err == nil && n < i.Shards; n++ {
		var sh *Shard
		if sh, err = i.Shard(ctx, n); err == nil {
			err = sh.compareIndex(ctx, "its manifest")
		}
		if f := sh.fileOf("_0.fdt"); err == nil && f != nil {
			var stream io.ReadCloser
			if stream, err = sh.Open(ctx, f.Name, 0, f.Length); err == nil {
				_, err = io.ReadAll(stream)
				stream.Close()
			}
		}
	}
	return err
}

func (sh *Shard) fileOf(name string) *File {
	if sh == nil {
		return nil
	}
	return sh.byName[name]
}

// TestARepositoryThatIsWrittenTo swaps the repository between two calls of a reader, at each one and with a second swap
// after it: a later snapshot takes nothing from the one that is read, and one that is deleted is told to be so.
func TestARepositoryThatIsWrittenTo(t *testing.T) {
	for _, layout := range []struct {
		name            string
		named, unlisted bool
	}{{"since 7.6", true, false}, {"before 7.6", false, false}, {"since 7.6, without listings", true, true}} {
		states := func(of ...*mapBucket) []*mapBucket {
			for _, state := range of {
				state.unlisted = layout.unlisted
			}
			return of
		}
		one := written(3, layout.named, "s")
		whole := &swapping{states: states(one)}
		if err := readOnce(t, whole); err != nil {
			t.Fatalf("%s: %v", layout.name, err)
		}
		for first := range whole.calls + 1 {
			for second := first; second <= whole.calls+8; second++ {
				at := []int{first, second}
				b := &swapping{at: slices.Clone(at), states: states(one, written(4, layout.named, "s", "t"), written(5, layout.named, "s", "t", "u"))}
				if err := readOnce(t, b); err != nil {
					t.Fatalf("%s: later snapshots at calls %d: %v", layout.name, at, err)
				}
				b = &swapping{at: slices.Clone(at), states: states(one, written(4, layout.named, "s", "t"), written(5, layout.named, "t"))}
				if err := readOnce(t, b); err != nil && !errors.Is(err, errDeleted) && !fault.Is(err, fault.NotFound) {
					t.Fatalf("%s: deleted at calls %d: %v", layout.name, at, err)
				}
			}
		}
	}
}

// TestDamageOfARepositoryThatIsWrittenTo: what the present root file names and is not there is damage as before.
func TestDamageOfARepositoryThatIsWrittenTo(t *testing.T) {
	for _, lost := range []string{"indices/I/0/index-g4", "indices/I/1/index-g4", "indices/I/1/snap-S.dat", "indices/I/1/__x", "indices/I/meta-M.dat", "snap-S.dat"} {
		one, two := written(3, true, "s"), written(4, true, "s", "t")
		delete(one.blobs, strings.Replace(lost, "g4", "g3", 1))
		delete(two.blobs, lost)
		whole := &swapping{states: []*mapBucket{two}}
		if err := readOnce(t, whole); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%s: %v", lost, err)
		}
		for at := range whole.calls + 8 {
			b := &swapping{at: []int{at}, states: []*mapBucket{one, two}}
			if err := readOnce(t, b); !fault.Is(err, fault.Corrupt) {
				t.Errorf("%s, at call %d: %v", lost, at, err)
			}
		}
	}
}

// TestARepositoryThatGoesAway between the manifest of a shard and what is compared with it, as a folder does of which the
// mount is lost: that is damage, and never a shard that the snapshot does not hold, which whoever takes what there is passes over.
func TestARepositoryThatGoesAway(t *testing.T) {
	for _, named := range []bool{true, false} {
		open := func(b *swapping) *Index {
			r, err := Open(t.Context(), b)
			if err != nil {
				t.Fatal(err)
			}
			s, err := r.Find(t.Context(), "s")
			if err != nil {
				t.Fatal(err)
			}
			i, err := s.Index(t.Context(), "books")
			if err != nil {
				t.Fatal(err)
			}
			return i
		}
		for n := range 2 {
			whole := &swapping{states: []*mapBucket{written(3, named, "s")}}
			i := open(whole)
			before := whole.calls
			if _, err := i.Shard(t.Context(), n); err != nil {
				t.Fatal(err)
			}
			for at := before; at < whole.calls; at++ {
				b := &swapping{at: []int{at}, states: []*mapBucket{written(3, named, "s"), {}}}
				if _, err := open(b).Shard(t.Context(), n); fault.Is(err, fault.NotFound) {
					t.Errorf("named %v, shard %d, gone at call %d of %d: %v", named, n, at, whole.calls, err)
				}
			}
		}
	}
}
