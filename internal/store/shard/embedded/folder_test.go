package embedded_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
)

// filled makes a folder with some documents and closes it.
func filled(t *testing.T, n int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	e := open(t, dir)
	s, err := e.Open(t.Context(), first, whole(), shard.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < n; i += 100 {
		ops := make([]shard.Op, 100)
		for j := range ops {
			ops[j] = benchOp(i + j)
		}
		if r := s.Write(t.Context(), 1, ops)[99]; r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// refused opens a folder and expects an error of a kind that names the folder and
// what to do.
func refused(t *testing.T, dir string, kind fault.Kind) {
	t.Helper()
	e, err := embedded.Open(t.Context(), dir, embedded.Options{Logger: quiet})
	if err == nil {
		e.Close()
	}
	if !fault.Is(err, kind) || !strings.Contains(err.Error(), dir) || fault.Next(err) == "" {
		t.Errorf("%v (%v), next %q; expected %v", err, fault.KindOf(err), fault.Next(err), kind)
	}
}

func TestAFolderTellsItsFormat(t *testing.T) {
	dir := filled(t, 100)
	name := filepath.Join(dir, "format")
	text, err := os.ReadFile(name)
	if err != nil || string(text) != "reshelve embedded shards, format 4\n" {
		t.Fatalf("%q %v", text, err)
	}
	for content, kind := range map[string]fault.Kind{
		"reshelve embedded shards, format 5\n": fault.Refused,
		"anything":                             fault.Corrupt,
		"":                                     fault.Corrupt,
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		refused(t, dir, kind)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	refused(t, dir, fault.Corrupt)
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
}

func TestAFolderHasOneOwner(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir)
	refused(t, dir, fault.Conflict)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
}

func TestANewerPebbleIsRefused(t *testing.T) {
	dir := filled(t, 100)
	markers, err := filepath.Glob(filepath.Join(dir, "truth", "marker.format-version.*"))
	if err != nil || len(markers) != 1 {
		t.Fatal(markers, err)
	}
	if err := os.Rename(markers[0], strings.TrimSuffix(markers[0], filepath.Ext(markers[0]))+".999"); err != nil {
		t.Fatal(err)
	}
	refused(t, dir, fault.Refused)
}

func TestWhereNoFolderCanBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, file, fault.Unavailable)
	refused(t, filepath.Join(file, "below"), fault.Unavailable)
}

// TestDamageIsTold damages each file of a folder, in its middle and by its end, and
// reads everything: what comes is what was written, or fault.Corrupt.
func TestDamageIsTold(t *testing.T) {
	pristine := filled(t, 2000)
	entries, err := os.ReadDir(filepath.Join(pristine, "truth"))
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, entry := range entries {
		for _, damage := range []string{"flipped", "cut", "removed"} {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(pristine)); err != nil {
				t.Fatal(err)
			}
			name := filepath.Join(dir, "truth", entry.Name())
			spoil(t, name, damage)
			n, err := readAll(t, dir)
			switch {
			case err == nil && n == 2000: // the damage met nothing that counts
			case err == nil:
				t.Errorf("%s %s: %d documents, and no error", entry.Name(), damage, n)
			case !fault.Is(err, fault.Corrupt):
				t.Errorf("%s %s: %v (%v)", entry.Name(), damage, err, fault.KindOf(err))
			default:
				told++
			}
		}
	}
	if told < 6 {
		t.Errorf("only %d damages were told", told)
	}
}

func spoil(t *testing.T, name, damage string) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	switch damage {
	case "flipped":
		for i := len(data) / 3; i < len(data) && i < len(data)/3+16; i++ {
			data[i] ^= 0xff
		}
	case "cut":
		data = data[:len(data)/2]
	case "emptied":
		data = nil
	case "footer":
		data[len(data)-20] ^= 1
	}
	if err = os.WriteFile(name, data, 0o600); damage == "removed" {
		err = os.Remove(name)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// readAll opens a folder and scans its shard.
func readAll(t *testing.T, dir string) (n int, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	e, err := embedded.Open(ctx, dir, embedded.Options{Logger: quiet})
	if err != nil {
		return 0, err
	}
	defer e.Close()
	s, err := e.Open(ctx, first, whole(), shard.Settings{})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	r, err := s.Acquire(ctx, 1)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	for row, err := range r.Scan(ctx, shard.Select{Range: routing.Whole}) {
		if err != nil {
			return n, err
		}
		if !slices.ContainsFunc(benchDocs, func(d []byte) bool { return string(d) == string(row.Source) }) {
			t.Fatalf("document %q has another source", row.ID)
		}
		n++
	}
	return n, nil
}
