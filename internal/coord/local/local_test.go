package local_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"
	"go.uber.org/goleak"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/coord/coordtest"
	"github.com/reshelve/reshelve/internal/coord/local"
	"github.com/reshelve/reshelve/internal/fault"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerEnv); dir != "" {
		writeForever(dir)
	}
	goleak.VerifyTestMain(m)
}

func opened(t *testing.T, dir string) *local.Store {
	t.Helper()
	s, err := local.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestTheContract(t *testing.T) {
	dirs := map[coord.Store]string{}
	coordtest.Run(t, coordtest.Case{
		Open: func(t *testing.T) coord.Store {
			dir := t.TempDir()
			s := opened(t, dir)
			dirs[s] = dir
			return s
		},
		Reopen: func(t *testing.T, old coord.Store) coord.Store {
			if err := old.Close(); err != nil {
				t.Fatal(err)
			}
			s := opened(t, dirs[old])
			dirs[s] = dirs[old]
			return s
		},
	})
}

func TestAFolderHasOneOwner(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "by Open")
	first := opened(t, dir)
	revision, err := first.Create(t.Context(), "a", []byte("v"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = local.Open(t.Context(), dir)
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), filepath.Join(dir, "coord.db")) || fault.Next(err) == "" {
		t.Errorf("the second owner: %v; next: %s", err, fault.Next(err))
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	record, err := opened(t, dir).Get(t.Context(), "a")
	if err != nil || record.Revision != revision {
		t.Errorf("after the first: %v, %v", record, err)
	}
}

func TestAWatchFromBeforeARestartListsAgain(t *testing.T) {
	dir := t.TempDir()
	first := opened(t, dir)
	revision, err := first.Create(t.Context(), "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	again := opened(t, dir)
	for _, err := range again.Watch(t.Context(), "", revision-1) {
		if !fault.Is(err, fault.Stale) || fault.Next(err) == "" {
			t.Errorf("from before: %v", err)
		}
	}
	if _, err := again.Create(t.Context(), "b", nil); err != nil {
		t.Fatal(err)
	}
	for event, err := range again.Watch(t.Context(), "", revision) {
		if err != nil || event.Key != "b" {
			t.Errorf("from the last change: %v, %v", event, err)
		}
		break
	}
}

func TestALateWatchIsToldSo(t *testing.T) {
	s, err := local.OpenRemembering(t.Context(), t.TempDir(), 10)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range 11 {
		if _, err := s.Create(t.Context(), strings.Repeat("k", i+1), nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range s.Watch(t.Context(), "", 0) {
		if !fault.Is(err, fault.Stale) {
			t.Errorf("11 changes behind, with a memory of 10: %v", err)
		}
		break
	}
	n := 0
	for _, err := range s.Watch(t.Context(), "", 1) {
		if err != nil {
			t.Errorf("10 changes behind: %v", err)
		}
		if n++; n == 10 {
			break
		}
	}
}

func TestTimeGoesOnBehindTheLastWrite(t *testing.T) {
	dir := t.TempDir()
	opened(t, dir).Close()
	ahead := local.SetTimeAhead(t, dir)
	s := opened(t, dir)
	now, err := s.Now(t.Context())
	if err != nil || now.At.Before(ahead) || now.Ahead <= 0 {
		t.Errorf("%v ± %v (%v) after a write at %v", now.At, now.Ahead, err, ahead)
	}
}

func TestAnUnknownFormatIsRefused(t *testing.T) {
	own, records, format := []byte("reshelve"), []byte("records"), []byte("format")
	for name, c := range map[string]struct {
		change func(tx *bolt.Tx) error
		kind   fault.Kind
	}{
		"a later one": {func(tx *bolt.Tx) error { return tx.Bucket(own).Put(format, local.EncodeFormat(2)) }, fault.Refused},
		"none":        {func(tx *bolt.Tx) error { return tx.Bucket(own).Delete(format) }, fault.Corrupt},
		"of others":   {func(tx *bolt.Tx) error { return errors.Join(tx.DeleteBucket(own), tx.DeleteBucket(records)) }, fault.Refused},
		"no head":     {func(tx *bolt.Tx) error { return tx.DeleteBucket(own) }, fault.Corrupt},
		"no records":  {func(tx *bolt.Tx) error { return tx.DeleteBucket(records) }, fault.Corrupt},
	} {
		dir := t.TempDir()
		opened(t, dir).Close()
		local.Edit(t, dir, c.change)
		if _, err := local.Open(t.Context(), dir); !fault.Is(err, c.kind) || fault.Next(err) == "" {
			t.Errorf("%s: %v (%v), want %v", name, err, fault.KindOf(err), c.kind)
		}
	}
}

func TestACallerWhoLeavesTakesItsValueAlong(t *testing.T) {
	s := opened(t, t.TempDir())
	for range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		value := []byte("aaaaaaaa")
		left := make(chan struct{})
		go func() {
			defer close(left)
			_, _ = s.Create(ctx, "k", value)
			copy(value, "bbbbbbbb")
		}()
		cancel()
		<-left
		record, err := s.Get(t.Context(), "k")
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil || string(record.Value) != "aaaaaaaa" {
			t.Fatalf("%q, %v", record.Value, err)
		}
		if err := s.Delete(t.Context(), "k", record.Revision); err != nil {
			t.Fatal(err)
		}
	}
}
