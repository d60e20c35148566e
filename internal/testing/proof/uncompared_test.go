package proof

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestOneIndexThatCannotBeComparedKeepsNoOther from its end: neither one that is closed on the target, nor one whose documents have
// no sources.
func TestOneIndexThatCannotBeComparedKeepsNoOther(t *testing.T) {
	_, server := serve(t, dataFolder(t))
	runs(t, "migrate", "--from", basic, "--to", server, "--yes")
	ask(t, talk(t), 200, "POST", server+"/loans/_close", "")
	compare := []string{"verify", "--from", basic, "--to", server, "--coordinate", "local:" + filepath.Join(t.TempDir(), "records")}
	code, out, wrong := ends(t, compare...)
	for _, says := range []string{"loans       loans       could not be compared: ", "is closed\n", "→ open it: POST /loans/_open\n", "shelves     shelves     equal\n", "→ mend the causes, then reshelve movement verify "} {
		if !strings.Contains(out, says) {
			t.Errorf("closed: without %q", says)
		}
	}
	if code != 9 {
		t.Errorf("closed: exit code %d\n%s%s", code, out, wrong)
	}
	ask(t, talk(t), 200, "POST", server+"/loans/_open", "")
	runs(t, compare...)

	synthetic := filepath.Join(filepath.Dir(filepath.Dir(basic)), "elasticsearch-8.19.0-synthetic", "repo")
	code, out, wrong = ends(t, "verify", "--from", synthetic, "--to", server, "--coordinate", "local:"+filepath.Join(t.TempDir(), "records"))
	for _, says := range []string{"holds no sources of its documents", "unreadable 7", "series                series                equal"} {
		if !strings.Contains(out+wrong, says) {
			t.Errorf("without sources: without %q", says)
		}
	}
	if code != 6 {
		t.Errorf("without sources: exit code %d\n%s%s", code, out, wrong)
	}
}
