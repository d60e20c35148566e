package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// TestABlankIsNoPartOfAToken, wherever it comes from: no client could send it.
func TestABlankIsNoPartOfAToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(" s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("RESHELVE_TOKEN", "\ts3cret \n")
	for _, from := range []string{"", file} {
		if got, err := token(from); got != "s3cret" || err != nil {
			t.Errorf("from %q: %q, %v", from, got, err)
		}
	}
	t.Setenv("RESHELVE_TOKEN", " \n")
	if got, err := token(""); got != "" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
