package cli

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spf13/cobra"
)

// TestListsInTheConfigurationFile: what may be repeated on the command line is a list in the file.
func TestListsInTheConfigurationFile(t *testing.T) {
	set := func(text string) (hosts []string, err error) {
		file := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := &cobra.Command{}
		cmd.Flags().StringArrayVar(&hosts, "allow-host", nil, "")
		cmd.Flags().String("data", "", "")
		err = configure(cmd, file)
		return hosts, err
	}
	for text, want := range map[string][]string{"allow-host: [a.example, b.example]": {"a.example", "b.example"}, "allow-host: a.example": {"a.example"}} {
		if hosts, err := set(text); err != nil || !slices.Equal(hosts, want) {
			t.Errorf("%s: %v, %v", text, hosts, err)
		}
	}
	if _, err := set("data: [a, b]"); err == nil {
		t.Error("a list is taken where one value is meant")
	}
}
