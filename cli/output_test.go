package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestOnlyAFileKeepsAllThatItWasGiven(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "part-1"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	reader, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	defer pipe.Close()
	if !keepsAll(file) || keepsAll(pipe) || keepsAll(new(bytes.Buffer)) {
		t.Errorf("a file %t, a pipe %t, a buffer %t", keepsAll(file), keepsAll(pipe), keepsAll(new(bytes.Buffer)))
	}
}
