package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
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

// installAzurite installs the emulator, once, and returns the program.
func installAzurite(t *testing.T) string {
	t.Helper()
	folder := installed(t, "azurite-"+azuriteVersion, func(folder string) *exec.Cmd {
		return exec.CommandContext(t.Context(), "npm", "install", "--no-fund", "--no-audit", "--prefix", folder, "azurite@"+azuriteVersion)
	})
	return filepath.Join(folder, "node_modules", ".bin", "azurite-blob")
}
