//go:build unix

package folder_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/blobtest"
	"github.com/reshelve/reshelve/snapshot/blob/folder"
)

// storable leaves out what a file system cannot hold: a name that is a file
// and a folder at once.
func storable(contents map[string][]byte) map[string][]byte {
	for key := range contents {
		if strings.HasSuffix(key, "/below") {
			delete(contents, key)
		}
	}
	return contents
}

func write(t *testing.T, root string, contents map[string][]byte) {
	t.Helper()
	for key, data := range contents {
		path := filepath.Join(root, filepath.FromSlash(key))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func open(t *testing.T, location string) blob.Bucket {
	t.Helper()
	bucket, err := blob.Open(t.Context(), location, map[string]blob.Opener{"file": folder.Open})
	if err != nil {
		t.Fatal(err)
	}
	return bucket
}

func TestFolderKeepsTheContract(t *testing.T) {
	contents := storable(blobtest.Contents())
	root := filepath.Join(t.TempDir(), "a repository")
	write(t, root, contents)
	for _, location := range []string{root, root + "/", "file://" + strings.ReplaceAll(root, " ", "%20")} {
		blobtest.Run(t, blobtest.Case{Bucket: open(t, location), Contents: contents})
	}
}

func TestNothingOutsideTheFolderIsRead(t *testing.T) {
	outside, root := t.TempDir(), t.TempDir()
	write(t, outside, map[string][]byte{"secret": []byte("s"), "in/secret": []byte("s")})
	write(t, root, map[string][]byte{"inside": []byte("i"), "folder/x": []byte("x")})
	for link, target := range map[string]string{
		"out": filepath.Join(outside, "secret"), "relative": "../" + filepath.Base(outside) + "/secret",
		"folder-out": outside, "within": "inside", "loop": "loop",
	} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	bucket := open(t, root)
	for _, key := range []string{"out", "relative", "folder-out/secret", "loop", "pipe"} {
		if data, err := blobtest.Read(t.Context(), bucket, key, 0, -1); !fault.Is(err, fault.Refused) {
			t.Errorf("%s: %q, %v; want refused", key, data, err)
		}
	}
	if data, err := blobtest.Read(t.Context(), bucket, "within", 0, -1); err != nil || string(data) != "i" {
		t.Errorf("a link inside the folder: %q, %v", data, err)
	}
	entries, err := bucket.List(t.Context(), "")
	if err != nil || len(entries) != 2 {
		t.Errorf("listing: %v, %v; want inside and within", entries, err)
	}
	if entries, err := bucket.List(t.Context(), "folder-out/"); err == nil {
		t.Errorf("listed outside: %v", entries)
	}
}

func TestWhatIsNoFolderIsSaid(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string][]byte{"file": nil})
	for location, want := range map[string]fault.Kind{
		filepath.Join(root, "nothing"):             fault.NotFound,
		filepath.Join(root, "file"):                fault.Refused,
		filepath.Join(root, "file", "below"):       fault.NotFound,
		"file://" + filepath.Join(root, "nothing"): fault.NotFound,
	} {
		_, err := blob.Open(t.Context(), location, map[string]blob.Opener{"file": folder.Open})
		if !fault.Is(err, want) {
			t.Errorf("%s: %v; want %v", location, err, want)
		}
	}
}
