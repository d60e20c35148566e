package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/testing/proof"
)

// conversations are the scripts and their pins; absolute as repositories is.
var conversations, _ = filepath.Abs("testdata/clients")

// TestClients has the clients that people use talk to the real binary.
func TestClients(t *testing.T) {
	python := installPython(t, "clients-python", filepath.Join(conversations, "requirements.txt"))
	packages := installPackages(t, "clients-javascript", conversations)
	server, url := serve(t)
	for _, client := range []struct {
		name, script, search, program string // search: where the program looks for modules, as a variable
		steps                         int    // that it takes at least: one that ends early fails
	}{
		{"opensearchpy", "conversation.py", "PYTHONPATH=" + python, "python3", 80},
		{"elasticsearch", "conversation.py", "PYTHONPATH=" + python, "python3", 80},
		{"@opensearch-project/opensearch", "conversation.js", "NODE_PATH=" + packages, "node", 50},
		{"@elastic/elasticsearch", "conversation.js", "NODE_PATH=" + packages, "node", 50},
	} {
		t.Run(strings.ReplaceAll(client.name, "/", "-"), func(t *testing.T) {
			converse(t, client.steps, client.search, client.program, filepath.Join(conversations, client.script), client.name, url)
		})
	}
	ends(t, server)
}

// converse runs a script that tells of each step, of which at least so many must go well. Search is
// where its program looks for modules, as a variable.
func converse(t *testing.T, least int, search, program string, arguments ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, program, arguments...)
	command.Env = append(os.Environ(), search, "PYTHONNOUSERSITE=1", "PYTHONDONTWRITEBYTECODE=1")
	said, err := command.CombinedOutput()
	if steps := strings.Count(string(said), "ok   "); err != nil || steps < least {
		t.Errorf("%d steps went well, of %d or more; %v\n%s", steps, least, err, said)
	}
}

// ends sees that a server that is told to stop does, and has had nothing to say.
func ends(t *testing.T, server *proof.Process) {
	t.Helper()
	if err := server.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if code, err := server.Wait(ctx); code != 0 || err != nil {
		t.Errorf("the server ended with %d, %v\n%s", code, err, server.Stderr())
	}
	if said := server.Stderr(); strings.Count(said, "\n") > 1 {
		t.Errorf("the server had something to say:\n%s", said)
	}
}

// serve builds the program as its own module does, and serves an empty folder.
func serve(t *testing.T, flags ...string) (server *proof.Process, url string) {
	t.Helper()
	folder := t.TempDir()
	program := filepath.Join(folder, "reshelve")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/reshelve")
	build.Dir = "../../.." // the module of the program
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	command := []string{program, "serve", "--data", filepath.Join(folder, "data"), "--listen", "127.0.0.1:0"}
	server, err := proof.Start(append(command, flags...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Kill() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if url, err = server.Serving(ctx); err != nil {
		t.Fatal(err)
	}
	return server, url
}

// installPython installs what a file of requirements pins, and returns the folder of those modules.
func installPython(t *testing.T, name, requirements string) string {
	t.Helper()
	return installed(t, pinned(t, name, requirements), func(folder string) *exec.Cmd {
		return exec.CommandContext(t.Context(), "python3", "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:",
			"--root-user-action=ignore", "--disable-pip-version-check", "--target", folder, "-r", requirements)
	})
}

// installPackages installs what the package.json of a folder names, as its lock pins it, and
// returns the folder of those packages.
func installPackages(t *testing.T, name, of string) string {
	t.Helper()
	folder := installed(t, pinned(t, name, filepath.Join(of, "package-lock.json")), func(folder string) *exec.Cmd {
		for _, name := range []string{"package.json", "package-lock.json"} {
			text, err := os.ReadFile(filepath.Join(of, name))
			if err == nil {
				err = os.WriteFile(filepath.Join(folder, name), text, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		return exec.CommandContext(t.Context(), "npm", "ci", "--no-fund", "--no-audit", "--prefix", folder)
	})
	return filepath.Join(folder, "node_modules")
}
