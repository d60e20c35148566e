package proof

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// blobsByKind is one blob, the largest, of each kind of file that the newest snapshot of a
// repository needs: by the beginning of their names in a repository, by their endings in a shard.
func blobsByKind(t *testing.T, repository string) map[string]string {
	t.Helper()
	newest := newestOf(t, repository)
	kinds, sizes := map[string]string{}, map[string]int64{}
	take := func(kind, name string) {
		info, err := os.Stat(filepath.Join(repository, name))
		if err != nil {
			t.Fatal(err)
		}
		if kinds[kind] == "" || info.Size() > sizes[kind] {
			kinds[kind], sizes[kind] = name, info.Size()
		}
	}
	for _, name := range newest.Indices {
		idx, err := newest.Index(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		for n := range idx.Shards {
			shard := shardOf(t, repository, name, n)
			for _, f := range shard.Files {
				kind := path.Ext(f.Name)
				if strings.HasPrefix(f.Name, "segments_") {
					kind = "segments_N"
				}
				if !f.Virtual && f.PartSize == 0 {
					take(kind, path.Join(shard.Path, f.Blob))
				}
			}
		}
	}
	err := filepath.WalkDir(repository, func(at string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(repository, at)
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), "__") {
			return err
		}
		kind, _, _ := strings.Cut(d.Name(), "-")
		for range strings.Count(name, "/") {
			kind = "…/" + kind
		}
		others, _ := filepath.Glob(filepath.Join(filepath.Dir(at), "meta-"+newest.UUID+"*"))
		shared := strings.HasPrefix(d.Name(), "meta-") && len(others) == 0 // of an index, from 7.10 on
		if strings.HasPrefix(d.Name(), "index-") || strings.Contains(d.Name(), newest.UUID) || shared {
			take(kind, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return kinds
}

// migrated is what came of a migration of a repository.
type migrated struct {
	code   int
	told   string
	proved map[string]string // by index: the fingerprint that both sides have
}

func move(t *testing.T, repository string) (m migrated, data string) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "data")
	code, out, wrong := ends(t, "migrate", "-q", "--yes", "--from", repository, "--to", data, "--output", "json")
	m = migrated{code: code, told: out + wrong, proved: map[string]string{}}
	var told struct {
		Progress struct {
			Verified []struct{ Index, Expected, Found string }
		}
	}
	if out != "" {
		if err := json.Unmarshal([]byte(out), &told); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for _, v := range told.Progress.Verified {
		if v.Expected == v.Found {
			m.proved[v.Index] = v.Found
		}
	}
	return m, data
}

// TestDamagedBlobsAreNamed flips one byte in a file of each kind, and takes it away. Either the
// migration ends without success, and names the blob; or it has not needed the byte: then all is
// there and proved, and it is verify that names the blob. In no case is anything proved that is
// not what the sound repository holds. The list of the snapshots has no checksum: a byte of it
// that nobody needs goes unnoticed.
func TestDamagedBlobsAreNamed(t *testing.T) {
	random := rand.New(rand.NewPCG(seed(t), 0))
	for _, name := range []string{"elasticsearch-6.8.23-basic", "opensearch-2.19.0-basic"} {
		sound, err := filepath.Abs("../../../testdata/repositories/" + name + "/repo")
		if err != nil {
			t.Fatal(err)
		}
		right, _ := move(t, sound)
		if right.code != 0 || len(right.proved) < 3 {
			t.Fatalf("%s itself: %d %s", name, right.code, right.told)
		}
		kinds := blobsByKind(t, sound)
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			for _, harm := range []string{"flipped", "missing"} {
				if harm == "missing" && !slices.Contains(missed, kind) {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s %s", name, strings.ReplaceAll(kind, "/", "|"), harm), func(t *testing.T) {
					repository := filepath.Join(t.TempDir(), "repo")
					if err := os.CopyFS(repository, os.DirFS(sound)); err != nil {
						t.Fatal(err)
					}
					harmed(t, filepath.Join(repository, kinds[kind]), harm == "missing", random)
					names := path.Base(kinds[kind])
					if kind == "index" && harm == "flipped" { // it has no checksum: a name in it that is wrong leads to what is not there
						names = ""
					}
					judge(t, repository, names, right)
				})
			}
		}
	}
}

// missed are the kinds of files that are taken away, too. The list of a shard's snapshots is not
// among them: in repositories of 6.8 nothing names it, and nothing that is restored needs it.
var missed = []string{"index", "snap", "meta", "…/…/meta", "…/…/…/snap", "segments_N", ".cfs", ".fdt", ".dvd", ".liv"}

// harmed takes a file away, or flips one bit of it.
func harmed(t *testing.T, file string, gone bool, random *rand.Rand) {
	t.Helper()
	if gone {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		return
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := random.IntN(len(data))
	data[at] ^= 1 << random.IntN(8)
	t.Logf("byte %d of %d", at, len(data))
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// judge moves and verifies a repository with one blob that is damaged, which somebody must name.
func judge(t *testing.T, repository, names string, right migrated) {
	t.Helper()
	got, _ := move(t, repository)
	for index, print := range got.proved {
		if right.proved[index] != print {
			t.Errorf("%s is proved to be %s, and is %s", index, print, right.proved[index])
		}
	}
	verified, out, wrong := ends(t, "snapshot", "verify", "-q", repository)
	t.Logf("migrate ends with %d, proves %d indices; verify ends with %d\n%s", got.code, len(got.proved), verified, out+wrong)
	switch {
	case got.code == 0 && !maps.Equal(got.proved, right.proved):
		t.Errorf("the migration ends well and proves %v alone", got.proved)
	case got.code == 0 && names == "": // nothing was led astray
	case got.code == 0 && (verified != 4 || !strings.Contains(out+wrong, names)):
		t.Errorf("neither names %s: verify ends with %d: %s%s", names, verified, out, wrong)
	case got.code != 0 && !strings.Contains(got.told, names):
		t.Errorf("the migration ends with %d and does not name %s: %s", got.code, names, got.told)
	case got.code != 0 && len(got.proved) == len(right.proved):
		t.Errorf("the migration ends with %d and proves all: %s", got.code, got.told)
	}
}
