package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// azuriteVersion is the emulator that these tests were tried with.
const azuriteVersion = "3.35.0"

// startAzurite runs the blob service with one account and returns its URL.
func startAzurite(t *testing.T, account, key string) string {
	t.Helper()
	program := installAzurite(t)
	port := freePort(t)
	// Newer clients speak newer versions of the protocol than the emulator
	// knows; it would refuse them, and it must not phone home from a test.
	server := exec.Command(program, "--blobHost", "127.0.0.1", "--blobPort", port,
		"--silent", "--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry")
	server.Env = append(os.Environ(), "AZURITE_ACCOUNTS="+account+":"+key)
	var said bytes.Buffer
	server.Stdout, server.Stderr = &said, &said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	stopped := make(chan struct{})
	go func() {
		ended <- server.Wait()
		close(stopped)
	}()
	t.Cleanup(func() {
		server.Process.Kill() // it has nothing to save
		<-stopped
		if t.Failed() {
			t.Logf("azurite said: %s", said.String())
		}
	})
	waitFor(t, "127.0.0.1:"+port, ended)
	return "http://127.0.0.1:" + port + "/" + account
}

// installAzurite installs the emulator into the user's cache folder, once, and
// returns the program.
func installAzurite(t *testing.T) string {
	t.Helper()
	cache := cacheFolder
	if cache == "" {
		t.Fatal("no cache folder: set XDG_CACHE_HOME or HOME")
	}
	folder := filepath.Join(cache, "reshelve", "azurite-"+azuriteVersion)
	program := filepath.Join(folder, "node_modules", ".bin", "azurite-blob")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	// Into a folder of its own that is renamed when it is whole.
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		t.Fatal(err)
	}
	half, err := os.MkdirTemp(filepath.Dir(folder), "azurite-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(half)
	begin := time.Now()
	npm := exec.CommandContext(t.Context(), "npm", "install", "--no-fund", "--no-audit", "--prefix", half, "azurite@"+azuriteVersion)
	npm.Env = append(os.Environ(), "HOME="+homeFolder)
	if out, err := npm.CombinedOutput(); err != nil {
		t.Fatalf("npm install azurite: %v\n%s", err, out)
	}
	t.Logf("installed azurite in %v", time.Since(begin).Round(time.Second))
	if err := os.Rename(half, folder); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	return program
}

// Tests forget the machine's HOME; these are taken before.
var (
	cacheFolder, _ = os.UserCacheDir()
	homeFolder     = os.Getenv("HOME")
)
