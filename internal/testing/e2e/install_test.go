package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Tests forget the machine's HOME; these are taken before.
var (
	cacheFolder, _ = os.UserCacheDir()
	homeFolder     = os.Getenv("HOME")
)

// installed is a folder in the user's cache that fill has filled, once for each
// name. What cannot be installed fails the test: nothing is skipped.
func installed(t *testing.T, name string, fill func(folder string) *exec.Cmd) string {
	t.Helper()
	if cacheFolder == "" {
		t.Fatal("no cache folder: set XDG_CACHE_HOME or HOME")
	}
	folder := filepath.Join(cacheFolder, "reshelve", name)
	if _, err := os.Stat(folder); err == nil {
		return folder
	}
	// Into a folder of its own that is renamed when it is whole.
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		t.Fatal(err)
	}
	half, err := os.MkdirTemp(filepath.Dir(folder), "half-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(half)
	begin := time.Now()
	command := fill(half)
	command.Env = append(os.Environ(), "HOME="+homeFolder)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	t.Logf("installed %s in %v", name, time.Since(begin).Round(time.Second))
	if err := os.Rename(half, folder); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	return folder
}

// pinned is the name of a folder whose content follows from a file: another file,
// another folder.
func pinned(t *testing.T, name, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	return name + "-" + hex.EncodeToString(sum[:6])
}
