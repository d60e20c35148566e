package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
	"github.com/reshelve/reshelve/internal/store/shard/shardtest"
)

// counting is an indexer that counts documents.
type counting struct{ n *atomic.Int64 }

func (c counting) Into(b *segment.Builder) func(shard.Row) error {
	put := shardtest.Words{}.Into(b)
	return func(row shard.Row) error {
		c.n.Add(1)
		return put(row)
	}
}

// library is an engine and its indexed shard in a folder.
type library struct {
	testing.TB
	dir     string
	engine  *embedded.Engine
	shard   shard.Shard
	heard   *listener
	indexed *atomic.Int64 // documents since it was opened
}

func openLibrary(t testing.TB, dir string) *library {
	t.Helper()
	l := &library{TB: t, dir: dir, heard: &listener{}, indexed: &atomic.Int64{}}
	e, err := embedded.Open(t.Context(), dir, embedded.Options{Logger: slog.New(l.heard), Memory: 4 << 20, Quiet: -1})
	l.must(err)
	s, err := e.Open(t.Context(), first, whole(), shard.Settings{Indexer: counting{l.indexed}, MinimumAge: time.Nanosecond})
	if err != nil {
		e.Close()
		l.Fatal(err)
	}
	l.engine, l.shard = e, s
	t.Cleanup(l.close)
	return l
}

func (l *library) close() {
	if l.engine != nil {
		l.must(errors.Join(l.shard.Close(), l.engine.Close()))
		l.engine = nil
	}
}

func (l *library) must(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

func (l *library) write(ops ...shard.Op) {
	l.Helper()
	for _, r := range l.shard.Write(context.Background(), 1, ops) {
		l.must(r.Err)
	}
}

func (l *library) refresh() {
	l.Helper()
	_, err := l.shard.Refresh(context.Background())
	l.must(err)
}

// agrees checks what is published.
func (l *library) agrees() {
	l.Helper()
	l.must(checkViews(l.shard))
}

// files are the names of the segment files.
func (l *library) files() []string {
	l.Helper()
	names, err := filepath.Glob(filepath.Join(l.dir, "segments", "7", "*.seg"))
	l.must(err)
	return names
}

// shelved makes a folder with three files, of which two hide something, closed.
func shelved(t *testing.T) (dir string) {
	dir = t.TempDir()
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range 3 {
		l := openLibrary(t, dir)
		for i := range 400 {
			op := words(rng, 1)[0]
			op.ID = fmt.Sprint(round*300 + i) // the last 100 are written again
			l.write(op)
		}
		l.refresh()
		l.agrees()
		l.close()
	}
	return dir
}

func TestOpeningAgainIndexesNothing(t *testing.T) {
	dir := shelved(t)
	l := openLibrary(t, dir)
	l.agrees()
	if n := l.indexed.Load(); n != 0 {
		t.Errorf("%d documents were indexed again", n)
	}
	if n := len(l.files()); n != 3 {
		t.Errorf("%d files", n)
	}
	l.write(words(rand.New(rand.NewPCG(5, 6)), 10)...)
	l.refresh()
	if n := l.indexed.Load(); n == 0 || n > 10 {
		t.Errorf("%d documents were indexed by a refresh", n)
	}
	l.agrees()
}

// TestDamagedSegmentsAreMadeAgain damages each file of a closed folder: what is opened
// is whole, and only what was damaged is made again.
func TestDamagedSegmentsAreMadeAgain(t *testing.T) {
	pristine := shelved(t)
	l := openLibrary(t, pristine)
	names, docs := l.files(), int(l.shard.Stats().Docs)
	l.close()
	for i := range names {
		for _, damage := range []string{"flipped", "cut", "removed", "emptied", "footer"} {
			t.Run(fmt.Sprint(damage, " ", i), func(t *testing.T) {
				dir := t.TempDir()
				if err := os.CopyFS(dir, os.DirFS(pristine)); err != nil {
					t.Fatal(err)
				}
				name := filepath.Join(dir, "segments", "7", filepath.Base(names[i]))
				spoil(t, name, damage)
				l := openLibrary(t, dir)
				if err := checkViews(l.shard); err != nil { // what is in a page is met when it is read
					if damage != "flipped" || !errors.As(err, new(*segment.Damaged)) {
						t.Fatal(err)
					}
					l.must(l.shard.Mend(t.Context()))
					l.agrees()
				}
				if n := int(l.indexed.Load()); n >= docs {
					t.Errorf("%d of %d documents were indexed again", n, docs)
				}
				if len(l.heard.of("damaged segment")) == 0 {
					t.Error("nobody was told")
				}
				l.close()
				l = openLibrary(t, dir)
				l.agrees()
				if n, said := l.indexed.Load(), l.heard.of("damaged"); n != 0 || len(said) > 0 {
					t.Errorf("%d documents were indexed once more: %v", n, said)
				}
			})
		}
	}
}

// TestDamageUnderAnOpenShard damages mapped files: reading them is an error, and once
// the shard has mended them it goes on.
func TestDamageUnderAnOpenShard(t *testing.T) {
	for name, damage := range map[string]func(name string) error{
		"cut short": func(name string) error { return os.Truncate(name, 0) },
		"overwritten": func(name string) error {
			info, err := os.Stat(name)
			if err != nil {
				return err
			}
			return os.WriteFile(name, make([]byte, info.Size()), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := openLibrary(t, shelved(t))
			for _, name := range l.files() {
				l.must(damage(name))
			}
			if err := checkViews(l.shard); !errors.As(err, new(*segment.Damaged)) || !fault.Is(err, fault.Corrupt) {
				t.Fatalf("reading says %v", err)
			}
			rng := rand.New(rand.NewPCG(5, 6))
			l.write(words(rng, 30)...) // whose refresh may meet the damage by itself
			l.must(l.shard.Mend(t.Context()))
			l.agrees()
			l.write(words(rng, 30)...)
			l.refresh()
			l.agrees()
			l.close()
			l = openLibrary(t, l.dir)
			l.agrees()
			if n := l.indexed.Load(); n != 0 {
				t.Errorf("%d documents were indexed again", n)
			}
		})
	}
}

// TestAForcedMergeMendsWhatItMeets damages a file, and orders one segment.
func TestAForcedMergeMendsWhatItMeets(t *testing.T) {
	l := openLibrary(t, shelved(t))
	l.must(os.Truncate(l.files()[1], 0))
	l.must(l.shard.Merge(t.Context(), shard.Merging{Segments: 1}))
	l.agrees()
	if n := l.shard.Stats().Segments; n != 1 {
		t.Errorf("%d segments", n)
	}
}

// TestAScanKeepsNothingInTheMaking: segments in the making are few, for all shards; a scan that finds a document now
// and then keeps none, and ends with its shard.
func TestAScanKeepsNothingInTheMaking(t *testing.T) {
	l := openLibrary(t, t.TempDir())
	for i := range 13 {
		ops := make([]shard.Op, 1000)
		for j := range ops {
			id := fmt.Sprintf("%06d", i*1000+j)
			ops[j] = shard.Op{Key: routing.Key(i*1000 + j), ID: id, Source: []byte("a"), Condition: document.Always}
		}
		l.write(ops...)
	}
	l.refresh()
	if making, segments, err := embedded.ScanFor(t.Context(), l.shard, 3, 5); making != 0 || segments != 1 || err != nil {
		t.Errorf("%d are in the making, %d made: %v", making, segments, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, _, err := embedded.ScanFor(ended, l.shard, 1<<40, 1<<40); err == nil {
		t.Error("it goes on when nobody asks any more")
	}
}

// TestARefreshMendsWhatItMeets damages all files and overwrites everything: looking for
// what is replaced meets the damage.
func TestARefreshMendsWhatItMeets(t *testing.T) {
	l := openLibrary(t, shelved(t))
	for _, name := range l.files() {
		l.must(os.Truncate(name, 0))
	}
	for i := range 1000 {
		op := words(rand.New(rand.NewPCG(1, uint64(i))), 1)[0]
		op.ID = fmt.Sprint(i)
		l.write(op)
	}
	l.refresh()
	l.agrees()
}

// TestAManifestThatDoesNotFit is as good as none.
func TestAManifestThatDoesNotFit(t *testing.T) {
	for name, value := range map[string][]byte{
		"torn": {1}, "of another version": {99, 1, 2, 3}, "empty": {}, "of the future": embedded.ManifestOf(1 << 40),
		"of before what is pruned": embedded.ManifestOf(-1),
	} {
		t.Run(name, func(t *testing.T) {
			l := openLibrary(t, shelved(t))
			l.must(l.shard.Prune(t.Context(), time.Now().Add(time.Hour)))
			if l.shard.Stats().Pruned < 0 {
				t.Fatal("nothing was pruned")
			}
			l.must(l.shard.Close())
			l.must(l.engine.SetManifest(first, value))
			l.must(l.engine.Close())
			l.engine = nil
			l = openLibrary(t, l.dir)
			l.agrees()
			if n := l.indexed.Load(); n != l.shard.Stats().Docs {
				t.Errorf("%d of %d documents were indexed again", n, l.shard.Stats().Docs)
			}
			l.close()
			l = openLibrary(t, l.dir)
			l.agrees()
			if n := l.indexed.Load(); n != 0 {
				t.Errorf("%d documents were indexed once more", n)
			}
			if n := len(l.files()); n != 1 {
				t.Errorf("%d files are left", n)
			}
		})
	}
}

// TestFilesOfNobodyGo lays foreign and forgotten files into the folder.
func TestFilesOfNobodyGo(t *testing.T) {
	dir := shelved(t)
	forgotten := filepath.Join(dir, "segments", "7", "0123456789abcdef.seg")
	foreign := filepath.Join(dir, "segments", "7", "letter.txt")
	for _, name := range []string{forgotten, foreign} {
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := openLibrary(t, dir)
	if _, err := os.Stat(forgotten); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Error(err)
	}
	l.agrees()
	l.must(l.shard.Close())
	l.must(l.engine.Drop(t.Context(), first.Index))
	if _, err := os.Stat(filepath.Join(dir, "segments", "7")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("dropping leaves something: %v", err)
	}
	l.must(l.engine.Close())
	l.engine = nil
}

// copied is a copy of a folder.
func copied(t *testing.T, dir string) string {
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}
