package local

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
)

// TestNobodyIsShownWhatIsNotSynced makes a transaction that the writer has not seen
// end, as if its sync took long and then failed.
func TestNobodyIsShownWhatIsNotSynced(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Create(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	err = s.db.Update(func(tx *bolt.Tx) error {
		_, err := s.fill(tx, []*request{{Write: coord.Write{Op: coord.OpCreate, Key: "b"}, ctx: t.Context(), packed: pack(nil)}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := s.Get(ctx, "b"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("during the sync, a reader gets %v", err)
	}

	waits := make(chan error)
	go func() {
		_, err := s.Get(t.Context(), "a")
		waits <- err
	}()
	_ = s.judge(s.explain(errors.New("sync: input/output error")))
	_, get := s.Get(t.Context(), "a")
	_, create := s.Create(t.Context(), "c", nil)
	for name, err := range map[string]error{"who waited": <-waits, "who reads": get, "who writes": create} {
		if !fault.Is(err, fault.Unavailable) || fault.Next(err) == "" || !strings.Contains(err.Error(), "input/output") {
			t.Errorf("after the sync failed, %s gets %v", name, err)
		}
	}
}

// TestAFailedWriteThatShowsNothingIsForgotten: reads and writes go on.
func TestAFailedWriteThatShowsNothingIsForgotten(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_ = s.judge(s.explain(errors.New("no space")))
	if _, err := s.Create(t.Context(), "a", nil); err != nil {
		t.Error(err)
	}
	_ = s.judge(damaged(s.path, errors.New("a page is damaged")))
	if _, err := s.Create(t.Context(), "b", nil); !fault.Is(err, fault.Corrupt) {
		t.Errorf("a write to a damaged file: %v", err)
	}
	if _, err := s.Get(t.Context(), "a"); err != nil {
		t.Errorf("reads go on: %v", err)
	}
}

// TestTheOthersDoNotSufferForOne: of requests in one transaction only that fails for
// which there is no space.
func TestTheOthersDoNotSufferForOne(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.db.MaxSize = 256 << 10
	creation := func(key string, size int) *request {
		w := coord.Write{Op: coord.OpCreate, Key: key}
		return &request{Write: w, ctx: t.Context(), packed: pack(make([]byte, size))}
	}
	batch := []*request{creation("a", 10), creation("large", 1<<20), creation("b", 10), creation("a", 10)}
	s.commit(batch)
	for i, kind := range []fault.Kind{-1, fault.Unavailable, -1, fault.Conflict} {
		if r := batch[i]; kind < 0 && (r.err != nil || r.revision == 0) || kind >= 0 && !fault.Is(r.err, kind) {
			t.Errorf("request %d: revision %d, %v", i, r.revision, r.err)
		}
	}
	if listed, err := s.List(t.Context(), ""); err != nil || len(listed) != 2 {
		t.Errorf("there are %d records (%v), want a and b", len(listed), err)
	}
}

// TestAMissingOrOldRecordIsDamage: what a page has that was not written when it
// should have been.
func TestAMissingOrOldRecordIsDamage(t *testing.T) {
	for name, change := range map[string]func(records *bolt.Bucket, old []byte) error{
		"missing": func(records *bolt.Bucket, _ []byte) error { return records.Delete([]byte("a")) },
		"old":     func(records *bolt.Bucket, old []byte) error { return records.Put([]byte("a"), old) },
		"newer than all": func(records *bolt.Bucket, _ []byte) error {
			packed := pack(nil)
			stamp(packed, "a", 100)
			return records.Put([]byte("a"), packed)
		},
	} {
		dir := t.TempDir()
		s, err := Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		first, err := s.Create(t.Context(), "a", []byte("one"))
		if err != nil {
			t.Fatal(err)
		}
		old := pack([]byte("one"))
		stamp(old, "a", first)
		if _, err := s.Swap(t.Context(), "a", first, []byte("two")); err != nil {
			t.Fatal(err)
		}
		s.Close()
		Edit(t, dir, func(tx *bolt.Tx) error { return change(tx.Bucket(recordsBucket), old) })
		if s, err := Open(t.Context(), dir); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%s: %v", name, err)
			s.Close()
		}
	}
}

// seedFile is a small file with branches, values over several pages and buckets.
func seedFile(f *testing.F, pageSize int) []byte {
	path := filepath.Join(f.TempDir(), fileName)
	o := options(false)
	o.PageSize = pageSize
	db, err := bolt.Open(path, 0o600, o)
	if err != nil {
		f.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		own, _ := tx.CreateBucket(ownBucket)
		records, _ := tx.CreateBucket(recordsBucket)
		for i := range 24 {
			key := strings.Repeat("k", i+1)
			packed := pack(make([]byte, i*i))
			stamp(packed, key, int64(i+1))
			if err := records.Put([]byte(key), packed); err != nil {
				return err
			}
		}
		return own.Put(headKey, head{revision: 40}.encode())
	})
	if err = errors.Join(err, db.Close()); err != nil {
		f.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	return file
}

// FuzzCheckPages: any file is right or fault.Corrupt. The input changes bytes of a
// right one: two bytes say where, one what is added.
func FuzzCheckPages(f *testing.F) {
	const pageSize = 512
	whole := seedFile(f, pageSize)
	for root := range 12 {
		f.Add([]byte{}, uint64(root))
	}
	f.Fuzz(func(t *testing.T, changes []byte, root uint64) {
		file := bytes.Clone(whole)
		for ; len(changes) >= 3; changes = changes[3:] {
			file[int(binary.BigEndian.Uint16(changes))%len(file)] += changes[2]
		}
		err := checkPages(bytes.NewReader(file), pageSize, int64(len(file)), root)
		if err != nil && !fault.Is(err, fault.Corrupt) {
			t.Errorf("%v", err)
		}
	})
}

// FuzzUnpack: a stored value is a record or fault.Corrupt, and a record is stored as
// it was.
func FuzzUnpack(f *testing.F) {
	packed := pack([]byte("value"))
	stamp(packed, "key", 7)
	f.Add("key", packed)
	f.Add("", []byte{})
	f.Add("key", head{revision: 1}.encode())
	f.Fuzz(func(t *testing.T, key string, data []byte) {
		value, revision, err := unpack(key, data)
		if err != nil && !fault.Is(err, fault.Corrupt) {
			t.Errorf("%v", err)
		}
		if err == nil && data != nil {
			again := pack(value)
			if stamp(again, key, revision); !bytes.Equal(again, data) {
				t.Errorf("%x became %x", data, again)
			}
		}
		if h, err := decodeHead(data); err == nil && !bytes.Equal(h.encode(), data) {
			t.Errorf("head %x became %x", data, h.encode())
		}
	})
}
