package embedded

import (
	"log/slog"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestANumberThatIsUsedAgain: of a file that is made anew under a number, nothing was synced yet.
func TestANumberThatIsUsedAgain(t *testing.T) {
	fs := vfs.NewMem()
	e, err := openEnds(fs, "", noted{}, false, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for _, bytes := range []int64{100, 10} {
		e.of("MANIFEST-000007")(bytes)
	}
	if n, _, err := readNoted(fs, ""); err != nil || n.manifest != (extent{7, 10}) {
		t.Errorf("%+v %v", n, err)
	}
}
