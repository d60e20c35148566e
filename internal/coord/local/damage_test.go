package local_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/coord/local"
	"github.com/reshelve/reshelve/internal/fault"
)

// fill makes a store with some hundred records, pages that branch and values that
// span pages, and returns its file, what Get must answer, and its revision.
func fill(t *testing.T, dir string) (file []byte, want map[string]coord.Record, revision int64) {
	t.Helper()
	s := opened(t, dir)
	want = map[string]coord.Record{}
	for i := range 400 {
		key := fmt.Sprintf("index/%d/%s", i%300, strings.Repeat("n", i%50))
		value := bytes.Repeat([]byte{byte(i)}, (i%7)*(i%11)*(i%13)*20)
		record, err := coord.Update(t.Context(), s, key, func([]byte) ([]byte, error) { return append([]byte{}, value...), nil })
		if err != nil {
			t.Fatal(err)
		}
		if want[key] = record; i%5 == 0 {
			if err := s.Delete(t.Context(), key, record.Revision); err != nil {
				t.Fatal(err)
			}
			delete(want, key)
		}
	}
	revision, err := s.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if file, err = os.ReadFile(filepath.Join(dir, "coord.db")); err != nil {
		t.Fatal(err)
	}
	return file, want, revision
}

// try opens a folder, reads everything and writes a little. It returns the first
// error, and complains about an answer that is neither right nor an error.
func try(t *testing.T, dir string, want map[string]coord.Record) error {
	t.Helper()
	s, err := local.Open(t.Context(), dir)
	if err != nil {
		return err
	}
	defer s.Close()
	listed, err := s.List(t.Context(), "")
	if err != nil {
		return err
	}
	if len(listed) != len(want) {
		t.Errorf("%d records are listed, want %d", len(listed), len(want))
	}
	for key, record := range want {
		got, err := s.Get(t.Context(), key)
		if err != nil {
			return err
		}
		if got.Revision != record.Revision || !bytes.Equal(got.Value, record.Value) {
			t.Errorf("%s is of revision %d, want %d", key, got.Revision, record.Revision)
		}
	}
	_, err = s.Create(t.Context(), "one more", nil)
	return err
}

func damage(t *testing.T, file []byte) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "coord.db"), file, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func corrupt(t *testing.T, what string, err error) {
	t.Helper()
	if !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "coord.db") || fault.Next(err) == "" {
		t.Errorf("%s: %v (%v; next: %q)", what, err, fault.KindOf(err), fault.Next(err))
	}
}

func TestATornFileIsDamaged(t *testing.T) {
	file, want, _ := fill(t, t.TempDir())
	if err := try(t, damage(t, file), want); err != nil {
		t.Fatalf("whole: %v", err)
	}
	page := os.Getpagesize()
	for _, length := range []int{0, 1, 79, 4095, 4096, page + 1, 2 * page, 3 * page, 4*page + 100, len(file) / 4} {
		corrupt(t, fmt.Sprintf("cut to %d bytes", length), try(t, damage(t, file[:length]), want))
	}
	zeros := make([]byte, len(file))
	corrupt(t, "zeros", try(t, damage(t, zeros), want))
	corrupt(t, "text", try(t, damage(t, bytes.Repeat([]byte("no database\n"), 4096)), want))
	for name, hole := range map[string][2]int{"both meta pages": {0, 2 * page}, "all but them": {2 * page, len(file)}} {
		torn := bytes.Clone(file)
		clear(torn[hole[0]:hole[1]])
		corrupt(t, name, try(t, damage(t, torn), want))
	}
}

// TestAFlippedByteIsFound changes one byte anywhere: what is answered is right, or
// an error that says that the file is damaged.
func TestAFlippedByteIsFound(t *testing.T) {
	file, want, _ := fill(t, t.TempDir())
	trials := 1000
	if testing.Short() {
		trials = 300
	}
	random := rand.New(rand.NewPCG(4, 4))
	page, found := os.Getpagesize(), 0
	for range trials {
		at := 2*page + random.IntN(len(file)-2*page)
		if random.IntN(2) == 0 { // where pages have their headers and elements
			at = at/page*page + random.IntN(200)
		}
		was := file[at]
		file[at] ^= byte(1 + random.IntN(255))
		if err := try(t, damage(t, file), want); err != nil {
			corrupt(t, fmt.Sprintf("byte %d", at), err)
			found++
		}
		if t.Failed() {
			t.Fatalf("byte %d of %d, %#x made %#x", at, len(file), was, file[at])
		}
		file[at] = was
	}
	t.Logf("%d of %d changes are in use, and found", found, trials)
}

// TestAFileThatChangesALotStaysRight: what bbolt makes of many changes passes the
// checks, again and again.
func TestAFileThatChangesALotStaysRight(t *testing.T) {
	dir, want := t.TempDir(), map[string]coord.Record{}
	random := rand.New(rand.NewPCG(5, 5))
	for range 8 {
		s := opened(t, dir)
		for range 300 {
			key := strings.Repeat(fmt.Sprint(random.IntN(500)), 1+random.IntN(60))
			value := make([]byte, random.IntN(1+random.IntN(1+random.IntN(20000))))
			record, exists := want[key]
			var err error
			switch {
			case !exists:
				record.Revision, err = s.Create(t.Context(), key, value)
			case random.IntN(3) > 0:
				err = s.Delete(t.Context(), key, record.Revision)
				value = nil
			default:
				record.Revision, err = s.Swap(t.Context(), key, record.Revision, value)
			}
			if err != nil {
				t.Fatal(err)
			}
			if want[key] = (coord.Record{Key: key, Value: value, Revision: record.Revision}); value == nil {
				delete(want, key)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		file, err := os.ReadFile(filepath.Join(dir, "coord.db"))
		if err != nil {
			t.Fatal(err)
		}
		if err := try(t, damage(t, file), want); err != nil || t.Failed() {
			t.Fatalf("%d records: %v", len(want), err)
		}
	}
}

// TestADamagedMetaPageGivesTheLastWriteOrTheOneBefore: see invariant 2.
func TestADamagedMetaPageGivesTheLastWriteOrTheOneBefore(t *testing.T) {
	file, _, revision := fill(t, t.TempDir())
	for meta := range 2 {
		for at := range 80 {
			torn := bytes.Clone(file)
			torn[meta*os.Getpagesize()+at] ^= 0x55
			dir := damage(t, torn)
			s, err := local.Open(t.Context(), dir)
			if err != nil {
				corrupt(t, fmt.Sprintf("byte %d of meta page %d", at, meta), err)
				continue
			}
			got, err := s.Revision(t.Context())
			if err != nil || got != revision && got != revision-1 {
				t.Errorf("byte %d of meta page %d: revision %d (%v), want %d or the one before", at, meta, got, err, revision)
			}
			s.Close()
		}
	}
}

// TestAFileCutWhileOpenIsDamaged: reads of mapped memory that is gone are an error.
func TestAFileCutWhileOpenIsDamaged(t *testing.T) {
	dir := t.TempDir()
	_, want, _ := fill(t, dir)
	s := opened(t, dir)
	if err := os.Truncate(filepath.Join(dir, "coord.db"), int64(2*os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	for key := range want {
		_, err := s.Get(t.Context(), key)
		corrupt(t, "get", err)
		break
	}
	_, err := s.List(t.Context(), "")
	corrupt(t, "list", err)
	_, err = s.Create(t.Context(), "new", nil)
	corrupt(t, "create", err)
}

func TestLeftoversOfACreationAreSwept(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, "coord.db.new-123")
	if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	opened(t, dir)
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}
